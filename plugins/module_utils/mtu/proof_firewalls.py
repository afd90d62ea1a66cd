"""Firewalls that reassemble send packets as large as their egress, whatever came in: everything behind must take these.

Such packets carry no DF, and a switch does not fragment: behind the firewall nobody answers for what is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from .curves import Curve, above, lowest
from .intent_types import End, Link, Segment
from .limits import BLACKHOLE, Limit, Limits
from .live import Live
from .moments import START, Moments
from .proof_rules import NotProven
from .traits import traits_of
from .values import Values


@dataclass(frozen=True)
class _Egress:
    """One interface of a firewall, and all that its packets may meet."""

    end: End
    behind: list[Limit]


class Firewalls:
    """Holds what firewalls may send at most against the least of what is behind each egress."""

    def __init__(self, live: Live, values: Values, limits: Limits, moments: Moments) -> None:
        self.live = live
        self.topology = live.topology
        self.values = values
        self.limits = limits
        self.moments = moments

    def looks(self, note: Callable[[str], None]) -> Iterator[tuple[int, Callable[[int], None]]]:
        """Yield (moment, what to look at then); what was so before the plan is only noted."""
        for egress in self._egresses():
            most = self.values.track(egress.end).most()
            bound = lowest(limit.curve for limit in egress.behind)
            for moment in above(most, bound):
                yield moment, self._look(egress, most, note)

    def _look(self, egress: _Egress, most: Curve, note: Callable[[str], None]) -> Callable[[int], None]:
        def look(moment: int) -> None:
            size, end = most.at(moment), egress.end
            cap = min((limit.at(moment) for limit in egress.behind), key=lambda each: each.size)
            before = min(limit.curve.at(START) for limit in egress.behind)
            if size <= most.at(START) and cap.size >= min(before, size):
                note(f"{end} may send reassembled packets of {size} already, {cap.name} takes {cap.size}")
                return
            name = self.moments.name(moment)
            raise NotProven(
                f"{name}: {end.device} reassembles and would send up to {size} by {end.interface}, behind it "
                f"{cap.name} is only sure to take {cap.size} ({cap.why})",
                step=name,
                verdict=BLACKHOLE,
                pair=(str(end), cap.name),
                hop=cap.name,
                host=end.device,
                object=end.interface,
                advice="Raise a firewall's egress after everything behind it, and no higher than that",
            )

        return look

    def _egresses(self) -> Iterator[_Egress]:
        for link in self.topology.uplinks():
            for port in link.ends:
                if self._reassembles(port.device):
                    yield _Egress(self.topology.logical(port), self._behind_link(link, port))
        for segment in self.topology.jumbo_segments():
            for gateway in self.topology.gateways(segment):
                if self._reassembles(gateway.device):
                    yield _Egress(gateway, self._behind_segment(segment))

    def _reassembles(self, device: str) -> bool:
        return traits_of(self.live.intent.devices[device].platform).reassembles

    def _behind_link(self, link: Link, port: End) -> list[Limit]:
        far = link.other(port)
        (way,) = (way for way, end in zip(self.limits.ways(link), link.ends) if end == port)
        found = list(way[1:])
        for target in self._fabric():
            found += [*self._inside(target), *self._between(far.device, target)]
        return found

    def _behind_segment(self, segment: Segment) -> list[Limit]:
        """Return what is reached through a segment by its other routers; its own members are looked at as for all."""
        others = [end.device for end in self.topology.gateways(segment) if not self._reassembles(end.device)]
        targets = [each for each in self._fabric() if each is not segment] if others else []
        found = [*self.limits.hosts(segment), *self.limits.domain(segment)]
        for target in targets:
            found += self._inside(target)
            for device in others:
                found += self._between(device, target)
        return found

    def _fabric(self) -> list[Segment]:
        """Return the segments that something else than a firewall routes for."""
        return [
            segment
            for segment in self.topology.jumbo_segments()
            if any(not self._reassembles(gateway.device) for gateway in self.topology.gateways(segment))
        ]

    def _inside(self, target: Segment) -> list[Limit]:
        return [*self.limits.exits(target), *self.limits.domain(target), *self.limits.hosts(target)]

    def _between(self, device: str, target: Segment) -> list[Limit]:
        """Return what lies between a router and a segment, after failures too; a firewall leads nowhere back."""
        links = self.topology.links_among([device], self.topology.leafs_in(target))
        kept = [link for link in links if not any(self._reassembles(end.device) for end in link.ends)]
        return [limit for link in kept for limit in self.limits.link(link, switched=True)]
