"""Fragments to groups, on their way through a port: as nft text.

A port of a node is a macvlan, and a macvlan puts fragments to groups together before it hands them on
(drivers/net/macvlan.c, macvlan_handle_frame): a datagram of 4000 bytes that was sent in pieces of 1500 would arrive
whole, and be too large. So they pass it under an address that is no group's, and are frames to all behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

from .fabric import Fabric, Node

TABLE = "jumbo_lab_fragments"
_IN_BETWEEN = "02:4e:00:00:00:01"
_HIDE = f"ether daddr & 01:00:00:00:00:00 != 0 ip frag-off & 0x3fff != 0 ether daddr set {_IN_BETWEEN}"
_SHOW = f"ether daddr {_IN_BETWEEN} ether daddr set ff:ff:ff:ff:ff:ff"


def hide_rules(fabric: Fabric) -> str:
    """Return the plant's rules, under all ports."""
    ends = [end for cable in fabric.cables for wire in cable.wires() for end in wire]
    return _table([*ends, *(bundle.plant_end for bundle in fabric.bundles)], _HIDE)


def show_rules(node: Node) -> str:
    """Return a node's rules, at its ports."""
    return _table([port.kernel for port in node.ports], _SHOW)


def _table(devices: Iterable[str], rule: str) -> str:
    head = "type filter hook ingress device"
    chains = [
        f'  chain at_{name} {{ {head} "{name}" priority -400; policy accept;\n    {rule}\n  }}' for name in devices
    ]
    return "\n".join([f"table netdev {TABLE} {{", *chains, "}", ""])
