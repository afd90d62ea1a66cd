"""From an inventory's intent to the fabric to build. What the lab cannot build is refused here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import LINK_POOLS, Addresses, assign_addresses, pair_addresses
from .bgp import bgp_of, routed_links
from .buildable import problems
from .fabric import Fabric, Node, Pair, Peering, Port
from .ports import Wiring
from .routing import Router


def build_fabric(intent: Intent, topology: Topology, listen: Mapping[str, str]) -> Fabric:
    """Return the fabric. `listen`: the management address of each device. Raises InvalidIntent with all problems."""
    found = tuple(problems(topology))
    if found:
        raise InvalidIntent(found)
    routed = routed_links(topology)
    wiring = Wiring(topology)
    addresses = {**assign_addresses(intent, routed), **pair_addresses(wiring.pairs)}
    router = Router(topology, dict.fromkeys(LINK_POOLS, routed), addresses)
    nodes = {name: _node(name, topology, wiring, addresses, router, listen[name]) for name in intent.devices}
    return Fabric(nodes, wiring.cables, wiring.bundles, wiring.pairs)


def _node(name: str, topology: Topology, wiring: Wiring, addresses: Addresses, router: Router, listen: str) -> Node:
    device = topology.intent.devices[name]
    ports = wiring.ports(name)
    return Node(
        name=name,
        platform=device.platform,
        is_host=device.is_host,
        listen=listen,
        ports=ports,
        bridges=tuple(wiring.bridges(name, ports)),
        addresses={end.interface: prefixes for end, prefixes in addresses.items() if end.device == name},
        routes=router.routes_of(name),
        backend=tuple(end.interface for end in topology.endpoints() if end.device == name),
        peering=next((_peering(pair, name, ports, addresses) for pair in wiring.pairs if _is_in(pair, name)), None),
        bgp=bgp_of(topology, name, addresses),
        aggregates=tuple(wiring.aggregates(name, ports)),
    )


def _is_in(pair: Pair, name: str) -> bool:
    return any(end.device == name for end in pair.ends)


def _peering(pair: Pair, name: str, ports: Sequence[Port], addresses: Addresses) -> Peering:
    here, there = sorted(pair.ends, key=lambda end: end.device != name)
    port = next(port for port in ports if port.interface == here.interface)
    far = addresses[End(there.device, pair.svi)][0]
    return Peering(pair.name, port.aggregate or port.interface, far.partition("/")[0], pair.svi)
