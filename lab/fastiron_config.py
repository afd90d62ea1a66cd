"""The configuration that a FastIron box of the lab is born with: the fabric before the roll-out."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from .addressing import family_of
from .fabric import Node
from .fastiron.ports import port_number, ve_number

_IPV4 = 4


def startup_config(node: Node, managed_at: str | None = None) -> str:
    """Return the text of a box's configuration: neither `jumbo` nor any `ip mtu` is in it. Raises ValueError.

    managed_at: the address of its management port, None where it is managed in band.
    """
    management = ["interface management 1", f" ip address {managed_at} 255.0.0.0", "!"] if managed_at else []
    parts = [
        *_vlans(node),
        *_ports(node),
        *management,
        *_virtual(node),
        f"hostname {node.name}",
        "lldp run",
        *_routing(node),
    ]
    return "\n".join([*parts, "!", "end"])


def _vlans(node: Node) -> Iterator[str]:
    for bridge in node.bridges:
        if bridge.vlan is None:
            continue
        members = [port_number(port.interface) for port in node.ports if port.bridge == bridge.kernel]
        yield f"vlan {bridge.vlan} name {bridge.name} by port"
        yield from ([f" untagged {' '.join(f'ethe {number}' for number in members)}"] if members else [])
        yield from ([f" router-interface ve {ve_number(bridge.interface)}"] if bridge.interface else [])
        yield "!"


def _ports(node: Node) -> Iterator[str]:
    for port in node.ports:
        yield f"interface ethernet {port_number(port.interface)}\n port-name to-{port.peer.device}"
        if port.bridge is None:
            yield from _addresses(node, port.interface)
        yield "!"


def _virtual(node: Node) -> Iterator[str]:
    for bridge in node.bridges:
        if bridge.interface:
            yield f"interface ve {ve_number(bridge.interface)}"
            yield from _addresses(node, bridge.interface)
            yield "!"


def _addresses(node: Node, interface: str) -> Iterator[str]:
    for prefix in node.addresses.get(interface, ()):
        found = ipaddress.ip_interface(prefix)
        if family_of(prefix) == _IPV4:
            yield f" ip address {found.ip} {found.network.netmask}"
        else:
            yield f" ipv6 address {prefix}"


def _routing(node: Node) -> Iterator[str]:
    for route in node.routes:
        prefix = "0.0.0.0/0" if route.prefix == "default" else route.prefix
        word = "ip" if family_of(prefix) == _IPV4 else "ipv6"
        yield from (f"{word} route {prefix} {gateway}" for gateway, _interface in route.hops)
