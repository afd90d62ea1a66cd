"""The plan under construction: steps in order, which segments are ready, what stays exposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterable, Iterator, Mapping, Sequence

from .intent_types import End, Link, Segment, natural_key
from .routes import covers, merged, network
from .scope import Scope
from .spread import FEW
from .steps import Change, DeadMan, Gate, Outage, Step
from .traits import traits_of
from .units import flows_needed

MANY = 16  # prefixes of one host: more are merged where they tile


class Planner:
    """Appends steps, each needing the one before; `ready` are the segments that reach their size in this plan."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.live = scope.live
        self.intent = scope.intent
        self.topology = scope.topology
        self._endpoints = set(self.topology.endpoints())
        self._racks: dict[str, str] = {}
        self._ready_in: dict[str, list[Segment]] = {}
        self._hosts: dict[str, list[End]] = {}
        self._names: dict[End, str] = {}
        self._kept: dict[tuple[str, ...], list[str]] = {}
        self.steps: list[Step] = []
        self._coming: dict[tuple[str, str, str], Any] = {}
        self.peerings: dict[Link, int] = {}  # the size at which pings between the members of a pair prove its peer link
        self.exposures: list[dict[str, Any]] = []
        self.crossed: list[tuple[End, End]] = []  # pairs that are probed between racks
        self.raised: set[Link] = set()  # links that this plan raises
        self._session_links: set[Link] | None = None
        self.reloaded: set[str] = set()  # boxes whose reload is in the plan
        self.ready: dict[str, Segment] = {}  # by name
        self.done: dict[str, Segment] = {}  # those of `ready` whose steps are in the plan already

    def go_on_from(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Let later steps start from these states: those that the steps so far lead to."""
        self.scope = self.scope.after(states)
        self.live = self.scope.live

    def add(  # noqa: PLR0913 - a step has so many parts
        self,
        name: str,
        wave: int,
        phase: str,
        changes: Sequence[Change],
        gate: Gate | None,
        precondition: str,
        *,
        atomic: bool = False,
        outage: Sequence[Outage] = (),
    ) -> str:
        """Append a step and return its id, `<stage>.<name>`."""
        self._coming.update(((change.host, change.object, change.field), change.to) for change in changes)
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
                outage=tuple(outage),
            )
        )
        return step_id

    def still(self, changes: Iterable[Change]) -> list[Change]:
        """Return the changes of sizes that no step makes yet: what several segments share is raised with the first."""
        found = []
        for change in changes:
            coming = self._coming.get((change.host, change.object, change.field), change.before)
            if coming is None or coming < change.to:
                found.append(replace(change, before=coming))
        return found

    def coming(self, end: End) -> int:
        """Return the IP MTU of an interface once the steps so far are done; 0 where it is not told."""
        return int(self._coming.get((end.device, end.interface, "ip_mtu"), self.live.ip_mtu(end) or 0))

    def _dead_man(self, phase: str, changes: Sequence[Change]) -> DeadMan | None:
        """Only what changes an interface can cost the way back; a lift touches routes of data prefixes alone.

        A box is reloaded with what it has saved: no timer of its own could take that back.
        """
        if not changes or phase in {"lift", "persist", "reload"}:
            return None
        kinds = {change.host: traits_of(self.intent.devices[change.host].platform).dead_man for change in changes}
        kind = kinds[changes[0].host]
        others = tuple((host, other) for host, other in kinds.items() if other != kind)
        return DeadMan(kind, self.intent.confirm_within, others)

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
        return Gate(name, tuple((self._name(a), self._name(b)) for a, b in chosen), ip_mtus, flows_needed(width))

    def _name(self, end: End) -> str:
        """Return an interface as text, the same object each time: a large plan names each of them often."""
        name = self._names.get(end)
        return self._names.setdefault(end, str(end)) if name is None else name

    # ------------------------------------------------------------------ lifts

    def rack_of(self, segment: Segment) -> str:
        """Return the rack that a segment belongs to; a stretched one to the first of its racks."""
        if segment.name not in self._racks:
            racks = [self.topology.rack_of(member.device) for member in segment.members if member.managed]
            self._racks[segment.name] = next((rack for rack in racks if rack), "")
        return self._racks[segment.name]

    def is_endpoint(self, end: End) -> bool:
        """Tell whether an interface is a host's in a jumbo segment, and not excluded."""
        return end in self._endpoints

    def is_ready(self, segment: Segment) -> bool:
        """Tell whether a segment reaches its size in this plan."""
        return segment.name in self.ready

    def waiting_behind(self, link: Link) -> list[Segment]:
        """Return the segments behind a firewall's link that do not reach their size in this plan."""
        if not any(self.scope.reassembles(end.device) for end in link.ends):
            return []
        return [segment for segment in self.scope.fabric_segments() if not self.is_ready(segment)]

    def session_links(self) -> set[Link]:
        """Return the links that control sessions of routers may cross, after failures too."""
        if self._session_links is None:
            sessions = self.intent.control_sessions
            self._session_links = {link for a, b in sessions for link in self.topology.links_among([a], [b])}
        return self._session_links

    def hosts(self, segments: Iterable[Segment]) -> list[End]:
        """Return the host ends of these segments that take part, by name."""
        found: list[End] = []
        for segment in segments:
            if segment.name not in self._hosts:
                here = [end for end in self.topology.hosts_in(segment) if end in self._endpoints]
                self._hosts[segment.name] = sorted(here, key=lambda end: natural_key(str(end)))
            found += self._hosts[segment.name]
        return found

    def ready_in(self, rack: str) -> list[Segment]:
        """Return the ready segments of a rack."""
        return self._ready_in.get(rack, [])

    def make_ready(self, segment: Segment) -> None:
        """Note that a segment reaches its size in this plan."""
        self.ready[segment.name] = segment
        self._ready_in.setdefault(self.rack_of(segment), []).append(segment)

    def far_pairs(self, source: Segment, target: Segment, turn: int = 0) -> list[tuple[End, End]]:
        """Return pairs that cross every host of two segments, both ways: all of them while they are few.

        Else each host meets one of the other side; `turn` chooses which.
        """
        here, there = self.hosts([source]), self.hosts([target])
        if not here or not there:
            return []
        if max(len(here), len(there)) <= FEW:
            return [pair for a in here for b in there for pair in ((a, b), (b, a))]
        rows = [(here[n % len(here)], there[(n + turn) % len(there)]) for n in range(max(len(here), len(there)))]
        return [pair for a, b in rows for pair in ((a, b), (b, a))]

    def near_pairs(self, segments: Iterable[Segment]) -> list[tuple[End, End]]:
        """Return the pairs that cross every host of each of these segments, both ways."""
        return [pair for segment in segments for pair in self.topology.near(self.hosts([segment]))]

    def lift_size(self, source: Segment, target: Segment) -> int:
        """Return what a host of one segment may send to another: the smaller of both sizes."""
        return min(source.ip_mtu, target.ip_mtu)

    def lift_changes(self, end: End, prefixes: Sequence[tuple[str, int]]) -> list[Change]:
        """Return the lifts of one host to prefixes, each to its size, that are not there yet."""
        pin = self.live.pin(end)
        # A pin that is still to come covers every route of the interface, lifted ones too.
        old, lifts = (self.live.pin_wanted(end), {}) if pin is None else (pin, self.live.lifts(end))
        wanted = [(p, size) for p, size in self._own(end, prefixes) if self._current(p, lifts, old) < size]
        if wanted and not self.scope.may_change(end):
            for prefix, _size in wanted:
                self.scope.note(f"{end} may not be touched: it is not lifted towards {prefix}")
            return []
        return [
            Change(end.device, f"{end.interface} {prefix}", "route_mtu", lifts.get(prefix, old), size)
            for prefix, size in wanted
            if self._leaves_here(end, prefix)
        ]

    def _own(self, end: End, prefixes: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        """Yield the prefixes of one host: a merged one as its parts where it has routes for some of them elsewhere."""
        for prefix, size in prefixes:
            if prefix not in self.live.subnets.segment_of and self.live.splits(end, prefix):
                yield from ((subnet, size) for subnet in self.live.subnets.within(prefix))
            else:
                yield prefix, size

    def prefixes(self, targets: Sequence[tuple[Segment, int]]) -> list[tuple[str, int]]:
        """Return the prefixes of segments, each with a size: those that tile as one where there are many.

        The same destinations then need fewer routes on each host.
        """
        each = [(subnet, size) for segment, size in targets for subnet in segment.subnets]
        if len(each) <= MANY:
            return each
        by_size: dict[int, list[str]] = {}
        for subnet, size in each:
            by_size.setdefault(size, []).append(subnet)
        return [(prefix, size) for size, subnets in by_size.items() for prefix in self._merged(tuple(subnets))]

    def _merged(self, subnets: tuple[str, ...]) -> list[str]:
        if subnets not in self._kept:
            self._kept[subnets] = merged(subnets)
        return self._kept[subnets]

    def _current(self, prefix: str, lifts: dict[str, int], old: int) -> int:
        """Return the least that a host sends to any subnet of a prefix today."""
        if not lifts or prefix in lifts:
            return lifts.get(prefix, old)
        return min(self._longest(subnet, lifts, old) for subnet in self.live.subnets.within(prefix))

    @staticmethod
    def _longest(subnet: str, lifts: dict[str, int], old: int) -> int:
        fitting = [(network(prefix).prefixlen, size) for prefix, size in lifts.items() if covers(prefix, subnet)]
        return max(fitting)[1] if fitting else old

    def _leaves_here(self, end: End, subnet: str) -> bool:
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
            size = max(1, len({self.topology.unit_of(switch) for switch in self.topology.racks[rack].switches}))
            if not waves or size > room:
                waves.append([])
                room = self.intent.max_wave
            waves[-1].append(rack)
            room -= size
        return waves
