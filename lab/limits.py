"""What a port does not take in, as nft text: device limits inside the node, boxes in cables inside the plant.

`meta length` in a netdev ingress chain is the length of the IP packet. Everything that is dropped is counted twice: as
what the device would call a giant, and, where it is neither a probe nor a ping, as production traffic that was lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from .fabric import Cable, Fabric, Node
from .platforms import ETHERNET_HEADER

TABLE = "jumbo_lab"
LIST_COUNTERS = ("nft", "-j", "list", "counters", "table", "netdev", TABLE)
# Before every other hook: what the port does not take in, nobody sees.
_PRIORITY = -500
# How the project's own probes are told from production.
_PROBE_PORT = 47900


def node_rules(node: Node, overrides: Mapping[str, int]) -> str:
    """Return the ingress limits of a node's ports; `overrides` is {interface: bytes} where a fault wants it smaller."""
    parts = []
    for port in node.ports:
        limit = overrides.get(port.interface, node.sizes.receives or node.boot_mtu(port))
        parts.append(_chains(port.kernel, limit))
    return _table(parts)


def follow_link(kernel: str, ip_mtu: int) -> str:
    """Return the change that makes a host's port take in what its link's MTU says; packets meet the old or the new."""
    chain = f"netdev {TABLE} in_{kernel}"
    return f"flush chain {chain}\nadd rule {chain} {_rule(ip_mtu, kernel)}\n"


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
    return _table(_chains(name, min(sizes)) for name, sizes in limits.items())


def giants_counter(device: str) -> str:
    """Return the name of the counter of all packets that were too large there."""
    return f"giants_{device}"


def lost_counter(device: str) -> str:
    """Return the name of the counter of production packets that were too large there."""
    return f"lost_{device}"


def read_counters(listing: str) -> dict[str, int]:
    """Return {counter: packets} of what `nft -j list counters` printed."""
    counters = (entry["counter"] for entry in json.loads(listing)["nftables"] if "counter" in entry)
    return {counter["name"]: counter["packets"] for counter in counters}


def _table(chains: Iterable[str]) -> str:
    return "\n".join([f"table netdev {TABLE} {{", *chains, "}", ""])


def _chains(device: str, limit: int) -> str:
    return f"""\
  counter {giants_counter(device)} {{ }}
  counter {lost_counter(device)} {{ }}
  chain large_{device} {{
    counter name {giants_counter(device)}
    udp dport {_PROBE_PORT} drop
    udp sport {_PROBE_PORT} drop
    ip protocol icmp drop
    counter name {lost_counter(device)} drop
  }}
  chain in_{device} {{ type filter hook ingress device "{device}" priority {_PRIORITY}; policy accept;
    {_rule(limit, device)}
  }}"""


def _rule(limit: int, device: str) -> str:
    return f"meta length > {limit} jump large_{device}"


def silence_rules() -> str:
    """Return the rules that let no ICMP "fragmentation needed" out of a node, its own or others'."""
    rule = "icmp type destination-unreachable icmp code frag-needed counter drop"
    chains = [
        f"  chain {name} {{ type filter hook {name} priority 0; policy accept;\n    {rule}\n  }}"
        for name in ("output", "forward")
    ]
    return "\n".join([f"table ip {TABLE} {{", *chains, "}", ""])
