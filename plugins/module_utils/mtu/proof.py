"""Shows that no state of a plan loses packets because of their size, or names the pair, the path, the hop and the step.

Every quantity is the set of values it may have at that moment (see values.py), and each check takes the worst of both
sides, so every subset of a step's changes, every timer that fires and every reboot is covered. What is sent is held
against the least of all that it may cross; only where that is too little, the paths are walked one by one (examine.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping

from . import peering
from .adjacency import Adjacency
from .collector import paused
from .coverage import check_coverage
from .curves import Curve, above, lowest
from .examine import Examiner
from .intent_types import End, Intent, Segment
from .limits import Limits
from .live import Live
from .lost_pins import LostPins
from .moments import Moments
from .proof_boxes import check_boxes
from .proof_firewalls import Firewalls
from .proof_rules import NotProven, check_rules
from .proof_sessions import Sessions
from .steps import Plan
from .topology import Topology
from .values import Track, Values

__all__ = ["NotProven", "Proof", "prove"]

Look = Callable[[int], None]


@dataclass(frozen=True)
class Proof:
    """What was shown: the moments of the plan, the ordered pairs of each, what a reader should know besides."""

    moments: int
    pairs: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return {moments, pairs, notes}."""
        return {"moments": self.moments, "pairs": self.pairs, "notes": list(self.notes)}


def prove(
    plan: Plan, intent: Intent, topology: Topology, states: Mapping[str, Mapping[str, Any]], *, way_back: bool = False
) -> Proof:
    """Return the proof that no state of the plan is a BLACKHOLE (or a new PTB) for any pair, or raise NotProven.

    `way_back`: it only gives back what was in use before, so that no gate has to prove a path before it is lifted.
    """
    with paused():
        live = Live(intent, topology, states)
        check_rules(plan, live)
        if not way_back:
            check_coverage(plan, live)
        return _Prover(live, plan).run()


class _Prover:
    def __init__(self, live: Live, plan: Plan) -> None:
        self.live = live
        self.topology = live.topology
        self.plan = plan
        self.moments = Moments(plan)
        self.values = Values(live, plan, self.moments)
        self.limits = Limits(live, self.values)
        self.examiner = Examiner(live, self.limits, self.moments)
        self.firewalls = Firewalls(live, self.values, self.limits, self.moments)
        self.sessions = Sessions(live, self.values, self.limits, self.moments, plan)
        self.lost_pins = LostPins(self.limits, self.moments)
        self.adjacency = Adjacency(live, self.values, self.moments, plan)
        self.segments = self.topology.jumbo_segments()
        self._bounds: dict[str, Curve] = {}
        self.looks: list[tuple[int, int, Look]] = []

    def run(self) -> Proof:
        """Compare over all moments, then look closely where that was not enough, the earliest moment first."""
        check_boxes(self.plan, self.live, self.values, self.moments)
        pairs = 0
        everybody = sum(len(segment.members) for segment in self.segments)
        for segment in self.segments:
            for gateway in self.topology.gateways(segment):
                self._compare_gateway(gateway, segment)
            hosts = self.topology.hosts_in(segment)
            pairs += len(hosts) * (everybody - 1)
            for end in hosts:
                self._compare_first_hop(end, segment)
            for alike in _classes(self.values.track(end) for end in hosts):
                self._compare_sender(hosts, alike, segment)
            for moment, look in self.lost_pins.looks(segment):
                self._look_at([moment], look)
        for moment, look in [
            *self.firewalls.looks(self.examiner.note),
            *self.sessions.looks(self.examiner.note),
            *self.adjacency.looks(),
            *peering.looks(self.topology, self.limits, self.moments),
        ]:
            self._look_at([moment], look)
        for moment, _order, look in sorted(self.looks, key=lambda each: each[:2]):
            look(moment)
        self.examiner.check_gates()
        self._note_reboots()
        return Proof(self.moments.count, pairs, tuple(self.examiner.notes))

    def _look_at(self, moments: Iterable[int], look: Look) -> None:
        self.looks += [(moment, len(self.looks), look) for moment in moments]

    def _compare_gateway(self, gateway: End, segment: Segment) -> None:
        """A gateway sends what it routes: what it may send at most, against what its segment and its hosts carry.

        Towards other gateways it sends for itself alone, in sessions whose size both ends agree on.
        """
        most = self.values.track(gateway).most()
        parts = (self.limits.domain, self.limits.hosts, self.limits.strangers)
        inside = self.limits.least(*(part(segment) for part in parts))
        self._look_at(above(most, inside), lambda moment: self.examiner.gateway(moment, gateway, segment))

    def _compare_first_hop(self, end: End, segment: Segment) -> None:
        """A host's own cables, against the most that it may send to any jumbo prefix."""
        carried = self.limits.own(end)[0]
        track = self.values.track(end)
        if track.most().most() <= carried.least():
            return
        for prefix in (None, *_prefixes(track)):
            look = self._look_from(end, segment, self._targets(prefix))
            self._look_at(above(track.sends(prefix), carried), look)

    def _compare_sender(self, hosts: list[End], track: Track, segment: Segment) -> None:
        """All hosts of a segment that may do the same: one of them stands for all, its first hop aside."""
        end = next(end for end in hosts if self.values.track(end) is track)
        rest = track.sends(None)
        self._compare_elsewhere(hosts, track, rest)
        if any(True for _moment in above(rest, self.limits.floor())):
            for target in self.segments:
                self._compare(end, segment, target, rest)
        for prefix in _prefixes(track):
            size = track.sends(prefix)
            targets = self._targets(prefix)
            if size.most() <= self.limits.floor().least():
                continue
            if targets != [segment] and not any(True for _moment in above(size, self._bound(prefix, targets))):
                continue
            carried = lowest(self.limits.reach(segment, target) for target in targets)
            if any(True for _moment in above(size, carried)):
                for target in targets:
                    self._compare(end, segment, target, size)

    def _bound(self, prefix: str, targets: list[Segment]) -> Curve:
        if prefix not in self._bounds:
            self._bounds[prefix] = self.limits.bound(targets)
        return self._bounds[prefix]

    def _compare(self, end: End, segment: Segment, target: Segment, size: Curve) -> None:
        moments = above(size, self.limits.reach(segment, target))
        self._look_at(moments, self._look_from(end, segment, [target]))

    def _look_from(self, end: End, segment: Segment, targets: list[Segment]) -> Look:
        def look(moment: int) -> None:
            for target in targets:
                self.examiner.sender(moment, end, segment, target)

        return look

    def _targets(self, prefix: str | None) -> list[Segment]:
        return self.segments if prefix is None else self.live.subnets.segments(prefix)

    def _compare_elsewhere(self, hosts: list[End], track: Track, rest: Curve) -> None:
        """What hosts send to everywhere else stays at its old size: the default route is never lifted."""
        old = max(rest.at(0), self.live.intent.baseline_ip_mtu)
        end = next(end for end in hosts if self.values.track(end) is track)
        allowed = Curve((0,), (old,))
        self._look_at(above(rest, allowed), lambda moment: self.examiner.elsewhere(moment, end))

    def _note_reboots(self) -> None:
        for segment in self.segments:
            for end in self.topology.hosts_in(segment):
                if self.limits.forgiven(end):
                    self.examiner.note(
                        f"{end} is not covered after a reboot (waiver no_dead_man): it comes back at its old size"
                    )


def _classes(tracks: Iterable[Track]) -> list[Track]:
    return list({id(track): track for track in tracks}.values())


def _prefixes(track: Track) -> list[str]:
    """Return the prefixes that are lifted at some moment."""
    found = {prefix: None for values in track.possible for value in values for prefix, _mtu in value.lifts}
    return list(found)
