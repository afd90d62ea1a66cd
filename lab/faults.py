"""Faults by name: what each breaks, where by default, and how a roll-out is expected to end with it.

A new fault is one function that marks its damage and one row of FAULTS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .fabric import Cable, Fabric
from .platforms import ETHERNET_OVERHEAD

_OLD_IP_MTU = 1500
_TAP_FRAME = 1518
_SLOW_COMMIT_SECONDS = 8.0


@dataclass(slots=True)
class Damage:
    """What is broken in a fabric.

    port_limits: bytes that a port takes in. cable_limits: bytes that pass a cable towards its side "a" or "b".
    silent: nodes that let no "fragmentation needed" out. unreachable: nodes that lose their management with the first
    write. max_mtu: what a switch accepts at most. slow_commits: seconds that a commit takes. trouble: {device: {what
    goes wrong in its management: how}}, in the words of its front end.
    """

    port_limits: dict[End, int] = field(default_factory=dict)
    cable_limits: dict[tuple[Cable, str], int] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    unreachable: set[str] = field(default_factory=set)
    max_mtu: dict[str, int] = field(default_factory=dict)
    slow_commits: dict[str, float] = field(default_factory=dict)
    trouble: dict[str, dict[str, Any]] = field(default_factory=dict)

    def trouble_of(self, device: str) -> dict[str, Any]:
        """Return {what goes wrong in a device's management: how}."""
        return self.trouble.get(device, {})


@dataclass(frozen=True, slots=True)
class Site:
    """Where faults are placed."""

    fabric: Fabric
    topology: Topology


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the registry. `default` returns the place, `device` or `device:interface`."""

    help: str
    place: str
    expected: str
    default: Callable[[Site], str]
    break_it: Callable[[Site, str, Damage], None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A fault that was asked for; `str()` is how to ask for it again."""

    name: str
    place: str

    def __str__(self) -> str:
        return f"{self.name}@{self.place}"


# -- where -----------------------------------------------------------------------------------------------------------


def _rack_switches(site: Site) -> list[str]:
    return [switch for rack in site.topology.racks.values() for switch in rack.switches[:1]]


def _second(names: Sequence[str]) -> str:
    """Return the second name: the first rack is the canary, a fault there would end everything at once."""
    if not names:
        raise JumboError("the inventory has no place for this fault", advice="Name one: fault@device:interface")
    return names[1] if len(names) > 1 else names[0]


def _first_spine(site: Site) -> str:
    return _first(list(site.topology.planes()))


def _first(names: Sequence[str]) -> str:
    return names[0] if names else _second(names)


def _spine_port(site: Site) -> str:
    spine, leaf = _first_spine(site), _second(_rack_switches(site))
    links = [link for link in site.topology.uplinks() if {link.a.device, link.b.device} == {spine, leaf}]
    return _first([str(link.end_on(spine)) for link in links])


def _last_uplink(site: Site) -> str:
    leafs = {switch for rack in site.topology.racks.values() for switch in rack.switches}
    links = [link for plane in site.topology.planes().values() for link in plane]
    uplinks = [str(end) for link in links for end in link.ends if end.device in leafs]
    return _first(uplinks[-1:])


def _first_leaf(site: Site) -> str:
    return _first(_rack_switches(site))


def _second_racks_host(site: Site) -> str:
    return _second([host for rack in site.topology.racks.values() for host in rack.hosts[:1]])


def _first_of(platform: str) -> Callable[[Site], str]:
    def default(site: Site) -> str:
        return _first([node.name for node in site.fabric.nodes.values() if node.platform == platform])

    return default


# -- what ------------------------------------------------------------------------------------------------------------


def _cable_of(site: Site, place: str) -> tuple[Cable, End]:
    device, _sep, interface = place.partition(":")
    end = End(device, interface)
    for cable in site.fabric.cables:
        if end in (cable.a, cable.b):
            return cable, end
    known = [port.interface for port in site.fabric.nodes[device].ports]
    raise JumboError("no such port for a fault", host=device, object=interface or None, limit=", ".join(known))


def _port_stays_small(site: Site, place: str, damage: Damage) -> None:
    cable, end = _cable_of(site, place)
    damage.port_limits[end] = _OLD_IP_MTU
    # What it sends is lost behind it: a drop in the node itself would be told to the sender there.
    damage.cable_limits[cable, "b" if end == cable.a else "a"] = _OLD_IP_MTU


def _tap(site: Site, place: str, damage: Damage) -> None:
    cable, _end = _cable_of(site, place)
    for side in "ab":
        damage.cable_limits[cable, side] = _TAP_FRAME - ETHERNET_OVERHEAD


def _icmp_filtered(_site: Site, place: str, damage: Damage) -> None:
    damage.silent.add(_device(place))


def _unreachable(_site: Site, place: str, damage: Damage) -> None:
    damage.unreachable.add(_device(place))


def _eos_limit(site: Site, place: str, damage: Damage) -> None:
    damage.max_mtu[_only("eos", site, place)] = 9194


def _slow_commit(site: Site, place: str, damage: Damage) -> None:
    damage.slow_commits[_only("junos", site, place)] = _SLOW_COMMIT_SECONDS


def _trouble(platform: str, **wrong: Any) -> Callable[[Site, str, Damage], None]:
    def break_it(site: Site, place: str, damage: Damage) -> None:
        damage.trouble.setdefault(_only(platform, site, place), {}).update(wrong)

    return break_it


def _only(platform: str, site: Site, place: str) -> str:
    device = _device(place)
    found = site.fabric.nodes[device].platform
    if found != platform:
        raise JumboError("this fault is for another platform", host=device, wish=found, limit=platform)
    return device


def _device(place: str) -> str:
    return place.partition(":")[0]


FAULTS = {
    "spine-1500": Fault(
        "A port reports every MTU it is given, but its data plane drops IP packets above 1500 both ways, in silence.",
        "the first spine's port to the second rack's leaf",
        "fabric stage reverted, the port named, exit 2",
        _spine_port,
        _port_stays_small,
    ),
    "tap-1518": Fault(
        "A tap in a leaf-spine cable that passes frames of at most 1518 bytes. It has no interface anybody could ask.",
        "the last spine's last link to a leaf",
        "fabric stage reverted, the link and both its ends named, exit 2",
        _last_uplink,
        _tap,
    ),
    "icmp-filtered": Fault(
        "A device lets no ICMP 'fragmentation needed' (type 3 code 4) out, neither its own nor others'.",
        "the first rack's leaf",
        "passed with a finding, exit 0",
        _first_leaf,
        _icmp_filtered,
    ),
    "host-unreachable": Fault(
        "A device loses its management, open connections too, the moment the first change takes effect on it.",
        "the second rack's first host",
        "the others of its wave taken back, later waves blocked, verdict failed, exit 4",
        _second_racks_host,
        _unreachable,
    ),
    "eos-max-9194": Fault(
        "A switch refuses an MTU above 9194: 'Max MTU for EthernetN is 9194'.",
        "the first spine",
        "passed with the underlay at 9194 and the sentence why, exit 0",
        _first_spine,
        _eos_limit,
    ),
    "commit-slow": Fault(
        "Every commit of a Junos box takes eight seconds.",
        "the first Junos box",
        "passed, exit 0",
        _first_of("junos"),
        _slow_commit,
    ),
    "commit-lost-reply": Fault(
        "A Junos box does its first confirmed commit and never says so: its client times out and has to read.",
        "the first Junos box",
        "passed, exit 0",
        _first_of("junos"),
        _trouble("junos", lose_commit_reply=True),
    ),
    "confirm-lost": Fault(
        "No commit that only confirms another ever arrives at a Junos box: what it has done is taken back.",
        "the first Junos box",
        "the stage reverted, nothing pending, exit 2",
        _first_of("junos"),
        _trouble("junos", lose_confirms=True),
    ),
    "cli-hang": Fault(
        "The first `ip mtu` line that a FastIron box is given is done at once and answered 45 seconds later.",
        "the first FastIron box",
        "passed, exit 0",
        _first_of("fastiron"),
        _trouble("fastiron", hangs=1, hang_at="ip mtu"),
    ),
    "flash-busy": Fault(
        "A FastIron box says 'Flash access in progress. Please try later' to the first two saves.",
        "the first FastIron box",
        "passed, exit 0",
        _first_of("fastiron"),
        _trouble("fastiron", flash_busy=2),
    ),
    "save-refused": Fault(
        "No save of a FastIron box ever succeeds: its flash cannot be written.",
        "the first FastIron box",
        "nothing reloaded, `jumbo` taken out again, exit 2",
        _first_of("fastiron"),
        _trouble("fastiron", save_refused=True),
    ),
    "reload-never": Fault(
        "A FastIron box goes down for its reload and does not come back.",
        "the first FastIron box",
        "its rack is not raised, nothing else is touched after it, verdict failed, exit 4",
        _first_of("fastiron"),
        _trouble("fastiron", reload_never=True),
    ),
}


def choose_faults(text: str, site: Site) -> list[Chosen]:
    """Return the faults that `name[@device[:interface]][,...]` asks for, with their places; none for an empty text."""
    chosen = []
    for wish in (part.strip() for part in text.split(",") if part.strip()):
        name, _sep, place = wish.partition("@")
        if name not in FAULTS:
            raise JumboError("this fault is not known", wish=name, limit=", ".join(FAULTS))
        place = place or FAULTS[name].default(site)
        if _device(place) not in site.fabric.nodes:
            raise JumboError(
                "the fault's device is not in the inventory", wish=wish, limit=", ".join(site.fabric.nodes)
            )
        chosen.append(Chosen(name, place))
    break_fabric(chosen, site)
    return chosen


def break_fabric(chosen: Sequence[Chosen], site: Site) -> Damage:
    """Return the damage that the faults do together."""
    damage = Damage()
    for fault in chosen:
        FAULTS[fault.name].break_it(site, fault.place, damage)
    return damage
