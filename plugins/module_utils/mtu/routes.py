"""Prefixes and routes of both families: which cover which, and which lead to jumbo segments alone."""

from __future__ import annotations

import functools
import ipaddress
from typing import Any, Iterable, Iterator, Mapping

from .intent_types import Segment

_IPV6 = 6
_LINK_LOCAL = ipaddress.ip_network("fe80::/10")


@functools.lru_cache(maxsize=None)
def network(prefix: str) -> Any:
    """Return a prefix as a network; "default" is the IPv4 default route."""
    return ipaddress.ip_network("0.0.0.0/0" if prefix == "default" else prefix, strict=False)


@functools.lru_cache(maxsize=None)
def canonical(prefix: str) -> str:
    """Return a prefix as all of the project writes it; "default" is 0.0.0.0/0."""
    return str(network(prefix))


def covers_net(outer: Any, inner: Any) -> bool:
    """Tell whether one network contains another of the same family."""
    return bool(
        outer.version == inner.version
        and outer.prefixlen <= inner.prefixlen
        and int(inner.network_address) >> (inner.max_prefixlen - outer.prefixlen)
        == int(outer.network_address) >> (outer.max_prefixlen - outer.prefixlen)
    )


@functools.lru_cache(maxsize=None)
def covers(outer: str, inner: str) -> bool:
    """Tell whether one prefix contains another of the same family."""
    return covers_net(network(outer), network(inner))


def unicast(routes: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the routes that bound packets to other hosts: no loopback, no multicast, nothing of the link alone."""
    for route in routes:
        net = network(route["prefix"])
        if route.get("type", "unicast") != "unicast" or route.get("table") == "local":
            continue
        if net.is_loopback or (net.prefixlen and net.is_multicast):
            continue
        if net.version == _IPV6 and net.prefixlen and covers_net(_LINK_LOCAL, net):
            continue
        yield route


class Subnets:
    """The subnets of the jumbo segments, and prefixes made of nothing else."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.segment_of = {subnet: segment for segment in segments for subnet in segment.subnets}
        self._segments: dict[str, list[Segment]] = {}
        self._within: dict[str, tuple[str, ...]] = {}

    def within(self, prefix: str) -> tuple[str, ...]:
        """Return the jumbo subnets that a prefix leads to, none where it leads anywhere else as well.

        A prefix inside a subnet (a host's) leads to that one. A larger one must be tiled by subnets without a gap.
        """
        if prefix in self.segment_of:
            return (prefix,)
        if prefix not in self._within:
            self._within[prefix] = self._find(prefix)
        return self._within[prefix]

    def segments(self, prefix: str) -> list[Segment]:
        """Return the segments that a prefix leads to."""
        if prefix not in self._segments:
            subnets = self.within(canonical(prefix))
            self._segments[prefix] = list(dict.fromkeys(self.segment_of[subnet] for subnet in subnets))
        return self._segments[prefix]

    def _find(self, prefix: str) -> tuple[str, ...]:
        wanted = network(prefix)
        around = tuple(subnet for subnet in self.segment_of if covers_net(network(subnet), wanted))
        if around:
            return around
        inside = tuple(subnet for subnet in self.segment_of if covers_net(wanted, network(subnet)))
        held = sum(network(subnet).num_addresses for subnet in inside)
        return inside if held == wanted.num_addresses else ()


def merged(subnets: Iterable[str]) -> list[str]:
    """Return the fewest prefixes that hold exactly these subnets, by family and address."""
    found: list[str] = []
    for version in (4, 6):
        nets = [network(subnet) for subnet in subnets if network(subnet).version == version]
        found += [str(net) for net in ipaddress.collapse_addresses(nets)]
    return found
