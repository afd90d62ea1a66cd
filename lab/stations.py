"""Who is managed across the fabric, from which host, and by which address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import first_address
from .fabric import Fabric, Node

# How a node is reached: beside the fabric, or across it.
MANAGEMENT = ("oob", "inband")


@dataclass(frozen=True, slots=True)
class InBand:
    """How a node is managed across the fabric: from this host of the lab, at this IPv4 address, seen from another."""

    station: str
    address: str
    seen_from: str


def find_in_band(fabric: Fabric, topology: Topology, knobs: Mapping[str, Mapping[str, Any]]) -> dict[str, InBand]:
    """Return the nodes that are managed in band; the station itself never is. Raises JumboError.

    knobs: the lab-only variables of each node.
    """
    found = {}
    for node in fabric.nodes.values():
        station = knobs[node.name].get("jumbo_lab_station")
        if knobs[node.name].get("jumbo_lab_management") == "inband" and station != node.name:
            name = _checked(station, fabric, node)
            seen_from = _seen_from(topology, node, fabric.nodes[name])
            found[node.name] = InBand(name, _address(topology, node, name), seen_from)
    return found


def _checked(station: object, fabric: Fabric, node: Node) -> str:
    hosts = [other.name for other in fabric.nodes.values() if other.is_host and other is not node]
    if station not in hosts:
        message = "management in band needs a station: another host of the lab, from which it is done"
        raise JumboError(message, host=node.name, variable="jumbo_lab_station", wish=station, limit=", ".join(hosts))
    return str(station)


def _address(topology: Topology, node: Node, station: str) -> str:
    """Return the address in a segment, else on a link to the station's gateway: the lab routes to no other link."""
    for interface in _reachable(topology, node, station):
        if address := first_address(node.addresses.get(interface, ())):
            return address
    advice = "Let it be managed out of band, or give it a link to the switch that is the station's gateway"
    raise JumboError("the station has no way to this node", host=node.name, advice=advice)


def _seen_from(topology: Topology, node: Node, station: Node) -> str:
    """Return the station's address in a segment that the node is a gateway of, else the first that it has."""
    near = [
        end.interface
        for segment in topology.intent.segments
        if node.name in {end.device for end in topology.gateways(segment)}
        for end in topology.hosts_in(segment)
        if end.device == station.name
    ]
    found = (first_address(station.addresses.get(interface, ())) for interface in (*near, *station.addresses))
    return next(address for address in found if address)


def _reachable(topology: Topology, node: Node, station: str) -> Iterator[str]:
    near = set()
    for segment in topology.intent.segments:
        gateways, hosts = topology.gateways(segment), topology.hosts_in(segment)
        yield from (end.interface for end in (*gateways, *hosts) if end.device == node.name)
        if station in {end.device for end in hosts}:
            near |= {end.device for end in gateways}
    yield from (port.interface for port in node.ports if port.peer.device in near)
