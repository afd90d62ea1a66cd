"""What is configured of BGP: the neighbours of all groups, as `show bgp summary` knows them."""

from __future__ import annotations

from dataclasses import dataclass

from .tree import Tree, branch, entries, has, value


@dataclass(frozen=True, slots=True)
class Peer:
    """A neighbour. shut: a statement `shutdown` is at it, at its group, or at all of BGP."""

    address: str
    asn: str
    group: str
    description: str
    shut: bool


@dataclass(frozen=True, slots=True)
class Bgp:
    """BGP of a box."""

    peers: tuple[Peer, ...]
    groups: int


def bgp_of(config: Tree) -> Bgp:
    """Return what is configured; a box without BGP has no neighbours."""
    whole = branch(config, "protocols", "bgp")
    groups = entries(whole, "group")
    peers = [
        Peer(
            address,
            value(block, "peer-as") or value(group, "peer-as") or "",
            name,
            value(block, "description") or "",
            any(has(level, "shutdown") for level in (whole, group, block)),
        )
        for name, group in groups.items()
        for address, block in entries(group, "neighbor").items()
    ]
    return Bgp(tuple(peers), len(groups))
