"""What a port does not take in or pass on, as nft text: limits of devices in their nodes, boxes in cables in the plant.

`meta length` in these chains is the length of the IP packet. What is dropped counts as what the device would call a
giant. Each packet that was too large somewhere is also logged, for the sentinel: the prefix says what happened, where,
and at which limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from .fabric import Cable, Fabric, Node
from .nflog import GROUP
from .platforms import DEFAULT_IP_MTU, ETHERNET_HEADER

TABLE = "jumbo_lab"
LIST_COUNTERS = ("nft", "-j", "list", "counters", "table", "netdev", TABLE)
# Not a host's own copy of what it sends to groups: that was on no wire.
_FROM_OUTSIDE = "fib saddr type != local"
# Before every other hook: what the port does not take in, nobody sees.
_PRIORITY = -500
# What happened to a packet, the first word of its prefix: not taken in by a port or by a box in a cable, too large
# for the switched port it would leave by, to be fragmented by a switch; an ICMP "too big" was made, or arrived.
REFUSED, STUCK, SPLIT, MADE, HEARD = "refused", "stuck", "split", "made", "heard"
_TOO_BIG = ("icmp type destination-unreachable icmp code frag-needed", "icmpv6 type packet-too-big")
_FIRST, _LAST = -400, 400  # among the hooks of a host or router: before any filter, and after all of them


def node_rules(node: Node, overrides: Mapping[str, int]) -> str:
    """Return the limits of a node's ports; `overrides` is {interface: bytes} that a fault wants a port to take in."""
    parts = []
    for port in node.ports:
        limit = overrides.get(port.interface, node.sizes.receives or node.boot_mtu(port))
        parts.append(_chains(port.kernel, limit))
    return _table("netdev", parts) + _answers() + ("" if node.is_linux else _egress(node))


def follow_link(node: Node, interface: str, ip_mtu: int) -> str:
    """Return the change that a new MTU of a link (its kernel name) means; packets meet the old limit or the new.

    A port of a Linux machine takes in what its link's MTU says. What a switch passes on is limited by the kernel;
    its rules only tell of it.
    """
    if node.is_linux:
        return takes_in(interface, ip_mtu)
    family, rule = _egress_rule(node, interface, ip_mtu)
    chain = f"{family} {TABLE} out_{interface}"
    return f"flush chain {chain}\nadd rule {chain} {rule}\n"


def takes_in(port: str, ip_mtu: int) -> str:
    """Return the change that limits what a port (its kernel name) takes in."""
    chain = f"netdev {TABLE} in_{port}"
    return f"flush chain {chain}\nadd rule {chain} {_ingress_rule(ip_mtu, port)}\n"


def plant_rules(fabric: Fabric, extra: Mapping[tuple[Cable, str], int]) -> str:
    """Return the drops inside cables: boxes that the inventory tells of, and `extra` {(cable, "a" | "b"): bytes}.

    The side says which way: "a" is what travels towards the cable's first end.
    """
    limits: dict[str, list[int]] = {}
    for cable in fabric.cables:
        for side in "ab":
            sizes = [box.max_frame - ETHERNET_HEADER for box in cable.through if box.max_frame is not None]
            sizes += [extra[cable, side]] if (cable, side) in extra else []
            for wire in cable.wires() if sizes else ():
                limits[wire["ab".index(side)]] = sizes
    return _table("netdev", (_chains(name, min(sizes)) for name, sizes in limits.items()))


def silence_rules() -> str:
    """Return the rules that let no word of a packet too big out of a node, its own or others' (RFC 1191, RFC 4443)."""
    rules = "\n    ".join(f"{match} drop" for match in _TOO_BIG)
    return _table("inet", (_chain(name, f"{name} priority 0", rules) for name in ("output", "forward")))


def giants_counter(device: str) -> str:
    """Return the name of the counter of all packets that were too large there."""
    return f"giants_{device}"


def read_counters(listing: str) -> dict[str, int]:
    """Return {counter: packets} of what `nft -j list counters` printed."""
    counters = (entry["counter"] for entry in json.loads(listing)["nftables"] if "counter" in entry)
    return {counter["name"]: counter["packets"] for counter in counters}


def _chains(device: str, limit: int) -> str:
    hook = f'ingress device "{device}" priority {_PRIORITY}'
    counter = f"  counter {giants_counter(device)} {{ }}\n"
    return counter + _chain(f"in_{device}", hook, _ingress_rule(limit, device))


def _ingress_rule(limit: int, device: str) -> str:
    counter = f"counter name {giants_counter(device)}"
    return f"meta length > {limit} {_FROM_OUTSIDE} {counter} {_log(REFUSED, device, limit)} drop"


def _answers() -> str:
    """Return the rules that tell of each ICMP "too big": where it is made, and where it has passed every filter."""
    made = "\n    ".join(f"{match} {_log(MADE)}" for match in _TOO_BIG)
    heard = "\n    ".join(f"{match} {_log(HEARD)}" for match in _TOO_BIG)
    chains = [_chain("made", f"output priority {_FIRST}", made), _chain("heard", f"input priority {_LAST}", heard)]
    return _table("inet", chains)


def _egress(node: Node) -> str:
    """Return the rules that tell what a switch cannot pass on as it is, though no ICMP says so."""
    chains: dict[str, list[str]] = {"bridge": [], "inet": []}
    jumps: dict[str, list[str]] = {"bridge": [], "inet": []}
    mtus = {port.kernel: node.boot_mtu(port) for port in node.ports}
    bridges = [bridge.kernel for bridge in node.bridges]
    aggregates = [aggregate.kernel for aggregate in node.aggregates]
    for kernel in [*mtus, *bridges, *aggregates]:
        family, rule = _egress_rule(node, kernel, mtus.get(kernel, DEFAULT_IP_MTU))
        chains[family].append(f"  chain out_{kernel} {{\n    {rule}\n  }}")
        jumps[family].append(f'oifname "{kernel}" jump out_{kernel}')
    hooks = {"bridge": "postrouting", "inet": "forward"}  # of a bridge, only the first sees what its SVI sends
    return "".join(
        _table(family, [*chains[family], _chain("leaving", f"{hook} priority {_LAST}", "\n    ".join(jumps[family]))])
        for family, hook in hooks.items()
    )


def _egress_rule(node: Node, kernel: str, ip_mtu: int) -> tuple[str, str]:
    """Return the family and the rule of what leaves by an interface; DF packets get an answer, and so another rule."""
    if any(port.kernel == kernel and port.bridge for port in node.ports):
        return "bridge", f"meta length > {ip_mtu} {_log(STUCK, kernel, ip_mtu)}"
    return "inet", f"ip frag-off & 0x4000 == 0 meta length > {ip_mtu} {_log(SPLIT, kernel, ip_mtu)}"


def _log(what: str, device: str = "", limit: int = 0) -> str:
    return f'log prefix "{f"{what} {device} {limit}" if device else what}" group {GROUP}'


def _table(family: str, parts: Iterable[str]) -> str:
    return "\n".join([f"table {family} {TABLE} {{", *parts, "}", ""])


def _chain(name: str, hook: str, rules: str) -> str:
    return f"  chain {name} {{ type filter hook {hook}; policy accept;\n    {rules}\n  }}"
