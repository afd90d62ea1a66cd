"""Routes of the lab: equal-cost over the routed links, hosts by their segments' gateways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import networkx
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Link, Segment
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import LINK_POOLS, Addresses, first_address, networks
from .bgp import BGP
from .fabric import Route

# Where a host's default route goes, the first role that it has; the back end is the last resort.
DEFAULTS = {4: "default", 6: "::/0"}
DEFAULT_ROUTE_ROLES = ("frontend", "management", "wan", "other", "jumbo")


class Router:
    """Finds the routes of every device. `links`: the routed links that can be used, by family.

    `born`: the routes of the beginning, where these are later ones. Static routes never move: over a link without BGP
    packets only go where they went then, so nobody takes a detour through a device that announces nothing.
    """

    def __init__(
        self,
        topology: Topology,
        links: Mapping[int, Sequence[Link]],
        addresses: Addresses,
        born: Router | None = None,
    ) -> None:
        self._intent = topology.intent
        self._topology = topology
        self._addresses = addresses
        self._links = links
        self._born = born
        self._known: dict[tuple[str, int], dict[str, int]] = {}

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
        distance = self._distances(name, owners, family)
        for link in self._links[family]:
            if device in (link.a.device, link.b.device) and device in distance:
                here = link.end_on(device)
                far = link.other(here)
                gateway = first_address(self._addresses.get(far, ()), family)
                nearer = distance.get(far.device, distance[device]) < distance[device]
                if gateway and nearer and self._goes(link, far, (name, owners, family)):
                    yield gateway, here.interface

    def _distances(self, name: str, owners: set[str], family: int) -> dict[str, int]:
        """Return {device: how many links away a segment is}."""
        if (name, family) not in self._known:
            graph = networkx.DiGraph()
            graph.add_nodes_from(owners)
            for link in self._links[family]:
                ends = (end for end in link.ends if self._goes(link, end, (name, owners, family)))
                graph.add_edges_from((end.device, link.other(end).device) for end in ends)
            self._known[name, family] = dict(networkx.multi_source_dijkstra_path_length(graph, owners))
        return self._known[name, family]

    def _goes(self, link: Link, far: End, towards: tuple[str, set[str], int]) -> bool:
        """Tell whether packets to a segment may take a link towards this end of it."""
        if self._born is None or link.routing == BGP:
            return True
        then = self._born._distances(*towards)
        return then.get(far.device, len(then)) < then.get(link.other(far).device, len(then))

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
