"""What lies between the switches of one broadcast domain: trunks and peer links, else the underlay that carries it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Dict, FrozenSet, List, Tuple

from .graph import RoutedGraph
from .intent_types import Link, Segment

if TYPE_CHECKING:
    from .topology import Topology

Way = Tuple[Tuple[str, Link], ...]
"""The links of a switched way, each with the device that sends on it."""

_Joined = Tuple[RoutedGraph, Dict[FrozenSet[str], List[Link]]]


class Domains:
    """Switched ways of a topology. `trunks`: the links that switch between two members of a segment."""

    def __init__(self, topology: Topology, trunks: list[Link]) -> None:
        self.topology = topology
        self.trunks = trunks
        self._joined: dict[str, _Joined] = {}

    def trunks_in(self, segment: Segment) -> list[Link]:
        """Return the trunks that carry a segment: both of their ends are switches of it."""
        leafs = set(self.topology.leafs_in(segment))
        return [link for link in self.trunks if {link.a.device, link.b.device} <= leafs]

    def is_switched(self, segment: Segment) -> bool:
        """Tell whether trunks and peer links alone join all switches of a segment, so that no underlay carries it."""
        leafs = self.topology.leafs_in(segment)
        return all(self._graph_of(segment)[0].shortest_paths(leafs[0], leaf) for leaf in leafs[1:])

    def links(self, segment: Segment) -> list[Link]:
        """Return every link between the switches of a segment that its packets may cross, after failures too."""
        switched = [link for links in self._graph_of(segment)[1].values() for link in links]
        if self.is_switched(segment):
            return switched
        leafs = self.topology.leafs_in(segment)
        return [*switched, *self.topology.links_among(leafs, leafs)]

    def ways(self, segment: Segment, start: str, stop: str) -> list[Way]:
        """Return every shortest switched way between two switches, with every choice among parallel links."""
        if start == stop:
            return [()]
        graph, joined = self._graph_of(segment)
        found = graph.shortest_paths(start, stop)
        if found:
            return [way for devices in found for way in self._along(devices, joined)]
        rows = self.topology.graph.shortest_paths(start, stop)
        steps = {pair for devices in rows for pair in zip(devices, devices[1:])}
        between = {frozenset(pair): self.topology.between(*pair) for pair in steps}
        return [way for devices in rows for way in self._along(devices, between)]

    @staticmethod
    def _along(devices: tuple[str, ...], between: dict[frozenset[str], list[Link]]) -> list[Way]:
        hops = [[(near, link) for link in between[frozenset((near, far))]] for near, far in zip(devices, devices[1:])]
        return list(itertools.product(*hops))

    def _graph_of(self, segment: Segment) -> _Joined:
        if segment.name not in self._joined:
            peers = [link for pair in self.topology.pairs_in(segment) for link in self.topology.peer_links(pair)]
            joined: dict[frozenset[str], list[Link]] = {}
            for link in [*peers, *self.trunks_in(segment)]:
                joined.setdefault(frozenset((link.a.device, link.b.device)), []).append(link)
            edges = [(min(both), max(both)) for both in joined]
            self._joined[segment.name] = (RoutedGraph(edges), joined)
        return self._joined[segment.name]
