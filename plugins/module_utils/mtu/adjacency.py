"""Links with OSPF or IS-IS: unequal ends exist only while a link is drained, and its traffic has another way then."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from .intent_types import Link
from .live import Live
from .moments import START, Moments
from .proof_rules import NotProven
from .steps import Plan
from .values import Values

ADJACENCY = ("ospf", "isis")


class Adjacency:
    """The second invariant: compares both ends of each such link, and what is left while links are drained."""

    def __init__(self, live: Live, values: Values, moments: Moments, plan: Plan) -> None:
        self.live = live
        self.topology = live.topology
        self.values = values
        self.moments = moments
        self.drains = [change for step in plan.steps for change in step.changes if change.field == "drained"]
        self.positions = [p for p, s in enumerate(plan.steps) if any(c.field == "drained" for c in s.changes)]
        self._parts: dict[Any, dict[str, int]] = {}

    def looks(self) -> Iterator[tuple[int, Callable[[int], None]]]:
        """Yield (moment, what to look at then)."""
        for link in self.topology.uplinks():
            if link.routing in ADJACENCY:
                ends = [self.topology.logical(port) for port in link.ends]
                turns = {turn for end in ends for turn in self.values.track(end).turns}
                turns |= set(self.moments.turns(self.positions))
                yield from ((turn, self._unequal(link)) for turn in sorted(turns))
        if self.drains:
            yield from ((turn, self._cut_off) for turn in self.moments.turns(self.positions))

    def _unequal(self, link: Link) -> Callable[[int], None]:
        def look(moment: int) -> None:
            ends = [self.topology.logical(port) for port in link.ends]
            sizes = [{value.link for value in self.values.track(end).at(moment)} for end in ends]
            before = [{value.link for value in self.values.track(end).at(START)} for end in ends]
            if len(sizes[0] | sizes[1]) == 1 or sizes == before or self._surely_drained(link, moment):
                return
            name = self.moments.name(moment)
            found = sorted(sizes[0] | sizes[1])
            raise NotProven(
                f"{name}: the ends of {link} may differ ({found}) while {link.routing} runs and it is not drained",
                step=name,
                pair=(str(link.a), str(link.b)),
                advice="Drain the link first, at both ends, and undrain it when both ends are confirmed",
            )

        return look

    def _surely_drained(self, link: Link, moment: int) -> bool:
        return all(self.values.drained(self.topology.logical(port), moment) == {True} for port in link.ends)

    def _may_be_drained(self, link: Link, moment: int) -> bool:
        return any(True in self.values.drained(self.topology.logical(port), moment) for port in link.ends)

    def _cut_off(self, moment: int) -> None:
        """Refuse drained links without which two racks have no way left."""
        drained = {link for link in self.topology.uplinks() if self._may_be_drained(link, moment)}
        gone = frozenset(
            frozenset((link.a.device, link.b.device))
            for link in drained
            if all(other in drained for other in self.topology.between(link.a.device, link.b.device))
        )
        name = self.moments.name(moment)
        before, after = self._parts_without(frozenset()), self._parts_without(gone)
        first: dict[int, str] = {}
        for leaf in dict.fromkeys(d for s in self.topology.jumbo_segments() for d in self.topology.leafs_in(s)):
            other = first.setdefault(before.get(leaf, -1), leaf)
            if leaf in after and after[leaf] != after.get(other):
                links = ", ".join(sorted(str(link) for link in drained))
                if self.live.intent.waived("only_path", leaf, other, *(str(link) for link in drained)):
                    continue
                raise NotProven(
                    f"{name}: while {links} is drained there is no way left between {other} and {leaf}",
                    step=name,
                    pair=(other, leaf),
                    advice="Drain fewer links at once, or accept it with a waiver only_path that names the leaf",
                )
        if drained and moment == self.moments.turns(self.positions)[-1]:
            raise NotProven(
                f"{name}: {min(map(str, drained))} stays drained", step=name, advice="Undrain it at the end"
            )

    def _parts_without(self, gone: frozenset[Any]) -> dict[str, int]:
        if gone not in self._parts:
            self._parts[gone] = self.topology.graph.parts(gone)
        return self._parts[gone]
