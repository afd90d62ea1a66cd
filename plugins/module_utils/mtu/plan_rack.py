"""The stages canary and leaf: a rack's ports, its hosts (pinned), its gateways, then its local prefixes.

Order inside a rack (design rule 9): L2 -> host links, pinned -> SVI -> lift. A gateway is a sender too: raised before
its hosts it would drop in silence what it now answers with "fragmentation needed".
"""

from __future__ import annotations

from typing import Mapping, Sequence

from .intent_types import Segment
from .plan_reload import reload_boxes
from .planner import Planner
from .scope import SegmentWork
from .steps import Change
from .wave import Row, expose, raise_gateways, raise_hosts, raise_ports


def plan_racks(planner: Planner) -> None:
    """Append the steps of the canary rack, then of all others in waves.

    Racks of one wave go through each phase together.
    """
    works = _segments_by_rack(planner)
    canary = planner.topology.canary
    stages = (
        ("canary", [rack for rack in works if rack == canary]),
        ("leaf", [rack for rack in works if rack != canary]),
    )
    for stage, racks in stages:
        chosen = stage in planner.intent.stages
        todo = [rack for rack in racks if usable(planner, stage, chosen, works[rack])]
        row = Row(planner, stage, 1)
        reload_boxes(row, _boxes(planner, works, todo))
        number = row.taken
        for batch in _batches(planner, stage, todo, works):
            ready = [work for rack in batch for work in works[rack] if planner.is_ready(work.segment)]
            # A gate has one size: segments of different sizes go one after the other.
            for size in sorted({work.segment.ip_mtu for work in ready}, reverse=True):
                here = [work for work in ready if work.segment.ip_mtu == size]
                number += _wave(planner, stage, number + 1, here)
            number += _between(planner, stage, number, [work.segment for work in ready])


def _batches(
    planner: Planner, stage: str, todo: Sequence[str], works: Mapping[str, Sequence[SegmentWork]]
) -> list[list[str]]:
    """Return the waves of a stage. Where the canary could not be raised, the first of the others goes alone instead."""
    canary = works.get(planner.topology.canary or "", ())
    missing = [work.segment.name for work in canary if not planner.is_ready(work.segment)]
    if stage == "leaf" and missing and todo:
        planner.scope.note(
            f"The canary lacks {', '.join(missing)}: the first wave of the stage leaf is {todo[0]} alone."
        )
        return [[todo[0]], *planner.batches(todo[1:])]
    return planner.batches(todo)


def _boxes(planner: Planner, works: Mapping[str, Sequence[SegmentWork]], racks: Sequence[str]) -> list[str]:
    """Return the boxes of these racks that must be reloaded first."""
    ready = [work for rack in racks for work in works[rack] if planner.is_ready(work.segment)]
    return [device for work in ready for device in work.reload]


def _segments_by_rack(planner: Planner) -> dict[str, list[SegmentWork]]:
    found: dict[str, list[SegmentWork]] = {}
    for segment in planner.topology.jumbo_segments():
        if len(planner.topology.units_in(segment)) > 1 or planner.scope.goes_last(segment):
            continue  # stretched over the fabric, or behind a firewall: these come later, see plan_stretched.py
        found.setdefault(planner.rack_of(segment), []).append(planner.scope.work_on(segment))
    return {rack: found[rack] for rack in planner.topology.racks if rack in found}


def usable(planner: Planner, stage: str, chosen: bool, works: Sequence[SegmentWork]) -> bool:
    """Note which segments of a rack will be ready, refuse sizes that can't be; True where the rack has steps."""
    scope = planner.scope
    for work in works:
        rack = planner.rack_of(work.segment)
        obstacles = scope.obstacles(work)
        if not chosen and (work.changes or work.reload):
            obstacles.append(f"the stage {stage} is not in jumbo_stages")
        if obstacles:
            scope.note(f"The rack {rack} is left out with its segment {work.segment.name}: {'; '.join(obstacles)}.")
            continue
        scope.refuse_unreachable(work)
        planner.make_ready(work.segment)
    return chosen and any(_has_steps(planner, work) for work in works if planner.is_ready(work.segment))


def _has_steps(planner: Planner, work: SegmentWork) -> bool:
    """Tell whether a segment lacks anything within its rack; a second one beside it may need lifts between them."""
    segment, rack = work.segment, planner.rack_of(work.segment)
    beside = any(other is not segment for other in planner.ready_in(rack))
    return bool(work.changes or work.reload) or beside or bool(_lifts(planner, [segment]))


def _wave(planner: Planner, stage: str, wave: int, works: Sequence[SegmentWork]) -> int:
    """Append the phases of one wave; return how many wave numbers it took: members of pairs have waves of their own."""
    segments = [work.segment for work in works]
    planner.done.update((segment.name, segment) for segment in segments)
    row = Row(planner, stage, wave)
    lifts = _lifts(planner, segments)
    raise_ports(row, works, prove=bool(lifts))
    first = raise_hosts(row, works, prove=bool(lifts))
    raise_gateways(row, works)
    if lifts:
        gate = planner.gate("lifted", planner.near_pairs(segments), [change.to for change in lifts])
        names = ", ".join(segment.name for segment in segments)
        text = f"Hosts and gateways of {names} are confirmed and persisted, and no timer is armed there."
        last = row.add("lift", lifts, gate, text)
        expose(planner, segments, first or last, last)
    return row.taken


def _lifts(planner: Planner, segments: Sequence[Segment]) -> list[Change]:
    """Return the lifts within each of these segments."""
    pairs = [(segment, end) for segment in segments for end in planner.hosts([segment])]
    return [
        change
        for segment, end in pairs
        for change in planner.lift_changes(end, planner.prefixes([(segment, segment.ip_mtu)]))
    ]


def _between(planner: Planner, stage: str, wave: int, fresh: Sequence[Segment]) -> int:
    """Append proof and lift between segments of one rack, routed by its own switch; return how many waves that took."""
    before = wave
    racks = {planner.rack_of(segment) for segment in fresh}
    here = [segment for segment in planner.done.values() if planner.rack_of(segment) in racks]
    couples = [(a, b) for a in here for b in here if a is not b and planner.rack_of(a) == planner.rack_of(b)]
    couples = [(a, b) for a, b in couples if a in fresh or b in fresh]
    for size in sorted({planner.lift_size(a, b) for a, b in couples}, reverse=True):
        equal = [(a, b) for a, b in couples if planner.lift_size(a, b) == size]
        lifts = [
            change
            for a, b in equal
            for end in planner.hosts([a])
            for change in planner.lift_changes(end, planner.prefixes([(b, size)]))
        ]
        if not lifts:
            continue
        wave += 1
        pairs = [pair for a, b in equal for pair in planner.far_pairs(a, b)]
        gate = planner.gate("rack_receive", pairs, [size], ecmp=True)
        planner.add(
            stage, wave, "host_link", (), gate, "Both segments are confirmed; their hosts are pinned to each other."
        )
        gate = planner.gate("lifted", pairs, [size])
        planner.add(stage, wave, "lift", lifts, gate, "Every path between the segments is proven in both directions.")
    return wave - before
