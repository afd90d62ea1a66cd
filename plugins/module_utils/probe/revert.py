"""The verb revert: takes back what a change has done, from the host's memory or, after a reboot, from the request."""

from __future__ import annotations

from typing import Any, Dict

from . import guard, persistence
from .apply import snapshot
from .changes import Change, read_changes
from .errors import ProbeError
from .lift import pin_prefix
from .multicast import rule_of
from .record import Record, acting, need_record
from .undo import ALL, Undo

Json = Dict[str, Any]


def revert(request: Json) -> Json:
    """Undo `changes` as they were applied (all of the id where none are given) in the lowering order: `{"id"}`."""
    record = need_record(request.get("id"))
    raw = request.get("changes")
    with acting():
        data = record.load() if record.verdict() else None
        if data is not None and record.is_over():
            reply = _nothing_left(record, data)
        else:
            changes = read_changes(raw) if raw else []
            if data is None and not changes:
                record.load()  # says that the id is not known
            reply = _take_back(record, data, changes)
    if reply["complete"] and record.exists():
        guard.stop(record)
    reply["guard"] = guard.status(record) if record.verdict() else None
    return reply


def _nothing_left(record: Record, data: Json) -> Json:
    now = snapshot(data["interfaces"])
    restored = persistence.restore(record, data["interfaces"])
    return {"reverted": True, "complete": True, "undone": [], "persisted": restored, "before": now, "after": now}


def _take_back(record: Record, data: Json | None, changes: list[Change]) -> Json:
    interfaces = data["interfaces"] if data is not None else _assume(changes)
    wanted = _wanted(interfaces, changes)
    before = snapshot(interfaces)
    undo = Undo(interfaces, record.report().get("adopted") if data is not None else None)
    for change in changes:
        if change.prefix is not None and "lifts" not in wanted.get(change.interface, ()):
            undo.done += pin_prefix(
                interfaces.get(change.interface, {}), change.interface, change.prefix, change.before
            )
    undo.run(wanted)
    if data is not None:
        record.save(data)
    if undo.problems:
        problem = undo.problems[0]
        problem.undone = False
        raise problem
    complete = not any(entry["ip_mtu"] or entry["pin"] or entry["lifts"] for entry in interfaces.values())
    persisted = _persist(record, data, changes, complete=complete)
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


def _assume(changes: list[Change]) -> dict[str, Json]:
    """Return entries as a record would have them, from the request alone: the host has been booted since."""
    interfaces: dict[str, Json] = {}
    for change in changes:
        entry = interfaces.setdefault(
            change.interface, {"ip_mtu": None, "pin": None, "routes": [], "added": [], "lifts": {}}
        )
        if change.prefix is None and change.field == "ip_mtu":
            entry["ip_mtu"] = {"from": change.before, "to": change.after}
        elif change.prefix is None and change.field == "route_mtu":
            entry["pin"] = change.after
            entry["assumed"] = {"from": change.before, "to": change.after}
            entry["added"] = [{"text": "", "rule": rule_of(change.interface)}]
    return interfaces


def _persist(record: Record, data: Json | None, changes: list[Change], *, complete: bool) -> bool | None:
    """Bring the boot configuration in line with what is left; None where nothing had been persisted."""
    names = list(data["interfaces"]) if data is not None else sorted({change.interface for change in changes})
    if complete and any(change.prefix is None and change.field != "persisted" for change in changes or [_EVERYTHING]):
        return persistence.restore(record, names)
    if data is None or "persisted" not in data:
        return None
    without = any(change.field == "persisted" for change in changes)
    outcome = persistence.write(record, data, with_lifts=bool(data["persisted"]["lifts"]) and not without)
    record.save(data)
    return outcome["persisted"]  # type: ignore[no-any-return]


_EVERYTHING = Change("", None, "ip_mtu", None, None)


def _close(record: Record) -> None:
    for verdict in ("armed", "confirmed", "released", "fired"):
        if record.decide(verdict, "reverted"):
            return
