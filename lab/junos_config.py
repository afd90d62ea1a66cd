"""The configuration that a Junos box of the lab is born with: the fabric before the roll-out."""

from __future__ import annotations

from collections.abc import Iterator

from .addressing import family_of
from .fabric import LINK_VLAN, UNTAGGED, Aggregate, Bgp, Node, Port

_TAGS = {"tagged": "vlan-tagging", "flexible": "flexible-vlan-tagging"}


def startup_config(node: Node) -> str:
    """Return the set commands of a box's configuration. No MTU is in it: every interface is at its default."""
    lines = [f"system host-name {node.name}", *_ports(node), *_vlans(node), *_routing(node)]
    return "\n".join(f"set {line}" for line in lines)


def _ports(node: Node) -> Iterator[str]:
    vlans = {bridge.kernel: bridge.name for bridge in node.bridges}
    for port in node.ports:
        yield f'interfaces {port.interface} description "{port.peer}"'
        if port.member_of:
            yield f"interfaces {port.interface} gigether-options 802.3ad {port.member_of}"
        elif port.bridge is None:
            yield from _routed(node, port)
        else:
            members = f"vlan members {vlans[port.bridge]}"
            yield f"interfaces {port.interface} unit 0 family ethernet-switching {members}"

    if node.aggregates:
        yield f"chassis aggregated-devices ethernet device-count {len(node.aggregates)}"
    for aggregate in node.aggregates:
        yield f"interfaces {aggregate.interface} aggregated-ether-options lacp active"
        yield from _routed(node, aggregate)


def _routed(node: Node, port: Port | Aggregate) -> Iterator[str]:
    """Yield what routes: unit 0, or one with a VLAN's tag."""
    if port.tagging == UNTAGGED:
        yield from _addresses(node, port.interface, f"interfaces {port.interface} unit 0")
        return
    yield f"interfaces {port.interface} {_TAGS[port.tagging]}"
    unit = f"interfaces {port.interface} unit {LINK_VLAN}"
    yield f"{unit} vlan-id {LINK_VLAN}"
    yield from _addresses(node, port.interface, unit)


def _vlans(node: Node) -> Iterator[str]:
    for bridge in node.bridges:
        if bridge.vlan is not None:
            yield f"vlans {bridge.name} vlan-id {bridge.vlan}"
        if bridge.interface:
            yield f"vlans {bridge.name} l3-interface {bridge.interface}"
            name, _dot, unit = bridge.interface.partition(".")
            yield from _addresses(node, bridge.interface, f"interfaces {name} unit {unit}")


def _addresses(node: Node, interface: str, unit: str) -> Iterator[str]:
    for prefix in node.addresses.get(interface, ()):
        yield f"{unit} family {'inet' if family_of(prefix) == 4 else 'inet6'} address {prefix}"  # noqa: PLR2004 - IPv4


def _routing(node: Node) -> Iterator[str]:
    yield from _bgp(node.bgp) if node.bgp else ()
    for route in node.static_routes():
        prefix = "0.0.0.0/0" if route.prefix == "default" else route.prefix
        table = "" if family_of(prefix) == 4 else "rib inet6.0 "  # noqa: PLR2004 - IPv4
        for gateway, _interface in route.hops:
            yield f"routing-options {table}static route {prefix} next-hop {gateway}"
    yield "protocols lldp interface all"
    yield "system services netconf ssh"


def _bgp(bgp: Bgp) -> Iterator[str]:
    yield f"routing-options autonomous-system {bgp.asn}"
    yield "routing-options forwarding-table export balanced"
    yield "policy-options policy-statement balanced then load-balance per-packet"
    yield "policy-options policy-statement own term direct from protocol direct"
    yield "policy-options policy-statement own term direct then accept"
    for peer in bgp.peers:
        four = family_of(peer.address) == 4  # noqa: PLR2004 - IPv4
        group = f"protocols bgp group {'uplinks' if four else 'uplinks6'}"
        yield f"{group} type external"
        yield f"{group} export own"
        yield f"{group} multipath multiple-as"
        yield f"{group} family {'inet' if four else 'inet6'} unicast"
        yield f"{group} neighbor {peer.address} description {peer.device}"
        yield f"{group} neighbor {peer.address} peer-as {peer.asn}"
