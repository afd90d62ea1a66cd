"""The stage fabric, second half: the proof between racks at full size, then the lifts that it allows, in waves."""

from __future__ import annotations

from typing import Iterator, List, Sequence

from .intent_types import End, Segment
from .plan_links import STAGE, Raised
from .planner import MANY, Planner
from .spread import FEW, neighbours
from .steps import Change

# Segments whose switches are in the same blocks of the routed graph: what lies between them is the same.
Group = List[Segment]


def plan_cross(planner: Planner, raised: Raised) -> None:
    """Append the proof between racks and the lifts towards other racks; nothing where nothing waits to be lifted."""
    if STAGE not in planner.intent.stages:
        return
    cross = _Cross(planner, raised)
    wave = raised.wave
    lifts = cross.lifts()
    pairs = {size: cross.pairs(size) for size in cross.sizes()}
    planner.crossed = [pair for some in pairs.values() for pair in some]
    wanted = {change.to for changes in lifts.values() for change in changes}
    todo = [size for size in sorted(pairs, reverse=True) if size in wanted and pairs[size]]
    for size in todo:
        wave += 1
        gate = planner.gate("cross_rack", pairs[size], [size], ecmp=True)
        name = "fabric.proof" if len(todo) == 1 else f"fabric.proof.{size}"
        planner.add(name, wave, "link", (), gate, "Every plane is confirmed and persisted; hosts are still pinned.")
    for batch in planner.batches([rack for rack in planner.topology.racks if lifts.get(rack)]):
        wave += 1
        changes = [change for rack in batch for change in lifts[rack]]
        sources = {End(change.host, change.interface) for change in changes}
        checked = [pair for pair in planner.crossed if pair[0] in sources]
        gate = planner.gate("lifted", checked, [change.to for change in changes])
        text = "Every path between the racks is proven at full size in both directions, and no timer is armed on it."
        planner.add(STAGE, wave, "lift", changes, gate, text)


class _Cross:
    """Which segments reach which across the fabric, once per group of segments that lie alike in the graph."""

    def __init__(self, planner: Planner, raised: Raised) -> None:
        self.planner = planner
        self.raised = raised
        found: dict[object, Group] = {}
        for segment in planner.ready.values():
            if planner.topology.gateways(segment):
                leafs = planner.topology.leafs_in(segment)
                key = frozenset(planner.topology.graph.blocks_of(leaf) for leaf in leafs)
                found.setdefault(key, []).append(segment)
        self.groups: list[Group] = list(found.values())
        self._carried: dict[tuple[int, int], int | None] = {}
        self.couples = {(a, b): self._reachable(a, b) for a in range(len(self.groups)) for b in range(len(self.groups))}

    def _between(self, a: int, b: int) -> int | None:
        """Return what every path between two groups carries, after failures too; None where there is no path."""
        key = (min(a, b), max(a, b))
        if key not in self._carried:
            topology = self.planner.topology
            one = self.groups[key[0]][0]
            others = [s for s in self.groups[key[1]] if topology.leafs_in(s) != topology.leafs_in(one)]
            links = topology.links_among(topology.leafs_in(one), topology.leafs_in(others[0])) if others else []
            self._carried[key] = min((self.raised.sizes[link] for link in links), default=None)
        return self._carried[key]

    def _reachable(self, a: int, b: int) -> list[Segment]:
        """Return the segments of group b towards which those of group a may be lifted."""
        carried = self._between(a, b)
        outer = self.planner.scope.outer
        small = [s for s in self.groups[b] if carried is None or carried < outer(self._least(a, s))]
        if (small and (a, b) != (b, a)) or len(small) > 1:
            self._note(a, small, carried)
        return [segment for segment in self.groups[b] if segment not in small] if small else list(self.groups[b])

    def _least(self, a: int, target: Segment) -> int:
        return max(self.planner.lift_size(source, target) for source in self.groups[a])

    def _note(self, a: int, small: Sequence[Segment], carried: int | None) -> None:
        racks: dict[str, Segment] = {}
        for segment in [*self.groups[a], *small]:
            racks.setdefault(self.planner.rack_of(segment), segment)
        names = [segment.name for segment in racks.values()]
        if len(names) > 1:
            reason = "there is no path" if carried is None else f"a path carries {carried}"
            shown = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= FEW else f"{len(names)} segments"
            self.planner.scope.note(f"{shown} are not lifted towards each other: {reason}.")

    def sizes(self) -> list[int]:
        """Return the sizes to which segments may be lifted towards others."""
        own = {s.ip_mtu for (_a, _b), targets in self.couples.items() for s in targets}
        return sorted(own, reverse=True)

    def lifts(self) -> dict[str, list[Change]]:
        """Return {rack: the lifts of its hosts towards other racks}."""
        found: dict[str, list[Change]] = {}
        for a, group in enumerate(self.groups):
            far = [segment for b in range(len(self.groups)) for segment in self.couples[a, b]]
            few = sum(len(segment.subnets) for segment in far) <= MANY
            for source in group:
                rack = self.planner.rack_of(source)
                mine = [s for s in far if self.planner.rack_of(s) != rack] if few else far
                if not any(self.planner.rack_of(segment) != rack for segment in mine):
                    continue
                prefixes = self.planner.prefixes(
                    [(segment, self.planner.lift_size(source, segment)) for segment in mine]
                )
                for end in self.planner.hosts([source]):
                    found.setdefault(rack, []).extend(self.planner.lift_changes(end, prefixes))
        return found

    def pairs(self, size: int) -> list[tuple[End, End]]:
        """Return pairs of hosts that cross every host and every leg at this size, both ways."""
        found: dict[tuple[End, End], None] = {}
        for a, group in enumerate(self.groups):
            for b in range(a, len(self.groups)):
                union = list({s.name: s for s in [*group, *self.groups[b]]}.values()) if self.couples[a, b] else []
                found.update((pair, None) for pair in self._around(union, size))
        return list(found)

    def _around(self, segments: Sequence[Segment], size: int) -> Iterator[tuple[End, End]]:
        """Yield pairs of a ring of segments: each with several others, all of its hosts with one of them at least."""
        met: set[str] = set()
        for a, b in neighbours(len(segments)):
            source, target = segments[a], segments[b]
            other = self.planner.rack_of(source) != self.planner.rack_of(target)
            if a > b or not other or self.planner.lift_size(source, target) != size:
                continue
            pairs = self.planner.far_pairs(source, target, b - a)
            if len(segments) > FEW and source.name in met and target.name in met:
                pairs = pairs[:2]
            met |= {source.name, target.name}
            yield from pairs
