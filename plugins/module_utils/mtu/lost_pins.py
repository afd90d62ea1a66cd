"""A host that loses its pins sends as much as its link does: what bounds that is the order in which things are raised.

An administrative down and up, or an address set anew, makes routes without their pins; the guard pins them again within
moments and stops the wave. Until then packets up to the link's size leave. So the port in front of a host is large
whenever its link may be, and by the end of a stage all of its own segment is. Beyond its gateway routers answer what is
too large for them ("fragmentation needed"), unless the underlay encapsulates.
"""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from .curves import Curve, above
from .intent_types import End, Segment
from .limits import Limit, Limits
from .lowering import BACK
from .moments import START, Moments
from .proof_rules import NotProven
from .values import Track

Look = Callable[[int], None]


class LostPins:
    """Holds what the links of hosts may send at most against their own segments."""

    def __init__(self, limits: Limits, moments: Moments) -> None:
        self.limits = limits
        self.topology = limits.topology
        self.moments = moments
        # A way back may leave a segment half raised, pinned: it was so on the way up.
        self.ends = [moment for stage, moment in moments.ends_of_stages().items() if stage != BACK]

    def looks(self, segment: Segment) -> Iterator[tuple[int, Look]]:
        """Yield (moment, what to look at then) for the hosts of a segment."""
        parts = (self.limits.domain, self.limits.hosts, self.limits.others)
        inside = self.limits.least(*(part(segment) for part in parts))
        every = [limit for part in parts for limit in part(segment)]
        alike: dict[int, End] = {}
        for end in self.topology.hosts_in(segment):
            track = self.limits.track(end)
            alike.setdefault(id(track), end)
            port = self.limits.own(end)[0]
            if track.most().most() > port.least():
                yield from ((m, self._look(end, self.limits.up(end))) for m in above(track.most(), port))
        for end in alike.values():
            most = self.limits.track(end).most()
            yield from ((m, self._look(end, every)) for m in self.ends if _exceeds(most, inside, m))

    def _look(self, end: End, limits: Sequence[Limit]) -> Look:
        track = self.limits.track(end)

        def look(moment: int) -> None:
            size = track.most().at(moment)
            for limit in limits:
                if limit.curve.at(moment) < size and not _was_so(track, limit, size):
                    raise self._refusal(moment, end, size, limit)

        return look

    def _refusal(self, moment: int, end: End, size: int, limit: Limit) -> NotProven:
        step, cap = self.moments.name(moment), limit.at(moment)
        return NotProven(
            f"{step}: if {end} lost its pins, it would send {size} bytes into {cap.name}, which is only sure to carry"
            f" {cap.size} ({cap.why}), and nothing would tell it",
            step=step,
            verdict=cap.verdict,
            pair=(str(end), cap.name),
            hop=cap.name,
            host=end.device,
            object=end.interface,
            advice="Raise the ports before the hosts' links, and all of a segment in one stage",
        )


def _exceeds(most: Curve, carried: Curve, moment: int) -> bool:
    return most.at(moment) > carried.at(moment)


def _was_so(track: Track, limit: Limit, size: int) -> bool:
    """Tell whether the devices, as read, have a link of this size before such a limit already."""
    return size <= track.most().at(START) and limit.curve.at(START) < size
