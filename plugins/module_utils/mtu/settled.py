"""The states that devices will tell once changes are confirmed: what a plan that goes on after them starts from."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping

from .routes import canonical
from .steps import Change

State = Dict[str, Any]


def settled(states: Mapping[str, Mapping[str, Any]], changes: Iterable[Change]) -> dict[str, Mapping[str, Any]]:
    """Return the states after these changes; the given ones stay as they are, and hosts without a change are shared.

    Sizes, routes and what a host persists follow; what a drain and a reload change does not: both end as they began.
    """
    found: dict[str, Mapping[str, Any]] = dict(states)
    by_host: dict[str, list[Change]] = {}
    for change in changes:
        by_host.setdefault(change.host, []).append(change)
    for host, its in by_host.items():
        state = found[host] = _copy(states[host])
        for change in its:
            _apply(state, change)
    return found


def _copy(state: Mapping[str, Any]) -> State:
    copied = {**state, "interfaces": {name: dict(port) for name, port in state["interfaces"].items()}}
    if state.get("routes") is not None:
        copied["routes"] = [dict(route) for route in state["routes"]]
    return copied


def _apply(state: State, change: Change) -> None:
    if change.field == "ip_mtu":
        port = state["interfaces"][change.interface]
        port.update(ip_mtu=change.to, device_mtu=change.to_device_mtu, persisted_mtu=change.to)
    elif change.field == "route_mtu":
        for route in _routes(state, change):
            route["mtu"] = change.to if change.to is None else min(change.to, route.get("mtu") or change.to)
    elif change.field == "persisted":
        # What runs is not what would boot: a guard keeps it until it is persisted again.
        state["guard"] = {**(state.get("guard") or {}), "state": "released" if change.to else "confirmed"}


def _routes(state: State, change: Change) -> list[State]:
    routes = [route for route in state.get("routes") or () if route.get("interface") == change.interface]
    if change.prefix is None:
        return routes
    return [route for route in routes if canonical(route["prefix"]) == canonical(change.prefix or "")]
