"""A FastIron box's state, from what it prints: show interfaces, both configurations, LLDP. No I/O.

All ports of a box have one frame size. A switched port has no IP MTU of its own; whether a port is switched, the
configuration tells. What the box takes in is known of a box as a whole: see mtu/boxes.py.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.capability import box_receives
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_fastiron
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

Interfaces = Dict[str, Dict[str, Any]]
OWN_SIZE = ("routed", "svi")
"""The kinds of interfaces that have an `ip mtu`."""


def interfaces_of(shown: str, saved: Config, running: Config) -> Interfaces:
    """Return {name: interface} of `show interfaces`."""
    lags = running.lags()
    lag_of = {number: lag for lag, numbers in lags.items() for number in numbers}
    found: Interfaces = {}
    for parsed in parse_fastiron.parse_interfaces(shown):
        name = parsed["name"].replace("Lag ", "")
        number = words.number_of(name)
        lag = None if name in lags else lag_of.get(number) or parsed["parent"]
        kind = _kind(name, parsed["kind"], lag, routed=running.is_routed(name))
        found[name] = {
            **parsed,
            "name": name,
            "kind": kind,
            "parent": lag,
            "ip_mtu": None if kind in ("switched", "lag", "member") else parsed["ip_mtu"],
            "mru": None,
            "configured_mtu": running.ip_mtu(name),
            "addresses": running.addresses(name) or parsed["addresses"],
        }
    _add_members(found, lags)
    _add_vlans(found, running)
    active = is_active(found)
    for interface in found.values():
        _settle(interface, saved, active)
    return found


def _kind(name: str, parsed: str, lag: str | None, *, routed: bool) -> str:
    if parsed in ("svi", "management", "loopback"):
        return parsed
    if words.command_of(name) == f"lag {words.number_of(name)}":
        return "routed" if routed else "lag"
    if lag:
        return "member"
    return "routed" if routed or parsed == "routed" else "switched"


def _add_members(found: Interfaces, lags: Mapping[str, Sequence[str]]) -> None:
    names = {words.number_of(name): name for name in found if (words.command_of(name) or "").startswith("ethernet")}
    for lag, numbers in lags.items():
        if lag in found:
            found[lag]["members"] = [names[number] for number in numbers if number in names]


def _add_vlans(found: Interfaces, running: Config) -> None:
    """Add the VLANs that each interface switches (docs/explanation/architecture.md); for its ports, a LAG does."""
    lags, named, default = running.lags(), running.vlans(), running.default_vlan
    for name, interface in found.items():
        kind = interface["kind"]
        if kind in ("switched", "lag"):
            parts = [name, *lags.get(name, ())] if kind == "lag" else [words.number_of(name)]
            vlans = sorted({vlan for part in parts for vlan in named.get(part, ())}) or ([default] if default else None)
        else:
            vlans = None if kind == "management" else []
        interface["vlans"] = None if vlans is None else [[vlan, vlan] for vlan in vlans]


def _settle(interface: dict[str, Any], saved: Config, active: bool | None) -> None:
    """Add what the box takes in, and what a reboot would bring."""
    kind, stated = interface["kind"], saved.ip_mtu(interface["name"])
    if kind in ("switched", "lag", "member") and active is not None:
        interface["mru"] = box_receives(jumbo=active)
    if kind in OWN_SIZE:
        same = stated == interface["configured_mtu"]
        interface["persisted_mtu"] = interface["ip_mtu"] if same else stated or words.DEFAULT_IP_MTU
    else:
        interface["persisted_mtu"] = interface["ip_mtu"]


def is_active(interfaces: Interfaces) -> bool | None:
    """Tell whether large frames are active, by the frame size that all ports print; None where none tells it.

    Routed ports print their own `ip mtu` instead, which may be no more than what is stated: nothing tells that a box
    refuses or ignores a large one before its reload.
    """
    frames = [
        interface["device_mtu"]
        for interface in interfaces.values()
        if interface["kind"] in ("switched", "member") and interface["device_mtu"] is not None
    ]
    return all(parse_fastiron.is_jumbo(frame) for frame in frames) if frames else None


def jumbo_of(interfaces: Interfaces, saved: Config, running: Config) -> dict[str, bool | None]:
    """Return how far `jumbo` is: {configured, saved, active}."""
    return {"configured": running.has_jumbo, "saved": saved.has_jumbo, "active": is_active(interfaces)}


def add_neighbours(interfaces: Interfaces, shown: str | None) -> None:
    """Add who is at the far end of each port; what runs no LLDP tells nothing of it."""
    by_number = _neighbours(shown)
    if by_number is None:
        return
    for name, interface in interfaces.items():
        if (words.command_of(name) or "").startswith("ethernet"):
            interface["neighbours"] = by_number.get(words.number_of(name), [])


def neighbours_of(shown: str | None) -> frozenset[tuple[str, str, str]]:
    """Return who LLDP sees: (port's number, its far end's name, the interface there)."""
    told = _neighbours(shown) or {}
    return frozenset((port, str(one["host"]), str(one["interface"])) for port, some in told.items() for one in some)


def _neighbours(shown: str | None) -> dict[str, list[dict[str, Any]]] | None:
    if shown is None or shown.strip().lower().startswith("lldp is not"):
        return None
    return parse_fastiron.parse_neighbours(shown)


def unsaved_of(saved: Config, running: Config) -> str:
    """Return what differs between both configurations; `jumbo` alone is told as what it is, not as somebody's edit.

    With a `jumbo` that is not saved come statements of the default size, which change nothing: see fastiron_sizes.py.
    """
    left = running.without(())
    if running.has_jumbo and not saved.has_jumbo:
        left = left.without_defaults(saved)
    return words.difference(saved.without(()), left)


def pending_of(scheduled: str | None) -> dict[str, Any]:
    """Return what waits: a scheduled reload. Its time may be told wrongly by the box, so none is told (FI-276656).

    Whose it is, the box does not say, so it is never called ours: ours is the one of an armed handle in the journal.
    """
    if scheduled is None:
        return {"owner": "none", "name": None, "seconds_left": None, "kind": None, "advice": None}
    advice = "It reloads the box, and what is not saved is lost by it: wait for it, or take it back (`reload cancel`)."
    return {"owner": "foreign", "name": scheduled[:100], "seconds_left": None, "kind": "reload", "advice": advice}


def ports_up(interfaces: Interfaces) -> list[str]:
    """Return the ports and LAGs that are up, management left out."""
    return [
        name for name, one in interfaces.items() if one["oper_up"] and one["kind"] not in ("management", "loopback")
    ]
