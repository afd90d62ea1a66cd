"""Routes of the lab: equal-cost over the routed links, hosts by their segments' gateways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import networkx
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Link, Segment
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import LINK_POOLS, Addresses, first_address, networks
from .fabric import Route

# Where a host's default route goes, the first role that it has; the back end is the last resort.
DEFAULTS = {4: "default", 6: "::/0"}
DEFAULT_ROUTE_ROLES = ("frontend", "management", "wan", "other", "jumbo")


class Router:
    """Finds the routes of every device. `links`: the routed links that can be used, by family."""

    def __init__(self, topology: Topology, links: Mapping[int, Sequence[Link]], addresses: Addresses) -> None:
        self._intent = topology.intent
        self._topology = topology
        self._addresses = addresses
        self._links = links
        self._graphs = {family: self._graph(some) for family, some in links.items()}
        self._distances: dict[tuple[str, int], dict[str, int]] = {}

    def _graph(self, links: Sequence[Link]) -> networkx.Graph:
        graph = networkx.Graph()
        graph.add_nodes_from(self._intent.devices)
        graph.add_edges_from((link.a.device, link.b.device) for link in links)
        return graph

    def routes_of(self, device: str) -> tuple[Route, ...]:
        """Return a device's routes, the default route last."""
        found = self._host_routes(device) if self._intent.devices[device].is_host else self._switch_routes(device)
        return tuple(found)

    def _switch_routes(self, device: str) -> Iterator[Route]:
        for segment in self._intent.segments:
            owners = {end.device for end in self._topology.gateways(segment)}
            if owners and device not in owners:
                for network in networks(segment):
                    hops = tuple(self._hops_towards(device, segment.name, owners, network.version))
                    if hops:
                        yield Route(str(network), hops)

    def _hops_towards(self, device: str, name: str, owners: set[str], family: int) -> Iterator[tuple[str, str]]:
        """Yield (gateway, interface) of the links that bring a packet one step nearer to one of the owners."""
        key = (name, family)
        if key not in self._distances:
            self._distances[key] = dict(networkx.multi_source_dijkstra_path_length(self._graphs[family], owners))
        distance = self._distances[key]
        for link in self._links[family]:
            if device in (link.a.device, link.b.device) and device in distance:
                here = link.end_on(device)
                far = link.other(here)
                gateway = first_address(self._addresses.get(far, ()), family)
                if gateway and distance.get(far.device, distance[device]) < distance[device]:
                    yield gateway, here.interface

    def _host_routes(self, device: str) -> Iterator[Route]:
        segments = [
            (end, segment)
            for segment in self._intent.segments
            for end in self._topology.hosts_in(segment)
            if end.device == device
        ]
        own = {segment.name for _end, segment in segments}
        others = [segment for segment in self._topology.jumbo_segments() if segment.name not in own]
        for family in LINK_POOLS:
            backend = next(self._gateways(segments, "jumbo", family), None)
            wanted = [network for segment in others for network in networks(segment) if network.version == family]
            if backend:
                yield from (Route(str(network), (backend,)) for network in wanted)
        for family, prefix in DEFAULTS.items():
            hops = (hop for role in DEFAULT_ROUTE_ROLES for hop in self._gateways(segments, role, family))
            default = next(hops, None)
            if default:
                yield Route(prefix, (default,))

    def _gateways(self, segments: list[tuple[End, Segment]], role: str, family: int) -> Iterator[tuple[str, str]]:
        """Yield (gateway, interface) of a host's segments of that role, in one family."""
        for end, segment in segments:
            for gateway in self._topology.gateways(segment) if segment.role == role else ():
                address = first_address(self._addresses.get(gateway, ()), family)
                if address:
                    yield address, end.interface
