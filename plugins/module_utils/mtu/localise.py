"""From "this pair loses large packets" to one interface.

Kinds of evidence, the strongest first; each takes the pairs that it explains, the next one looks at the rest:

1. an interface on the path reads back less than the packet;
2. a port counted too long frames meanwhile;
3. a router answered "fragmentation needed";
4. a ping over one link failed at this size and passed at the old one;
5. the links that failing pairs share and clean pairs do not use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping

from .intent_types import End, Link
from .topology import Hop, Topology


@dataclass(frozen=True)
class Loss:
    """One ordered pair: how many of its flows lost packets of `size` bytes, while the old size passed."""

    source: str
    target: str
    size: int
    lost: int
    flows: int
    too_big: tuple[tuple[str, int | None], ...] = ()

    @property
    def total(self) -> bool:
        """True where no flow arrived: what is guilty lies on every path of the pair."""
        return self.lost >= self.flows


@dataclass(frozen=True)
class Facts:
    """What else was measured: sizes read back and frames counted by "device:interface", owners of addresses."""

    read_back: Mapping[str, int]
    too_long: Mapping[str, int]
    addresses: Mapping[str, str]


def localise(
    losses: Iterable[Loss], clean: Iterable[tuple[str, str]], facts: Facts, topology: Topology
) -> list[dict[str, Any]]:
    """Return [{host, interface, reason, evidence}] that explain every loss, the fewest that do.

    `clean`: pairs whose flows all arrived at the same size.
    """
    search = _Search(topology, facts, list(clean))
    rest = list(losses)
    for explain in (
        search.by_read_back,
        search.by_counters,
        search.by_reporters,
        search.by_legs,
        search.by_common_links,
    ):
        rest = explain(rest)
    for loss in rest:
        text = f"{loss.lost} of {loss.flows} flows of {loss.size} bytes from {loss.source} were lost"
        search.add(_end(loss.target), "packets of this size do not arrive, and no link explains it", text)
    return search.findings


def _end(text: str) -> End:
    device, _colon, interface = text.partition(":")
    return End(device, interface)


class _Search:
    def __init__(self, topology: Topology, facts: Facts, clean: list[tuple[str, str]]) -> None:
        self.topology = topology
        self.facts = facts
        self.clean = clean
        self.findings: list[dict[str, Any]] = []

    def add(self, end: End, reason: str, evidence: str) -> None:
        """Add a finding about an interface, once."""
        if not any(f["host"] == end.device and f["interface"] == end.interface for f in self.findings):
            found = {"host": end.device, "interface": end.interface, "reason": reason, "evidence": evidence}
            self.findings.append(found)

    # ------------------------------------------------------------------ paths

    def paths(self, source: str, target: str) -> list[tuple[Hop, ...]]:
        """Return the paths of a pair; both ends of one routed link are one hop, by any cable of an aggregate."""
        here, there = _end(source), _end(target)
        legs = self._legs(here, there)
        if legs:
            return [(Hop(here, True, leg.end_on(there.device), leg),) for leg in legs]
        return self.topology.paths(here, there)

    def _legs(self, here: End, there: End) -> list[Link]:
        """Return the cables of the link between two interfaces: several where these are aggregates."""
        ends = {here, there}
        peerings = filter(None, map(self.topology.peering, self.topology.intent.pairs))
        links = [*self.topology.uplinks(), *peerings]
        return [link for link in links if {self.topology.logical(port) for port in link.ends} == ends]

    def ends(self, loss: Loss) -> Iterator[End]:
        """Yield every interface on the paths of a pair: what sends, its port, what receives."""
        for path in self.paths(loss.source, loss.target):
            for hop in path:
                yield from (hop.egress, hop.egress_port, hop.ingress)

    def _explained(self, losses: list[Loss], end: End) -> list[Loss]:
        """Return the losses whose paths cross the cable at an interface, in either direction."""
        return [loss for loss in losses if any(end in (e, self.topology.logical(e)) for e in self._cable_ends(loss))]

    def _cable_ends(self, loss: Loss) -> Iterator[End]:
        for path in self.paths(loss.source, loss.target):
            for hop in path:
                yield from (hop.egress, hop.ingress)
                yield from hop.link.ends if hop.link else ()

    # ------------------------------------------------------------------ kinds of evidence

    def by_read_back(self, losses: list[Loss]) -> list[Loss]:
        """Name interfaces on the path that say themselves that they carry less."""
        for loss in losses:
            for end in self.ends(loss):
                size = self.facts.read_back.get(str(end))
                if size is not None and size < loss.size:
                    text = f"{loss.source} to {loss.target} loses {loss.size} bytes"
                    self.add(end, f"it reads back an IP MTU of {size}", text)
        return self._without(losses)

    def by_counters(self, losses: list[Loss]) -> list[Loss]:
        """Name ports that counted too long frames, the one that explains most first."""
        ports = {_end(name): count for name, count in self.facts.too_long.items() if count > 0}
        rest = list(losses)
        while rest:
            known = {port: len(self._explained(rest, port)) for port in ports}
            port = max(known, key=lambda p: (known[p], ports[p], str(p)), default=None)
            if port is None or not known[port]:
                break
            lost = f"{known[port]} pairs lose packets of {rest[0].size} bytes across it"
            self.add(port, "it drops frames as too long", f"{ports.pop(port)} frames counted meanwhile; {lost}")
            explained = self._explained(rest, port)
            rest = [loss for loss in rest if loss not in explained]
        return rest

    def by_reporters(self, losses: list[Loss]) -> list[Loss]:
        """Name the sending interface of a router that answered "fragmentation needed"."""
        rest = []
        for loss in losses:
            found = False
            for reporter, size in loss.too_big:
                device = self.facts.addresses.get(reporter, "").partition(":")[0]
                hops = [hop for path in self.paths(loss.source, loss.target) for hop in path]
                for hop in (hop for hop in hops if hop.egress.device == device):
                    found = True
                    text = f"{reporter} answered {loss.source}: fragmentation needed, MTU {size}"
                    self.add(hop.egress, "its router answers that larger packets do not fit", text)
            if not found:
                rest.append(loss)
        return rest

    def by_legs(self, losses: list[Loss]) -> list[Loss]:
        """Name both ends of a link over which a ping of this size fails: a box in the cable has no interface."""
        legs = {loss: self._legs(_end(loss.source), _end(loss.target)) for loss in losses}
        for loss, cables in legs.items():
            for cable in cables:
                self._name_link(cable, f"pings of {loss.size} bytes over it are lost", len(cables))
        return self._without(losses) if any(legs.values()) else losses

    def by_common_links(self, losses: list[Loss]) -> list[Loss]:
        """Name the links that explain most failing pairs and that no clean pair uses; equals are all named."""
        good = {self._way(hop) for pair in self.clean for path in self.paths(*pair) for hop in path}
        rest = list(losses)
        while rest:
            votes: dict[Any, set[Loss]] = {}
            for loss in rest:
                for link in self._suspects(loss, good):
                    votes.setdefault(link, set()).add(loss)
            if not votes:
                break
            most = max(len(explained) for explained in votes.values())
            named = [link for link in votes if len(votes[link]) == most]
            for link in named:
                self._name_link(link, f"it explains {most} failing pairs", len(named))
            explained = set().union(*(votes[link] for link in named))
            rest = [loss for loss in rest if loss not in explained]
        return rest

    def _suspects(self, loss: Loss, good: set[Any]) -> set[Link]:
        paths = self.paths(loss.source, loss.target)
        ways = [{self._way(hop): hop.link for hop in path if hop.link} for path in paths]
        everywhere = set.intersection(*(set(way) for way in ways)) if ways else set()
        found = set()
        for way in ways:
            for key, link in way.items():
                # All flows lost: the fault is on every path. Some arrive: it is not on every path.
                if key not in good and link is not None and (key in everywhere) == (loss.total or len(ways) == 1):
                    found.add(link)
        if not found and loss.total:  # several links at once
            found = {link for way in ways for key, link in way.items() if key not in good and link is not None}
        return found

    @staticmethod
    def _way(hop: Hop) -> tuple[Any, ...]:
        return (hop.link, hop.ingress) if hop.link else (hop.egress, hop.ingress)

    def _name_link(self, link: Link, evidence: str, candidates: int = 1) -> None:
        """Name both ends of a link: what drops in the cable has no interface."""
        for port in link.ends:
            reason = f"the link {link} drops large packets, and neither end counts or reports it"
            if candidates > 1:
                reason = f"the link {link} or one of {candidates - 1} others drops large packets without a count"
            self.add(self.topology.logical(port), reason, evidence)

    def _without(self, losses: list[Loss]) -> list[Loss]:
        """Return the losses that no finding so far explains."""
        named = [End(finding["host"], finding["interface"]) for finding in self.findings]
        explained = [loss for end in named for loss in self._explained(losses, end)]
        return [loss for loss in losses if loss not in explained]
