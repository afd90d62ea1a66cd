"""What the configuration makes of each interface: the part of `show interfaces` that needs no data plane."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Block, Config
from .hardware import Hardware
from .names import KINDS, is_subinterface, kind_of, parent_of

ROUTED, BRIDGED, MEMBER = "routed", "bridged", "dataLink"
_SWITCHABLE = {"Ethernet", "Port-Channel"}
_GIGABIT = 1_000_000_000
_SPEED = {"Ethernet": 10 * _GIGABIT, "Management": _GIGABIT}


@dataclass(frozen=True, slots=True)
class Port:
    """One interface as configured."""

    name: str
    kind: str
    hardware: str
    forwarding: str
    mtu: int
    own_mtu: bool
    l2_mru: int
    description: str
    enabled: bool
    addresses: tuple[str, ...]
    ipv6_addresses: tuple[str, ...]
    bandwidth: int
    vlan: str
    lag: str = ""
    members: tuple[str, ...] = ()

    @property
    def in_plane(self) -> bool:
        """Tell whether the data plane has this interface: its sockets, aggregates and SVIs, not the rest."""
        return self.kind in {"Ethernet", "Port-Channel", "Vlan"} and not is_subinterface(self.name)


def ports_of(config: Config, hardware: Hardware) -> dict[str, Port]:
    """Return every interface of the configuration by name, in EOS's order."""
    blocks = config.interfaces()
    members: dict[str, list[str]] = {}
    for name, block in blocks.items():
        if group := block.value("channel-group"):
            members.setdefault(f"Port-Channel{group.split()[0]}", []).append(name)
    return {name: _port(config, hardware, name, tuple(members.get(name, ()))) for name in blocks}


def _port(config: Config, hardware: Hardware, name: str, members: tuple[str, ...]) -> Port:
    block = config.root.children[f"interface {name}"]
    kind = kind_of(name)
    forwarding = _forwarding(config, name, block)
    mtu, own = hardware.mtu_of(config, name, routed=forwarding == ROUTED)
    speed = _SPEED.get(kind, 0) or _GIGABIT * 10 * len(members)
    return Port(
        name=name,
        kind=kind,
        hardware="subinterface" if is_subinterface(name) else KINDS[kind],
        forwarding=forwarding,
        mtu=mtu,
        own_mtu=own,
        l2_mru=int(block.value("l2 mru") or 0),
        description=block.value("description") or "",
        enabled=_enabled(config, name, block),
        addresses=_addresses(block),
        ipv6_addresses=tuple(key.split()[2] for key in block.lines if key.startswith("ipv6 address ")),
        bandwidth=0 if is_subinterface(name) else speed,
        vlan=_vlan(block, forwarding),
        lag=_lag(block),
        members=members,
    )


def _forwarding(config: Config, name: str, block: Block) -> str:
    kind = kind_of(name)
    if kind == "Vxlan":
        return BRIDGED
    if kind not in _SWITCHABLE or is_subinterface(name):
        return ROUTED
    if "channel-group" in block.lines:
        return MEMBER
    routed = "switchport" in block.lines or config.root.value("switchport default mode") == ROUTED
    return ROUTED if routed else BRIDGED


def _enabled(config: Config, name: str, block: Block) -> bool:
    if "shutdown" in block.lines:
        return False
    parent = config.root.children.get(f"interface {parent_of(name)}") if is_subinterface(name) else None
    return parent is None or "shutdown" not in parent.lines


def _addresses(block: Block) -> tuple[str, ...]:
    """Return the IPv4 prefixes, the primary first."""
    found = [block.value("ip address") or block.value("ip address virtual") or ""]
    found += [key.split()[2] for key in block.lines if key.startswith("ip address ") and key.endswith(" secondary")]
    return tuple(prefix for prefix in found if prefix)


def _lag(block: Block) -> str:
    group = block.value("channel-group")
    return f"Port-Channel{group.split()[0]}" if group else ""


def _vlan(block: Block, forwarding: str) -> str:
    if forwarding == ROUTED:
        return ROUTED
    if forwarding == MEMBER:
        return f"in Po{_lag(block).removeprefix('Port-Channel')}"
    return "trunk" if block.value("switchport mode") == "trunk" else block.value("switchport access vlan") or "1"
