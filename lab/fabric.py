"""The fabric to build, as plain values: nodes, ports, bridges, cables, addresses, routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Through

from .names import kernel_name
from .platforms import DEFAULT_IP_MTU, PLATFORMS, PlatformSizes


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable of the plant; its two ends there are called `c<number>a` and `c<number>b`."""

    number: int
    a: End
    b: End
    through: tuple[Through, ...] = ()

    def plant_end(self, end: End) -> str:
        """Return the plant's interface under a port. What arrives on it is on its way to that port."""
        return f"c{self.number}{'a' if end == self.a else 'b'}"


@dataclass(frozen=True, slots=True)
class Port:
    """A physical port of a node. `bridge` is the VLAN it is an access port of, None where it routes."""

    interface: str
    plant_end: str
    peer: End
    through: tuple[Through, ...] = ()
    bridge: str | None = None

    @property
    def kernel(self) -> str:
        """Its name inside the node."""
        return kernel_name(self.interface)


@dataclass(frozen=True, slots=True)
class Bridge:
    """A VLAN of a switch. `interface` is the SVI, None where the switch has no address in it."""

    kernel: str
    vlan: int | None
    name: str
    interface: str | None


@dataclass(frozen=True, slots=True)
class Route:
    """A static route over one or several next hops: (gateway, interface)."""

    prefix: str
    hops: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A device of the lab. `listen` is its management address; `backend` the interfaces that shall be raised."""

    name: str
    platform: str
    is_host: bool
    listen: str
    ports: tuple[Port, ...]
    bridges: tuple[Bridge, ...]
    addresses: dict[str, tuple[str, ...]]
    routes: tuple[Route, ...]
    backend: tuple[str, ...]

    @property
    def sizes(self) -> PlatformSizes:
        """What its platform can do."""
        return PLATFORMS[self.platform]

    def port(self, interface: str) -> Port:
        """Return a port by name; KeyError where there is none."""
        for port in self.ports:
            if port.interface == interface:
                return port
        raise KeyError(interface)

    def kernel(self, interface: str) -> str:
        """Return the kernel's name of a port or SVI; KeyError where the node has no such interface."""
        if any(interface in (port.interface, port.kernel) for port in self.ports):
            return kernel_name(interface)
        for bridge in self.bridges:
            if interface in (bridge.interface, bridge.kernel):
                return bridge.kernel
        raise KeyError(interface)

    def interfaces(self) -> Iterator[tuple[str, str]]:
        """Yield (name, kernel name) of the ports, then of the SVIs."""
        yield from ((port.interface, port.kernel) for port in self.ports)
        yield from ((bridge.interface, bridge.kernel) for bridge in self.bridges if bridge.interface)

    def boot_mtu(self, port: Port) -> int:
        """Return the size a port has before anybody configures it."""
        return self.sizes.port_ip_mtu if port.bridge else DEFAULT_IP_MTU


@dataclass(frozen=True, slots=True)
class Fabric:
    """All nodes by name, and the cables between them."""

    nodes: dict[str, Node]
    cables: tuple[Cable, ...]
