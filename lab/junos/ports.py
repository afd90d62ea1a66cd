"""What the configuration makes of each interface: the part of `show interfaces` that needs no data plane."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .hardware import DEFAULT_IP_MTU, MPLS_OVERHEAD, OVERHEAD
from .tree import Tree, branch, entries, get, has, natural, value, values

ETHERNET, LAG, IRB, LOOPBACK, MANAGEMENT, TUNNEL = "ethernet", "lag", "irb", "loopback", "management", "tunnel"
_KINDS = {"ae": LAG, "irb": IRB, "vlan": IRB, "lo": LOOPBACK, "fxp": MANAGEMENT, "em": MANAGEMENT, "me": MANAGEMENT}
_SPEEDS = {"ge": 1, "xe": 10, "et": 40}  # gigabit per second
# What a box has beside its ports, whether it is configured or not.
BUILT_IN = ("irb", "lo0", "vtep", "em0")


@dataclass(frozen=True, slots=True)
class Family:
    """A protocol of a unit; `mtu` None is "Unlimited"."""

    name: str
    mtu: int | None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A logical interface."""

    name: str
    enabled: bool
    description: str
    vlan: str
    families: tuple[Family, ...]

    def mtu(self, family: str = "inet") -> int | None:
        """Return the MTU of a family, None where the unit has none of it."""
        return next((found.mtu for found in self.families if found.name == family), None)


@dataclass(frozen=True, slots=True)
class Physical:
    """A physical interface; `mtu` is the media MTU, None where it is "Unlimited"."""

    name: str
    kind: str
    mtu: int | None
    tagging: str
    enabled: bool
    description: str
    gigabits: int
    units: tuple[Unit, ...]
    lag: str = ""
    members: tuple[str, ...] = ()

    @property
    def overhead(self) -> int:
        """Return what the media MTU counts beside the IP packet."""
        return OVERHEAD[self.tagging]

    @property
    def is_switched(self) -> bool:
        """Tell whether it is a layer-2 port."""
        return any(family.name == "eth-switch" for unit in self.units for family in unit.families)


def kind_of(name: str) -> str:
    """Return the kind of an interface by its name."""
    letters = re.split(r"[-\d]", name, maxsplit=1)[0]
    if letters in ("gr", "ip", "vtep", "st"):
        return TUNNEL
    return _KINDS.get(letters, ETHERNET)


def ports_of(config: Tree, sockets: Iterable[str]) -> dict[str, Physical]:
    """Return every physical interface by name: the box's own and the configured ones."""
    configured = entries(branch(config, "interfaces"), "interface")
    names = sorted({*configured, *sockets, *BUILT_IN}, key=natural)
    members: dict[str, list[str]] = {}
    for name in names:
        if lag := _lag(configured.get(name, {})):
            members.setdefault(lag, []).append(name)
    return {name: _physical(config, name, configured, tuple(members.get(name, ()))) for name in names}


def own_mtu(block: Tree) -> int | None:
    """Return the media MTU that is configured."""
    text = value(block, "mtu")
    return int(text) if text else None


def media_mtu(block: Tree) -> int:
    """Return the media MTU that is in force: without a statement the one that an IP packet of 1500 needs."""
    return own_mtu(block) or DEFAULT_IP_MTU + OVERHEAD[tagging_of(block)]


def tagging_of(block: Tree) -> str:
    """Return the tagging of a port."""
    if has(block, "flexible-vlan-tagging"):
        return "flexible"
    return "vlan" if has(block, "vlan-tagging") else "plain"


def lag_of(block: Tree) -> str:
    """Return the aggregate that a port is a member of, "" for none."""
    return _lag(block)


def _lag(block: Tree) -> str:
    options = (value(block, word, "802.3ad") for word in ("gigether-options", "ether-options"))
    return next((name for name in options if name), "")


def _physical(config: Tree, name: str, configured: dict[str, Tree], members: tuple[str, ...]) -> Physical:
    block, kind = configured.get(name, {}), kind_of(name)
    lag = _lag(block)
    media = media_mtu(configured.get(lag, {}) if lag else block)
    shown = None if kind in (LOOPBACK, TUNNEL) else media
    tagging = tagging_of(configured.get(lag, {}) if lag else block)
    units = sorted(entries(block, "unit").items(), key=_number)
    return Physical(
        name=name,
        kind=kind,
        mtu=shown,
        tagging=tagging,
        enabled=not has(block, "disable"),
        description=value(block, "description") or "",
        gigabits=_SPEEDS.get(name[:2], 0) or 10 * len(members),
        units=tuple(_unit(config, name, number, unit, shown) for number, unit in units),
        lag=lag,
        members=members,
    )


def _number(item: tuple[str, Tree]) -> int:
    return int(item[0])


def _unit(config: Tree, name: str, number: str, block: Tree, media: int | None) -> Unit:
    families = []
    for word, shown in (("inet", "inet"), ("inet6", "inet6"), ("iso", "iso"), ("mpls", "mpls")):
        if has(block, "family", word):
            inner = branch(block, "family", word)
            size = family_mtu(config, name, number, word, media)
            families.append(Family(shown, size, tuple(entries(inner, "address"))))
    if has(block, "family", "ethernet-switching"):
        families.append(Family("eth-switch", media))
    return Unit(
        name=f"{name}.{number}",
        enabled=not has(block, "disable"),
        description=value(block, "description") or "",
        vlan=value(block, "vlan-id") or "",
        families=tuple(families),
    )


def family_mtu(config: Tree, name: str, number: str, family: str, media: int | None) -> int | None:
    """Return the effective MTU of a unit's family, None for "Unlimited".

    Without a family MTU it follows the media MTU. An irb unit is held by the smallest port of its VLAN (KB27446).
    """
    block = branch(config, "interfaces", ("interface", name))
    unit = branch(block, ("unit", number))
    own = value(unit, "family", family, "mtu")
    if media is None and not own:
        return None
    room = (media or 0) - OVERHEAD[tagging_of(block)] - (MPLS_OVERHEAD if family == "mpls" else 0)
    size = int(own) if own else room
    limit = irb_limit(config, number) if kind_of(name) == IRB else None
    return min(size, limit) if limit is not None else size


def irb_limit(config: Tree, number: str) -> int | None:
    """Return what the ports of an irb unit's VLAN carry at most, None where it has none."""
    sizes = []
    for vlan in _vlans_of(config, number):
        for port, block in entries(branch(config, "interfaces"), "interface").items():
            if kind_of(port) in (ETHERNET, LAG) and any(
                vlan in _members(unit) for unit in entries(block, "unit").values()
            ):
                sizes.append(media_mtu(block) - OVERHEAD["plain"])
    return min(sizes, default=None)


def _vlans_of(config: Tree, number: str) -> set[str]:
    found = set()
    for name, vlan in entries(branch(config, "vlans"), "vlan").items():
        if value(vlan, "l3-interface") == f"irb.{number}":
            found |= {name, value(vlan, "vlan-id") or name}
    return found


def _members(unit: Tree) -> list[str]:
    switching = get(unit, "family", "ethernet-switching")
    return values(switching, "vlan", "members") if isinstance(switching, dict) else []
