"""Paths of packets, hop by hop: within a segment (a pair, a stretched one), and across the routed fabric."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator

from .intent_types import End, Link, Segment

if TYPE_CHECKING:
    from .topology import Topology


@dataclass(frozen=True)
class Hop:
    """One transmission: out of `egress`, into `ingress`.

    `egress` is the interface whose IP MTU decides: an SVI (`leaf1:Vlan10`) where it sends into a segment, a LAG for
    its members. `routed`: the egress routes, so it answers a DF packet that is too large; else it drops in silence.
    `ingress` is the physical port (or the host's interface). `link` is the cable, None where it isn't known.
    """

    egress: End
    routed: bool
    ingress: End
    link: Link | None

    @property
    def egress_port(self) -> End:
        """The physical port behind the egress, where the cable is known; else the egress."""
        return self.link.end_on(self.egress.device) if self.link else self.egress


class Paths:
    """Enumerates the equal-cost paths of a topology, and keeps what it found."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._cache: dict[tuple[End, End], list[tuple[Hop, ...]]] = {}
        self._widths: dict[object, int] = {}
        self._sides: dict[object, int] = {}
        self._places: dict[End, object] = {}
        self._leafs: dict[End, tuple[str, ...]] = {}

    def between(self, source: End, destination: End) -> list[tuple[Hop, ...]]:
        """Return every equal-cost path between two interfaces that speak in segments."""
        if (source, destination) not in self._cache:
            self._cache[source, destination] = list(dict.fromkeys(self._find(source, destination)))
        return self._cache[source, destination]

    def count(self, source: End, destination: End) -> int:
        """Return how many there are; interfaces that are cabled alike in the same segments have the same number."""
        key = (self._place(source), self._place(destination))
        if key not in self._widths:
            self._widths[key] = self._count(source, destination)
        return self._widths[key]

    def _count(self, source: End, destination: End) -> int:
        """Count paths across the fabric without building them; within a segment there are few."""
        here, there = self.topology.segment_of(source), self.topology.segment_of(destination)
        if here is None or there is None or here is there:
            return len(self.between(source, destination))
        found = 0
        for start in self.leafs_of(source):
            heads = self._ends_count("head", here, source, start) if self.topology.is_host(source) else 1
            for devices in self._nearest(start, there):
                links = [len(self.topology.between(near, far)) for near, far in zip(devices, devices[1:])]
                found += heads * math.prod(links) * self._ends_count("tail", there, destination, devices[-1])
        return found

    def _ends_count(self, side: str, segment: Segment, end: End, switch: str) -> int:
        key = (side, self._place(end), switch)
        if key not in self._sides:
            head = side == "head"
            hops = self._to_switch(segment, end, switch) if head else self._from_gateway(segment, switch, end)
            self._sides[key] = len(hops)
        return self._sides[key]

    def _place(self, end: End) -> object:
        if end not in self._places:
            self._places[end] = self._find_place(end)
        return self._places[end]

    def _find_place(self, end: End) -> object:
        segment = self.topology.segment_of(end)
        cables = self.topology.access_links(end)
        switches = tuple(link.other(link.end_on(end.device)).device for link in cables)
        return (segment and segment.name, switches, None if self.topology.is_host(end) else end)

    def leafs_of(self, end: End) -> tuple[str, ...]:
        """Return the switches that route for an interface: its own, or its segment's gateways (attached ones first)."""
        if end not in self._leafs:
            self._leafs[end] = self._find_leafs(end)
        return self._leafs[end]

    def _find_leafs(self, end: End) -> tuple[str, ...]:
        if not self.topology.is_host(end):
            return (end.device,)
        segment = self.topology.segment_of(end)
        gateways = [gateway.device for gateway in self.topology.gateways(segment)] if segment else []
        attached = self.switches_of(end)
        near = [device for device in attached if device in gateways]
        beside = [device for device in gateways if self.topology.partner_of(device) in attached]
        return tuple(near or beside or gateways)

    def switches_of(self, end: End) -> tuple[str, ...]:
        """Return the switches that an interface is cabled to."""
        links = self.topology.access_links(end)
        return tuple(dict.fromkeys(link.other(link.end_on(end.device)).device for link in links))

    # ------------------------------------------------------------------ whole paths

    def _find(self, source: End, destination: End) -> Iterator[tuple[Hop, ...]]:
        here, there = self.topology.segment_of(source), self.topology.segment_of(destination)
        if here is None or there is None or source == destination:
            return
        if here is there:
            yield from self._inside(here, source, destination)
            return
        for start in self.leafs_of(source):
            heads = self._to_switch(here, source, start) if self.topology.is_host(source) else [()]
            for devices in self._nearest(start, there):
                tails = self._from_gateway(there, devices[-1], destination)
                for head, middle, tail in itertools.product(heads, list(self.walk(devices, routed=True)), tails):
                    yield (*head, *middle, *tail)

    def _nearest(self, start: str, segment: Segment) -> list[tuple[str, ...]]:
        """Return the shortest ways from a switch to whichever gateways of a segment are nearest: they share a route."""
        ends = [gateway.device for gateway in self.topology.gateways(segment)]
        found = [path for stop in dict.fromkeys(ends) for path in self.topology.graph.shortest_paths(start, stop)]
        shortest = min(map(len, found), default=0)
        return [path for path in found if len(path) == shortest]

    def _inside(self, segment: Segment, source: End, destination: End) -> Iterator[tuple[Hop, ...]]:
        """Paths within a broadcast domain: switched, or straight from a gateway to its member."""
        if not self.topology.is_host(source):
            yield from self._from_gateway(segment, source.device, destination)
            return
        if not self.switches_of(destination) and not self.topology.is_host(destination):
            yield from self._to_switch(segment, source, destination.device)
            return
        if not self.switches_of(source) or not self.switches_of(destination):
            yield (Hop(source, True, destination, None),)  # a cable is unknown: the segment is one hop
            return
        for up in self.topology.access_links(source):
            port = up.other(up.end_on(source.device))
            for tail in self._to_member(port.device, destination):
                yield (Hop(source, True, port, up), *tail)

    def _to_member(self, switch: str, destination: End) -> list[tuple[Hop, ...]]:
        """Hops from a switch, through the broadcast domain, to a member of it."""
        links = self.topology.access_links(destination)
        segment = self.topology.segment_of(destination)
        if segment is None:
            return []
        if not links:
            return self.switched(segment, switch, destination.device) if not self.topology.is_host(destination) else []
        local = [link for link in links if link.other(link.end_on(destination.device)).device == switch]
        if local:
            return [(self._down(link, destination),) for link in local]
        found: list[tuple[Hop, ...]] = []
        for link in links:
            ways = self.switched(segment, switch, link.other(link.end_on(destination.device)).device)
            found += [(*way, self._down(link, destination)) for way in ways]
        return found

    def _down(self, link: Link, destination: End) -> Hop:
        return Hop(self.topology.logical(link.other(link.end_on(destination.device))), False, destination, link)

    def switched(self, segment: Segment, start: str, stop: str) -> list[tuple[Hop, ...]]:
        """Hops between two switches of one broadcast domain: over trunks and peer links, else over the underlay."""
        ways = self.topology.domains.ways(segment, start, stop)
        return [tuple(self._across(link, near, routed=False) for near, link in way) for way in ways]

    def _across(self, link: Link, near: str, routed: bool) -> Hop:
        port = link.end_on(near)
        return Hop(self.topology.logical(port), routed, link.other(port), link)

    def _to_switch(self, segment: Segment, source: End, switch: str) -> list[tuple[Hop, ...]]:
        """Hops from a host to the switch that routes for it."""
        links = self.topology.access_links(source)
        if not links:
            gateway = next((end for end in self.topology.gateways(segment) if end.device == switch), None)
            return [(Hop(source, True, gateway, None),)] if gateway else []
        direct = [link for link in links if link.other(link.end_on(source.device)).device == switch]
        found = []
        for link in direct or links:
            port = link.other(link.end_on(source.device))
            found += [(Hop(source, True, port, link), *way) for way in self.switched(segment, port.device, switch)]
        return found

    def _from_gateway(self, segment: Segment, switch: str, destination: End) -> list[tuple[Hop, ...]]:
        """Hops from a switch's SVI to a member; none are needed to reach the switch's own address."""
        if destination.device == switch:
            return [()]
        gateway = next((end for end in self.topology.gateways(segment) if end.device == switch), None)
        if gateway is None:
            return []
        own = self.topology.access_links(gateway)  # a router on a port of its own sends there first
        if own:
            found: list[tuple[Hop, ...]] = []
            for link in own:
                port = link.other(link.end_on(switch))
                tails = self._to_member(port.device, destination)
                found += [(Hop(gateway, True, port, link), *tail) for tail in tails]
            return found
        if not self.topology.access_links(destination):
            return [(Hop(gateway, True, destination, None),)]
        return [self._by_gateway(gateway, tail) for tail in self._to_member(switch, destination)]

    @staticmethod
    def _by_gateway(gateway: End, tail: tuple[Hop, ...]) -> tuple[Hop, ...]:
        """Let the SVI send the first hop: its MTU decides, the port under it carries."""
        first = tail[0]
        return (Hop(gateway, True, first.ingress, first.link), *tail[1:])

    def walk(self, devices: tuple[str, ...], routed: bool) -> Iterator[tuple[Hop, ...]]:
        """Every choice among parallel links along a row of devices."""
        rows = [[(near, link) for link in self.topology.between(near, far)] for near, far in zip(devices, devices[1:])]
        for choice in itertools.product(*rows):
            yield tuple(self._across(link, near, routed) for near, link in choice)
