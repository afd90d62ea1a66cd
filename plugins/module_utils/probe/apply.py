"""The verbs that change a host's size: apply and confirm."""

from __future__ import annotations

from typing import Any, Dict, Iterable

from . import guard, ipv6, persistence
from .changes import read_changes
from .errors import ProbeError
from .files import boot_time, clock_text
from .keep import keepers
from .links import read_links, set_mtu
from .multicast import put_pin
from .pins import require_as_applied, unpinned
from .prepare import prepare
from .record import Record, acting, need_record
from .routes import Width, differences, of_device, parse_routes, read_routes
from .routes import set_mtu as set_route_mtu
from .status import guard_status
from .undo import ALL, Undo, raising_order

Json = Dict[str, Any]
LONGEST_WITHIN = 24 * 3600


def apply(request: Json) -> Json:
    """Arm the guard, pin, then raise: `{"id", "within", "changes"}`. Undone at once where anything goes wrong."""
    record, changes = need_record(request.get("id")), read_changes(request.get("changes"))
    within = _within(request.get("within"))
    with acting():
        if record.verdict() is not None and not record.is_over():
            return _again(record, request["changes"])
        interfaces = prepare(record.id, changes)
        before = snapshot(interfaces)
        if record.exists():
            guard.stop(record)  # the one of a change that is over may still be on its way out
        record.create({**_memory(record, request["changes"], within, interfaces), "by": request.get("by")})
        try:
            guard.start(record)
            _perform(record, interfaces)
        except Exception as problem:
            undone = _take_back(record, interfaces)
            if isinstance(problem, ProbeError):
                _advise(problem, within, undone)
            raise
        after = snapshot(interfaces)
    return {
        "before": before,
        "after": after,
        "already": False,
        "notes": _notes(interfaces),
        "guard": guard_status(record),
    }


def confirm(request: Json) -> Json:
    """End the dead-man, keep the pins, persist what is confirmed: `{"id"}`."""
    record = need_record(request.get("id"))
    with acting():
        data, verdict = record.load(), record.verdict()
        if verdict in {"fired", "reverted"}:
            message = f"{record.id} was not confirmed in time: the host has already gone back"
            if verdict == "reverted":
                message = f"{record.id} has been reverted"
            raise ProbeError(message, object=record.id, wish="confirmed", limit=verdict, advice="apply it again")
        if verdict != "released":
            _require_guard(record)
        require_as_applied(data["interfaces"])
        persistence.require_persistable(data["interfaces"])  # before the verdict: what cannot last is not confirmed
        if verdict == "armed" and not record.decide("armed", "confirmed"):
            message = f"{record.id} was not confirmed in time: the host has already gone back"
            raise ProbeError(message, object=record.id, wish="confirmed", limit="fired", advice="apply it again")
        outcome = persistence.write(record, data, with_lifts=bool(data.get("persisted", {}).get("lifts")))
        record.save(data)
        if all(entry.get("router") for entry in data["interfaces"].values()):
            record.decide("confirmed", "released")  # without pins there is nothing to keep
        for keeper in keepers(data["interfaces"], record):
            keeper.decide("confirmed", "released")
            keeper.wake()
    record.wake()
    return {"confirmed": True, **outcome, "after": snapshot(data["interfaces"]), "guard": guard_status(record)}


def snapshot(interfaces: Iterable[str]) -> Json:
    """Return size and routes of interfaces as they are now, for before and after."""
    links, routes = read_links(), read_routes()
    return {
        name: {
            "ip_mtu": links[name].mtu if name in links else None,
            "ipv6_mtu": links[name].ipv6_mtu if name in links else None,
            "routes": [route.text for route in of_device(routes, name)],
        }
        for name in interfaces
    }


def _memory(record: Record, changes: Any, within: float, interfaces: dict[str, Json]) -> Json:
    now = boot_time()
    return {
        "id": record.id,
        "armed_at": now,
        "time": clock_text(),
        "within": within,
        "deadline": now + within,
        "changes": changes,
        "interfaces": interfaces,
    }


def _within(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= LONGEST_WITHIN:
        message = f"{value!r} is no time to confirm within"
        raise ProbeError(message, object="within", wish=value, limit=f"more than 0, at most {LONGEST_WITHIN} seconds")
    return float(value)


def _again(record: Record, changes: Any) -> Json:
    """Answer an apply that has been done already, as after a lost reply; an id is never used for something else."""
    data, verdict = record.load(), record.verdict()
    if data["changes"] != changes or verdict not in {"armed", "confirmed", "released"}:
        why = f"it is {verdict}" if data["changes"] == changes else "it stands for other changes"
        message = f"the id {record.id} has been used: {why}"
        raise ProbeError(message, object=record.id, limit="an id of its own per change", advice="take a new id")
    require_as_applied(data["interfaces"])
    now = snapshot(data["interfaces"])
    return {"before": now, "after": now, "already": True, "notes": [], "guard": guard_status(record)}


def _perform(record: Record, interfaces: dict[str, Json]) -> None:
    """Pin, read everything back, raise, read everything back.

    IPv6: advertisements are stopped with the pins, and the interface keeps its IPv6 MTU while the link grows.
    """
    before = read_routes()
    expected = [route.text for route in before]
    for name, entry in interfaces.items():
        if entry["pin"] is None:
            continue
        for added in entry["added"]:
            put_pin(added, name)
        for route, mtu in unpinned(name, entry, before, Width(entry["pin"], entry["pin"])):
            set_route_mtu(route, mtu)
            expected[expected.index(route.text)] = " ".join(route.tokens_with(mtu))
    links = read_links()
    for name, entry in interfaces.items():
        ipv6.bind(name, ipv6.target(entry, links[name].mtu))
    ours = not all(entry.get("router") for entry in interfaces.values())  # a router's own routes may change meanwhile
    if ours:
        _require_nothing_else(expected, interfaces)
    _require_armed(record)
    _set_links(interfaces)
    if ours:
        _require_nothing_else(expected, interfaces)
    require_as_applied(interfaces)
    _require_armed(record)


def _set_links(interfaces: dict[str, Json]) -> None:
    """Set the links: what stands on another device grows after it and shrinks before it."""
    links = read_links()
    order = raising_order(links, [name for name, entry in interfaces.items() if entry["ip_mtu"]])
    smaller = [name for name in order if interfaces[name]["ip_mtu"]["to"] < links[name].mtu]
    for name in smaller[::-1] + [name for name in order if name not in smaller]:
        size = interfaces[name]["ip_mtu"]["to"]
        set_mtu(name, size, ipv6.target(interfaces[name], size))


def _require_nothing_else(expected: list[str], interfaces: dict[str, Json]) -> None:
    """Read all tables back: nothing but the MTUs of our routes may be different."""
    added = {
        (route.prefix, route.table, route.device)
        for entry in interfaces.values()
        for route in (parse_routes(one["text"])[0] for one in entry["added"])
    }
    found = [
        route.text for route in read_routes() if not (route.ours and (route.prefix, route.table, route.device) in added)
    ]
    different = differences(expected, found)
    if different:
        message = f"while the pins were set, another route changed: {'; '.join(different[:5])}"
        raise ProbeError(message, object="routes", advice="find what changes routes on this host, then try again")


def _require_armed(record: Record) -> None:
    if record.verdict() != "armed" or not record.guard_lives():
        message = f"the guard of {record.id} is gone or has fired before the change was complete"
        raise ProbeError(message, object=record.id, advice="allow more time with `within`")


def _require_guard(record: Record) -> None:
    if not record.guard_lives():
        message = f"the guard of {record.id} is dead: nobody would keep the pins"
        raise ProbeError(message, object=record.id, advice="revert, and find out what ends processes on this host")


def _take_back(record: Record, interfaces: dict[str, Json]) -> bool:
    """Undo a failed apply at once. Where that fails too, the guard stays armed and tries at its deadline."""
    undo = Undo(interfaces, record.report().get("adopted"))
    undo.run({name: set(ALL) for name in interfaces})
    complete = not undo.problems
    if complete and (record.decide("armed", "reverted") or record.verdict() == "fired"):
        record.wake()
    return complete


def _advise(problem: ProbeError, within: float, undone: bool) -> None:
    problem.undone = undone
    if not undone:
        problem.advice = (
            f"not all could be undone: the guard tries again within {within:g} s; read the host before going on"
        )


def _notes(interfaces: dict[str, Json]) -> list[str]:
    """Say what the pins do not cover, and what they leave as it is."""
    notes = []
    for name, entry in interfaces.items():
        if entry["pin"] is None:
            continue
        smaller = [route for route in parse_routes("\n".join(entry["routes"])) if route.mtu is not None]
        notes += [
            f"{name} {route.prefix} keeps its own MTU {route.mtu}" for route in smaller if route.mtu < entry["pin"]
        ]
        if any(added["rule"] for added in entry["added"]):
            notes.append(f"{name}: multicast is pinned for sockets that name {name}; others leave by another interface")
    return notes
