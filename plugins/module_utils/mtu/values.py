"""What an interface may be doing at each moment, whatever fails: sets of possible values.

A step in flight adds its target to what was there: not applied, half applied, reverted by its timer, or rebooted into
what is persisted. Confirmed, only the target stays, and it is what a reboot brings back. Sizes are bytes of IP packet.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, Mapping, Sequence

from .capability import box_receives
from .curves import Curve
from .intent_types import End
from .live import Live, covers, network
from .moments import Moments
from .routes import canonical
from .steps import Change, Plan

AS_IS = "as it is"
REBOOTED = "after a reboot"


@dataclass(frozen=True)
class Sender:
    """What bounds an interface: its MTU, the pin of all routes, explicit prefixes above it, what its box takes."""

    link: int
    pin: int | None = None
    lifts: tuple[tuple[str, int], ...] = ()
    box: int | None = None

    @property
    def carried(self) -> int:
        """Return what the interface sends and carries at most: a box with one frame size bounds all of its own."""
        return self.link if self.box is None else min(self.link, self.box)

    def size(self, prefix: str | None) -> int:
        """Return the largest packet towards a prefix; None stands for everywhere else."""
        fitting = [(network(p).prefixlen, mtu) for p, mtu in self.lifts if prefix and covers(p, prefix)]
        route = max(fitting)[1] if fitting else self.pin
        return self.link if route is None else min(self.link, route)

    def after(self, change: Change) -> Sender:
        """Return the sender once a change is applied."""
        if change.field == "ip_mtu":
            return replace(self, link=change.to)
        if change.field == "jumbo":
            return replace(self, box=change.to)
        if change.field == "route_mtu" and change.prefix is None:
            return replace(self, pin=change.to)
        if change.field == "route_mtu":
            lifts = {**dict(self.lifts), canonical(change.prefix or "default"): change.to}
            return replace(self, lifts=tuple(sorted(lifts.items())))
        return self


@dataclass
class Track:
    """The possible values of interfaces that are alike: `possible[i]`, {value: why}, holds from `turns[i]` on.

    `mru`, `read`: the receive limit that was told, and the MTU at which it was.
    """

    turns: tuple[int, ...]
    possible: tuple[Mapping[Sender, str], ...]
    mru: int | None
    read: int | None
    _curves: dict[Any, Curve] = field(default_factory=dict)

    def at(self, moment: int) -> Mapping[Sender, str]:
        """Return {possible value: why} at a moment."""
        return self.possible[bisect_right(self.turns, moment) - 1]

    def accepts(self, value: Sender) -> int:
        """Return what is surely received: at least the MTU, the receive limit where one is told.

        A receive limit follows the MTU on most platforms, so it counts only while the MTU is as it was read.
        """
        if value.box is not None:  # whether a routed port takes more than its own MTU in is not known
            return value.carried
        return self.mru if self.mru and value.link == self.read else value.link

    def sends(self, prefix: str | None) -> Curve:
        """Return the most that may be sent towards a prefix (None: everywhere else)."""
        return self._curve(("sends", prefix), lambda values: max(value.size(prefix) for value in values))

    def carries(self, forgive: bool = False) -> Curve:
        """Return the least that is surely sent out; `forgive` as in receives()."""
        return self._curve(
            ("carries", forgive), lambda values: min(value.carried for value in self.counted(values, forgive))
        )

    def most(self) -> Curve:
        """Return the most that may be sent out."""
        return self._curve("most", lambda values: max(value.carried for value in values))

    def receives(self, forgive: bool) -> Curve:
        """Return the least that is surely received; `forgive`: a reboot is left out (waiver no_dead_man)."""
        return self._curve(("receives", forgive), lambda values: min(self.received(values, forgive)))

    def received(self, values: Mapping[Sender, str], forgive: bool) -> dict[int, str]:
        """Return {size surely received: why}."""
        found: dict[int, str] = {}
        for value, why in self.counted(values, forgive).items():
            found.setdefault(self.accepts(value), why)
        return found

    @staticmethod
    def counted(values: Mapping[Sender, str], forgive: bool) -> Mapping[Sender, str]:
        """Return the possible values that count, without those of a reboot where that is forgiven."""
        kept = {value: why for value, why in values.items() if why != REBOOTED} if forgive else values
        return kept or values

    def _curve(self, key: Any, measure: Any) -> Curve:
        if key not in self._curves:
            turns: list[int] = []
            sizes: list[int] = []
            for turn, values in zip(self.turns, self.possible):
                size = measure(values)
                if not sizes or sizes[-1] != size:
                    turns.append(turn)
                    sizes.append(size)
            self._curves[key] = Curve(tuple(turns), tuple(sizes))
        return self._curves[key]


class Values:
    """Computes the tracks of one plan. Interfaces that begin alike and change alike share one."""

    def __init__(self, live: Live, plan: Plan, moments: Moments) -> None:
        self.live = live
        self.moments = moments
        self._changes: dict[tuple[str, str], dict[int, list[Change]]] = {}
        self._boxes: dict[str, dict[int, list[Change]]] = {}
        for position, step in enumerate(plan.steps):
            for change in step.changes:
                if change.field == "jumbo":
                    self._boxes.setdefault(change.host, {}).setdefault(position, []).append(_box_change(change))
                else:
                    touched = self._changes.setdefault((change.host, change.interface), {})
                    touched.setdefault(position, []).append(change)
        self._tracks: dict[End, Track] = {}
        self._shared: dict[Any, Track] = {}
        self._drains: dict[End, tuple[tuple[int, ...], tuple[frozenset[bool], ...]]] = {}

    def track(self, end: End) -> Track:
        """Return what an interface may be doing over the plan."""
        if end not in self._tracks:
            self._tracks[end] = self._find(end)
        return self._tracks[end]

    def drained(self, end: End, moment: int) -> frozenset[bool]:
        """Return whether the link at an interface may be, and may not be, drained at a moment."""
        if end not in self._drains:
            touched = self._touched(end, "drained")
            turns = self.moments.turns(sorted(touched))
            begin = bool((self.live.interface(end) or {}).get("drained"))  # what is not told is not drained
            now = [self._drain_at(touched, turn, begin) for turn in turns]
            self._drains[end] = (tuple(turns), tuple(now))
        turns_of, values = self._drains[end]
        return values[bisect_right(turns_of, moment) - 1]

    def _drain_at(self, touched: Mapping[int, list[Change]], moment: int, begin: bool) -> frozenset[bool]:
        settled, flying = self.moments.split(moment, sorted(touched))
        value = bool(touched[settled[-1]][-1].to) if settled else begin
        return frozenset([value, *(bool(change.to) for position in flying for change in touched[position])])

    def _touched(self, end: End, what: str | None = None) -> dict[int, list[Change]]:
        changes = self._changes.get((end.device, end.interface), {})
        if what is not None:
            return {
                p: [c for c in some if c.field == what]
                for p, some in changes.items()
                if any(c.field == what for c in some)
            }
        found = {p: [c for c in some if c.field != "drained"] for p, some in changes.items()}
        for position, some in self._boxes.get(end.device, {}).items():
            found.setdefault(position, []).extend(some)
        return {position: some for position, some in found.items() if some}

    def _find(self, end: End) -> Track:
        touched = self._touched(end)
        interface = self.live.interface(end) or {}
        start = tuple(self._initial(end))
        mru, read = interface.get("mru"), interface.get("ip_mtu")
        keeps = self.live.keeps(end.device)
        steps = tuple((p, tuple((c.field, c.prefix, c.to) for c in some)) for p, some in sorted(touched.items()))
        key = (start, mru, read, keeps, steps)
        if key not in self._shared:
            turns = self.moments.turns(sorted(touched))
            possible = tuple(self._possible(start, touched, keeps, turn) for turn in turns)
            self._shared[key] = Track(tuple(turns), possible, mru, read)
        return self._shared[key]

    def _possible(
        self, start: Sequence[tuple[Sender, Sender]], touched: Mapping[int, list[Change]], keeps: bool, moment: int
    ) -> dict[Sender, str]:
        """Follow (running, persisted) through the confirmed steps, then through every part of those in flight."""
        settled, flying = self.moments.split(moment, sorted(touched))
        reachable = dict.fromkeys(start, AS_IS)
        for position in settled:
            reachable = {_confirmed(pair, touched[position], keeps): AS_IS for pair in reachable}
        for position in flying:
            why = f"while {self.moments.steps[position].id} is applied or taken back"
            reachable.update(_in_flight(reachable, touched[position], keeps, why))
        found: dict[Sender, str] = {}
        for (running, _persisted), why in reachable.items():
            found.setdefault(running, why)
        for _running, persisted in reachable:
            found.setdefault(persisted, REBOOTED)
        return found

    def _is_device(self, end: End) -> bool:
        return not self.live.intent.devices[end.device].is_host

    def _initial(self, end: End) -> list[tuple[Sender, Sender]]:
        """Return (running, persisted) as read. What isn't known is taken to be at the old size."""
        baseline = self.live.intent.baseline_ip_mtu
        interface = self.live.interface(end) or {}
        link = self.live.carries(end) or baseline
        saved = interface.get("persisted_mtu")
        if self._is_device(end):
            box, again = self.live.box(end.device), self.live.box_after_reboot(end.device)
            if self.live.is_switched(end):  # it has no size of its own: its box decides
                link = saved = box_receives(jumbo=True)
            kept_link = saved or (link if self.live.keeps(end.device) else min(link, baseline))
            return [(Sender(link, box=box), Sender(kept_link, box=again))]
        running = Sender(link, self.live.pin(end), tuple(sorted(self.live.lifts(end).items())))
        if self.live.persists(end.device):
            kept = Sender(saved or link, running.pin)
            if self.live.unpersisted_lifts(end):  # a guard holds them: the boot configuration has only the pins
                return [(running, kept)]
            return [(running, replace(kept, lifts=running.lifts)), (running, kept)]
        # Nothing of ours would come back: the link at what its owner says, else at the old size, and no pins.
        return [(running, Sender(saved or min(link, baseline)))]


def _box_change(change: Change) -> Change:
    """Say a box's frame size as what its interfaces then receive."""
    return replace(change, to=box_receives(jumbo=bool(change.to)))


def _in_flight(
    reachable: Mapping[Any, str], todo: Sequence[Change], keeps: bool, why: str
) -> dict[tuple[Sender, Sender], str]:
    """Return what one step adds: every first part of its changes applied, and all of it confirmed."""
    added: dict[tuple[Sender, Sender], str] = {}
    for running, persisted in list(reachable):
        now = running
        for change in todo:
            now = now.after(change)
            added.setdefault((now, persisted), why)
        added.setdefault(_confirmed((running, persisted), todo, keeps), why)
    return {pair: reason for pair, reason in added.items() if pair not in reachable}


def _applied(sender: Sender, changes: Iterable[Change]) -> Sender:
    for change in changes:
        sender = sender.after(change)
    return sender


def _confirmed(pair: tuple[Sender, Sender], todo: Sequence[Change], keeps: bool) -> tuple[Sender, Sender]:
    """Return what runs and what a reboot brings back once a step is confirmed: link and pins at once, lifts if told."""
    running, persisted = _applied(pair[0], todo), pair[1]
    for change in todo if keeps else ():
        if change.field == "persisted":
            persisted = running if change.to else replace(running, lifts=())
        elif change.prefix is None:
            persisted = replace(running, lifts=persisted.lifts)
    return running, persisted
