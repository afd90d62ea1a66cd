"""BGP neighbours of Junos interfaces, from a configuration and from `show bgp summary`. No I/O.

A link is drained by the statement `shutdown` at each of its neighbours, which Junos has since 19.1. What its group or
all of BGP says counts for a neighbour as well, and is never ours. Only neighbours of the main instance that have an
address of their own are shut down; where a link may carry other sessions it would be drained by half.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping, Sequence

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


class Peers:
    """Whom a `configuration` element has BGP speak to, instance by instance; "" is the main one."""

    def __init__(self, configuration: Any) -> None:
        instances = list(configuration.iterfind(".//routing-instances/instance"))
        self.instance_of = {
            _text(entry, "name"): _text(instance, "name")
            for instance in instances
            for entry in instance.findall("interface")
        }
        places = [("", one) for one in configuration.iter("configuration")]
        places += [(_text(instance, "name"), instance) for instance in instances]
        self.bgp = [(name, bgp) for name, place in places for bgp in place.findall("protocols/bgp")]
        self.neighbours = _neighbours_of(bgp for name, bgp in self.bgp if not name)

    def over(self, interface: Any) -> tuple[tuple[Neighbour, ...], tuple[str, ...]]:
        """Return the neighbours that an interface leads to, and the peers that no drain shuts down, in words."""
        units: dict[str, dict[str, list[str]]] = {}
        for unit in interface.findall("unit"):
            name = f"{_text(interface, 'name')}.{_text(unit, 'name')}"
            addresses = [_text(entry, "name") for entry in unit.iterfind("family/*/address")]
            in_instance = units.setdefault(self.instance_of.get(name, ""), {})
            in_instance[name] = [prefix for prefix in addresses if "/" in prefix]
        main = [prefix for prefixes in units.get("", {}).values() for prefix in prefixes]
        others = [said for name, bgp in self.bgp for said in _others(name, bgp, units.get(name, {}))]
        return over(self.neighbours, main), tuple(dict.fromkeys(others))


def _others(instance: str, bgp: Any, units: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what may be a peer over these units, {name: prefixes}, but for neighbours that a drain shuts down."""
    prefixes = [prefix for found in units.values() for prefix in found]
    for group in bgp.findall("group") if units else ():
        name = _text(group, "name")
        for allowed in group.iter("allow"):
            prefix = (allowed.text or "").strip() or _text(allowed, "name")
            if _overlaps(prefix, prefixes):
                yield f"group {name} allow {prefix}"
        for dynamic in group.findall("dynamic-neighbor"):
            named = {(entry.text or "").strip() or _text(entry, "name") for entry in dynamic.iter("interface")}
            if not named or named & set(units):
                yield f"group {name} dynamic-neighbor {_text(dynamic, 'name')}"
        for neighbour in group.findall("neighbor"):
            address = _text(neighbour, "name")
            local = (_text(neighbour, "local-interface") or _text(group, "local-interface")).split()
            if address.lower().startswith("fe80:") and (not local or local[0] in units):
                yield f"link-local neighbor {address}"
            elif instance and any(_is_in(address, ipaddress.ip_interface(prefix)) for prefix in prefixes):
                yield f"neighbor {address} in routing instance {instance}"


def _overlaps(wanted: str, prefixes: Iterable[str]) -> bool:
    """Tell whether a range of addresses may have one in these subnets; a word such as `all` has."""
    try:
        range_ = ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        return True
    nets = [ipaddress.ip_interface(prefix).network for prefix in prefixes]
    return any(range_.version == net.version and range_.overlaps(net) for net in nets)


def _neighbours_of(configured: Iterable[Any]) -> list[Neighbour]:
    found = []
    for bgp in configured:
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
