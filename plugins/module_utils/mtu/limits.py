"""What each point of a path is sure to carry over the moments of a plan, and the least of many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable

from .curves import Curve, lowest
from .encapsulation import left_inside
from .intent_types import End, Link, Member, Segment
from .live import Live
from .topology import Hop
from .values import Track, Values

BLACKHOLE, PTB = "BLACKHOLE", "PTB"


@dataclass(frozen=True)
class Cap:
    """The least that one point of a path is sure to carry at one moment; `end` is None for a box in a cable."""

    size: int
    end: End | None
    name: str
    verdict: str
    why: str
    most: int | None = None  # what it may carry at best: a larger packet surely ends here

    def stops(self, size: int) -> bool:
        """Tell whether a packet of this size goes no further, whatever the moment holds."""
        return self.most is not None and size > self.most


@dataclass(frozen=True)
class Limit:
    """One point of a path: its size over all moments, and the Cap of one moment."""

    curve: Curve
    at: Callable[[int], Cap]


class Limits:
    """Makes the limits of hops, links and segments from the values of a plan, and keeps them."""

    def __init__(self, live: Live, values: Values) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.values = values
        self._uplinks: frozenset[Link | None] = frozenset(self.topology.uplinks())
        self._points: dict[Any, Limit] = {}
        self._groups: dict[Any, list[Limit]] = {}
        self._curves: dict[Any, Curve] = {}
        self._ends: dict[Any, tuple[Curve, Curve]] = {}

    # ------------------------------------------------------------------ points

    def inside(self, size: int, outer: bool) -> int:
        """Return the largest packet that an interface of this size carries; of the underlay (`outer`), encapsulated."""
        return left_inside(size, self.intent.encapsulations, least=-size) if outer else size

    def receive(self, end: End, outer: bool = False) -> Limit:
        """Return what an interface surely accepts; what is larger is lost in silence."""
        key = ("receive", end, outer)
        if key not in self._points:
            track, forgive = self.values.track(end), self.forgiven(end)

            def at(moment: int) -> Cap:
                found = track.received(track.at(moment), forgive)
                size = min(found)
                return Cap(self.inside(size, outer), end, str(end), BLACKHOLE, found[size])

            self._points[key] = Limit(self._inside(track.receives(forgive), outer), at)
        return self._points[key]

    def send(self, end: End, routed: bool, outer: bool = False) -> Limit:
        """Return what an interface surely sends; larger packets are answered where it routes, else lost."""
        key = ("send", end, routed, outer)
        if key not in self._points:
            track, forgive = self.values.track(end), self.forgiven(end)
            verdict = PTB if routed else BLACKHOLE

            def at(moment: int) -> Cap:
                counted = Track.counted(track.at(moment), forgive)
                sizes = {value.carried: why for value, why in reversed(list(counted.items()))}
                size = min(sizes)
                least, most = self.inside(size, outer), self.inside(max(sizes), outer)
                return Cap(least, end, str(end), verdict, sizes[size], most)

            self._points[key] = Limit(self._inside(track.carries(forgive), outer), at)
        return self._points[key]

    @staticmethod
    def fixed(size: int, end: End | None, name: str, why: str) -> Limit:
        """Return a limit that no step changes."""
        cap = Cap(size, end, name, BLACKHOLE, why)
        return Limit(Curve((0,), (size,)), lambda _moment: cap)

    def forgiven(self, end: End) -> bool:
        """Tell whether a machine that can't persist is left out of the reboots: only where a waiver says so."""
        if self.live.keeps(end.device):
            return False
        return self.intent.waived("no_dead_man", end.device, str(end))

    def track(self, end: End) -> Track:
        """Return what an interface may be doing."""
        return self.values.track(end)

    # ------------------------------------------------------------------ hops and cables

    def hop(self, hop: Hop) -> list[Limit]:
        """Return every limit of one hop: what sends, the port under it, the boxes in the cable, what receives."""
        outer = self._is_outer(hop.link)
        found = []
        if not self.topology.is_host(hop.egress):
            found.append(self.send(hop.egress, hop.routed and not outer, outer))
            port = self.topology.logical(hop.egress_port)
            if port != hop.egress:
                found.append(self.send(port, routed=False))
        return [*found, *self._boxes(hop.link, outer), *self._arrival(self.topology.logical(hop.ingress), outer)]

    def _is_outer(self, link: Link | None) -> bool:
        return bool(self.intent.encapsulations) and link in self._uplinks

    def _boxes(self, link: Link | None, outer: bool = False) -> list[Limit]:
        box = self.live.through_limit(link) if link and link.through else None
        return [self.fixed(self.inside(box[0], outer), None, box[1], "in the cable")] if box else []

    def _arrival(self, end: End, outer: bool = False) -> list[Limit]:
        below = self.live.stack(end) if self.topology.segment_of(end) else [end]
        return [self.receive(each, outer) for each in below]

    def up(self, end: End) -> list[Limit]:
        """Return the limits from an interface into its segment: boxes in its cables, ports that receive."""
        found: list[Limit] = []
        for link in self.topology.access_links(end):
            found += [*self._boxes(link), self.receive(self.topology.logical(link.other(link.end_on(end.device))))]
        return found

    def down(self, end: End) -> list[Limit]:
        """Return the limits from the ports of its switches to an interface."""
        found: list[Limit] = []
        for link in self.topology.access_links(end):
            port = self.topology.logical(link.other(link.end_on(end.device)))
            found += [self.send(port, routed=False), *self._boxes(link)]
        return [*found, *self._arrival(end)]

    def own(self, end: End) -> tuple[Curve, Curve]:
        """Return the least of an interface's own cables, from it and towards it."""
        key = ("own", end)
        if key not in self._ends:
            up, down = (lowest(each.curve for each in some) for some in (self.up(end), self.down(end)))
            self._ends[key] = (up, down)
        return self._ends[key]

    def ways(self, link: Link, switched: bool = False) -> list[list[Limit]]:
        """Return the limits of a link for each direction, in the order that a packet meets them."""
        a, b = (self.topology.logical(port) for port in link.ends)
        outer = self._is_outer(link)
        routed = not outer and not switched
        return [
            [self.send(x, routed, outer), *self._boxes(link, outer), self.receive(y, outer)]
            for x, y in ((a, b), (b, a))
        ]

    def link(self, link: Link, switched: bool = False) -> list[Limit]:
        """Return the limits of both directions of a link: of the underlay, an encapsulation takes its part."""
        key = ("link", link, switched)
        if key not in self._groups:
            self._groups[key] = [limit for way in self.ways(link, switched) for limit in way]
        return self._groups[key]

    # ------------------------------------------------------------------ segments

    def destination(self, member: Member) -> list[Limit]:
        """Return limits behind the last hop: a gateway's own interface, or a speaker that isn't ours."""
        end = member.end
        if not member.managed:
            if self.intent.waived("unmanaged_member", str(member), member.device, self._segment_of(member)):
                return []
            return [self.fixed(member.ip_mtu or 0, end, str(member), "not managed")]
        if end and not self.topology.is_host(end):
            return [self.receive(end)]
        return []

    def _segment_of(self, member: Member) -> str:
        return next((s.name for s in self.topology.jumbo_segments() if member in s.members), "")

    def hosts(self, segment: Segment) -> list[Limit]:
        """Return the limits of our hosts in a segment, the ports in front of them included."""
        ends = self.topology.hosts_in(segment)
        return self._group(("hosts", segment.name), lambda: (limit for end in ends for limit in self.down(end)))

    def others(self, segment: Segment) -> list[Limit]:
        """Return the limits of what else receives in a segment: its gateways, and speakers that aren't ours."""
        return self._group(("others", segment.name), lambda: self._others(segment))

    def _others(self, segment: Segment) -> Iterable[Limit]:
        for member in segment.members:
            yield from self.destination(member)
        for gateway in self.topology.gateways(segment):
            if self.topology.access_links(gateway):
                yield from self.down(gateway)

    def strangers(self, segment: Segment) -> list[Limit]:
        """Return the limits of the speakers in a segment that aren't ours."""
        make = (limit for member in segment.members if not member.managed for limit in self.destination(member))
        return self._group(("strangers", segment.name), lambda: make)

    def domain(self, segment: Segment) -> list[Limit]:
        """Return the limits inside a broadcast domain: peer links and trunks, or the underlay under it."""
        return self._group(("domain", segment.name), lambda: self._domain(segment))

    def _domain(self, segment: Segment) -> Iterable[Limit]:
        if len(self.topology.leafs_in(segment)) > 1:
            for link in self.topology.domains.links(segment):
                yield from self.link(link, switched=True)

    def exits(self, segment: Segment) -> list[Limit]:
        """Return the limits of the gateways that send into a segment."""
        return self._group(("exits", segment.name), lambda: self._exits(segment))

    def _exits(self, segment: Segment) -> Iterable[Limit]:
        for gateway in self.topology.gateways(segment):
            for each in self.live.stack(gateway):
                yield self.send(each, routed=True)
            yield from self.up(gateway)

    def middle(self, source: Segment, target: Segment) -> list[Limit]:
        """Return the limits of the routed links between two segments, after failures too."""
        links = self.topology.links_among(self.topology.leafs_in(source), self.topology.leafs_in(target))
        return self._group(("middle", id(links)), lambda: (limit for link in links for limit in self.link(link)))

    def _group(self, key: Any, make: Callable[[], Iterable[Limit]]) -> list[Limit]:
        if key not in self._groups:
            self._groups[key] = list(make())
        return self._groups[key]

    # ------------------------------------------------------------------ the least of many

    def least(self, *groups: list[Limit]) -> Curve:
        """Return the least of these groups at each moment."""
        return lowest([self._least(group) for group in groups])

    def _least(self, group: list[Limit]) -> Curve:
        key = id(group)
        if key not in self._curves:
            self._curves[key] = lowest(limit.curve for limit in group)
        return self._curves[key]

    def reach(self, source: Segment, target: Segment, everybody: bool = True) -> Curve:
        """Return what surely gets from the switches of one segment to everybody in another, or to our hosts."""
        inside = [self.domain(target), self.hosts(target)]
        if everybody:
            inside.append(self.others(target))
        if source is not target:
            inside += [self.middle(source, target), self.exits(target)]
        key = tuple(map(id, inside))
        if key not in self._curves:
            self._curves[key] = self.least(*inside)
        return self._curves[key]

    def bound(self, targets: list[Segment]) -> Curve:
        """Return what surely gets from anywhere to everybody in these segments, at most what reach() says."""
        key = ("bound", *(segment.name for segment in targets))
        if key not in self._curves:
            some = [each(s) for s in targets for each in (self.domain, self.hosts, self.others, self.exits)]
            self._curves[key] = self.least(*some, *(self.link(link) for link in self.topology.uplinks()))
        return self._curves[key]

    def floor(self) -> Curve:
        """Return what everything carries: packets up to this size need no closer look."""
        if "floor" not in self._curves:
            self._curves["floor"] = self.bound(self.topology.jumbo_segments())
        return self._curves["floor"]

    def _inside(self, curve: Curve, outer: bool) -> Curve:
        return Curve(curve.turns, tuple(self.inside(size, outer) for size in curve.sizes)) if outer else curve
