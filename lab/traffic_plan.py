"""Which host talks to whom, and by which of the traffic programs."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .addressing import family_of
from .fabric import Node
from .inventory import Design
from .routing import DEFAULTS

INTERVAL = 0.5
UNBOUND = 1500  # bytes of IP packet
OUTSIDE = "wan"  # the role of segments whose hosts stand for all that is not ours
_MOST_PEERS = 8
_IPV4 = 4
_SUFFIXES = {4: "", 6: "/ipv6"}  # how a peer is named that is meant in this family


def traffic_programs(design: Design, node: Node) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the programs that a host runs, each with what it is told; none for a host that has nobody to talk to."""
    interval = design.knob(node.name, "traffic", INTERVAL)
    own = _addresses(design, node)
    if not interval or not own:
        return
    peers = {
        f"{peer.name}{_SUFFIXES[family]}": address
        for peer in _peers(design, node)
        for family, address in _addresses(design, peer).items()
        if family in own
    }
    told = {"name": node.name, "peers": peers, "interval": interval}
    if peers:
        yield Path(__file__).with_name("traffic.py"), {**told, "addresses": list(own.values())}
    size = design.knob(node.name, "unbound", UNBOUND)
    prefixes = (prefix for name in node.backend for prefix in node.addresses.get(name, ()))
    prefix = next((prefix for prefix in prefixes if family_of(prefix) == _IPV4), None)
    if size and prefix:
        yield Path(__file__).with_name("unbound.py"), {**told, **_unbound(prefix, peers), "size": size}


def _unbound(prefix: str, peers: dict[str, str]) -> dict[str, Any]:
    here = ipaddress.IPv4Interface(prefix)
    reached = {name: address for name, address in peers.items() if family_of(address) == here.version}
    return {"address": str(here.ip), "broadcast": str(here.network.broadcast_address), "peers": reached}


def _peers(design: Design, node: Node) -> list[Node]:
    """Return a few other hosts, of the own rack and of others, chosen so that every host is somebody's peer.

    Who has its default route by the back end talks to the outside as well.
    """
    nodes = design.fabric.nodes
    outside = [other for other in nodes.values() if _is_outside(design, other)]
    if node in outside:
        return [other for other in nodes.values() if _reaches_outside(other)]
    hosts = [name for name, other in nodes.items() if other.is_host and other.backend and _addresses(design, other)]
    start = hosts.index(node.name)
    others = hosts[start + 1 :] + hosts[:start]
    rack_of = design.topology.rack_of
    local = [name for name in others if rack_of(name) == rack_of(node.name)]
    remote = [name for name in others if name not in local]
    chosen = [nodes[name] for name in (local[:2] + remote)[:_MOST_PEERS]]
    return [*chosen, *(outside if _reaches_outside(node) else ())]


def _is_outside(design: Design, node: Node) -> bool:
    return node.is_host and not node.backend and bool(_addresses(design, node))


def _reaches_outside(node: Node) -> bool:
    hops = [hop for route in node.routes if route.prefix in DEFAULTS.values() for hop in route.hops]
    return any(interface in node.backend for _gateway, interface in hops)


def _addresses(design: Design, node: Node) -> dict[int, str]:
    """Return the first address of each family by which a host takes part: in the back end, or outside."""
    interfaces = node.backend or [
        end.interface
        for segment in design.topology.intent.segments
        if segment.role == OUTSIDE
        for end in design.topology.hosts_in(segment)
        if end.device == node.name
    ]
    found: dict[int, str] = {}
    for prefix in (prefix for name in interfaces for prefix in node.addresses.get(name, ())):
        found.setdefault(family_of(prefix), prefix.partition("/")[0])
    return found
