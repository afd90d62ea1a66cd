"""The one place that touches networkx: shortest paths and blocks of the routed graph."""

from __future__ import annotations

from typing import Iterable

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

    def shortest_paths(self, source: str, target: str) -> list[tuple[str, ...]]:
        """Return every path with the fewest hops (ECMP), sorted; a device alone is its own path."""
        if source == target:
            return [(source,)]
        if source not in self._graph or target not in self._graph or not networkx.has_path(self._graph, source, target):
            return []
        return sorted(tuple(path) for path in networkx.all_shortest_paths(self._graph, source, target))

    def simple_edges(self, source: str, target: str) -> set[frozenset[str]]:
        """Return the edges that lie on any loop-free path: what traffic may cross after failures.

        With an edge between source and target added, those are the edges of the block (biconnected component) it is in.
        """
        if source == target or source not in self._graph or target not in self._graph:
            return set()
        graph = self._graph.copy()
        direct = graph.has_edge(source, target)
        graph.add_edge(source, target)
        for block in networkx.biconnected_component_edges(graph):
            edges = {frozenset(edge) for edge in block}
            if frozenset((source, target)) in edges:
                return edges if direct else edges - {frozenset((source, target))}
        return set()
