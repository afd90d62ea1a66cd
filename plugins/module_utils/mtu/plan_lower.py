"""The stage lower, before all others: what is above its wanted size comes down (design rules 8, 9 and 10).

A running session keeps its size until its *sender* is pinned. So every sender that can cross what comes down is pinned
first and read back, and its boot configuration forgets the larger routes; then gateways, routed links (drained as in
plan_links), and the hosts' own links come down. Pins go to the old size, not to the new one: what
production may use afterwards is proven and lifted by the later stages, like everything else. Switched ports stay as
they are, since they only accept.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from .high import High, HighLink
from .intent_types import End, Segment
from .lowering import LOWER
from .plan_links import LinkWork, change_links
from .planner import Planner
from .senders import Senders
from .settled import settled
from .steps import Change
from .wave import Row, by_turn


def plan_lower(planner: Planner) -> None:
    """Append the steps that lower; the later stages start from what these lead to."""
    high = High(planner.scope)
    if not high:
        return
    if LOWER not in planner.intent.stages:
        high.leave(f"the stage {LOWER} is not in jumbo_stages")
        return
    senders = Senders(planner.scope)
    high.keep_what_is_in_use(senders)
    _pin(planner, row := Row(planner, LOWER, 1), senders, high)
    _lower_gateways(planner, row, high.segments)
    _lower_links(planner, row, high.links)
    _lower_hosts(planner, row, high.segments)
    planner.go_on_from(settled(planner.live.states, (change for step in planner.steps for change in step.changes)))


def _pin(planner: Planner, row: Row, senders: Senders, high: High) -> None:
    """Append the pins of all senders in one step, and what their boot configurations forget."""
    lifted, loose = senders.pins(high.limits)
    pins = [
        Change(end.device, f"{end.interface} {prefix}", "route_mtu", size, _old(planner, end))
        for end, prefix, size in lifted
    ]
    if pins:
        row.add("lift", pins, None, "Senders first: a running session shrinks only where it is sent.")
    whole = [Change(end.device, end.interface, "route_mtu", None, _old(planner, end)) for end in loose]
    if whole:
        row.add("host_link", whole, None, "Hosts whose routes nothing bounds are pinned before any hop comes down.")
    forgets = [
        Change(end.device, end.interface, "persisted", True, False)
        for end in dict.fromkeys(end for end, _prefix, _size in lifted)
        if planner.live.persists(end.device)
    ]
    if forgets:
        row.add("persist", forgets, None, "Every sender is read back as pinned; a reboot shall not lift it again.")


def _old(planner: Planner, end: End) -> int:
    pin = planner.live.pin(end)
    return planner.live.pin_wanted(end) if pin is None else pin


def _lower_gateways(planner: Planner, row: Row, segments: Sequence[Segment]) -> None:
    """Append the gateways: lowered after their hosts they would drop in silence, before them they answer."""
    work = {end: s.ip_mtu for s in segments for end in _above(planner, s, planner.topology.gateways(s))}
    for batch in _by_rack(planner, work):
        for part in by_turn(planner, [planner.scope.size_change(end, work[end]) for end in batch]):
            changed = {End(change.host, change.interface) for change in part}
            pairs = [
                (gateway, host)
                for segment in segments
                for gateway in planner.topology.gateways(segment)
                if gateway in changed
                for host in planner.hosts([segment])
            ]
            gate = planner.gate("gateway", pairs, [planner.intent.baseline_ip_mtu])
            row.add("svi", part, gate, "Every sender is read back as pinned, and hosts still receive what comes.")


def _lower_links(planner: Planner, row: Row, links: Sequence[HighLink]) -> None:
    """Append the routed links, one plane at a time, both ends in one step."""
    planes: dict[str, list[LinkWork]] = {}
    plane_of = {link: plane for plane, some in planner.topology.planes().items() for link in some}
    for high in links:
        changes = tuple(planner.scope.size_change(end, high.target.ip_mtu, high.link.tagging) for end in high.ends)
        planes.setdefault(plane_of[high.link], []).append(LinkWork(high.target, changes))
    text = "Every sender that may cross {plane} is read back as pinned to what it will carry."
    for plane, works in planes.items():
        change_links(row, plane, works, text)


def _lower_hosts(planner: Planner, row: Row, segments: Sequence[Segment]) -> None:
    """Append the hosts' own links, last: nothing larger is sent to them any more."""
    work = {end: s.ip_mtu for s in segments for end in _above(planner, s, planner.hosts([s]))}
    for batch in _by_rack(planner, work):
        # The pin is there already: asked for again, it is kept by the guard of this change.
        changes = [c for end in batch for c in (_kept(planner, end), planner.scope.size_change(end, work[end]))]
        here = [segment for segment in segments if set(planner.hosts([segment])) & set(batch)]
        gate = planner.gate("rack_receive", planner.near_pairs(here), [planner.intent.baseline_ip_mtu])
        row.add("host_link", changes, gate, "Senders are pinned and gateways are lowered: nothing larger comes.")


def _kept(planner: Planner, end: End) -> Change:
    old = _old(planner, end)
    return Change(end.device, end.interface, "route_mtu", old, old)


def _above(planner: Planner, segment: Segment, ends: Iterable[End]) -> list[End]:
    return [end for end in ends if (planner.live.ip_mtu(end) or 0) > segment.ip_mtu]


def _by_rack(planner: Planner, ends: Iterable[End]) -> list[list[End]]:
    """Divide ends into waves of racks; what is in no rack goes last."""
    racks: dict[str, list[End]] = {}
    for end in ends:
        racks.setdefault(planner.topology.rack_of(end.device) or "", []).append(end)
    named = [rack for rack in planner.topology.racks if rack in racks]
    batches = [*planner.batches(named), *([[""]] if "" in racks else [])]
    return [[end for rack in batch for end in racks[rack]] for batch in batches]
