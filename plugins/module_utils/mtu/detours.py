"""Who has no other way while a device is down. Pure; looks at every cable of the inventory, whatever its role."""

from __future__ import annotations

from .intent_types import End, Link
from .topology import Topology


def links_of(topology: Topology, device: str) -> list[Link]:
    """Return every cable of a device, in the order of the inventory."""
    return [link for link in topology.intent.links if device in (link.a.device, link.b.device)]


def hosts_on(topology: Topology, device: str) -> list[End]:
    """Return the hosts' interfaces (a bond once) that are cabled to a device, in the order of the inventory."""
    far = (link.other(link.end_on(device)) for link in links_of(topology, device))
    return list(dict.fromkeys(topology.logical(end) for end in far if topology.is_host(end)))


def lost_without(topology: Topology, device: str) -> list[str]:
    """Return what has no other way while a device is down: hosts' interfaces, switches of jumbo segments."""
    hosts = [
        str(end)
        for end in hosts_on(topology, device)
        if all(device in (link.a.device, link.b.device) for link in topology.access_links(end))
    ]
    edges = (frozenset((link.a.device, link.b.device)) for link in topology.uplinks())
    gone = frozenset(edge for edge in edges if device in edge)
    before, after = topology.graph.parts(), topology.graph.parts(gone)
    first: dict[int, str] = {}
    leafs = dict.fromkeys(d for s in topology.jumbo_segments() for d in topology.leafs_in(s) if d in before)
    others = [leaf for leaf in leafs if leaf != device]
    switches = [leaf for leaf in others if after[leaf] != after[first.setdefault(before[leaf], leaf)]]
    return [*hosts, *switches]
