"""The phases of one wave, one failure domain after the other.

Peer links of pairs come first, both ends together; then the first member of each pair (as `jumbo_pairs` lists them: of
a firewall cluster the backup first) and the single switches, then the second members: never two of one domain in one
step. Steps of a wave go through the phases in their order, so a phase that comes again opens the next wave.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from .intent_types import End, Segment
from .planner import Planner
from .scope import SegmentWork
from .steps import PHASES, Change, Gate, Outage


class Row:
    """Appends steps and numbers their waves."""

    def __init__(self, planner: Planner, stage: str, wave: int) -> None:
        self.planner = planner
        self.stage = stage
        self.first = wave
        self.wave = wave
        self.last = -1

    @property
    def taken(self) -> int:
        """Return how many wave numbers have steps."""
        return self.wave - self.first + (self.last >= 0)

    def add(
        self,
        phase: str,
        changes: Sequence[Change],
        gate: Gate | None,
        text: str,
        *,
        atomic: bool = False,
        outage: Sequence[Outage] = (),
    ) -> str:
        """Append a step in this wave, or in the next one where its phase has gone by; return its id."""
        place = PHASES.index(phase)
        if place <= self.last:
            self.wave += 1
        self.last = place
        return self.planner.add(self.stage, self.wave, phase, changes, gate, text, atomic=atomic, outage=outage)


def unique(changes: Iterable[Change]) -> list[Change]:
    """Keep the first change of each object: a port may carry several segments."""
    found: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        found.setdefault((change.host, change.object, change.field), change)
    return list(found.values())


def by_turn(planner: Planner, changes: Iterable[Change]) -> list[list[Change]]:
    """Divide the changes of switches so that each part holds one member of a pair at most."""
    turns: dict[int, list[Change]] = {}
    for change in unique(changes):
        pair = planner.topology.pair_of(change.host)
        turns.setdefault(pair.devices.index(change.host) if pair else 0, []).append(change)
    return [turns[turn] for turn in sorted(turns)]


def raise_ports(row: Row, works: Sequence[SegmentWork], *, prove: bool) -> None:
    """Append the switched ports: peer links at both ends at once, then the ports of one member after the other.

    Peer links are proven by their pairs' peerings, also where these were raised before (`prove`).
    """
    planner = row.planner
    joins = planner.still(unique(change for work in works for change in work.joins))
    if joins:
        text = "Peer links accept larger frames first, both ends in one step: nobody sends such frames yet."
        row.add("l2", joins, None, text, atomic=True)
    _raise_peerings(row, works, prove=prove)
    for part in by_turn(planner, planner.still(change for work in works for change in work.l2)):
        row.add("l2", part, None, "The ports accept larger frames before anybody may send them.")


def _raise_peerings(row: Row, works: Sequence[SegmentWork], *, prove: bool) -> None:
    """Append both ends of the peerings in one step: they differ for as short as it can be (design rule 11)."""
    planner = row.planner
    changes = planner.still(unique(change for work in works for change in work.peering))
    size = max(work.segment.ip_mtu for work in works)
    pairs = dict.fromkeys(pair for work in works for pair in planner.topology.pairs_in(work.segment))
    links = [link for link in map(planner.live.peering, pairs) if link and planner.peerings.get(link, 0) < size]
    if not links or not (changes or prove):
        return
    text = "Peer links accept larger frames; both ends of what a pair talks by change together, and prove them."
    coming = {End(change.host, change.object): int(change.to) for change in changes}
    planner.peerings.update((link, min(coming.get(end, planner.coming(end)) for end in link.ends)) for link in links)
    sizes = [planner.peerings[link] for link in links]
    gate = planner.gate("leg", [pair for link in links for pair in (link.ends, link.ends[::-1])], sizes)
    row.add("link", changes, gate, text, atomic=True)


def raise_hosts(row: Row, works: Sequence[SegmentWork], *, prove: bool) -> str | None:
    """Append the hosts, pinned, and the proof that all receive; also where they were raised before (`prove`)."""
    segments = [work.segment for work in works]
    hosts = unique(change for work in works for change in work.hosts)
    if not hosts and not prove:
        return None
    pairs = row.planner.near_pairs(segments)
    gate = row.planner.gate("rack_receive", pairs, [segment.ip_mtu for segment in segments], ecmp=True)
    if not hosts and not gate:
        return None
    names = ", ".join(segment.name for segment in segments)
    text = f"Every port of {names} carries its size; production stays at its old size, routes pinned first."
    return row.add("host_link", hosts, gate, text)


def raise_gateways(row: Row, works: Sequence[SegmentWork]) -> None:
    """Append the gateways: all of them after all hosts of their segments, one member of a pair after the other."""
    segments = [work.segment for work in works]
    names = ", ".join(segment.name for segment in segments)
    for part in by_turn(row.planner, (change for work in works for change in work.svi)):
        changed = {change.host for change in part}
        pairs = [
            (gateway, end)
            for segment in segments
            for gateway in row.planner.topology.gateways(segment)
            if gateway.device in changed
            for end in row.planner.hosts([segment])
        ]
        gate = row.planner.gate("gateway", pairs, [segment.ip_mtu for segment in segments])
        row.add("svi", part, gate, f"Every host of {names} receives its size and has persisted it.")


def expose(planner: Planner, segments: Sequence[Segment], first: str, last: str) -> None:
    """List the traffic that pins do not bound (design rule 4): it may be large from the moment the links are."""
    for segment in segments:
        for kind in ("multicast", "broadcast", "pmtu_ignoring"):
            sentence = f"{kind} senders in {segment.name} may send up to {segment.ip_mtu} from {first} on"
            planner.exposures.append(
                {
                    "class": kind,
                    "segment": segment.name,
                    "ip_mtu": segment.ip_mtu,
                    "from_step": first,
                    "to_step": last,
                    "sentence": sentence,
                }
            )
