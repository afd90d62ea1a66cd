"""Control sessions of routers over several hops: each is a pair of endpoints that no pin bounds.

A router takes the segment size of its TCP sessions from its first hop, and each end tells the other its own: a session
that is set up at some moment sends up to the smaller of what its two ends' first hops allow then, and goes on with that
until it goes down: while all links of one of its ends are drained. One that was there before the plan may send whatever
one of its ends sends. Its packets may go by any link between the two, after failures too. Where a router on the way
sends less, it answers (PTB: noted, since routers take "fragmentation needed" for sessions of their own); where the far
end of a link receives less, nobody does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Tuple

from .curves import UNBOUNDED
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
        self.noted: set[Ends] = set()
        self.drains: dict[End, list[int]] = {}
        for position, step in enumerate(plan.steps):
            for change in (change for change in step.changes if change.field == "drained"):
                self.drains.setdefault(End(change.host, change.interface), []).append(position)
        self.groups: dict[int, tuple[list[Link], list[Ends]]] = {}
        for ends in live.intent.control_sessions:
            links = self.topology.links_among(ends[:1], ends[1:])
            self.groups.setdefault(id(links), (links, []))[1].append(ends)

    def looks(self, note: Note) -> Iterator[tuple[int, Callable[[int], None]]]:
        """Yield (moment, what refuses it) of the first moment that loses packets, for each group of sessions."""
        for links, sessions in self.groups.values():
            moment, problem = self._sweep(links, sessions, note)
            if problem:
                yield moment, _raiser(problem)

    def _sweep(self, links: list[Link], sessions: list[Ends], note: Note) -> tuple[int, NotProven | None]:
        """Go through all moments; at each, only what has changed is worked out anew."""
        changed: dict[int, list[Link]] = {}
        for link in links:
            for turn in self._turns(link):
                changed.setdefault(turn, []).append(link)
        now = _Now(links)
        memory: dict[Ends, int] = {}
        for moment in sorted(changed):
            for link in changed[moment]:
                now.put(link, [] if self._drained(link, moment) else list(self._ways(link, moment)))
            for ends in sessions:
                size = memory[ends] = now.size(ends, memory.get(ends))
                if size > self.live.intent.baseline_ip_mtu:
                    problem = self._follow(moment, ends, size, now, note)
                    if problem:
                        return moment, problem
        return START, None

    def _turns(self, link: Link) -> set[int]:
        found = {START}
        for end in self._ends(link):
            found.update(self.values.track(end).turns)
            found.update(self.moments.turns(self.drains.get(end, ())))
        return found

    def _ends(self, link: Link) -> list[End]:
        return [self.topology.logical(port) for port in link.ends]

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

    def _follow(self, moment: int, ends: Ends, size: int, now: _Now, note: Note) -> NotProven | None:
        for way in (way for ways in now.uneven.values() for way in ways):
            crosses = min(size, way.most)
            if crosses > way.takes:
                if moment != START and not self._was_so(way):
                    return self._lost(moment, ends, crosses, way)
                note(f"the session {ends[0]} - {ends[1]} may lose packets of {crosses} at {way.named} already")
        if ends not in self.noted and now.answers(ends, size):
            self.noted.add(ends)
            note(
                f"large packets of the control session {ends[0]} - {ends[1]} may be answered with fragmentation "
                "needed on its way until all links have their size"
            )
        return None

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


class _Now:
    """What holds at one moment: the ways of each link that is not drained, and what follows for each router."""

    def __init__(self, links: list[Link]) -> None:
        self.ways: dict[Link, list[_Way]] = {}
        self.uneven: dict[Link, list[_Way]] = {}  # the far end may take less than the near one may send
        self.first: dict[str, int] = {}  # the most that a router sends by any of its links
        self.least: dict[str, int] = {}  # the least that one is sure to send
        self._links: dict[str, list[Link]] = {}
        for link in links:
            for end in link.ends:
                self._links.setdefault(end.device, []).append(link)

    def put(self, link: Link, ways: list[_Way]) -> None:
        """Take over the ways of a link."""
        self.ways[link] = ways
        self.uneven.pop(link, None)
        uneven = [way for way in ways if way.most > way.takes]
        if uneven:
            self.uneven[link] = uneven
        for end in link.ends:
            mine = [w for k in self._links[end.device] for w in self.ways.get(k, ()) if w.near.device == end.device]
            self.first[end.device] = max((way.most for way in mine), default=0)
            self.least[end.device] = min((way.least for way in mine), default=UNBOUNDED)

    def size(self, ends: Ends, before: int | None) -> int:
        """Return what a session sends at most, one set up now or before; `before`: that of the last moment, if any."""
        first = [self.first.get(end, 0) for end in ends]
        if not all(first):
            return 0
        return max(first) if before is None else max(min(first), before)

    def answers(self, ends: Ends, size: int) -> bool:
        """Tell whether a router on the way may send less than a session does: not its ends, which adapt themselves."""
        return any(least < size for router, least in self.least.items() if router not in ends)


def _raiser(problem: NotProven) -> Callable[[int], None]:
    def look(_moment: int) -> None:
        raise problem

    return look
