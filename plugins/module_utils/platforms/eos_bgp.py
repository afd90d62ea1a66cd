"""BGP neighbours of EOS interfaces, from the text of a configuration and from `show ip bgp summary`. No I/O.

Only neighbours of the default VRF count that stand in a subnet of the interface: a session over a single hop. A link is
drained by the line `neighbor A shutdown` for each of them (design rule 10); where it may carry sessions of another kind
it would be drained by half, so `others_over` tells of those.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_subinterfaces import port_of

_ROUTER = re.compile(r"router bgp (?P<asn>\S+) > neighbor (?P<name>\S+) (?P<rest>.+)")
_ADDRESS = re.compile(r"interface (?P<interface>\S+) > (?:ip|ipv6) address (?:virtual )?(?P<prefix>[0-9a-fA-F.:]+/\d+)")

_VRF = re.compile(r"interface (?P<interface>\S+) > vrf (?:forwarding )?(?P<vrf>\S+)")
_PEER = re.compile(
    r"router bgp \S+ > (?:vrf (?P<vrf>\S+) > )?"
    r"(?:neighbor interface (?P<ports>\S+) |neighbor (?P<name>\S+) |bgp listen range (?P<range>\S+) )"
)
_PORT = re.compile(r"(?P<kind>[A-Za-z-]+?)(?P<number>\d[\d/.]*)", re.ASCII)
MAIN = "default"

SUMMARIES = ("show ip bgp summary", "show ipv6 bgp summary")
ESTABLISHED = "Established"
ADMIN = "Admin"
"""`peerStateIdleReason` of a neighbour that is shut down (aristanetworks/anta, napalm's EOS driver)."""


@dataclass(frozen=True)
class Neighbour:
    """A neighbour as configured. `shut`: it, or its peer group, is shut down; `own_line`: the line is its own."""

    asn: str
    address: str
    shut: bool
    own_line: bool

    def as_dict(self) -> dict[str, str]:
        """Return what a change keeps of a neighbour that it shuts down."""
        return {"asn": self.asn, "address": self.address}


def with_blocks(config: str) -> list[str]:
    """Return the lines of a configuration, each with the blocks it stands in: `interface Vlan10 > mtu 9000`."""
    block: list[str] = []
    lines = []
    for line in config.splitlines():
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        depth = (len(line) - len(line.lstrip())) // 3  # EOS indents by three
        block = [*block[:depth], text]
        lines.append(" > ".join(block))
    return lines


def line_of(neighbour: Mapping[str, str]) -> str:
    """Return the line that shuts a neighbour down, with its block."""
    return f"router bgp {neighbour['asn']} > neighbor {neighbour['address']} shutdown"


def neighbours_by_interface(config: str) -> dict[str, list[Neighbour]]:
    """Return the neighbours that each interface leads to, by itself or a sub-interface; those without are left out."""
    lines = with_blocks(config)
    vrfs = _vrfs(lines)
    nets = [(port_of(name), net) for name, net in _nets(lines) if vrfs.get(name, MAIN) == MAIN]
    found: dict[str, list[Neighbour]] = {}
    for neighbour in _neighbours(lines):
        address = ipaddress.ip_address(neighbour.address)
        interface = next((name for name, net in nets if address in net.network and address != net.ip), None)
        if interface:
            found.setdefault(interface, []).append(neighbour)
    return found


def _vrfs(lines: Iterable[str]) -> dict[str, str]:
    return {match["interface"]: match["vrf"] for match in map(_VRF.fullmatch, lines) if match}


def _nets(lines: Iterable[str]) -> list[tuple[str, Any]]:
    found = (match for match in map(_ADDRESS.match, lines) if match)
    return [(match["interface"], ipaddress.ip_interface(match["prefix"])) for match in found]


def others_over(config: str, port: str) -> list[str]:
    """Return the peers that an interface, or a sub-interface of it, may lead to and that no drain shuts down."""
    lines = with_blocks(config)
    vrfs, nets = _vrfs(lines), [(name, net) for name, net in _nets(lines) if port_of(name) == port]
    found = []
    for match in filter(None, map(_PEER.match, lines)):
        vrf = match["vrf"] or MAIN
        near = [net for name, net in nets if vrfs.get(name, MAIN) == vrf]
        said = _other_peer(match, vrf, near, port)
        found += [said] if said else []
    return list(dict.fromkeys(found))


def _other_peer(match: re.Match[str], vrf: str, near: Iterable[Any], port: str) -> str | None:
    """Return what a line says of a peer over this port, None where it is over another one, or a drain shuts it down."""
    if match["ports"]:
        return f"neighbor interface {match['ports']}" if _may_be(match["ports"], port) else None
    if match["range"]:
        dynamic = ipaddress.ip_network(match["range"], strict=False)
        over = any(dynamic.version == net.version and dynamic.overlaps(net.network) for net in near)
        return f"bgp listen range {match['range']}" if over else None
    address, _percent, zone = match["name"].partition("%")
    if zone:
        return f"link-local neighbor {match['name']}" if _may_be(zone, port) else None
    if vrf != MAIN and _is_address(address) and any(ipaddress.ip_address(address) in net.network for net in near):
        return f"neighbor {address} in VRF {vrf}"
    return None


def _may_be(said: str, port: str) -> bool:
    """Tell whether the name of an interface, short or long, or a range of them, may mean this one."""
    one, wanted = _PORT.fullmatch(said), _PORT.fullmatch(port)
    if one is None or wanted is None:
        return True
    same = wanted["kind"].lower().startswith(one["kind"].lower())
    return same and one["number"].partition(".")[0] == wanted["number"]


def _neighbours(lines: Iterable[str]) -> Iterator[Neighbour]:
    """Yield the neighbours that have an address; what their peer group says counts for them."""
    facts: dict[tuple[str, str], list[str]] = {}
    for match in map(_ROUTER.fullmatch, lines):
        if match and " > " not in match["rest"]:
            facts.setdefault((match["asn"], match["name"]), []).append(match["rest"])
    for (asn, name), rest in facts.items():
        if _is_address(name):
            group = next((words.split()[-1] for words in rest if words.startswith(("peer group ", "peer-group "))), "")
            own = _is_shut(rest)
            yield Neighbour(asn, name, own or _is_shut(facts.get((asn, group), [])), own)


def _is_shut(rest: Iterable[str]) -> bool:
    return any(words.split()[0] == "shutdown" for words in rest)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def adjacencies(config: str, summaries: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return {interface: its adjacencies in the shape of a state}; `summaries`: of each family, as data."""
    peers = states_of(summaries)
    return {
        interface: [_adjacency(neighbour, peers.get(neighbour.address) or {}) for neighbour in neighbours]
        for interface, neighbours in neighbours_by_interface(config).items()
    }


def states_of(summaries: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return {address: what the summaries tell of a neighbour}."""
    peers: dict[str, dict[str, Any]] = {}
    for summary in summaries:
        peers.update((summary.get("vrfs") or {}).get("default", {}).get("peers") or {})
    return peers


def is_down(peer: Mapping[str, Any]) -> bool:
    """Tell whether a session is told to be down and to bring no routes; what is not told is not down."""
    return peer.get("peerState") not in (None, ESTABLISHED) and peer.get("prefixReceived") == 0


def _adjacency(neighbour: Neighbour, peer: Mapping[str, Any]) -> dict[str, Any]:
    state = peer.get("peerState")
    return {
        "protocol": "bgp",
        "neighbour": neighbour.address,
        "state": str(state).lower() if state else None,
        "shut": neighbour.shut or peer.get("peerStateIdleReason") == ADMIN,
        "since": peer.get("upDownTime"),
        "routes": peer.get("prefixAccepted", peer.get("prefixReceived")),
    }
