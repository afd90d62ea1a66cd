"""The fabric to build, as plain values: nodes, ports, bridges, cables, addresses, routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Through

from .names import kernel_name
from .platforms import DEFAULT_IP_MTU, PLATFORMS, PlatformSizes

UNTAGGED = "untagged"
LINK_VLAN = 100
"""What tagged routed links carry their packets in. Only configurations show it: tags are not seen in the lab."""


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable of the plant; its two ends there are called `c<number>a` and `c<number>b`.

    vlans: what a trunk carries. Each has a lane of its own beside the cable, `c<number>av<vlan>`: tags are not seen.
    """

    number: int
    a: End
    b: End
    through: tuple[Through, ...] = ()
    vlans: tuple[int, ...] = ()

    def plant_end(self, end: End) -> str:
        """Return the plant's interface under a port. What arrives on it is on its way to that port."""
        return f"c{self.number}{'a' if end == self.a else 'b'}"

    def lane_end(self, end: End, vlan: int) -> str:
        """Return the plant's interface under a trunk port's lane."""
        return f"{self.plant_end(end)}v{vlan}"

    def wires(self) -> Iterator[tuple[str, str]]:
        """Yield both plant ends of the cable itself, then of each lane."""
        yield self.plant_end(self.a), self.plant_end(self.b)
        yield from ((self.lane_end(self.a, vlan), self.lane_end(self.b, vlan)) for vlan in self.vlans)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A host's aggregate: `b<number>a` is under its one port, and behind `b<number>b` packets part to the cables.

    cables: (cable, the host's end of it), one for each member, in the order of the inventory.
    """

    number: int
    end: End
    cables: tuple[tuple[Cable, End], ...]

    @property
    def plant_end(self) -> str:
        """The plant's interface under the host's port."""
        return f"b{self.number}a"

    @property
    def splitter(self) -> str:
        """The plant's interface where what the host sends is given to one of the members."""
        return f"b{self.number}b"

    @property
    def members(self) -> tuple[str, ...]:
        """The host's ends of the members' cables, in the plant."""
        return tuple(cable.plant_end(end) for cable, end in self.cables)


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a node. `bridge` is the VLAN it is an access port of, None where it routes or is a trunk.

    aggregate: on a switch, the Port-Channel whose only member it is. members: on a host, the ports behind an aggregate
    that shows as this one interface. mlag: its number, where two switches share the aggregate. vlans: what a trunk
    carries. trunk: this is a lane of that port. beside: plant ends that go up and down with it. member_of: the routed
    aggregate that its packets belong to. tagging: of what it routes, as in the inventory's links.
    """

    interface: str
    plant_end: str
    peer: End
    through: tuple[Through, ...] = ()
    bridge: str | None = None
    aggregate: str | None = None
    members: tuple[str, ...] = ()
    mlag: int | None = None
    vlans: tuple[int, ...] = ()
    trunk: str | None = None
    beside: tuple[str, ...] = ()
    member_of: str | None = None
    tagging: str = UNTAGGED

    @property
    def kernel(self) -> str:
        """Its name inside the node."""
        return kernel_name(self.interface)

    @property
    def routes(self) -> bool:
        """Whether it has addresses of its own."""
        return self.bridge is None and not self.vlans and self.member_of is None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it is called."""
        return (self.interface, self.kernel, *((self.aggregate,) if self.aggregate else ()), *self.members)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A switch's aggregate that routes: an interface of its own, whose packets part to its ports inside the node.

    `under` is beneath it, and what it sends comes out at `splitter`. members: its ports. tagging: as of a port.
    """

    number: int
    interface: str
    members: tuple[Port, ...]
    tagging: str = UNTAGGED

    @property
    def kernel(self) -> str:
        """Its name inside the node."""
        return kernel_name(self.interface)

    @property
    def under(self) -> str:
        """What it stands on."""
        return f"lag{self.number}a"

    @property
    def splitter(self) -> str:
        """Where what it sends is given to one of its members."""
        return f"lag{self.number}b"


@dataclass(frozen=True, slots=True)
class Bridge:
    """A VLAN of a switch. `interface` is the SVI, None where the switch has no address in it."""

    kernel: str
    vlan: int | None
    name: str
    interface: str | None


@dataclass(frozen=True, slots=True)
class Peering:
    """What a switch knows of the one it is paired with: the pair's name, its own port or aggregate, the far address.

    interface: its own, by which it reaches that address.
    """

    domain: str
    link: str
    address: str
    interface: str


@dataclass(frozen=True, slots=True)
class Peer:
    """A BGP neighbour: its address, its number of autonomous system, the device, and the interface that leads there."""

    address: str
    asn: int
    device: str
    interface: str


@dataclass(frozen=True, slots=True)
class Bgp:
    """What a switch speaks BGP with: its own number of autonomous system, and a neighbour for each link and family."""

    asn: int
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """A route over one or several next hops: (gateway, interface)."""

    prefix: str
    hops: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A device of the lab. `listen` is its management address; `backend` the interfaces that shall be raised.

    routes: those that it has while every link is up. peering: where it is paired with another switch.
    """

    name: str
    platform: str
    is_host: bool
    listen: str
    ports: tuple[Port, ...]
    bridges: tuple[Bridge, ...]
    addresses: dict[str, tuple[str, ...]]
    routes: tuple[Route, ...]
    backend: tuple[str, ...]
    peering: Peering | None = None
    bgp: Bgp | None = None
    aggregates: tuple[Aggregate, ...] = ()

    @property
    def is_linux(self) -> bool:
        """Whether it is a machine with a system of its own: a host, or a router that is one."""
        return self.platform == "linux"

    @property
    def sizes(self) -> PlatformSizes:
        """What its platform can do."""
        return PLATFORMS[self.platform]

    def static_routes(self) -> Iterator[Route]:
        """Yield the routes that are configured, without the next hops that BGP finds."""
        learned = {peer.interface for peer in self.bgp.peers} if self.bgp else set()
        for route in self.routes:
            hops = tuple(hop for hop in route.hops if hop[1] not in learned)
            if hops:
                yield Route(route.prefix, hops)

    def port(self, interface: str) -> Port:
        """Return a port by name; KeyError where there is none."""
        for port in self.ports:
            if interface in port.names:
                return port
        raise KeyError(interface)

    def kernel(self, interface: str) -> str:
        """Return the kernel's name of a port or SVI; KeyError where the node has no such interface."""
        for port in self.ports:
            if interface in port.names:
                return port.kernel
        for bridge in self.bridges:
            if interface in (bridge.interface, bridge.kernel):
                return bridge.kernel
        for aggregate in self.aggregates:
            if interface in (aggregate.interface, aggregate.kernel):
                return aggregate.kernel
        raise KeyError(interface)

    def interfaces(self) -> Iterator[tuple[str, str]]:
        """Yield (name, kernel name) of the ports, of the routed aggregates, then of the SVIs."""
        yield from ((port.interface, port.kernel) for port in self.ports)
        yield from ((aggregate.interface, aggregate.kernel) for aggregate in self.aggregates)
        yield from ((bridge.interface, bridge.kernel) for bridge in self.bridges if bridge.interface)

    def boot_mtu(self, port: Port) -> int:
        """Return the size a port has before anybody configures it."""
        return DEFAULT_IP_MTU if port.routes else self.sizes.port_ip_mtu


@dataclass(frozen=True, slots=True)
class Pair:
    """Two switches that act as one for the hosts attached to both (MLAG), and the port of each towards the other.

    vlan: what they keep to themselves on the peer link, for their own session.
    """

    name: str
    ends: tuple[End, End]
    vlan: int

    @property
    def svi(self) -> str:
        """The interface of each by which they talk to each other."""
        return f"Vlan{self.vlan}"


@dataclass(frozen=True, slots=True)
class Fabric:
    """All nodes by name, the cables between them, and what makes one of several."""

    nodes: dict[str, Node]
    cables: tuple[Cable, ...]
    bundles: tuple[Bundle, ...] = ()
    pairs: tuple[Pair, ...] = ()
