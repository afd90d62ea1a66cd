"""Who probes whom: everybody with everybody while they are few, else so that each is crossed often and evenly.

A size limit sits on an interface, not on a pair, so a proof needs every interface crossed in both directions. Beyond
`FEW`, members stand in a ring and probe those 1, 2, 4, 8 ... places away: n log n pairs, each member in many of them,
which still tells a guilty member from its peers.
"""

from __future__ import annotations

from typing import Iterator

FEW = 8


def neighbours(count: int) -> Iterator[tuple[int, int]]:
    """Yield ordered pairs of places in a ring, both directions of each."""
    for place in range(count):
        if count <= FEW:
            yield from ((place, other) for other in range(count) if other != place)
        else:
            yield from ((place, other) for other in sorted(_away(place, count)))


def _away(place: int, count: int) -> set[int]:
    found, step = set(), 1
    while step <= count // 2:
        found |= {(place + step) % count, (place - step) % count}
        step *= 2
    return found
