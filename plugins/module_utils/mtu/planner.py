"""The plan under construction: steps in order, which segments are ready, what stays exposed."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from .intent_types import End, Segment, natural_key
from .live import v4_subnets
from .scope import Scope
from .steps import Change, DeadMan, Gate, Step
from .units import flows_needed

GUARD = "guard"
COMMIT_TIMER = "commit_timer"


class Planner:
    """Appends steps, each needing the one before; `ready` are the segments that reach their size in this plan."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.live = scope.live
        self.intent = scope.intent
        self.topology = scope.topology
        self._endpoints = set(self.topology.endpoints())
        self.steps: list[Step] = []
        self.exposures: list[dict[str, Any]] = []
        self.ready: list[Segment] = []
        self.done: list[Segment] = []  # those of `ready` whose steps are in the plan already

    def add(
        self,
        name: str,
        wave: int,
        phase: str,
        changes: Sequence[Change],
        gate: Gate | None,
        precondition: str,
        atomic: bool = False,
    ) -> str:
        """Append a step and return its id, `<stage>.<name>`."""
        step_id = f"{name}" if name.count(".") else f"{name}.{wave}.{phase}"
        self.steps.append(
            Step(
                id=step_id,
                stage=step_id.split(".", maxsplit=1)[0],
                wave=wave,
                phase=phase,
                changes=tuple(changes),
                needs=(self.steps[-1].id,) if self.steps else (),
                precondition=precondition,
                gate=gate,
                dead_man=self._dead_man(phase, changes),
                atomic=atomic,
            )
        )
        return step_id

    def _dead_man(self, phase: str, changes: Sequence[Change]) -> DeadMan | None:
        """Only what changes an interface can cost the way back; a lift touches routes of data prefixes alone."""
        if not changes or phase in {"lift", "persist"}:
            return None
        on_host = self.intent.devices[changes[0].host].is_host
        return DeadMan(GUARD if on_host else COMMIT_TIMER, self.intent.confirm_within)

    def gate(
        self, name: str, pairs: Iterable[tuple[End, End]], sizes: Iterable[int], ecmp: bool = False
    ) -> Gate | None:
        """Return a gate over these pairs at the smallest of the sizes and at the baseline, None without pairs.

        With `ecmp` each pair gets enough flows to cross every path of the widest pair.
        """
        chosen = list(dict.fromkeys(pairs))
        if not chosen:
            return None
        width = max(self.topology.path_count(a, b) for a, b in chosen) if ecmp else 1
        size = min(sizes)
        ip_mtus = (size, self.intent.baseline_ip_mtu) if size != self.intent.baseline_ip_mtu else (size,)
        return Gate(name, tuple((str(a), str(b)) for a, b in chosen), ip_mtus, flows_needed(width))

    # ------------------------------------------------------------------ lifts

    def rack_of(self, segment: Segment) -> str:
        """Return the rack that a segment belongs to."""
        racks = [self.topology.rack_of(member.device) for member in segment.members if member.managed]
        return next((rack for rack in racks if rack), "")

    def hosts(self, segments: Iterable[Segment]) -> list[End]:
        """Return the host ends of these segments that take part, by name."""
        found = [end for segment in segments for end in self.topology.hosts_in(segment) if end in self._endpoints]
        return sorted(found, key=lambda end: natural_key(str(end)))

    def lift_size(self, source: Segment, target: Segment) -> int:
        """Return what a host of one segment may send to another: the smaller of both sizes."""
        return min(source.ip_mtu, target.ip_mtu)

    def lift_changes(self, end: End, source: Segment, target: Segment) -> list[Change]:
        """Return the lifts of one host towards a segment that are not there yet."""
        changes = []
        size = self.lift_size(source, target)
        pin = self.live.pin(end)
        # A pin that is still to come covers every route of the interface, lifted ones too.
        old, lifts = (self.live.pin_wanted(end), {}) if pin is None else (pin, self.live.lifts(end))
        for subnet in v4_subnets(target):
            current = lifts.get(subnet, old)
            if current >= size or not self._may_lift(end, subnet):
                continue
            changes.append(Change(end.device, f"{end.interface} {subnet}", "route_mtu", current, size))
        return changes

    def _may_lift(self, end: End, subnet: str) -> bool:
        if not self.scope.may_change(end):
            self.scope.note(f"{end} may not be touched: it is not lifted towards {subnet}")
            return False
        way = self.live.leaves_by(end, subnet)
        if way != end.interface:
            how = f"by {way}" if way else "not at all"
            self.scope.note(f"{end.device} reaches {subnet} {how}, not by {end.interface}: it is not lifted there")
            return False
        return True

    def batches(self, racks: Sequence[str]) -> list[list[str]]:
        """Return racks in waves of at most `jumbo_max_wave` switches, a pair counting as one; a rack is never split."""
        waves: list[list[str]] = []
        room = 0
        for rack in racks:
            size = max(1, len(self.topology.racks[rack].switches))
            if not waves or size > room:
                waves.append([])
                room = self.intent.max_wave
            waves[-1].append(rack)
            room -= size
        return waves
