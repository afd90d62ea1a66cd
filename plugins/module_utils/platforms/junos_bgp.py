"""BGP neighbours of Junos interfaces, from a configuration and from `show bgp summary`. No I/O.

A link is drained by the statement `shutdown` at each of its neighbours, which Junos has since 19.1. What its group or
all of BGP says counts for a neighbour as well, and is never ours. Only the main instance is looked at.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

ESTABLISHED = "Established"


@dataclass(frozen=True)
class Neighbour:
    """A neighbour as configured. `shut`: it, its group or all of BGP is shut down; `own`: by a statement of its own."""

    group: str
    address: str
    shut: bool
    own: bool

    def as_dict(self) -> dict[str, str]:
        """Return what a change keeps of a neighbour that it shuts down."""
        return {"group": self.group, "address": self.address}


def neighbours_of(configuration: Any) -> list[Neighbour]:
    """Read the neighbours of a `configuration` element."""
    found = []
    for bgp in configuration.findall(".//protocols/bgp"):
        for group in bgp.findall("group"):
            name = _text(group, "name")
            inherited = bgp.find("shutdown") is not None or group.find("shutdown") is not None
            for neighbour in group.findall("neighbor"):
                said = neighbour.find("shutdown")
                inherited_here = inherited or (said is not None and source_of(said) is not None)
                own = said is not None and source_of(said) is None
                found.append(Neighbour(name, _text(neighbour, "name"), own or inherited_here, own))
    return found


def source_of(element: Any) -> str | None:
    """Return what a statement is inherited from, None where it is stated itself, or is not there."""
    for kind in ("group", "interface-range"):
        if element is not None and element.get(kind):
            return f"{kind} {element.get(kind)}"
    return None


def over(neighbours: Iterable[Neighbour], addresses: Sequence[str]) -> tuple[Neighbour, ...]:
    """Return the neighbours that stand in the subnets of these addresses of an interface."""
    nets = [ipaddress.ip_interface(prefix) for prefix in addresses]
    return tuple(n for n in neighbours if any(_is_in(n.address, net) for net in nets))


def _is_in(address: str, net: Any) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return found in net.network and found != net.ip


def peers_of(information: Any) -> dict[str, dict[str, Any]]:
    """Read get-bgp-summary-information: {address: {state, seconds since it is so, routes}}."""
    found = {}
    for peer in information.iter("bgp-peer"):
        since = peer.find("elapsed-time")
        counts = [_text(rib, "active-prefix-count") for rib in peer.iter("bgp-rib")]
        found[_text(peer, "peer-address").partition("+")[0]] = {
            "state": _text(peer, "peer-state"),
            "seconds": int(since.get("seconds")) if since is not None and since.get("seconds") else None,
            "routes": sum(int(count) for count in counts if count.isdigit()),
        }
    return found


def is_down(peer: Mapping[str, Any]) -> bool:
    """Tell whether a session is told to be down and to bring no routes; what is not told is not down."""
    return peer.get("state") not in (None, "", ESTABLISHED) and peer.get("routes") == 0


def adjacency(neighbour: Neighbour, peers: Mapping[str, Mapping[str, Any]], now: int) -> dict[str, Any]:
    """Return a neighbour in the shape of a state's adjacency; `now`: the box's time, seconds since 1970."""
    peer = peers.get(neighbour.address) or {}
    seconds = peer.get("seconds")
    return {
        "protocol": "bgp",
        "neighbour": neighbour.address,
        "state": str(peer["state"]).lower() if peer.get("state") else None,
        "shut": neighbour.shut,
        "since": now - seconds if seconds is not None else None,
        "routes": peer.get("routes"),
    }


def _text(element: Any, path: str) -> str:
    return (element.findtext(path) or "").strip()
