"""Control sessions of routers over several hops: each is a pair of endpoints that no pin bounds.

A router takes the segment size of its TCP sessions from its first hop, and each end tells the other its own: a session
that is set up at some moment sends up to the smaller of what its two ends' first hops allow then. Its packets may go by
any link between the two, after failures too. Where a router on the way sends less, it answers (PTB: noted, since
routers take "fragmentation needed" for sessions of their own); where the far end of a link receives less, nobody does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Tuple

from .intent_types import End, Link
from .limits import BLACKHOLE, Limits
from .live import Live
from .moments import START, Moments
from .proof_rules import NotProven
from .steps import Plan
from .values import Values

Note = Callable[[str], None]
Ends = Tuple[str, str]  # devices


@dataclass(frozen=True)
class _Way:
    """One direction of a link: from an interface to another, what lies between, `most` and `least` that is sent."""

    link: Link
    near: End
    far: End
    most: int
    least: int
    takes: int
    named: str


class Sessions:
    """Holds what control sessions may send at each moment against what every link between their ends takes."""

    def __init__(self, live: Live, values: Values, limits: Limits, moments: Moments, plan: Plan) -> None:
        self.live = live
        self.topology = live.topology
        self.values = values
        self.limits = limits
        self.moments = moments
        steps = enumerate(plan.steps)
        self.drains = [position for position, step in steps if any(c.field == "drained" for c in step.changes)]
        self.groups: dict[int, tuple[list[Link], list[Ends]]] = {}
        for ends in live.intent.control_sessions:
            links = self.topology.links_among(ends[:1], ends[1:])
            self.groups.setdefault(id(links), (links, []))[1].append(ends)

    def looks(self, note: Note) -> Iterator[tuple[int, Callable[[int], None]]]:
        """Yield (moment, what to look at then)."""
        for links, sessions in self.groups.values():
            turns = set(self.moments.turns(self.drains))
            for link in links:
                turns.update(turn for end in self._ends(link) for turn in self.values.track(end).turns)
            for turn in sorted(turns):
                yield turn, self._look(links, sessions, note)

    def _ends(self, link: Link) -> list[End]:
        return [self.topology.logical(port) for port in link.ends]

    def _look(self, links: list[Link], sessions: list[Ends], note: Note) -> Callable[[int], None]:
        def look(moment: int) -> None:
            ways = [way for link in links if not self._drained(link, moment) for way in self._ways(link, moment)]
            first: dict[str, int] = {}
            for way in ways:
                first[way.near.device] = max(way.most, first.get(way.near.device, 0))
            for ends in sessions:
                size = min(first.get(end, 0) for end in ends)
                if size > self.live.intent.baseline_ip_mtu:
                    self._follow(moment, ends, size, ways, note)

        return look

    def _drained(self, link: Link, moment: int) -> bool:
        return all(self.values.drained(end, moment) == {True} for end in self._ends(link))

    def _ways(self, link: Link, moment: int) -> Iterator[_Way]:
        near, far = self._ends(link)
        for limits, one, other in zip(self.limits.ways(link), (near, far), (far, near)):
            caps = [limit.at(moment) for limit in limits[1:]]
            least = min(caps, key=lambda cap: cap.size)
            track = self.values.track(one)
            sends = limits[0].curve.at(moment)
            yield _Way(link, one, other, track.most().at(moment), sends, least.size, least.name)

    def _follow(self, moment: int, ends: Ends, size: int, ways: list[_Way], note: Note) -> None:
        for way in ways:
            crosses = min(size, way.most)
            if crosses > way.takes:
                if moment == START or self._was_so(way):
                    note(f"the session {ends[0]} - {ends[1]} may lose packets of {crosses} at {way.named} already")
                    continue
                raise self._lost(moment, ends, crosses, way)
            if way.least < size and way.near.device not in ends:
                note(
                    f"large packets of the control session {ends[0]} - {ends[1]} may be answered with fragmentation "
                    "needed on its way until all links have their size"
                )

    def _was_so(self, way: _Way) -> bool:
        """Tell whether the devices, as read, already send this much into this end."""
        before = next(each for each in self._ways(way.link, START) if each.near == way.near)
        return before.most > before.takes and before.takes <= way.takes

    def _lost(self, moment: int, ends: Ends, size: int, way: _Way) -> NotProven:
        name = self.moments.name(moment)
        return NotProven(
            f"{name}: the control session {ends[0]} - {ends[1]} may send {size} by {way.near}, {way.named} is only "
            f"sure to take {way.takes}",
            step=name,
            verdict=BLACKHOLE,
            pair=(ends[0], ends[1]),
            hop=f"{way.near} -> {way.far}",
            host=way.far.device,
            object=way.far.interface,
            advice="Drain the link at both ends before its MTU changes, and undrain it when both are confirmed",
        )
