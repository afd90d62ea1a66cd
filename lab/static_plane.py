"""A data plane without namespaces: it remembers what it is told. For tests and the benchmark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from .plane import MacEntry, Neighbour, PortCounters, Session

_NONE = PortCounters()


def _unreachable(arguments: Sequence[str]) -> str:
    return f"ping: connect: Network is unreachable ({arguments[-1]})\n"


class StaticPlane:
    """Knows the interfaces it is given, or any if it is given none."""

    def __init__(
        self,
        interfaces: Iterable[str] | None = None,
        neighbours: Mapping[str, Neighbour] | None = None,
        macs: Sequence[MacEntry] = (),
        answer: Callable[[Sequence[str]], str] = _unreachable,
    ) -> None:
        self._known = frozenset(interfaces) if interfaces is not None else None
        self.known_neighbours = dict(neighbours or {})
        self._macs = macs
        self.answer = answer
        self.mtus: dict[str, int] = {}
        self.receives: dict[str, int] = {}
        self.down: set[str] = set()
        self.unplugged: set[str] = set()
        self.seen: dict[str, PortCounters] = {}
        self.peers: frozenset[str] = frozenset()
        self.silent: set[str] = set()
        self.learned: tuple[str, ...] = ("10.9.9.0/24",)
        self.calls: list[tuple[str, str, object]] = []
        self._told = threading.Condition()

    def _check(self, interface: str) -> None:
        if self._known is not None and interface not in self._known:
            raise KeyError(interface)

    def set_ip_mtu(self, interface: str, ip_mtu: int) -> None:
        """Remember the limit."""
        self._check(interface)
        with self._told:
            self.mtus[interface] = ip_mtu
            self.calls.append(("mtu", interface, ip_mtu))
            self._told.notify_all()

    def set_receives(self, interface: str, ip_mtu: int) -> None:
        """Remember the limit."""
        self._check(interface)
        self.receives[interface] = ip_mtu
        self.calls.append(("receives", interface, ip_mtu))

    def set_up(self, interface: str, up: bool) -> None:
        """Remember the state."""
        self._check(interface)
        (self.down.discard if up else self.down.add)(interface)
        self.calls.append(("up", interface, up))

    def wait_for_mtu(self, interface: str, ip_mtu: int, seconds: float) -> bool:
        """Wait until the interface has this limit; False if it has not by then."""
        with self._told:
            return self._told.wait_for(lambda: self.mtus.get(interface) == ip_mtu, seconds)

    def counters(self, interface: str) -> PortCounters:
        """Return what a test has put into `seen`."""
        return self.seen.get(interface, _NONE)

    def is_up(self, interface: str) -> bool:
        """Tell whether the port is on and, for a test, plugged in."""
        self._check(interface)
        return interface not in self.down and interface not in self.unplugged

    def ping(self, arguments: Sequence[str], timeout: float) -> str:  # noqa: ARG002 - as the protocol has it
        """Return the output that a test wants to see."""
        return self.answer(arguments)

    def neighbour(self, interface: str) -> Neighbour | None:
        """Return the far end that the plane was given."""
        return self.known_neighbours.get(interface)

    def set_peers(self, addresses: Collection[str]) -> None:
        """Remember who may have a session."""
        with self._told:
            self.peers = frozenset(addresses)
            self._told.notify_all()

    def session(self, address: str) -> Session:
        """Return a session that is up as soon as it may, unless a test has it in `silent`."""
        up = address in self.peers and address not in self.silent
        return Session(up, 0.0, self.learned if up else ())

    def mac_addresses(self) -> Sequence[MacEntry]:
        """Return the address table that the plane was given."""
        return self._macs
