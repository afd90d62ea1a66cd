"""The verbs about what a host boots with: persist, unpersist, and release once that is settled."""

from __future__ import annotations

from typing import Any, Dict

from . import guard, multicast, persistence
from .errors import ProbeError
from .keep import keep
from .links import Link, need_link, read_links
from .pins import require_as_applied
from .record import Record, acting, in_charge_of, last_holder, need_record
from .routes import of_device, read_routes
from .status import guard_status, lifted

Json = Dict[str, Any]


def persist(request: Json) -> Json:
    """Write links, pins and lifts as they run to the boot configuration: `{"interfaces"}` or `{"id"}`."""
    outcomes, lifts = [], {}
    with acting():
        records = _to_persist(request)
        for record in records:
            data = record.load()
            require_as_applied(data["interfaces"])
            for name, entry in data["interfaces"].items():
                _require_lifted(name, entry)
                lifts[name] = lifted(entry)
            outcomes.append(persistence.write(record, data, with_lifts=True))
            record.save(data)
    return {**_summary(outcomes), "lifts": lifts, "guards": [guard_status(record) for record in records]}


def unpersist(request: Json) -> Json:
    """Take the lifts out of the boot configuration, whatever runs: `{"interfaces"}`. A guard keeps what runs."""
    outcomes, notes, records = [], [], []
    with acting():
        links = read_links()
        for name in _names(request):
            try:
                record = keep(need_link(links, name), strict=False)
            except (ProbeError, OSError) as problem:
                record = last_holder(name)
                notes.append(f"nobody keeps the pins of {name}: {problem}")
            outcomes.append(persistence.bind(name, {"pin": _pin_of(name, record)}))
            if record is not None:
                records.append(record)
                record.save({**record.load(), "persisted": {"lifts": False}})
    return {
        "persisted": True if True in outcomes else None,
        "notes": notes,
        "guards": [guard_status(record) for record in records],
    }


def release(request: Json) -> Json:
    """End guards: `{"id"}` when nobody needs it any more, `{"interfaces"}` only what their boots bring back."""
    with acting():
        if "id" in request:
            records = [need_record(request["id"])]
            released = [_release(record) for record in records]
        else:
            held = [in_charge_of(name) for name in _names(request)]
            records = list(dict.fromkeys(record for record in held if record is not None))
            released = [_is_persisted(record) and _release(record) for record in records]
    for record, done in zip(records, released):
        if done:
            guard.stop(record)
    guards = [guard_status(record) for record in records]
    return {"released": all(released), "guard": guards[0] if guards else None, "guards": guards}


def _to_persist(request: Json) -> list[Record]:
    """Return the changes to persist, each with somebody who keeps its pins until that is done."""
    if "id" in request:
        records = [need_record(request["id"])]
    else:
        links = read_links()
        records = list(dict.fromkeys(_lifted_by(need_link(links, name)) for name in _names(request)))
    for record in records:
        record.load()
        if record.verdict() not in {"confirmed", "released"}:
            message = f"{record.id} is {record.verdict()}: only what is confirmed is persisted"
            raise ProbeError(
                message, object=record.id, wish="persisted", limit=record.verdict(), advice="confirm it first"
            )
    return records


def _lifted_by(link: Link) -> Record:
    record = keep(link)
    if record is None or not record.load()["interfaces"][link.name]["lifts"]:
        message = f"nothing is lifted on {link.name} that could be persisted"
        advice = "it has rebooted since the lift, or somebody took it back: run the roll-out again, which lifts again"
        raise ProbeError(message, object=link.name, wish="persisted lifts", limit="none", advice=advice)
    return record


def _require_lifted(name: str, entry: Json) -> None:
    """Refuse to persist a lift that is not there any more."""
    routes, links = read_routes(), read_links()
    for prefix, size in lifted(entry).items():
        sizes = [links[name].width.of(route) for route in of_device(routes, name) if route.prefix == prefix]
        if max(sizes, default=0) < size:
            message = f"the lift of {name} {prefix} is gone: {max(sizes, default=None) or 'no route'} instead of {size}"
            raise ProbeError(
                message, object=f"{name} {prefix}", wish=size, limit=max(sizes, default=None), advice="lift it again"
            )


def _summary(outcomes: list[Json]) -> Json:
    """Return one outcome for several records: persisted only where all of them are."""
    persisted = [one["persisted"] for one in outcomes]
    written = [one for one in outcomes if "after" in one]
    return {
        "persisted": False if False in persisted else None if None in persisted else True,
        "not_persisted": [text for one in outcomes for text in one["not_persisted"]],
        "before": written[0]["before"] if written else None,
        "after": written[-1]["after"] if written else None,
    }


def _pin_of(name: str, record: Record | None) -> int | None:
    """Return the size that the interface's lifts go back to; None where nothing of ours is pinned."""
    if record is not None:
        return record.load()["interfaces"][name].get("pin")  # type: ignore[no-any-return]
    mark = multicast.find_pin(name, [*persistence.boot_routes(), *read_routes()])
    if mark is None and any(map(persistence.is_lift, of_device(persistence.boot_routes(), name))):
        message = f"at which size {name} was pinned is not known any more"
        raise ProbeError(message, object=name, advice=f"take the routes with proto 147 out of {persistence.LAB_FILE}")
    return mark["mtu"] if mark else None


def _is_persisted(record: Record) -> bool:
    return bool(record.load().get("persisted", {}).get("lifts"))


def _release(record: Record) -> bool:
    record.load()
    verdict = record.verdict()
    if verdict == "armed":
        message = f"{record.id} is not confirmed yet: its guard is the way back"
        raise ProbeError(message, object=record.id, wish="released", limit="armed", advice="confirm or revert it")
    return verdict == "released" or record.decide("confirmed", "released")


def _names(request: Json) -> list[str]:
    names = request.get("interfaces")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        message = "the request names no interfaces"
        raise ProbeError(message, object="interfaces", wish=names, limit='a list of names, or an "id"')
    return names
