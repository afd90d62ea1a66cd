"""The data plane of a node: real interfaces in its namespaces, reached through /proc without starting a program."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End

from .adjacencies import Adjacencies
from .fabric import Fabric, Node, Port
from .limits import LIST_COUNTERS, giants_counter, read_counters, takes_in
from .namespaces import ENVIRONMENT, enter
from .plane import Neighbour, PortCounters, Session
from .wiring import address_commands, route_commands

_IFF_UP = 1
_ON_OFF = {True: "up", False: "down"}
_COUNTERS_LIVE = 0.1  # seconds; `show interfaces` asks once per port
_PATIENCE = 10.0

Pids = Callable[[str], int]


class NamespacePlane:
    """One node's interfaces, bridges and counters. `pid_of` finds a node's process 1, `plant` the cable plant's.

    stuck: ports whose receive limit a fault holds where it is. receives: what each port of a lab takes in where its
    front end says so, shared by all nodes: LLDP of the far end tells it.
    adjacencies: of the lab that runs here; without them the routes of the node stay what it was born with.
    """

    def __init__(
        self,
        fabric: Fabric,
        node: Node,
        pid_of: Pids,
        plant: int,
        stuck: Collection[str] = (),
        receives: dict[End, int] | None = None,
        adjacencies: Adjacencies | None = None,
    ) -> None:
        self._fabric = fabric
        self._stuck = stuck
        self._receives = {} if receives is None else receives
        self._adjacencies = adjacencies
        self._node = node
        self._pid_of = pid_of
        self._plant = plant
        self._giants: tuple[float, dict[str, int]] = (0.0, {})
        self._lock = threading.Lock()

    def set_ip_mtu(self, interface: str, ip_mtu: int) -> None:
        """Limit what the interface sends to IP packets of this size."""
        kernel = self._node.kernel(interface)
        try:
            self._run("ip", "link", "set", "dev", kernel, "mtu", str(ip_mtu))
        except JumboError as error:
            message = f"the kernel refuses mtu {ip_mtu}: {error.message}"
            raise JumboError(message, host=self._node.name, object=kernel) from error

    def ip_mtu(self, interface: str) -> int:
        """Return what the interface sends at most."""
        return int(self._read(self._node.kernel(interface), "mtu"))

    def set_receives(self, interface: str, ip_mtu: int) -> None:
        """Limit what a port takes in; an SVI takes in what its ports let through."""
        kernel = self._node.kernel(interface)
        self._receives[End(self._node.name, interface)] = ip_mtu
        if interface not in self._stuck and any(port.kernel == kernel for port in self._node.ports):
            self._run("nft", "-f", "-", text=takes_in(kernel, ip_mtu))

    def set_up(self, interface: str, up: bool) -> None:
        """Switch the interface on or off; a port takes its cable along, an SVI only its addresses."""
        kernel = self._node.kernel(interface)
        if up == self._is_on(interface, kernel):
            return
        port = next((port for port in self._node.ports if port.kernel == kernel), None)
        if port is None:
            self._batch(address_commands(self._node, interface, "replace" if up else "del"))
        else:
            ports = [port, *(lane for lane in self._node.ports if lane.trunk == port.interface)]
            self._switch_cables(ports, up=up)
            self._batch([f"link set dev {one.kernel} {_ON_OFF[up]}" for one in ports])
        self._tell_adjacencies(port.interface if port else interface, port.member_of if port else None)
        if up:  # the kernel forgets routes with their interface
            routes = self._adjacencies.routes_of(self._node.name) if self._adjacencies else None
            self._batch(route_commands(self._node, self._routable, routes))

    def _tell_adjacencies(self, interface: str, aggregate: str | None) -> None:
        """Say which of these are on: an interface that was switched, and the aggregate that it is a member of."""
        for name in filter(None, (interface, aggregate)):
            if self._adjacencies:
                self._adjacencies.port(self._node.name, name, on=self._routable(name))

    def counters(self, interface: str) -> PortCounters:
        """Return the port's counters, a trunk's with those of its lanes; giants are what it refused to take in."""
        own = self._node.kernel(interface)
        kernels = [own, *(lane.kernel for lane in self._node.ports if lane.trunk and lane.trunk == interface)]
        names = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
        values = [sum(int(self._read(kernel, f"statistics/{name}")) for kernel in kernels) for name in names]
        return PortCounters(sum(self._all_giants().get(giants_counter(kernel), 0) for kernel in kernels), *values)

    def is_up(self, interface: str) -> bool:
        """Tell whether the interface is on and has a link."""
        try:
            return self._read(self._node.kernel(interface), "carrier") == "1"
        except OSError:  # the kernel's answer for an interface that is off
            return False

    def ping(self, arguments: Sequence[str], timeout: float) -> str:
        """Run the ping program inside the node; return its raw output, errors included."""
        try:
            done = subprocess.run(
                [*enter(self._pid, only_net=True), "ping", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return error.stdout.decode() if isinstance(error.stdout, bytes) else ""
        return done.stdout.decode()

    def neighbour(self, interface: str) -> Neighbour | None:
        """Return who is at the far end, or None; a switch without management in between hides it."""
        try:
            port = self._node.port(interface)
        except KeyError:
            self._node.kernel(interface)
            return None
        if any(box.kind == "switch" for box in port.through):
            return None
        return Neighbour(port.peer.device, port.peer.interface, self._peer_frame(port))

    def set_peers(self, addresses: Collection[str]) -> None:
        """Let these BGP neighbours have their session, and no others."""
        if self._adjacencies:
            self._adjacencies.want(self._node.name, addresses)

    def session(self, address: str) -> Session | None:
        """Return the session with a BGP neighbour, None where nobody is there."""
        return self._adjacencies.session(self._node.name, address) if self._adjacencies else None

    def connect(self) -> None:
        """Switch on the cables of all ports that are on."""
        self._switch_cables([port for port in self._node.ports if self._is_on(port.interface, port.kernel)], up=True)

    def disconnect(self) -> None:
        """Switch off the cables of all ports: the far ends see that the node is gone."""
        self._switch_cables(self._node.ports, up=False)

    def _peer_frame(self, port: Port) -> int:
        peer = self._fabric.nodes[port.peer.device]
        if peer.sizes.max_frame is not None:
            return peer.sizes.max_frame
        if peer.sizes.receives is not None:
            return self._receives.get(port.peer, peer.sizes.receives) + peer.sizes.frame_overhead
        try:
            path = self._sysfs(self._pid_of(peer.name)) / peer.kernel(port.peer.interface) / "mtu"
            return int(path.read_text()) + peer.sizes.frame_overhead
        except (OSError, KeyError):  # the peer is rebooting
            return 0

    # -- sysfs -----------------------------------------------------------------------------------------------------

    @property
    def _pid(self) -> int:
        return self._pid_of(self._node.name)

    def _sysfs(self, pid: int | None = None) -> Path:
        return Path(f"/proc/{pid or self._pid}/root/sys/class/net")

    def _read(self, kernel: str, name: str) -> str:
        return (self._sysfs() / kernel / name).read_text().strip()

    def _is_on(self, interface: str, kernel: str) -> bool:
        aggregate = next((one for one in self._node.aggregates if one.kernel == kernel), None)
        if aggregate and not any(self._is_on(port.interface, port.kernel) for port in aggregate.members):
            return False
        if aggregate or any(kernel == bridge.kernel for bridge in self._node.bridges):
            addresses = self._run("ip", "-o", "addr", "show", "dev", kernel, "scope", "global")
            return bool(addresses.strip()) or not self._node.addresses.get(interface)
        return bool(int(self._read(kernel, "flags"), 16) & _IFF_UP)

    def _routable(self, interface: str) -> bool:
        return self._is_on(interface, self._node.kernel(interface))

    # -- programs --------------------------------------------------------------------------------------------------

    def _all_giants(self) -> dict[str, int]:
        with self._lock:
            read_at, found = self._giants
            if time.monotonic() - read_at > _COUNTERS_LIVE:
                found = read_counters(self._run(*LIST_COUNTERS))
                self._giants = (time.monotonic(), found)
            return found

    def _switch_cables(self, ports: Iterable[Port], *, up: bool) -> None:
        ends = [end for port in ports for end in (port.plant_end, *port.beside)]
        self._batch([f"link set dev {end} {_ON_OFF[up]}" for end in ends], pid=self._plant)

    def _batch(self, lines: Iterable[str], pid: int | None = None) -> None:
        self._run("ip", "-force", "-batch", "-", text="".join(f"{line}\n" for line in lines), pid=pid)

    def _run(self, *command: str, text: str = "", pid: int | None = None) -> str:
        done = subprocess.run(
            [*enter(pid or self._pid, only_net=True), *command],
            input=text,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=_PATIENCE,
            check=False,
        )
        if done.returncode:
            raise JumboError(f"`{' '.join(command)}` failed: {done.stderr.strip()}", host=self._node.name)
        return done.stdout
