"""What is configured of BGP in the default VRF: the neighbours, as `show ip bgp summary` knows them."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from .config import Block, Config

ROUTER = "router bgp "


@dataclass(frozen=True, slots=True)
class Peer:
    """A neighbour. shut: a line `shutdown` is at it or at its peer group."""

    address: str
    asn: str
    description: str
    shut: bool


@dataclass(frozen=True, slots=True)
class Bgp:
    """BGP of a switch."""

    asn: str
    router_id: str
    peers: tuple[Peer, ...]


def bgp_of(config: Config) -> Bgp | None:
    """Return what is configured, None without `router bgp`."""
    for header, block in config.root.children.items():
        if header.startswith(ROUTER):
            return Bgp(header.removeprefix(ROUTER), _router_id(config, block), _peers(block))
    return None


def _peers(block: Block) -> tuple[Peer, ...]:
    facts: dict[str, dict[str, str]] = {}
    for line in block.lines.values():
        words = line.split()
        if words[0] == "neighbor" and len(words) > 2:  # noqa: PLR2004 - neighbor NAME WORD ...
            key, rest = words[2], " ".join(words[3:])
            facts.setdefault(words[1], {})[key] = rest.removeprefix("group ") if key == "peer" else rest
    found = []
    for name, own in facts.items():
        group = facts.get(own.get("peer", ""), {})
        asn = own.get("remote-as") or group.get("remote-as")
        if _is_address(name) and asn:
            shut = "shutdown" in own or "shutdown" in group
            found.append(Peer(name, asn, own.get("description", ""), shut))
    return tuple(found)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _router_id(config: Config, block: Block) -> str:
    """Return the router's name in BGP: configured, else the highest address of a loopback, else of all interfaces."""
    if own := block.value("router-id"):
        return own
    addresses = {name: inner.value("ip address") for name, inner in config.interfaces().items()}
    loopbacks = {name: address for name, address in addresses.items() if name.startswith("Loopback")}
    known = [ipaddress.ip_interface(a).ip for a in (loopbacks or addresses).values() if a and "." in a]
    return str(max(known, default="0.0.0.0"))  # noqa: S104 - how EOS writes "none"
