"""From an inventory's intent to the fabric to build. What the lab cannot build is refused here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Intent, Link, Segment
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import Addresses, assign_addresses
from .fabric import Bridge, Cable, Fabric, Node, Port
from .names import is_plain, kernel_name
from .platforms import PLATFORMS
from .routing import Router


def build_fabric(intent: Intent, topology: Topology, listen: Mapping[str, str]) -> Fabric:
    """Return the fabric. `listen`: the management address of each device. Raises InvalidIntent with all problems."""
    problems = tuple(_problems(intent))
    if problems:
        raise InvalidIntent(problems)
    routed = tuple(link for link in topology.uplinks() if link.routing != "none")
    addresses = assign_addresses(intent, routed)
    router = Router(intent, topology, routed, addresses)
    cables = tuple(Cable(number, link.a, link.b, link.through) for number, link in enumerate(intent.links))
    nodes = {name: _node(name, topology, cables, addresses, router, listen[name]) for name in intent.devices}
    return Fabric(nodes, cables)


def _node(
    name: str, topology: Topology, cables: tuple[Cable, ...], addresses: Addresses, router: Router, listen: str
) -> Node:
    device = topology.intent.devices[name]
    own = [(cable, end) for cable in cables for end in (cable.a, cable.b) if end.device == name]
    ports = tuple(_port(topology, cable, end) for cable, end in own)
    return Node(
        name=name,
        platform=device.platform,
        is_host=device.is_host,
        listen=listen,
        ports=ports,
        bridges=() if device.is_host else tuple(_bridges(topology, name, ports)),
        addresses={end.interface: prefixes for end, prefixes in addresses.items() if end.device == name},
        routes=router.routes_of(name),
        backend=tuple(end.interface for end in topology.endpoints() if end.device == name),
    )


def _port(topology: Topology, cable: Cable, end: End) -> Port:
    peer = cable.b if end == cable.a else cable.a
    segment = topology.segment_of(peer)
    is_access = not topology.intent.devices[end.device].is_host and topology.intent.devices[peer.device].is_host
    bridge = _bridge_name(topology, end.device, segment) if is_access and segment else None
    return Port(end.interface, cable.plant_end(end), peer, cable.through, bridge)


def _bridges(topology: Topology, device: str, ports: tuple[Port, ...]) -> Iterator[Bridge]:
    """Yield a switch's VLANs: those it has an address or an access port in."""
    used = {port.bridge for port in ports}
    for segment in topology.intent.segments:
        kernel = _bridge_name(topology, device, segment)
        svi = _svi(topology, device, segment)
        if svi or kernel in used:
            yield Bridge(kernel, segment.vlan, segment.name, svi)


def _bridge_name(topology: Topology, device: str, segment: Segment) -> str:
    return kernel_name(_svi(topology, device, segment) or f"br-{segment.name}")


def _svi(topology: Topology, device: str, segment: Segment) -> str | None:
    return next((end.interface for end in topology.gateways(segment) if end.device == device), None)


def _problems(intent: Intent) -> Iterator[JumboError]:
    for device in intent.devices.values():
        if device.platform not in PLATFORMS:
            yield JumboError(
                "the lab cannot play this platform yet",
                host=device.name,
                variable="ansible_network_os",
                wish=device.platform,
                limit=", ".join(PLATFORMS),
            )
    for lag in intent.lags:
        yield JumboError("the lab cannot build link aggregates yet", host=lag.device, object=lag.name)
    for link in intent.links:
        yield from _link_problems(intent, link)
    cabled = {end for link in intent.links for end in link.ends}
    for segment in intent.segments:
        for end in (member.end for member in segment.members if member.managed and member.end):
            if intent.devices[end.device].is_host and end not in cabled:
                advice = "Add its access link to jumbo_links; a VLAN interface of a host cannot be built yet"
                yield JumboError("this interface has no cable", host=end.device, object=end.interface, advice=advice)


def _link_problems(intent: Intent, link: Link) -> Iterator[JumboError]:
    devices = [intent.devices[end.device] for end in link.ends]
    if link.routing == "none" and not any(device.is_host for device in devices):
        advice = "Give it a routing, such as static"
        message = "the lab cannot build a switched link between switches yet"
        yield JumboError(message, host=link.a.device, object=str(link), advice=advice)
    if all(device.is_host for device in devices):
        yield JumboError("a cable between two hosts is not built by the lab", host=link.a.device, object=str(link))
    if link.tagging != "untagged":
        yield JumboError(
            "the lab cannot build tagged links yet", host=link.a.device, object=str(link), wish=link.tagging
        )
    for end, device in zip(link.ends, devices, strict=True):
        if device.platform == "linux" and not is_plain(end.interface):
            message = "this is no name for a Linux interface"
            yield JumboError(message, host=end.device, object=end.interface, limit="15 letters, digits or _.-")
