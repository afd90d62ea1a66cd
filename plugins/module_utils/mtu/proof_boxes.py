"""Rules for boxes with one frame size for all ports: how they are reloaded, and what their interfaces may be given."""

from __future__ import annotations

from typing import Any, Iterator

from . import boxes
from .capability import family_of
from .detours import links_of, lost_without
from .intent_types import End
from .live import Live
from .moments import Moments
from .proof_rules import NotProven
from .steps import Change, Plan, Step
from .values import Values


def check_boxes(plan: Plan, live: Live, values: Values, moments: Moments) -> None:
    """Raise NotProven for a reload that takes more away than it may, or a size that a box may not take at that moment.

    A reload is alone in its step and in its time, allowed, with every link of its box declared as an outage, and cuts
    nobody off whom the waiver `only_path` does not name. Sizes of L3 interfaces stay between what the model takes and
    what the box is sure to receive: large frames that a reload has still to bring are none.
    """
    checker = _Checker(live, values, moments)
    for position, step in enumerate(plan.steps):
        for change in step.changes:
            if change.field == "jumbo":
                checker.reload(position, step, change)
            elif change.field == "ip_mtu" and live.box(change.host) is not None:
                checker.size(position, step, change)


class _Checker:
    def __init__(self, live: Live, values: Values, moments: Moments) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.values = values
        self.moments = moments

    def reload(self, position: int, step: Step, change: Change) -> None:
        refusals: list[Iterator[str]] = [self._place(step, change), self._company(position), self._ways(step)]
        for texts in refusals:
            for text in texts:
                raise _refuse(step, change, text)
        for moment in self.moments.flights_of(position):
            self._undrained(moment, step, change)

    def _place(self, step: Step, change: Change) -> Iterator[str]:
        if not boxes.has_one_size(self.intent.devices[change.host].platform):
            yield "its ports have sizes of their own: there are no large frames to activate for all of them"
        if not self.intent.allow_reload:
            yield "jumbo_allow_reload does not allow reloads"
        if not change.to:
            yield "large frames are taken away from a whole box: what crosses any of its ports would be lost"
        if len(step.changes) > 1:
            yield "a reload is alone in its step: nothing else may be pending while a box is down"

    def _company(self, position: int) -> Iterator[str]:
        """Yield other steps that may run while this one does."""
        if self.moments.in_a_row:
            return
        for other, each in enumerate(self.moments.steps):
            related = other in self.moments.before[position] or position in self.moments.before[other]
            if other != position and not related:
                yield f"{each.id} may run while this box is down: neither of the two steps needs the other"

    def _ways(self, step: Step) -> Iterator[str]:
        device = step.changes[0].host
        declared = {outage.link for outage in step.outage if outage.seconds > 0}
        for link in links_of(self.topology, device):
            if str(link) not in declared:
                yield f"{link} carries nothing while {device} reloads, which the step does not declare"
        lost, rack = lost_without(self.topology, device), self.topology.rack_of(device)
        if lost and not self.intent.waived("only_path", device, *([rack] if rack else ())):
            yield f"while {device} reloads {', '.join(lost)} have no other way (waiver only_path)"

    def _undrained(self, moment: int, step: Step, change: Change) -> None:
        for link in self.topology.uplinks():
            if any(True in self.values.drained(self.topology.logical(port), moment) for port in link.ends):
                raise _refuse(step, change, f"{link} may be drained while {change.host} reloads: no way may be left")

    def size(self, position: int, step: Step, change: Change) -> None:
        device = self.intent.devices[change.host]
        least = family_of(device.platform, self.live.states[change.host].get("model")).least
        if change.to < least:
            raise _refuse(step, change, f"{change.to} is below the {least} that this model takes")
        for moment in self.moments.flights_of(position):
            found = self.values.track(End(change.host, boxes.OBJECT)).at(moment)
            takes = min((value.box for value in found if value.box is not None), default=0)
            if change.to > max(takes, change.before or 0):  # what comes down is closer to what it takes
                text = f"{change.to} is above the {takes} that the box is sure to take: reload it first"
                raise _refuse(step, change, text)


def _refuse(step: Step, change: Change, message: str, **facts: Any) -> NotProven:
    return NotProven(f"{step.id}: {message}", step=step.id, host=change.host, object=change.object, **facts)
