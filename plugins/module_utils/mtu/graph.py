"""The one place that touches networkx: shortest paths and blocks of the routed graph."""

from __future__ import annotations

from typing import Any, Collection, Iterable, Iterator

from .errors import JumboError

try:
    import networkx
except ImportError:  # the controller has it; a managed host need not
    networkx = None


class RoutedGraph:
    """Devices that route and the links between them; parallel links count as one edge here."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        if networkx is None:
            raise JumboError(
                "the Python package networkx is missing on the controller",
                advice="Install the collection's requirements.txt into the Python that runs ansible-playbook",
            )
        self._graph = networkx.Graph()
        self._graph.add_edges_from(sorted(edges))
        self._near = {device: frozenset(self._graph.adj[device]) for device in self._graph}
        self._blocks: list[set[Any]] = []
        self._blocks_of: dict[str, set[int]] = {}
        for number, block in enumerate(networkx.biconnected_component_edges(self._graph)):
            self._blocks.append({frozenset(edge) for edge in block})
            for device in {device for edge in self._blocks[-1] for device in edge}:
                self._blocks_of.setdefault(device, set()).add(number)
        self._tree: Any = None
        self._ways: dict[tuple[str, str], frozenset[int]] = {}
        self._kept: dict[tuple[str, str], list[tuple[str, ...]]] = {}

    def shortest_paths(self, source: str, target: str) -> list[tuple[str, ...]]:
        """Return every path with the fewest hops (ECMP), sorted; a device alone is its own path."""
        if (source, target) not in self._kept:
            self._kept[source, target] = self._find(source, target)
        return self._kept[source, target]

    def _find(self, source: str, target: str) -> list[tuple[str, ...]]:
        """Search from both ends at once, since networkx walks all of a large graph for each pair."""
        if source == target:
            return [(source,)]
        if source not in self._near or target not in self._near:
            return []
        here, there = [{source}], [{target}]  # devices by their distance from either end
        while not here[-1] & there[-1]:
            side = here if len(here[-1]) <= len(there[-1]) else there
            level = set().union(*(self._near[device] for device in side[-1]))
            fresh = level - set().union(*side)
            if not fresh:
                return []
            side.append(fresh)
        return sorted(self._rows([*here, *reversed(there[:-1])], here[-1] & there[-1], len(here) - 1))

    def _rows(self, levels: list[set[str]], met: set[str], middle: int) -> Iterator[tuple[str, ...]]:
        """Yield every path through these levels, built from the middle towards both ends."""
        for device in met:
            for head in self._descend(device, levels[:middle][::-1]):
                for tail in self._descend(device, levels[middle + 1 :]):
                    yield (*reversed(head), device, *tail)

    def _descend(self, device: str, levels: list[set[str]]) -> Iterator[tuple[str, ...]]:
        if not levels:
            yield ()
            return
        for other in self._near[device] & levels[0]:
            for rest in self._descend(other, levels[1:]):
                yield (other, *rest)

    def blocks_of(self, device: str) -> frozenset[int]:
        """Return the numbers of the blocks that a device is in: devices in the same ones see the same links between."""
        return frozenset(self._blocks_of.get(device, ()))

    def blocks_between(self, source: str, target: str) -> frozenset[int]:
        """Return the numbers of the blocks (biconnected components) that loop-free paths may cross; none if apart."""
        if source == target:
            return frozenset()
        key = (min(source, target), max(source, target))
        if key not in self._ways:
            shared = self._blocks_of.get(source, set()) & self._blocks_of.get(target, set())
            self._ways[key] = frozenset(shared) if shared else self._across(*key)
        return self._ways[key]

    def _across(self, source: str, target: str) -> frozenset[int]:
        if self._tree is None:
            self._tree = networkx.Graph(
                (device, block) for device, blocks in self._blocks_of.items() for block in blocks
            )
        if source not in self._tree or target not in self._tree or not networkx.has_path(self._tree, source, target):
            return frozenset()
        return frozenset(node for node in networkx.shortest_path(self._tree, source, target) if isinstance(node, int))

    def edges_of(self, blocks: Iterable[int]) -> set[Any]:
        """Return the edges of these blocks, each a frozenset of two devices."""
        return set().union(*(self._blocks[number] for number in blocks))

    def parts(self, without: Collection[Any] = ()) -> dict[str, int]:
        """Return {device: number of its connected part} once the edges `without` are gone."""
        kept = networkx.Graph()
        kept.add_nodes_from(self._graph)
        kept.add_edges_from(edge for edge in self._graph.edges if frozenset(edge) not in without)
        return {device: n for n, part in enumerate(networkx.connected_components(kept)) for device in part}
