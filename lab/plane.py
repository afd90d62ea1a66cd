"""The one door between a management front end and its node's data plane."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What a port has seen since the node started."""

    giants: int = 0
    input_packets: int = 0
    output_packets: int = 0
    input_bytes: int = 0
    output_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The far end of a port's cable, as LLDP would tell it."""

    host: str
    interface: str
    max_frame: int = 0


@dataclass(frozen=True, slots=True)
class MacEntry:
    """One learned address."""

    mac: str
    vlan: int
    interface: str


@dataclass(frozen=True, slots=True)
class Session:
    """A BGP session: whether it is established, since when it is or is not, and the prefixes that are learned by it."""

    established: bool
    since: float
    prefixes: tuple[str, ...] = ()


@runtime_checkable
class LearnsMacs(Protocol):
    """A data plane that can tell its bridges' address tables. It may, it need not."""

    def mac_addresses(self) -> Sequence[MacEntry]:
        """Return what the bridges have learned."""


class Plane(Protocol):
    """One per node; the front end's only way to the namespace.

    An interface that has no counterpart in the node raises KeyError.
    """

    def set_ip_mtu(self, interface: str, ip_mtu: int) -> None:
        """Limit what the interface sends to IP packets of this size."""

    def set_receives(self, interface: str, ip_mtu: int) -> None:
        """Limit what a port takes in to IP packets of this size; for platforms that limit both directions."""

    def set_up(self, interface: str, up: bool) -> None:
        """Switch the interface on or off."""

    def counters(self, interface: str) -> PortCounters:
        """Return the port's counters."""

    def is_up(self, interface: str) -> bool:
        """Tell whether the port has a link."""

    def ping(self, arguments: Sequence[str], timeout: float) -> str:
        """Run the ping program inside the node; return its raw output, errors included."""

    def neighbour(self, interface: str) -> Neighbour | None:
        """Return who is at the far end, or None."""

    def set_peers(self, addresses: Collection[str]) -> None:
        """Let these BGP neighbours have their session, and no others."""

    def session(self, address: str) -> Session | None:
        """Return the session with a BGP neighbour, None where nobody is there."""
