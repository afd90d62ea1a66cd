"""The moments of a plan: before it, each step in flight, each step confirmed.

A moment says which steps are confirmed and which are in flight; all others have not begun. Where every step needs the
one before (what the planner makes) moments are a row: 2i+1 is step i in flight, 2i+2 its end. Where two steps may run
side by side, each such couple is a moment of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .steps import Plan

START = 0
BEFORE = "before the roll-out"


@dataclass(frozen=True)
class Moment:
    """Positions of the steps that are confirmed and in flight."""

    name: str
    settled: frozenset[int]
    flying: tuple[int, ...]


class Moments:
    """Numbers the moments of a plan.

    A check holds one sender against one limit. Of the steps that touch either, only the last begun of each matters, so
    two steps in flight at once are enough: what else is confirmed or not changes neither of the two.
    """

    def __init__(self, plan: Plan) -> None:
        self.steps = plan.steps
        self.position = {step.id: index for index, step in enumerate(plan.steps)}
        self.in_a_row = all(
            step.needs == ((plan.steps[index - 1].id,) if index else ()) for index, step in enumerate(plan.steps)
        )
        self._listed = [] if self.in_a_row else self._list()
        self.before = [] if self.in_a_row else self._ancestors()

    @property
    def count(self) -> int:
        """Return how many different ones there are; a step's end is part of its flight."""
        apart = 0 if self.in_a_row else sum(len(moment.flying) > 1 for moment in self._listed)
        return len(self.steps) + 2 + apart

    def name(self, moment: int) -> str:
        """Return the id of the step in flight, or what has just been confirmed."""
        if moment == START:
            return BEFORE
        if not self.in_a_row:
            return self._listed[moment].name
        step = self.steps[(moment - 1) // 2]
        return step.id if moment % 2 else f"after {step.id}"

    def ends_of_stages(self) -> dict[str, int]:
        """Return {stage: the moment at which its last step is confirmed}."""
        last = {step.stage: position for position, step in enumerate(self.steps)}
        return {stage: self.end_of(position) for stage, position in last.items()}

    def end_of(self, position: int) -> int:
        """Return the moment at which a step and what it needs are confirmed and nothing is in flight."""
        if self.in_a_row:
            return 2 * position + 2
        name = f"after {self.steps[position].id}"
        return next(number for number, moment in enumerate(self._listed) if moment.name == name)

    def flights_of(self, position: int) -> list[int]:
        """Return the moments at which a step is in flight."""
        if self.in_a_row:
            return [2 * position + 1]
        return [number for number, moment in enumerate(self._listed) if position in moment.flying]

    def turns(self, positions: Sequence[int]) -> list[int]:
        """Return the moments at which something may change for an object that these steps touch."""
        if self.in_a_row:
            return sorted({START, *(2 * p + 1 for p in positions), *(2 * p + 2 for p in positions)})
        found, last = [START], self.split(START, positions)
        for number in range(1, len(self._listed)):
            now = self.split(number, positions)
            if now != last:
                found.append(number)
                last = now
        return found

    def split(self, moment: int, positions: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (confirmed, in flight) among these steps."""
        if self.in_a_row:
            flying = (moment - 1) // 2 if moment % 2 else -1
            settled = moment // 2
            return tuple(p for p in positions if p < settled), tuple(p for p in positions if p == flying)
        listed = self._listed[moment]
        return tuple(p for p in positions if p in listed.settled), tuple(p for p in positions if p in listed.flying)

    # ------------------------------------------------------------------ steps that may run side by side

    def _ancestors(self) -> list[frozenset[int]]:
        found: list[frozenset[int]] = []
        for step in self.steps:
            needs = [self.position[need] for need in step.needs]
            found.append(frozenset(needs).union(*(found[need] for need in needs)))
        return found

    def _list(self) -> list[Moment]:
        before = self._ancestors()
        found = [Moment(BEFORE, frozenset(), ())]
        for index, step in enumerate(self.steps):
            found.append(Moment(step.id, before[index], (index,)))
            found.append(Moment(f"after {step.id}", before[index] | {index}, ()))
            apart = (other for other in range(index) if other not in before[index])
            found.extend(Moment(step.id, before[index] | before[other], (other, index)) for other in apart)
        return [*found, Moment("after the roll-out", frozenset(range(len(self.steps))), ())]
