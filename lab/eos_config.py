"""The startup-config that a switch of the lab is born with: the fabric before the roll-out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .addressing import family_of
from .fabric import LINK_VLAN, UNTAGGED, Aggregate, Bgp, Node, Port
from .ports import AGGREGATE


def startup_config(node: Node) -> str:
    """Return the text of a switch's startup-config. No MTU is in it: every interface is at its default."""
    parts = [f"hostname {node.name}\n!", *_vlans(node), *_ports(node), *_svis(node), *_pairing(node), *_routing(node)]
    return "\n".join([*parts, "end\n"])


def _vlans(node: Node) -> Iterator[str]:
    for bridge in node.bridges:
        if bridge.vlan is not None:
            yield f"vlan {bridge.vlan}\n   name {bridge.name}\n!"


def _ports(node: Node) -> Iterator[str]:
    vlans = {bridge.kernel: bridge.vlan for bridge in node.bridges}
    for port in node.ports:
        if port.trunk:  # a lane: no interface of the switch
            continue
        mode = list(_mode(node, port, vlans))
        yield f"interface {port.interface}\n   description {port.peer}"
        if lag := port.member_of or port.aggregate:
            yield f"   channel-group {lag.removeprefix(AGGREGATE)} mode active"
        if port.aggregate:
            yield f"!\ninterface {port.aggregate}\n   description {port.peer.device}"
        yield from mode
        yield "!"
    for aggregate in node.aggregates:
        yield f"interface {aggregate.interface}\n   description {aggregate.members[0].peer.device}"
        yield from _routed(node, aggregate)
        yield "!"


def _mode(node: Node, port: Port, vlans: Mapping[str, int | None]) -> Iterator[str]:
    """Yield the lines that say what a port, or the aggregate that it is the member of, carries."""
    if port.vlans:
        yield "   switchport mode trunk"
        yield f"   switchport trunk allowed vlan {','.join(map(str, port.vlans))}"
    elif port.routes:
        yield from _routed(node, port)
    elif port.bridge is None:  # a member
        return
    elif vlans[port.bridge] is not None:
        yield f"   switchport access vlan {vlans[port.bridge]}"
    if port.mlag is not None:
        yield f"   mlag {port.mlag}"


def _routed(node: Node, port: Port | Aggregate) -> Iterator[str]:
    """Yield the lines of what routes, by itself or by a sub-interface; the MTU of one is that of its parent."""
    yield "   no switchport"
    if port.tagging != UNTAGGED:
        yield f"!\ninterface {port.interface}.{LINK_VLAN}\n   encapsulation dot1q vlan {LINK_VLAN}"
    yield from _addresses(node, port.interface)


def _pairing(node: Node) -> Iterator[str]:
    if node.peering:
        yield f"mlag configuration\n   domain-id {node.peering.domain}\n   local-interface {node.peering.interface}"
        yield f"   peer-address {node.peering.address}\n   peer-link {node.peering.link}\n!"


def _svis(node: Node) -> Iterator[str]:
    for bridge in node.bridges:
        if bridge.interface:
            yield f"interface {bridge.interface}\n   description {bridge.name}"
            yield from _addresses(node, bridge.interface)
            yield "!"


def _addresses(node: Node, interface: str) -> Iterator[str]:
    four, six = (_of_family(node.addresses.get(interface, ()), family) for family in (4, 6))
    for number, prefix in enumerate(four):
        yield f"   ip address {prefix}{' secondary' if number else ''}"
    yield from (f"   ipv6 address {prefix}" for prefix in six)


def _of_family(prefixes: Iterable[str], family: int) -> list[str]:
    return [prefix for prefix in prefixes if family_of(prefix) == family]


def _routing(node: Node) -> Iterator[str]:
    yield "ip routing\n!"
    if any(family_of(prefix) == 6 for prefixes in node.addresses.values() for prefix in prefixes):  # noqa: PLR2004
        yield "ipv6 unicast-routing\n!"
    static = list(node.static_routes())
    for route in static:
        prefix = "0.0.0.0/0" if route.prefix == "default" else route.prefix
        word = "ip" if family_of(prefix) == 4 else "ipv6"  # noqa: PLR2004
        yield from (f"{word} route {prefix} {gateway}" for gateway, _interface in route.hops)
    if static:
        yield "!"
    yield from _bgp(node.bgp) if node.bgp else ()
    yield "management api http-commands\n   no shutdown\n!"


def _bgp(bgp: Bgp) -> Iterator[str]:
    yield f"router bgp {bgp.asn}"
    yield "   maximum-paths 64"
    for peer in bgp.peers:
        yield f"   neighbor {peer.address} remote-as {peer.asn}"
        yield f"   neighbor {peer.address} description {peer.device}"
    yield "   redistribute connected"
    six = [peer.address for peer in bgp.peers if family_of(peer.address) == 6]  # noqa: PLR2004
    if six:
        yield "   !"
        yield "   address-family ipv6"
        yield from (f"      neighbor {address} activate" for address in six)
    yield "!"
