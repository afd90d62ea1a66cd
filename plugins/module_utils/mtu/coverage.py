"""Nothing is used before it is proven: what the gates of earlier steps have crossed, against what a lift will cross.

A size limit sits on an interface, so a lift needs no probe of its very pair: it needs every interface on its paths
crossed at its size, in both directions, by probes with enough flows for each ECMP leg.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Sequence

from .intent_types import End, Link, Segment
from .live import Live
from .moments import Moments
from .proof_rules import PROBES, NotProven
from .steps import Change, Gate, Plan, Step
from .topology import Topology
from .units import flows_needed

Sizes = dict  # {key: the largest size, bytes of IP packet, that was proven}


class Coverage:
    """The largest size proven from each host, to each host, and over each link in each direction."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.topology = live.topology
        self.baseline = live.intent.baseline_ip_mtu
        links = filter(None, map(self.topology.peering, live.intent.pairs))
        self._of_pairs: dict[str, list[Link]] = {}
        self._peerings = {frozenset(map(str, link.ends)): link for link in links}
        self.sent: Sizes[str, int] = {}
        self.heard: Sizes[str, int] = {}
        self.links: Sizes[tuple[Link, str], int] = {}
        self._whole: dict[tuple[int, int], bool] = {}
        self._weakest: dict[tuple[str, ...], tuple[str, int]] = {}
        self._ends = {str(end): end for s in self.topology.jumbo_segments() for end in self.topology.hosts_in(s)}

    def add(self, gate: Gate | None) -> None:
        """Count what a gate proves."""
        if gate is not None and gate.name == "leg":
            self._add_legs(gate)
        if gate is None or gate.name not in PROBES or max(gate.ip_mtus) <= self.baseline:
            return  # that the old size passes is no proof of a lift
        self._whole.clear()
        self._weakest.clear()
        size = max(gate.ip_mtus)
        couples: dict[Any, tuple[End, End]] = {}
        for source, target in gate.pairs:
            if source not in self._ends or target not in self._ends:
                continue
            self.sent[source] = max(size, self.sent.get(source, 0))
            self.heard[target] = max(size, self.heard.get(target, 0))
            here, there = self._ends[source], self._ends[target]
            couples.setdefault(ways_between(self.topology, here, there), (here, there))
        for ways, ends in couples.items():
            if ways and gate.flows >= flows_needed(self.topology.path_count(*ends)):
                for crossed in (each for way in ways for each in way.crossed(self.topology)):
                    self.links[crossed] = max(size, self.links.get(crossed, 0))

    def _add_legs(self, gate: Gate) -> None:
        """Count pings between the members of a pair: they cross the peer link, which no host's probes do."""
        for source, target in gate.pairs:
            link = self._peerings.get(frozenset((source, target)))
            if link:
                self.links[link, source.partition(":")[0]] = max(gate.ip_mtus)

    def missing(self, source: Segment, targets: list[Segment], size: int) -> str | None:
        """Return what packets from one segment to others would cross unproven, None where nothing is."""
        key = tuple(target.name for target in targets)
        if key not in self._weakest:
            self._weakest[key] = min(map(self._least, targets), key=lambda each: each[1])
        host, least = self._weakest[key]
        if least < size:
            return host
        for link in {link: None for segment in (source, *targets) for link in self._peerings_in(segment)}:
            for device in (end.device for end in link.ends):
                if self.links.get((link, device), 0) < size:
                    return f"the peer link under {link} from {device}"
        if self._all_crossed(self.topology.uplinks(), size):
            targets = [target for target in targets if target is source]  # it may have trunks
        return next(filter(None, (self._missing_link(source, target, size) for target in targets)), None)

    def _missing_link(self, source: Segment, target: Segment, size: int) -> str | None:
        here, there = self.topology.leafs_in(source), self.topology.leafs_in(target)
        if source is not target and self._all_crossed(self.topology.links_among(here, there), size):
            return None
        for way in ways_among(self.topology, source, target):
            for crossed in way.crossed(self.topology):
                if self.links.get(crossed, 0) < size:
                    return f"{crossed[0]} from {crossed[1]}"
        return None

    def _peerings_in(self, segment: Segment) -> list[Link]:
        if not self._peerings:
            return []
        if segment.name not in self._of_pairs:
            found = map(self.live.peering, self.topology.pairs_in(segment))
            self._of_pairs[segment.name] = [link for link in found if link]
        return self._of_pairs[segment.name]

    def proven(self, host: str) -> int:
        """Return the size that a host is proven to send and to receive."""
        return min(self.sent.get(host, 0), self.heard.get(host, 0))

    def _least(self, segment: Segment) -> tuple[str, int]:
        """Return the host of a segment that is proven least, and its size."""
        sizes = [(str(end), self.proven(str(end))) for end in self.topology.hosts_in(segment)]
        return min(sizes, key=lambda each: each[1], default=("", 1 << 16))

    def _all_crossed(self, links: list[Link], size: int) -> bool:
        key = (id(links), size)
        if key not in self._whole:
            ways = ((link, port.device) for link in links for port in link.ends)
            self._whole[key] = all(self.links.get(way, 0) >= size for way in ways)
        return self._whole[key]


@dataclass(frozen=True)
class Between:
    """Switches between which packets go: from each of `starts` to the nearest of `stops`; switched within `segment`."""

    starts: tuple[str, ...]
    stops: tuple[str, ...]
    segment: Segment | None = None

    def crossed(self, topology: Topology) -> Iterator[tuple[Link, str]]:
        """Yield (link, the device that sends) of every equal-cost way."""
        found: dict[tuple[Link, str], None] = {}
        for start in self.starts:
            ways = [way for stop in self.stops for way in self._ways(topology, start, stop)]
            shortest = min(map(len, ways), default=0)
            found.update(((link, near), None) for way in ways if len(way) == shortest for near, link in way)
        yield from found

    def _ways(self, topology: Topology, start: str, stop: str) -> Iterator[Sequence[tuple[str, Link]]]:
        """Yield ways as (device, link) of each hop; of parallel links all, since only who is crossed matters."""
        if self.segment is not None:
            yield from topology.domains.ways(self.segment, start, stop)
            return
        for devices in topology.graph.shortest_paths(start, stop):
            hops = [[(near, link) for link in topology.between(near, far)] for near, far in zip(devices, devices[1:])]
            for turn in range(max(map(len, hops), default=1)):
                yield [links[min(turn, len(links) - 1)] for links in hops]


def ways_between(topology: Topology, source: End, target: End) -> tuple[Between, ...]:
    """Return the switches that packets of one interface towards another cross the fabric between.

    Empty where they stay within one switch, or within a pair, whose peer link is proven by itself.
    """
    segment = topology.segment_of(source)
    if segment is not topology.segment_of(target):
        here, there = topology.leafs_of(source), topology.leafs_of(target)
        return (Between(here, there),) if here != there else ()
    stops = topology.switches_of(target)
    starts = [start for start in topology.switches_of(source) if start not in stops]
    return tuple(Between((start,), stops, segment) for start in starts if topology.partner_of(start) not in stops)


def ways_among(topology: Topology, source: Segment, target: Segment) -> Iterator[Between]:
    """Yield the switches that hosts of one segment reach each other, or those of another one, between."""
    if source is not target:
        here, there = topology.leafs_in(source), topology.leafs_in(target)
        yield from (Between(here, there), Between(there, here))
        return
    units: dict[str, list[str]] = {}
    for switch in dict.fromkeys(s for end in topology.hosts_in(source) for s in topology.switches_of(end)):
        units.setdefault(topology.unit_of(switch), []).append(switch)
    for unit, starts in units.items():
        for other, stops in units.items():
            if unit != other:
                yield from (Between((start,), tuple(stops), source) for start in starts)


def check_coverage(plan: Plan, live: Live) -> None:
    """Raise NotProven for a lift before the gates of the steps it needs have probed what it will cross."""
    moments = Moments(plan)
    together = Coverage(live)
    for position, step in enumerate(plan.steps):
        if any(_is_lift(change, live) for change in step.changes):
            coverage = together
            if not moments.in_a_row:
                coverage = Coverage(live)
                for need in sorted(moments.before[position]):
                    coverage.add(plan.steps[need].gate)
            _check_step(step, live, coverage)
        together.add(step.gate)


def _is_lift(change: Change, live: Live) -> bool:
    return change.field == "route_mtu" and bool(change.prefix) and (change.to or 0) > live.intent.baseline_ip_mtu


def _check_step(step: Step, live: Live, coverage: Coverage) -> None:
    lifts: dict[tuple[str, str], list[Change]] = {}
    for change in step.changes:
        if _is_lift(change, live):
            lifts.setdefault((change.host, change.interface), []).append(change)
    known: dict[Any, str | None] = {}
    for end, its in ((End(*place), some) for place, some in lifts.items()):
        source, proven = live.topology.segment_of(end), coverage.proven(str(end))
        if source is None:
            continue
        for change in its:
            targets = live.subnets.segments(change.prefix or "")
            if all(live.topology.hosts_in(target) == [end] for target in targets[:2]):
                continue  # nobody else is there
            key = (source.name, change.prefix, change.to)  # hosts of one segment differ in their own probes only
            if key not in known:
                known[key] = coverage.missing(source, targets, change.to)
            missing = known[key] or (str(end) if proven < change.to else None)
            if missing:
                raise _unproven(step, change, missing)


def _unproven(step: Step, change: Change, missing: str) -> NotProven:
    return NotProven(
        f"{step.id}: no step that this one needs proves {missing} at {change.to} before it is used:"
        f" {change.host}:{change.interface} is lifted towards {change.prefix}",
        step=step.id,
        host=change.host,
        object=change.object,
        advice="Probe first: the gates rack_receive and cross_rack do",
    )
