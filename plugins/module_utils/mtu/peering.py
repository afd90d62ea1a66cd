"""What the two members of a pair send each other over their peer link: never more than the link carries."""

from __future__ import annotations

from typing import Callable, Iterator

from .curves import above
from .intent_types import End, Pair
from .limits import BLACKHOLE, Limits
from .moments import START, Moments
from .proof_rules import NotProven
from .topology import Topology

Look = Callable[[int], None]


def looks(topology: Topology, limits: Limits, moments: Moments) -> Iterator[tuple[int, Look]]:
    """Yield (moment, what to look at then) where a peering may send more than its peer link is sure to carry.

    Unequal ends lose nothing: the session of a pair is TCP, whose segments fit the smaller end.
    """
    for pair in topology.intent.pairs:
        peering = topology.peering(pair)
        cables = topology.peer_links(pair)
        carried = limits.least(*(limits.link(cable, switched=True) for cable in cables))
        for end in peering.ends if peering else ():
            most = limits.track(end).most()
            if most.most() > most.at(START):  # what it sends already is no matter of this plan
                yield from ((moment, _refuse(pair, end, limits, moments)) for moment in above(most, carried))


def _refuse(pair: Pair, end: End, limits: Limits, moments: Moments) -> Look:
    def look(moment: int) -> None:
        name, size = moments.name(moment), limits.track(end).most().at(moment)
        raise NotProven(
            f"{name}: {end} may send {size} bytes to the other member of {pair.name}, more than their peer link is sure"
            " to carry",
            step=name,
            verdict=BLACKHOLE,
            host=end.device,
            object=end.interface,
            advice="Raise the ports of the peer link first, at both ends",
        )

    return look
