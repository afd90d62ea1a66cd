"""Sizes over the moments of a plan: they change at few moments, so only these are kept.

A moment is a number (see moments.py). Comparing what is sent with what is carried costs as much as both change, not as
much as the plan is long; that keeps a proof near linear in the changes of a plan.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass
from typing import Iterable, Iterator, Sequence

UNBOUNDED = 1 << 16


@dataclass(frozen=True)
class Curve:
    """`sizes[i]` (bytes of IP packet) holds from moment `turns[i]` on; the first turn is 0."""

    turns: tuple[int, ...]
    sizes: tuple[int, ...]

    def at(self, moment: int) -> int:
        """Return the size at a moment."""
        return self.sizes[bisect_right(self.turns, moment) - 1]

    def least(self) -> int:
        """Return the smallest size of all moments."""
        return min(self.sizes)

    def most(self) -> int:
        """Return the largest size of all moments."""
        return max(self.sizes)


FREE = Curve((0,), (UNBOUNDED,))


def lowest(curves: Iterable[Curve]) -> Curve:
    """Return the least of many curves at each moment."""
    unique = list(dict.fromkeys(curves))
    if len(unique) <= 1:
        return unique[0] if unique else FREE
    events = sorted((turn, number, size) for number, c in enumerate(unique) for turn, size in zip(c.turns, c.sizes))
    now: dict[int, int] = {}
    heap: list[tuple[int, int]] = []
    turns: list[int] = []
    sizes: list[int] = []
    for index, (turn, number, size) in enumerate(events):
        now[number] = size
        heapq.heappush(heap, (size, number))
        if index + 1 < len(events) and events[index + 1][0] == turn:
            continue
        while now[heap[0][1]] != heap[0][0]:
            heapq.heappop(heap)
        if not sizes or sizes[-1] != heap[0][0]:
            turns.append(turn)
            sizes.append(heap[0][0])
    return Curve(tuple(turns), tuple(sizes))


def above(high: Curve, low: Curve) -> Iterator[int]:
    """Yield a moment of each stretch in which the first curve is larger than the second."""
    if high.most() <= low.least():
        return
    for moment in _turns((high, low)):
        if high.at(moment) > low.at(moment):
            yield moment


def _turns(curves: Sequence[Curve]) -> list[int]:
    return sorted({turn for curve in curves for turn in curve.turns})
