"""What a port does not take in, as nft text: device limits inside the node, boxes in cables inside the plant.

`meta length` in a netdev ingress chain is the length of the IP packet. Everything that is dropped is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .fabric import Cable, Fabric, Node
from .platforms import ETHERNET_HEADER

TABLE = "jumbo_lab"
# Before every other hook: what the port does not take in, nobody sees.
_PRIORITY = -500


def node_rules(node: Node, overrides: Mapping[str, int]) -> str:
    """Return the ingress limits of a node's ports; `overrides` is {interface: bytes} where a fault wants it smaller."""
    parts = []
    for port in node.ports:
        limit = overrides.get(port.interface, node.sizes.receives or node.boot_mtu(port))
        parts.append(_chain(port.kernel, limit, giants_counter(port.kernel)))
    return _table(parts)


def follow_link(kernel: str, ip_mtu: int) -> str:
    """Return the change that makes a host's port take in what its link's MTU says; packets meet the old or the new."""
    chain = f"netdev {TABLE} in_{kernel}"
    return f"flush chain {chain}\nadd rule {chain} {_rule(ip_mtu, giants_counter(kernel))}\n"


def plant_rules(fabric: Fabric, extra: Mapping[tuple[Cable, str], int]) -> str:
    """Return the drops inside cables: boxes that the inventory tells of, and `extra` {(cable, "a" | "b"): bytes}.

    The side says which way: "a" is what travels towards the cable's first end.
    """
    limits: dict[str, list[int]] = {}
    for cable in fabric.cables:
        for side in "ab":
            sizes = [box.max_frame - ETHERNET_HEADER for box in cable.through if box.max_frame is not None]
            sizes += [extra[cable, side]] if (cable, side) in extra else []
            if sizes:
                limits[f"c{cable.number}{side}"] = sizes
    return _table(_chain(name, min(sizes), f"lost_{name}") for name, sizes in limits.items())


def giants_counter(kernel: str) -> str:
    """Return the name of a port's counter of packets that were too large."""
    return f"giants_{kernel}"


def _table(chains: Iterable[str]) -> str:
    return "\n".join([f"table netdev {TABLE} {{", *chains, "}", ""])


def _chain(device: str, limit: int, counter: str) -> str:
    hook = f'type filter hook ingress device "{device}" priority {_PRIORITY}; policy accept;'
    return f"  counter {counter} {{ }}\n  chain in_{device} {{ {hook}\n    {_rule(limit, counter)}\n  }}"


def _rule(limit: int, counter: str) -> str:
    return f"meta length > {limit} counter name {counter} drop"


def silence_rules() -> str:
    """Return the rules that let no ICMP "fragmentation needed" out of a node, its own or others'."""
    rule = "icmp type destination-unreachable icmp code frag-needed counter drop"
    chains = [
        f"  chain {name} {{ type filter hook {name} priority 0; policy accept;\n    {rule}\n  }}"
        for name in ("output", "forward")
    ]
    return "\n".join([f"table ip {TABLE} {{", *chains, "}", ""])
