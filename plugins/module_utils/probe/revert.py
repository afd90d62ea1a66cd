"""The verb revert: takes back what a change has done, from the host's memory or, after a reboot, from the request."""

from __future__ import annotations

from typing import Any, Dict, Iterable

from . import guard, persistence
from .apply import snapshot
from .changes import Change, read_changes
from .errors import ProbeError
from .keep import adopters
from .lift import pin_prefix
from .links import read_links
from .multicast import find_pin, rule_of
from .record import Record, acting, need_record
from .routes import read_routes
from .status import guard_status
from .undo import ALL, Undo

Json = Dict[str, Any]


def revert(request: Json) -> Json:
    """Undo `changes` as they were applied (all of the id where none are given) in the lowering order: `{"id"}`."""
    record = need_record(request.get("id"))
    raw = request.get("changes")
    with acting():
        data = record.load() if record.verdict() else None
        stand_ins: dict[str, Record] = {}
        if data is not None and record.is_over():
            reply = _nothing_left(record, data)
        else:
            changes = read_changes(raw) if raw else []
            if data is None and not changes:
                record.load()  # says that the id is not known
            _require_own(record, data)
            if data is None:
                stand_ins = adopters(change.interface for change in changes)
            reply = _take_back(record, data, changes, stand_ins)
    if reply["complete"] and record.exists():
        guard.stop(record)
    for stand_in in stand_ins.values():
        if stand_in.is_over():
            guard.stop(stand_in)
    reply["guard"] = guard_status(record) if record.verdict() else None
    return reply


def _require_own(record: Record, data: Json | None) -> None:
    if data is not None and data.get("adopted"):
        message = f"{record.id} only keeps the pins of another change"
        raise ProbeError(message, object=record.id, advice="revert that change, by its own id: it knows the way back")


def _nothing_left(record: Record, data: Json) -> Json:
    now = snapshot(data["interfaces"])
    restored = persistence.restore(record, data["interfaces"])
    return {"reverted": True, "complete": True, "undone": [], "persisted": restored, "before": now, "after": now}


def _take_back(record: Record, data: Json | None, changes: list[Change], stand_ins: dict[str, Record]) -> Json:
    interfaces = data["interfaces"] if data is not None else _assume(changes, stand_ins)
    untouched = _never_made(record, interfaces, stand_ins) if data is None else []
    changes = [change for change in changes if change.prefix is not None or change.interface not in untouched]
    interfaces = {name: entry for name, entry in interfaces.items() if name not in untouched}
    wanted = _wanted(interfaces, changes)
    before = snapshot(interfaces)
    undo = Undo(interfaces, _adopted([record] if data is not None else stand_ins.values()))
    undo.done += [f"{name} left as it is: nothing shows that this change was ever made here" for name in untouched]
    for change in changes:
        if change.prefix is not None and "lifts" not in wanted.get(change.interface, ()):
            undo.done += pin_prefix(
                interfaces.get(change.interface, {}), change.interface, change.prefix, change.before
            )
    undo.run(wanted)
    if data is not None:
        record.save(data)
    _hand_back(interfaces, stand_ins)
    if undo.problems:
        problem = undo.problems[0]
        problem.undone = False
        raise problem
    complete = not any(entry["ip_mtu"] or entry["pin"] or entry["lifts"] for entry in interfaces.values())
    persisted = _persist(record, data, changes, complete=complete)
    for stand_in in stand_ins.values():
        if complete:
            persistence.forget(stand_in)
    if complete and data is not None:
        _close(record)
    return {
        "reverted": True,
        "complete": complete,
        "undone": undo.done,
        "persisted": persisted,
        "before": before,
        "after": snapshot(interfaces),
    }


def _wanted(interfaces: dict[str, Json], changes: list[Change]) -> dict[str, set[str]]:
    """Return what to undo of each interface; a link or all its pins include the lifts of that interface."""
    if not changes:
        return {name: set(ALL) for name in interfaces}
    wanted: dict[str, set[str]] = {}
    for change in changes:
        if change.prefix is None and change.field != "persisted":
            if change.interface not in interfaces:
                message = f"this change did not touch {change.interface}"
                raise ProbeError(message, object=change.interface, limit=", ".join(sorted(interfaces)))
            wanted.setdefault(change.interface, {"lifts"}).add(change.field)
    return wanted


def _assume(changes: list[Change], stand_ins: dict[str, Record]) -> dict[str, Json]:
    """Return entries as a record would have them, from the request alone: the host has been booted since.

    What has been lifted or pinned again since then, a record that was made from what runs knows.
    """
    interfaces: dict[str, Json] = {}
    for change in changes:
        name = change.interface
        entry = interfaces.setdefault(name, {"ip_mtu": None, "pin": None, "routes": [], "added": [], "lifts": {}})
        if name in stand_ins:
            known = stand_ins[name].load()["interfaces"][name]
            entry.update(pin=known["pin"], lifts=known["lifts"])
        if change.prefix is None and change.field == "ip_mtu":
            entry["ip_mtu"] = {"from": change.before, "to": change.after}
        elif change.prefix is None and change.field == "route_mtu":
            entry["pin"] = change.after
            entry["assumed"] = {"from": change.before, "to": change.after}
            entry["added"] = [{"text": "", "rule": rule_of(name)}]
    return interfaces


def _never_made(record: Record, interfaces: dict[str, Json], stand_ins: dict[str, Record]) -> list[str]:
    """Return the interfaces on which nothing shows that the change was made: an apply that the host had refused."""
    if persistence.has_original(record):
        return []
    links, routes = read_links(), read_routes()
    return [
        name
        for name, entry in interfaces.items()
        if entry["ip_mtu"] is not None
        and (name not in links or links[name].mtu != entry["ip_mtu"]["to"])
        and name not in stand_ins
        and find_pin(name, routes) is None
    ]


def _adopted(records: Iterable[Record]) -> dict[str, int | None]:
    """Return what guards have pinned although it was not theirs."""
    found: dict[str, int | None] = {}
    for record in records:
        found.update(record.report().get("adopted", {}))
    return found


def _hand_back(interfaces: dict[str, Json], stand_ins: dict[str, Record]) -> None:
    """Tell the records that were made from what runs what is left to keep: nothing where the pins are gone."""
    for name, stand_in in stand_ins.items():
        entry, data = interfaces[name], stand_in.load()
        data["interfaces"][name].update(pin=entry["pin"], lifts=entry["lifts"])
        stand_in.save(data)
        if entry["pin"] is None:
            _close(stand_in)


def _persist(record: Record, data: Json | None, changes: list[Change], *, complete: bool) -> bool | None:
    """Bring the boot configuration in line with what is left; None where nothing had been persisted."""
    names = list(data["interfaces"]) if data is not None else sorted({change.interface for change in changes})
    if complete and any(change.prefix is None and change.field != "persisted" for change in changes or [_EVERYTHING]):
        restored = persistence.restore(record, names)
        if restored is None and (data is None or "persisted" in data):
            restored = persistence.settle(names)
        return restored
    if data is None or "persisted" not in data:
        return None
    without = any(change.field == "persisted" for change in changes)
    outcome = persistence.write(record, data, with_lifts=bool(data["persisted"]["lifts"]) and not without)
    record.save(data)
    if outcome["persisted"] is False:
        message = f"the boot configuration still holds what was taken back: {'; '.join(outcome['not_persisted'])}"
        raise ProbeError(message, object=record.id, advice=persistence.ADVICE)
    return outcome["persisted"]  # type: ignore[no-any-return]


_EVERYTHING = Change("", None, "ip_mtu", None, None)


def _close(record: Record) -> None:
    for verdict in ("armed", "confirmed", "released", "fired"):
        if record.decide(verdict, "reverted"):
            return
