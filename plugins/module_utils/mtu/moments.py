"""What an interface or a host may be doing at one moment of a plan, whatever fails: sets of possible values.

A step in flight adds its target to what was there: not applied, half applied, reverted by its timer, or rebooted into
what is persisted. Confirmed, only the target stays, and it is what a reboot brings back. Sizes are bytes of IP packet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence

from .intent_types import End
from .live import Live, covers, network
from .steps import Change, Plan, Step

AS_IS = "as it is"
REBOOTED = "after a reboot"


@dataclass(frozen=True)
class Sender:
    """What bounds a host's packets on one interface: link MTU, the pin of all routes, explicit prefixes above it."""

    link: int
    pin: int | None
    lifts: tuple[tuple[str, int], ...] = ()

    def size(self, prefix: str | None) -> int:
        """Return the largest packet towards a prefix; None stands for everywhere else."""
        fitting = [(network(p).prefixlen, mtu) for p, mtu in self.lifts if prefix and covers(p, prefix)]
        route = max(fitting)[1] if fitting else self.pin
        return self.link if route is None else min(self.link, route)

    def after(self, change: Change) -> Sender:
        """Return the sender once a change is applied."""
        if change.field == "ip_mtu":
            return Sender(change.to, self.pin, self.lifts)
        if change.field == "route_mtu" and change.prefix is None:
            return Sender(self.link, change.to, self.lifts)
        if change.field == "route_mtu":
            lifts = {**dict(self.lifts), str(network(change.prefix or "default")): change.to}
            return Sender(self.link, self.pin, tuple(sorted(lifts.items())))
        return self


@dataclass(frozen=True)
class Moment:
    """Which steps are confirmed and which are in flight; everything after them has not begun."""

    name: str
    settled: tuple[Step, ...]
    flying: tuple[Step, ...]


def moments(plan: Plan) -> list[Moment]:
    """Return every moment of a plan: before it, each step in flight, after it.

    A step in flight has what it needs confirmed, and nothing else begun; two steps of which neither needs the other may
    be in flight together. That is enough: each check holds one sender against one limit, so only the last step of each
    matters, and what else is confirmed or not changes neither.
    """
    before = _ancestors(plan)
    found = [Moment("before the roll-out", (), ())]
    for index, step in enumerate(plan.steps):
        found.append(_moment(plan, before, step))
        apart = (other for other in plan.steps[:index] if other.id not in before[step.id])
        found.extend(_moment(plan, before, step, other) for other in apart)
    return [*found, Moment("after the roll-out", plan.steps, ())]


def _moment(plan: Plan, before: Mapping[str, set[str]], *flying: Step) -> Moment:
    done = set().union(*(before[step.id] for step in flying))
    settled = tuple(step for step in plan.steps if step.id in done)
    return Moment(flying[0].id, settled, flying)


def _ancestors(plan: Plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for step in plan.steps:
        found[step.id] = set(step.needs).union(*(found.get(need, set()) for need in step.needs))
    return found


@dataclass
class Possible:
    """The possible values at one moment; `why` says for each what must have happened."""

    why: dict[Any, str] = field(default_factory=dict)

    def add(self, value: Any, reason: str) -> None:
        """Add a value; the first reason stays."""
        self.why.setdefault(value, reason)


class Values:
    """Computes the sets of one plan. The same steps in flight give the same set, so sets are kept."""

    def __init__(self, live: Live, plan: Plan) -> None:
        self.live = live
        self._changes: dict[tuple[str, str], dict[str, list[Change]]] = {}
        for step in plan.steps:
            for change in step.changes:
                steps = self._changes.setdefault((change.host, change.interface), {})
                steps.setdefault(step.id, []).append(change)
        self._kept: dict[Any, Possible] = {}
        self._now: dict[Any, Possible] = {}

    def sender(self, end: End, moment: Moment) -> Mapping[Sender, str]:
        """Return {possible sender: why} of a host's interface."""
        return self._possible("sender", end, moment).why

    def size(self, end: End, moment: Moment) -> Mapping[int, str]:
        """Return {possible IP MTU: why} of any interface."""
        return self._possible("size", end, moment).why

    def receive(self, end: End, moment: Moment) -> Mapping[int, str]:
        """Return {size that is surely accepted: why}: at least the IP MTU, the receive limit where one is told.

        A receive limit follows the MTU on most platforms, so it counts only while the MTU is as it was read.
        """
        interface = self.live.interface(end) or {}
        mru, read = interface.get("mru"), interface.get("ip_mtu")
        return {mru if mru and size == read else size: why for size, why in self.size(end, moment).items()}

    def _possible(self, kind: str, end: End, moment: Moment) -> Possible:
        now = (kind, end, moment.name)
        if now not in self._now:
            self._now[now] = self._look_up(kind, end, moment)
        return self._now[now]

    def forget(self) -> None:
        """Drop what was found for single moments; sets for the same steps are kept."""
        self._now.clear()

    def _look_up(self, kind: str, end: End, moment: Moment) -> Possible:
        changes = self._changes.get((end.device, end.interface), {})
        settled = tuple(step for step in moment.settled if step.id in changes)
        flying = tuple(step for step in moment.flying if step.id in changes)
        key = (kind, end, tuple(step.id for step in settled), tuple(step.id for step in flying))
        if key not in self._kept:
            self._kept[key] = self._compute(kind, end, settled, flying, changes)
        return self._kept[key]

    def _compute(
        self, kind: str, end: End, settled: Sequence[Step], flying: Sequence[Step], changes: Mapping[str, list[Change]]
    ) -> Possible:
        """Follow (running, persisted) through the confirmed steps, then through every part of those in flight."""
        reachable = dict.fromkeys(self._initial(end), AS_IS)
        for step in settled:
            reachable = {self._confirmed(end, pair, changes[step.id]): AS_IS for pair in reachable}
        for step in flying:
            reachable.update(self._in_flight(end, step, changes[step.id], reachable))
        possible = Possible()
        for (running, _persisted), why in reachable.items():
            possible.add(running if kind == "sender" else running.link, why)
        for _running, persisted in reachable:
            possible.add(persisted if kind == "sender" else persisted.link, REBOOTED)
        return possible

    def _in_flight(self, end: End, step: Step, todo: list[Change], reachable: Iterable[Any]) -> dict[Any, str]:
        """Return what one step adds: every first part of its changes applied, and all of it confirmed."""
        added: dict[Any, str] = {}
        why = f"while {step.id} is applied or taken back"
        for running, persisted in list(reachable):
            for count in range(1, len(todo) + 1):
                added.setdefault((_applied(running, todo[:count]), persisted), why)
            added.setdefault(self._confirmed(end, (running, persisted), todo), why)
        return {pair: reason for pair, reason in added.items() if pair not in reachable}

    def _confirmed(self, end: End, pair: tuple[Sender, Sender], todo: list[Change]) -> tuple[Sender, Sender]:
        running = _applied(pair[0], todo)
        return running, self._saved(end, running, pair[1], todo)

    def _saved(self, end: End, running: Sender, persisted: Sender, todo: Iterable[Change]) -> Sender:
        """Return what a reboot brings back once a step is confirmed: link and pins at once, lifts when told so."""
        for change in todo:
            if not self._is_device(end) and not self.live.persists(end.device):
                continue
            if change.field == "persisted":
                persisted = running if change.to else Sender(running.link, running.pin)
            elif change.prefix is None:
                persisted = Sender(running.link, running.pin, persisted.lifts)
        return persisted

    def _is_device(self, end: End) -> bool:
        return not self.live.intent.devices[end.device].is_host

    def _initial(self, end: End) -> list[tuple[Sender, Sender]]:
        """Return (running, persisted) as read. What isn't known is taken to be at the old size."""
        baseline = self.live.intent.baseline_ip_mtu
        interface = self.live.interface(end) or {}
        link = interface.get("ip_mtu") or baseline
        saved = interface.get("persisted_mtu")
        if self._is_device(end):
            return [(Sender(link, None), Sender(saved or link, None))]
        running = Sender(link, self.live.pin(end), tuple(sorted(self.live.lifts(end).items())))
        if self.live.persists(end.device):
            kept = Sender(saved or link, running.pin)
            if self.live.unpersisted_lifts(end):  # a guard holds them: the boot configuration has only the pins
                return [(running, kept)]
            return [(running, Sender(kept.link, kept.pin, running.lifts)), (running, kept)]
        # Nothing of ours would come back: the link at what its owner says, else at the old size, and no pins.
        return [(running, Sender(saved or min(link, baseline), None))]


def _applied(sender: Sender, changes: Iterable[Change]) -> Sender:
    for change in changes:
        sender = sender.after(change)
    return sender
