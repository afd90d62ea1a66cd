"""Racks, planes and paths of the fabric that an intent describes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Iterator

from .graph import RoutedGraph
from .intent_types import End, Intent, Link, Segment, natural_key
from .racks import Rack, assign_racks, choose_canary

__all__ = ["Hop", "Rack", "Topology"]


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


class Topology:
    """Answers questions about an Intent; everything is computed once and ordered by name."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self._rack_of = assign_racks(intent)
        self._segment_of = {m.end: segment for segment in intent.segments for m in segment.members if m.end}
        self._lag_of = {End(lag.device, port): End(lag.device, lag.name) for lag in intent.lags for port in lag.members}
        self._links_of: dict[End, list[Link]] = {}
        self._between: dict[frozenset[str], list[Link]] = {}
        for link in intent.links:
            for end in link.ends:
                self._links_of.setdefault(end, []).append(link)
                if end in self._lag_of:
                    self._links_of.setdefault(self._lag_of[end], []).append(link)
        self._uplinks = self._find_uplinks()
        for link in self._uplinks:
            self._between.setdefault(frozenset((link.a.device, link.b.device)), []).append(link)
        self._graph: RoutedGraph | None = None
        self._members: dict[str, tuple[list[End], list[End]]] = {}
        self._widths: dict[object, int] = {}
        self._leafs: dict[End, str | None] = {}
        self._failover: dict[tuple[str, str], list[Link]] = {}
        self._cache: dict[tuple[End, End], list[tuple[Hop, ...]]] = {}
        self.canary = choose_canary(intent, self._rack_of)
        self.racks = self._racks()

    def _racks(self) -> dict[str, Rack]:
        names = sorted(set(self._rack_of.values()), key=lambda name: (name != self.canary, natural_key(name)))
        found = {}
        for name in names:
            devices = sorted((d for d, rack in self._rack_of.items() if rack == name), key=natural_key)
            hosts = tuple(device for device in devices if self.intent.devices[device].is_host)
            found[name] = Rack(name, tuple(device for device in devices if device not in hosts), hosts)
        return found

    def rack_of(self, device: str) -> str | None:
        """Return the name of the device's rack, None for spines and borders."""
        return self._rack_of.get(device)

    def segment_of(self, end: End) -> Segment | None:
        """Return the segment that an interface speaks in."""
        return self._segment_of.get(end)

    def logical(self, port: End) -> End:
        """Return the LAG that a port belongs to, else the port: where the MTU is set."""
        return self._lag_of.get(port, port)

    def gateways(self, segment: Segment) -> list[End]:
        """Return the interfaces of switches and routers in a segment."""
        return self._ends_in(segment)[1]

    def hosts_in(self, segment: Segment) -> list[End]:
        """Return the interfaces of our hosts in a segment."""
        return self._ends_in(segment)[0]

    def _ends_in(self, segment: Segment) -> tuple[list[End], list[End]]:
        """Return (host ends, gateways) of a segment, in the order of its members."""
        if segment.name not in self._members:
            ends = [member.end for member in segment.members if member.managed and member.end]
            hosts = [end for end in ends if self._is_host(end)]
            self._members[segment.name] = (hosts, [end for end in ends if not self._is_host(end)])
        return self._members[segment.name]

    def jumbo_segments(self) -> list[Segment]:
        """Return the segments whose members shall be raised, by name."""
        found = [segment for segment in self.intent.segments if segment.role == "jumbo"]
        return sorted(found, key=lambda segment: natural_key(segment.name))

    def endpoints(self) -> list[End]:
        """Return the host ends of all jumbo segments, without what is excluded."""
        ends = [end for segment in self.jumbo_segments() for end in self.hosts_in(segment)]
        return [end for end in ends if not self.intent.is_excluded(end)]

    def sample_pairs(self) -> list[list[str]]:
        """Return ordered pairs of endpoints that cross every segment and its neighbour both ways, few per host."""
        taking_part = set(self.endpoints())
        members = ([end for end in self.hosts_in(segment) if end in taking_part] for segment in self.jumbo_segments())
        groups = [group for group in members if group]
        pairs: list[tuple[End, End]] = []
        for number, group in enumerate(groups):
            neighbour = groups[(number + 1) % len(groups)]
            for index, end in enumerate(group):
                for other in (group[(index + 1) % len(group)], neighbour[index % len(neighbour)]):
                    if other != end and self.paths(end, other):
                        pairs += [(end, other), (other, end)]
        return [[str(source), str(target)] for source, target in dict.fromkeys(pairs)]

    def access_links(self, end: End) -> list[Link]:
        """Return the cables of a host's interface: several where it is a LAG."""
        links = self._links_of.get(end) or self._links_of.get(End(end.device, end.interface.split(".")[0]), [])
        return [link for link in links if self.intent.devices[link.a.device].is_host != self._is_host(link.b)]

    def access_link(self, end: End) -> Link | None:
        """Return the first cable of a host's interface, None where the inventory doesn't tell."""
        return next(iter(self.access_links(end)), None)

    def uplinks(self) -> list[Link]:
        """Return the links between switches and routers, peer links of pairs left out."""
        return self._uplinks

    def _find_uplinks(self) -> list[Link]:
        return [
            link
            for link in self.intent.links
            if not self._is_host(link.a) and not self._is_host(link.b) and not self._is_peer_link(link)
        ]

    def planes(self) -> dict[str, list[Link]]:
        """Return {spine: its links}, ordered; a link without a spine counts for its first end's device."""
        found: dict[str, list[Link]] = {}
        for link in self.uplinks():
            spines = sorted((end.device for end in link.ends if self._is_spine(end.device)), key=natural_key)
            found.setdefault(spines[0] if spines else link.a.device, []).append(link)
        return {spine: found[spine] for spine in sorted(found, key=lambda s: (not self._is_spine(s), natural_key(s)))}

    def paths(self, source: End, destination: End) -> list[tuple[Hop, ...]]:
        """Return every equal-cost path from one interface of a segment to another, none where there is no way.

        The source is a host's interface or a gateway; the destination any managed member of a segment.
        """
        if (source, destination) not in self._cache:
            self._cache[source, destination] = list(self._find_paths(source, destination))
        return self._cache[source, destination]

    def failover_links(self, source: str, destination: str) -> list[Link]:
        """Return the links that traffic between two switches may cross, also after failures."""
        key = (min(source, destination), max(source, destination))
        if key not in self._failover:
            edges = self._routed().simple_edges(*key)
            found = [link for link in self._uplinks if frozenset((link.a.device, link.b.device)) in edges]
            self._failover[key] = found
        return self._failover[key]

    def leaf_of(self, end: End) -> str | None:
        """Return the switch that routes for an interface: itself, or its segment's gateway (the attached one first)."""
        if end not in self._leafs:
            self._leafs[end] = self._find_leaf(end)
        return self._leafs[end]

    def path_count(self, source: End, destination: End) -> int:
        """Return how many equal-cost paths there are, for flows that shall cross each of them."""
        here, there = self._segment_of.get(source), self._segment_of.get(destination)
        cables = (len(self.access_links(source)), len(self.access_links(destination)))
        key = (here and here.name, there and there.name, self.leaf_of(source), self.leaf_of(destination), cables)
        if key not in self._widths:
            self._widths[key] = len(self.paths(source, destination))
        return self._widths[key]

    def _find_leaf(self, end: End) -> str | None:
        if not self._is_host(end):
            return end.device
        segment = self._segment_of.get(end)
        gateways = [gateway.device for gateway in self.gateways(segment)] if segment else []
        attached = [link.other(link.end_on(end.device)).device for link in self.access_links(end)]
        return next((device for device in attached if device in gateways), next(iter(gateways), None))

    def _find_paths(self, source: End, destination: End) -> Iterator[tuple[Hop, ...]]:
        here, there = self._segment_of.get(source), self._segment_of.get(destination)
        if here is None or there is None or source == destination:
            return
        if here is there:
            yield from self._inside(source, destination)
            return
        start, stop = self.leaf_of(source), self.leaf_of(destination)
        if start is None or stop is None:
            return
        first = self._to_switch(source, start) if self._is_host(source) else [()]
        for devices in self._routed().shortest_paths(start, stop):
            for middle in self._between_switches(devices):
                for head in first:
                    for tail in self._from_gateway(there, stop, destination):
                        yield (*head, *middle, *tail)

    def _inside(self, source: End, destination: End) -> Iterator[tuple[Hop, ...]]:
        """Paths within a broadcast domain: switched, or straight from a gateway to its member."""
        if not self._is_host(source):
            segment = self._segment_of[source]
            yield from self._from_gateway(segment, source.device, destination)
            return
        if not self._is_host(destination):
            yield from self._to_switch(source, destination.device)
            return
        for up, down in itertools.product(*(self._cables(end) for end in (source, destination))):
            if up is None or down is None:  # a cable is unknown: the segment is one hop
                yield (Hop(source, True, destination, None),)
                continue
            port = up.other(up.end_on(source.device))
            out = down.other(down.end_on(destination.device))
            yield (Hop(source, True, port, up), Hop(self.logical(out), False, destination, down))

    def _cables(self, end: End) -> list[Link | None]:
        known: list[Link | None] = [*self.access_links(end)]
        return known or [None]

    def _to_switch(self, source: End, switch: str) -> list[tuple[Hop, ...]]:
        """Hops from a host to the switch that routes for it."""
        links = [link for link in self.access_links(source) if link.other(link.end_on(source.device)).device == switch]
        if links:
            return [(Hop(source, True, link.end_on(switch), link),) for link in links]
        segment = self._segment_of[source]
        gateway = next((end for end in self.gateways(segment) if end.device == switch), None)
        return [(Hop(source, True, gateway, None),)] if gateway else []

    def _from_gateway(self, segment: Segment, switch: str, destination: End) -> list[tuple[Hop, ...]]:
        """Hops from a switch's SVI to a member; none are needed to reach the switch's own address."""
        if destination.device == switch:
            return [()]
        gateway = next((end for end in self.gateways(segment) if end.device == switch), None)
        if gateway is None:
            return []
        links = [
            link
            for link in self.access_links(destination)
            if link.other(link.end_on(destination.device)).device == switch
        ]
        if not links:
            return [(Hop(gateway, True, destination, None),)]
        return [(Hop(gateway, True, destination, link),) for link in links]

    def _between_switches(self, devices: tuple[str, ...]) -> Iterator[tuple[Hop, ...]]:
        """Every choice among parallel links along a row of devices."""
        rows = [
            [(near, link) for link in self._between[frozenset((near, far))]] for near, far in zip(devices, devices[1:])
        ]
        for choice in itertools.product(*rows):
            yield tuple(
                Hop(self.logical(link.end_on(near)), True, link.other(link.end_on(near)), link) for near, link in choice
            )

    def _routed(self) -> RoutedGraph:
        if self._graph is None:
            self._graph = RoutedGraph((link.a.device, link.b.device) for link in self.uplinks())
        return self._graph

    def _is_host(self, end: End) -> bool:
        return self.intent.devices[end.device].is_host

    def _is_spine(self, device: str) -> bool:
        groups = self.intent.devices[device].groups
        return "spines" in groups or (device not in self._rack_of and "borders" not in groups and "leafs" not in groups)

    def _is_peer_link(self, link: Link) -> bool:
        return any({link.a.device, link.b.device} == set(pair.devices) for pair in self.intent.pairs)
