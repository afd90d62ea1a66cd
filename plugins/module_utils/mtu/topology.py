"""Racks, planes, pairs and links of the fabric that an intent describes; paths.py walks them."""

from __future__ import annotations

from typing import Iterable

from .domains import Domains
from .graph import RoutedGraph
from .intent_types import End, Intent, Link, Pair, Segment, natural_key, port_under
from .paths import Hop, Paths
from .racks import Rack, assign_racks, choose_canary
from .spread import neighbours

__all__ = ["Hop", "Rack", "Topology"]


class Topology:
    """Answers questions about an Intent; everything is computed once and ordered by name."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self._rack_of = assign_racks(intent)
        self._segment_of = {m.end: segment for segment in intent.segments for m in segment.members if m.end}
        self._lag_of = {End(lag.device, port): End(lag.device, lag.name) for lag in intent.lags for port in lag.members}
        self._pair_of = {device: pair for pair in intent.pairs for device in pair.devices}
        self._members: dict[str, tuple[list[End], list[End]]] = {}
        self._attached = {End(end.device, port_under(end.interface)) for end in self._segment_of}
        self._links_of: dict[End, list[Link]] = {}
        self._between: dict[frozenset[str], list[Link]] = {}
        self._access: dict[End, list[Link]] = {}
        for link in intent.links:
            for end in link.ends:
                self._links_of.setdefault(end, []).append(link)
                if end in self._lag_of:
                    self._links_of.setdefault(self._lag_of[end], []).append(link)
        self._peer_links = {pair.name: self._find_peer_links(pair) for pair in intent.pairs}
        self._leafs: dict[str, tuple[str, ...]] = {}
        self.domains = Domains(self, self._find_trunks())
        self._uplinks = self._find_uplinks()
        for link in self._uplinks:
            self._between.setdefault(frozenset((link.a.device, link.b.device)), []).append(link)
        self._graph: RoutedGraph | None = None
        self._block_links: dict[frozenset[int], list[Link]] = {}
        self._jumbo = sorted((s for s in intent.segments if s.role == "jumbo"), key=lambda s: natural_key(s.name))
        self._paths = Paths(self)
        self.canary = choose_canary(intent, self._rack_of)
        self.racks = self._racks()

    def _racks(self) -> dict[str, Rack]:
        devices: dict[str, list[str]] = {}
        for device, rack in self._rack_of.items():
            devices.setdefault(rack, []).append(device)
        found = {}
        for name in sorted(devices, key=lambda name: (name != self.canary, natural_key(name))):
            here = sorted(devices[name], key=natural_key)
            hosts = tuple(device for device in here if self.intent.devices[device].is_host)
            switches = tuple(device for device in here if not self.intent.devices[device].is_host)
            found[name] = Rack(name, switches, hosts)
        return found

    # ------------------------------------------------------------------ devices

    def rack_of(self, device: str) -> str | None:
        """Return the name of the device's rack, None for spines and borders."""
        return self._rack_of.get(device)

    def pair_of(self, device: str) -> Pair | None:
        """Return the pair that a device is in: its failure domain, of which only one member may change at a time."""
        return self._pair_of.get(device)

    def unit_of(self, device: str) -> str:
        """Return the name of the device's pair, else its own."""
        pair = self._pair_of.get(device)
        return pair.name if pair else device

    def partner_of(self, device: str) -> str | None:
        """Return the other member of the device's pair."""
        pair = self._pair_of.get(device)
        return next((other for other in pair.devices if other != device), None) if pair else None

    def is_host(self, end: End) -> bool:
        """Tell whether an interface belongs to an end system."""
        return self.intent.devices[end.device].is_host

    # ------------------------------------------------------------------ segments

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
            hosts = [end for end in ends if self.is_host(end)]
            self._members[segment.name] = (hosts, [end for end in ends if not self.is_host(end)])
        return self._members[segment.name]

    def jumbo_segments(self) -> list[Segment]:
        """Return the segments whose members shall be raised, by name."""
        return self._jumbo

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

    def leafs_in(self, segment: Segment) -> tuple[str, ...]:
        """Return the switches that a segment lives on: its gateways', and those its members are cabled to."""
        if segment.name not in self._leafs:
            found = dict.fromkeys(end.device for end in self.gateways(segment) if not self._access_of(end))
            for end in [*self.hosts_in(segment), *self.gateways(segment)]:
                found.update((link.other(link.end_on(end.device)).device, None) for link in self._access_of(end))
            self._leafs[segment.name] = tuple(sorted(found, key=natural_key))
        return self._leafs[segment.name]

    def units_in(self, segment: Segment) -> list[str]:
        """Return the pairs and single switches that a segment lives on; more than one: it is stretched."""
        return list(dict.fromkeys(self.unit_of(device) for device in self.leafs_in(segment)))

    # ------------------------------------------------------------------ links

    def access_links(self, end: End) -> list[Link]:
        """Return the cables of an interface that speaks in a segment: several where it is a LAG."""
        if end not in self._access:
            self._access[end] = self._access_of(end)
        return self._access[end]

    def _access_of(self, end: End) -> list[Link]:
        links = self._links_of.get(end) or self._links_of.get(End(end.device, port_under(end.interface)), [])
        return [link for link in links if self._is_access(link, link.end_on(end.device))]

    def _is_access(self, link: Link, near: End) -> bool:
        """Tell whether a cable brings `near` into a broadcast domain at its far end."""
        far = link.other(near)
        if self.is_host(far):
            return False
        return self.is_host(near) or (self._speaks(near) and not self._speaks(far))

    def _speaks(self, port: End) -> bool:
        return self.logical(port) in self._attached or port in self._attached

    def links_at(self, port: End) -> list[Link]:
        """Return every cable of a port, or of a LAG."""
        return self._links_of.get(port, [])

    def uplinks(self) -> list[Link]:
        """Return the links between switches and routers that route: no peer links of pairs, no trunks."""
        return self._uplinks

    def _find_uplinks(self) -> list[Link]:
        trunks = set(self.domains.trunks)
        return [link for link in self._between_switches() if link not in trunks]

    def _between_switches(self) -> list[Link]:
        """Return the links that are nobody's access, switched peer links of pairs left out."""
        switched = {link for links in self._peer_links.values() for link in links}
        return [
            link
            for link in self.intent.links
            if not any(self.is_host(end) or self._is_access(link, end) for end in link.ends) and link not in switched
        ]

    def _find_trunks(self) -> list[Link]:
        """Return the links without routing between two switches of one segment: they carry it, and route nothing."""
        domains = [set(self.leafs_in(segment)) for segment in self.intent.segments]
        plain = [link for link in self._between_switches() if link.routing == "none"]
        return [link for link in plain if any({link.a.device, link.b.device} <= leafs for leafs in domains)]

    def between(self, one: str, other: str) -> list[Link]:
        """Return the routed links between two neighbours."""
        return self._between.get(frozenset((one, other)), [])

    def peer_links(self, pair: Pair) -> list[Link]:
        """Return the switched cables between the two members of a pair; a routed one beside them is an uplink."""
        return self._peer_links[pair.name]

    def _find_peer_links(self, pair: Pair) -> list[Link]:
        mine = [k for k in self.intent.links if {k.a.device, k.b.device} == set(pair.devices) and k.routing == "none"]
        if mine or pair.peer_link is None:
            return mine
        one, other = (End(device, pair.peer_link) for device in pair.devices)
        return [Link(one, other)]

    def peering(self, pair: Pair) -> Link | None:
        """Return the two interfaces by which the members of a pair talk over their peer link; no path leads there."""
        if pair.peering is None:
            return None
        return Link(End(pair.devices[0], pair.peering), End(pair.devices[1], pair.peering))

    def pairs_in(self, segment: Segment) -> list[Pair]:
        """Return the pairs that a segment lives on, by both members."""
        leafs = self.leafs_in(segment)
        pairs = dict.fromkeys(filter(None, map(self.pair_of, leafs)))
        return [pair for pair in pairs if set(pair.devices) <= set(leafs)]

    def is_within_pair(self, link: Link) -> bool:
        """Tell whether a link joins the two members of a pair."""
        return self.unit_of(link.a.device) == self.unit_of(link.b.device)

    def planes(self) -> dict[str, list[Link]]:
        """Return {spine: its links}, ordered; a link without a spine counts for its first end's device."""
        found: dict[str, list[Link]] = {}
        for link in self.uplinks():
            spines = sorted((end.device for end in link.ends if self._is_spine(end.device)), key=natural_key)
            found.setdefault(spines[0] if spines else link.a.device, []).append(link)
        return {spine: found[spine] for spine in sorted(found, key=lambda s: (not self._is_spine(s), natural_key(s)))}

    def _is_spine(self, device: str) -> bool:
        groups = self.intent.devices[device].groups
        return "spines" in groups or (device not in self._rack_of and "borders" not in groups and "leafs" not in groups)

    # ------------------------------------------------------------------ ways

    def paths(self, source: End, destination: End) -> list[tuple[Hop, ...]]:
        """Return every equal-cost path from one interface of a segment to another, none where there is no way.

        The source is a host's interface or a gateway; the destination any managed member of a segment.
        """
        return self._paths.between(source, destination)

    def path_count(self, source: End, destination: End) -> int:
        """Return how many equal-cost paths there are, for flows that shall cross each of them."""
        return self._paths.count(source, destination)

    def switches_of(self, end: End) -> tuple[str, ...]:
        """Return the switches that an interface is cabled to."""
        return self._paths.switches_of(end)

    def leafs_of(self, end: End) -> tuple[str, ...]:
        """Return the switches that route for an interface: its own, or its segment's gateways (attached ones first)."""
        return self._paths.leafs_of(end)

    def links_among(self, here: Iterable[str], there: Iterable[str]) -> list[Link]:
        """Return the links that traffic from some switches to others may cross, also after failures."""
        blocks = [self.graph.blocks_between(a, b) for a in here for b in there]
        return self._links_in(frozenset().union(*blocks))

    def _links_in(self, blocks: frozenset[int]) -> list[Link]:
        if blocks not in self._block_links:
            edges = self.graph.edges_of(blocks)
            found = [link for link in self._uplinks if frozenset((link.a.device, link.b.device)) in edges]
            self._block_links[blocks] = found
        return self._block_links[blocks]

    @property
    def graph(self) -> RoutedGraph:
        """The routed graph of devices."""
        if self._graph is None:
            self._graph = RoutedGraph((link.a.device, link.b.device) for link in self._uplinks)
        return self._graph

    @staticmethod
    def near(ends: list[End]) -> list[tuple[End, End]]:
        """Return ordered pairs among interfaces that cross each of them both ways (see spread.py)."""
        return [(ends[a], ends[b]) for a, b in neighbours(len(ends))]
