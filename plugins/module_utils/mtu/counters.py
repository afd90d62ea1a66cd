"""Counter differences, wrap and clear told apart, and drift of MTU values. Pure functions."""

from __future__ import annotations

from typing import Any, Mapping

# A counter that falls from the last quarter of its range into the first has wrapped; any other fall is a clear.
_SIZES = (2**32, 2**64)
_QUARTER = 4


UPTIME_GRAIN = 60
"""Seconds by which an uptime may be told too short: some devices tell whole minutes."""


def counter_delta(
    after: Mapping[str, Any], before: Mapping[str, Any], restarted: bool = False
) -> dict[str, dict[str, Any]]:
    """Return {counter: {delta, reset, wrapped}} for every counter of either reading.

    `delta` is None where one reading has no number; after a reset it is what was counted since (at least). `restarted`:
    the device has booted between the readings, so every counter began anew, whatever it says now.
    """
    names = [*after, *(name for name in before if name not in after)]
    return {name: _delta(after.get(name), before.get(name), restarted) for name in names}


def has_restarted(after: Mapping[str, Any], before: Mapping[str, Any]) -> bool | None:
    """Tell whether a device has booted between two states, None where a state does not tell its uptime.

    `up_seconds`: for how long it is up; `read_at`: when it was read, in seconds. Where both tell that too, a device is
    found as well that is up for longer than it was then, and not for as long as it was read apart.
    """
    then, now = before.get("up_seconds"), after.get("up_seconds")
    if then is None or now is None:
        return None
    began, ended = before.get("read_at"), after.get("read_at")
    if began is None or ended is None:
        return bool(now < then)
    return bool(now + UPTIME_GRAIN < then + ended - began)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _delta(after: Any, before: Any, restarted: bool) -> dict[str, Any]:
    if not _is_count(after) or not _is_count(before):
        return {"delta": None, "reset": False, "wrapped": False}
    if restarted:
        return {"delta": after, "reset": True, "wrapped": False}
    if after >= before:
        return {"delta": after - before, "reset": False, "wrapped": False}
    for size in _SIZES:
        if size - size // _QUARTER <= before < size and after < size // _QUARTER:
            return {"delta": after + size - before, "reset": False, "wrapped": True}
    return {"delta": after, "reset": True, "wrapped": False}


def mtu_drift(observed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return [{host, interface, kind, wanted, observed}] of what is not as wanted; sizes in bytes of IP packet.

    `observed`: {host: state} or {host: {interface: {"ip_mtu", "persisted_mtu", ...} or a number}}.
    `wanted`: {host: {interface: ip_mtu}}. `kind`: not_read (no such host), missing (no such interface), unknown (the
    platform does not tell), low, high, or not_persisted (right now, another value after a reboot).
    """
    drift = []
    for host in sorted(wanted):
        state = observed.get(host)
        interfaces = _interfaces(state)
        for interface in sorted(wanted[host]):
            size = wanted[host][interface]
            found = interfaces.get(interface)
            kind, value = ("not_read", None) if state is None else _kind(found, size)
            if kind:
                entry = {"host": host, "interface": interface, "kind": kind, "wanted": size, "observed": value}
                drift.append(entry)
    return drift


def _interfaces(state: Any) -> Mapping[str, Any]:
    """Accept a state, {interface: ...} or a list of interfaces as `parse_interfaces` returns it."""
    if isinstance(state, (list, tuple)):
        return {interface["name"]: interface for interface in state}
    found = state.get("interfaces", state) if isinstance(state, Mapping) else {}
    return found if isinstance(found, Mapping) else _interfaces(found)


def _kind(found: Any, size: int) -> tuple[str | None, Any]:
    if found is None:
        return "missing", None
    value = found.get("ip_mtu") if isinstance(found, Mapping) else found
    if value is None:
        return "unknown", None
    if value != size:
        return ("low" if value < size else "high"), value
    persisted = found.get("persisted_mtu") if isinstance(found, Mapping) else None
    return ("not_persisted", persisted) if persisted not in (None, size) else (None, None)
