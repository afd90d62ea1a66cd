"""What the inventory says, as frozen values. Sizes are bytes of IP packet (`ip_mtu`) unless a field says frame."""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

# Groups that make a device a switch or router of the fabric, whatever it runs.
NETWORK_GROUPS = frozenset({"spines", "leafs", "borders"})


def natural_key(text: str) -> tuple[Any, ...]:
    """Sort key by which leaf2 comes before leaf10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", text) if part)


def port_under(interface: str) -> str:
    """Return the port under a VLAN interface by its name (`eth1.10`, `lagg0_vlan20`), else the name itself."""
    return re.split(r"\.|_vlan", interface, maxsplit=1)[0]


class End(NamedTuple):
    """One interface of one device; `str()` is "device:interface"."""

    device: str
    interface: str

    def __str__(self) -> str:
        return f"{self.device}:{self.interface}"


@dataclass(frozen=True)
class Through:
    """A box inside a cable that has no interface of ours. `max_frame`: its largest frame in bytes, FCS excluded."""

    name: str
    kind: str  # tap | switch
    max_frame: int | None


@dataclass(frozen=True)
class Link:
    """A cable between two physical ports."""

    a: End
    b: End
    routing: str = "none"  # none | static | bgp | ospf | isis
    tagging: str = "untagged"  # untagged | tagged | flexible
    through: tuple[Through, ...] = ()

    @property
    def ends(self) -> tuple[End, End]:
        """Both ends, in the order of the inventory."""
        return (self.a, self.b)

    def end_on(self, device: str) -> End:
        """Return the end on that device."""
        return self.a if self.a.device == device else self.b

    def other(self, end: End) -> End:
        """Return the far end as seen from one end."""
        return self.b if end == self.a else self.a

    def __hash__(self) -> int:
        return hash((self.a, self.b))  # a port ends one cable; links are keys very often

    def __str__(self) -> str:
        return f"{self.a} - {self.b}"


@dataclass(frozen=True)
class Lag:
    """An aggregate of a device; its MTU is set on `name`, its errors are counted on the members."""

    device: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two switches that act as one for what is attached to both (MLAG).

    `peering`: the interface by which they talk to each other over the peer link, of one name on both (an SVI).
    """

    name: str
    devices: tuple[str, ...]
    peer_link: str | None
    peering: str | None = None


@dataclass(frozen=True)
class Member:
    """A speaker in a segment. `ip_mtu` is what it accepts if it is not ours; `interface` is None only then."""

    device: str
    interface: str | None
    managed: bool = True
    ip_mtu: int | None = None

    @property
    def end(self) -> End | None:
        """The member as an End, or None where its interface isn't known."""
        return None if self.interface is None else End(self.device, self.interface)

    def __str__(self) -> str:
        return self.device if self.interface is None else f"{self.device}:{self.interface}"


@dataclass(frozen=True)
class Segment:
    """A broadcast domain. `ip_mtu` is the exact size its members shall use."""

    name: str
    vlan: int | None
    subnets: tuple[str, ...]
    role: str
    ip_mtu: int
    members: tuple[Member, ...]

    def __hash__(self) -> int:
        return hash(self.name)  # names are unique, members are many


@dataclass(frozen=True)
class Waiver:
    """A danger that the operator has accepted, by name and with a reason."""

    kind: str  # unmanaged_member | exposure | only_path | no_dead_man | known_limit | outage
    object: str
    reason: str


@dataclass(frozen=True)
class Device:
    """A device of the inventory. `addresses` is {interface: (prefix, ...)}."""

    name: str
    platform: str
    groups: frozenset[str]
    rack: str | None
    addresses: dict[str, tuple[str, ...]]

    @functools.cached_property
    def is_host(self) -> bool:
        """True for an end system, False for what switches or routes for others by its role in the inventory."""
        return self.platform == "linux" and not self.groups & NETWORK_GROUPS

    @property
    def is_border(self) -> bool:
        """True for what joins the fabric to other networks: raised after all that is behind it."""
        return "borders" in self.groups


@dataclass(frozen=True)
class Intent:
    """Everything the inventory asks for, checked.

    `excluded_interfaces` are "device:pattern" texts; `control_sessions` are (router, router), over several hops.
    """

    devices: dict[str, Device]
    links: tuple[Link, ...]
    lags: tuple[Lag, ...]
    pairs: tuple[Pair, ...]
    segments: tuple[Segment, ...]
    ip_mtu: int
    underlay_ip_mtu: int
    baseline_ip_mtu: int
    encapsulations: tuple[Any, ...]
    excluded_interfaces: tuple[str, ...]
    stages: tuple[str, ...]
    approve: tuple[str, ...]
    approved: tuple[str, ...]
    resume: str
    confirm_within: int
    soak_seconds: int
    max_wave: int
    allow_reload: bool
    reload_window: str
    reload_within: int
    waivers: tuple[Waiver, ...]
    canary: tuple[str, ...]
    control_sessions: tuple[tuple[str, str], ...] = ()

    def is_excluded(self, end: End) -> bool:
        """Tell whether the inventory forbids touching this interface."""
        return any(fnmatch.fnmatchcase(str(end), pattern) for pattern in self.excluded_interfaces)

    def waived(self, kind: str, *objects: str) -> bool:
        """Tell whether a waiver of that kind names one of the objects."""
        return any(waiver.kind == kind and waiver.object in objects for waiver in self.waivers)
