"""What each point of a path is sure to carry at one moment, and the least of many, kept so that pairs are cheap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

from .intent_types import End, Link, Member, Segment
from .live import Live
from .moments import REBOOTED, Moment, Values
from .topology import Hop

BLACKHOLE, PTB = "BLACKHOLE", "PTB"
_UNBOUNDED = 1 << 16


@dataclass(frozen=True)
class Cap:
    """The least that one point of a path is sure to carry; `end` is None for a box in a cable."""

    size: int
    end: End | None
    name: str
    verdict: str
    why: str
    most: int | None = None  # what it may carry at best: a larger packet surely ends here

    def stops(self, size: int) -> bool:
        """Tell whether a packet of this size goes no further, whatever the moment holds."""
        return self.most is not None and size > self.most


class Caps:
    """Answers for one moment at a time: `at()` comes first."""

    def __init__(self, live: Live, values: Values) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.values = values
        self.segments = self.topology.jumbo_segments()
        self.moment = Moment("", (), ())
        self._hops: dict[Hop, list[Cap]] = {}
        self._links: dict[Link, list[list[Cap]]] = {}
        self._least: dict[Any, int] = {}

    def at(self, moment: Moment) -> None:
        """Look at another moment."""
        self.moment = moment
        self._hops.clear()
        self._links.clear()
        self._least.clear()
        self.values.forget()

    def receive(self, end: End) -> Cap:
        """Return what an interface surely accepts; what is larger is lost in silence."""
        values = self.values.receive(end, self.moment)
        if self.forgiven(end):
            values = {size: why for size, why in values.items() if why != REBOOTED} or values
        size = min(values)
        return Cap(size, end, str(end), BLACKHOLE, values[size])

    def send(self, end: End, routed: bool) -> Cap:
        """Return what an interface surely sends; larger packets are answered where it routes, else lost."""
        values = self.values.size(end, self.moment)
        size = min(values)
        return Cap(size, end, str(end), PTB if routed else BLACKHOLE, values[size], max(values))

    def forgiven(self, end: End) -> bool:
        """Tell whether a host that can't persist is left out of the reboots: only where a waiver says so."""
        if not self.intent.devices[end.device].is_host or self.live.persists(end.device):
            return False
        return self.intent.waived("no_dead_man", end.device, str(end))

    def hop(self, hop: Hop) -> list[Cap]:
        """Return every limit of one hop: what sends, the port under it, the boxes in the cable, what receives."""
        if hop not in self._hops:
            caps = []
            if not self.intent.devices[hop.egress.device].is_host:
                caps.append(self.send(hop.egress, hop.routed))
                port = self.topology.logical(hop.egress_port)
                if port != hop.egress:
                    caps.append(self.send(port, routed=False))
            box = self.live.through_limit(hop.link) if hop.link else None
            if box:
                caps.append(Cap(box[0], None, box[1], BLACKHOLE, "in the cable"))
            caps += self._arrival_caps(self.topology.logical(hop.ingress))
            self._hops[hop] = caps
        return self._hops[hop]

    def _arrival_caps(self, end: End) -> list[Cap]:
        below = self.live.parent(end) if self.intent.devices[end.device].is_host else None
        return [self.receive(each) for each in (below, end) if each]

    def _least_of(self, key: Any, caps: Iterator[Cap]) -> int:
        if key not in self._least:
            self._least[key] = min((cap.size for cap in caps), default=_UNBOUNDED)
        return self._least[key]

    def destination(self, member: Member) -> list[Cap]:
        """Return limits behind the last hop: a gateway's own interface, or a speaker that isn't ours."""
        end = member.end
        if not member.managed:
            if self.intent.waived("unmanaged_member", str(member), member.device, self._segment_of(member)):
                return []
            return [Cap(member.ip_mtu or 0, end, str(member), BLACKHOLE, "not managed")]
        if end and not self.intent.devices[end.device].is_host:
            return [self.receive(end)]
        return []

    def _segment_of(self, member: Member) -> str:
        return next((segment.name for segment in self.segments if member in segment.members), "")

    def floor(self) -> int:
        """Return what everything in the fabric carries: packets up to this size need no closer look."""
        return self._least_of("floor", self._everything())

    def _everything(self) -> Iterator[Cap]:
        for segment in self.segments:
            for member in segment.members:
                yield from self.destination(member)
            for end in self.topology.hosts_in(segment):
                yield from self._arrival_caps(end)
                for link in self.topology.access_links(end):
                    port = self.topology.logical(link.other(link.end_on(end.device)))
                    yield from (self.send(port, routed=False), self.receive(port))
            yield from (self.send(gateway, routed=True) for gateway in self.topology.gateways(segment))
        for link in self.topology.uplinks():
            yield from self.link(link)
        for box in filter(None, map(self.live.through_limit, self.intent.links)):
            yield Cap(box[0], None, box[1], BLACKHOLE, "in the cable")

    def quick(self, end: End, source: Segment, target: Segment) -> int:
        """Return what surely reaches everybody in a segment: the least of first hops, middle and last hops."""
        first = self._least_of(("first", end), self._first(end, source))
        if source is target:
            return min(first, self._least_of(("inside", target.name), self._inside(target)))
        middle = self._least_of(("middle", source.name, target.name), self._middle(source, target))
        return min(first, middle, self._least_of(("tail", target.name), self._tail(target)))

    def _first(self, end: End, segment: Segment) -> Iterator[Cap]:
        """Limits of a host's own cables."""
        for member in segment.members:
            if member.managed and member.end and member.end != end:
                for path in self.topology.paths(end, member.end):
                    yield from self.hop(path[0])

    def _middle(self, source: Segment, target: Segment) -> Iterator[Cap]:
        """Limits between the switches of two segments: the same for all their hosts, so one pair stands for all."""
        for here in self.topology.hosts_in(source)[:1]:
            for there in self.topology.hosts_in(target)[:1]:
                for path in self.topology.paths(here, there):
                    for hop in path[1:-1]:
                        yield from self.hop(hop)
                for link in self.failover(here, there):
                    yield from self.link(link)

    def _inside(self, segment: Segment) -> Iterator[Cap]:
        """Limits of the last hops between hosts of one segment."""
        hosts = self.topology.hosts_in(segment)
        for member in segment.members:
            yield from self.destination(member)
        for end in hosts:
            for sender in [other for other in hosts if other != end][:1]:
                for path in self.topology.paths(sender, end):
                    yield from self.hop(path[-1])

    def _tail(self, segment: Segment) -> Iterator[Cap]:
        """Limits from a segment's gateways to its members."""
        for member in segment.members:
            yield from self.destination(member)
            for gateway in self.topology.gateways(segment):
                if member.managed and member.end and member.device != gateway.device:
                    for path in self.topology.paths(gateway, member.end):
                        for hop in path:
                            yield from self.hop(hop)

    def failover(self, here: End, there: End) -> list[Link]:
        """Return the links that traffic between two ends may cross, also after failures."""
        start, stop = self.topology.leaf_of(here), self.topology.leaf_of(there)
        return self.topology.failover_links(start, stop) if start and stop and start != stop else []

    def link(self, link: Link) -> list[Cap]:
        """Return the limits of both ends of a routed link, both ways."""
        return [cap for way in self.ways(link) for cap in way]

    def ways(self, link: Link) -> list[list[Cap]]:
        """Return the limits of a routed link for each direction, in the order that a packet meets them."""
        if link not in self._links:
            a, b = (self.topology.logical(port) for port in link.ends)
            box = self.live.through_limit(link)
            between = [Cap(box[0], None, box[1], BLACKHOLE, "in the cable")] if box else []
            ends = ((a, b), (b, a))
            self._links[link] = [[self.send(x, routed=True), *between, self.receive(y)] for x, y in ends]
        return self._links[link]
