"""Segments that are stretched over several racks: the scope is the whole broadcast domain.

The underlay is raised and proven first (plan_links.py). Then every port and every host of the domain, rack by rack,
then all gateways as one group, then two hosts of different racks are lifted towards each other by host routes, as the
canary, then the others by the subnet.
"""

from __future__ import annotations

import ipaddress
from typing import Sequence

from .intent_types import End, Segment
from .plan_links import STAGE, Raised, plan_links
from .plan_rack import usable
from .plan_reload import reload_boxes
from .planner import Planner
from .scope import SegmentWork
from .steps import Change
from .wave import Row, expose, raise_gateways, raise_hosts, raise_ports


def plan_stretched(planner: Planner, raised: Raised) -> None:
    """Append the steps of each stretched segment after the links that it crosses."""
    for segment in planner.topology.jumbo_segments():
        if _is_stretched(planner, segment) and not planner.scope.goes_last(segment):
            _plan(planner, segment, raised)


def plan_firewalls(planner: Planner, raised: Raised) -> Raised:
    """Append the links and then the segments of firewalls that reassemble, after all that is behind them."""
    raised = plan_links(planner, raised)
    for segment in planner.topology.jumbo_segments():
        if planner.scope.goes_last(segment):
            small = [each.name for each in _behind(planner, segment) if not planner.is_ready(each)]
            if small:
                planner.scope.note(f"{segment.name} is left out: {', '.join(small)} behind its firewall stays small.")
            else:
                _plan(planner, segment, raised)
    _expose(planner)
    return raised


def _expose(planner: Planner) -> None:
    """List the segments of other roles behind a raised firewall: what it reassembles may be too large for them."""
    raised = [
        (step.id, change.to)
        for step in planner.steps
        for change in step.changes
        if change.field == "ip_mtu" and planner.scope.reassembles(change.host)
    ]
    for segment in planner.intent.segments if raised else ():
        routers = [end for end in planner.topology.gateways(segment) if not planner.scope.reassembles(end.device)]
        if segment.role != "jumbo" and routers:
            first, size = raised[0][0], max(to for _step, to in raised)
            sentence = f"fragments that a firewall reassembles towards {segment.name} may leave it as {size}"
            exposure = {"class": "reassembled", "segment": segment.name, "ip_mtu": size, "sentence": sentence}
            planner.exposures.append({**exposure, "from_step": first, "to_step": raised[-1][0]})


def _behind(planner: Planner, segment: Segment) -> list[Segment]:
    """Return the other segments that a firewall reaches through this one: another router of it leads there."""
    others = [end for end in planner.topology.gateways(segment) if not planner.scope.reassembles(end.device)]
    return [each for each in planner.scope.fabric_segments() if each is not segment] if others else []


def _is_stretched(planner: Planner, segment: Segment) -> bool:
    return len(planner.topology.units_in(segment)) > 1


def _plan(planner: Planner, segment: Segment, raised: Raised) -> None:
    work = planner.scope.work_on(segment)
    if _is_stretched(planner, segment) and _too_small(planner, segment, raised):
        return
    if usable(planner, STAGE, STAGE in planner.intent.stages, [work]):
        raised.wave += _domain(planner, raised.wave + 1, work)


def _too_small(planner: Planner, segment: Segment, raised: Raised) -> bool:
    """Note where the underlay does not carry a stretched segment: it is left out then."""
    if planner.topology.domains.is_switched(segment):
        return False  # trunks are ports of its own
    leafs = planner.topology.leafs_in(segment)
    links = planner.topology.links_among(leafs, leafs)
    small = [link for link in links if raised.sizes[link] < planner.scope.outer(segment.ip_mtu)]
    if not small and links:
        return False
    reason = f"{small[0]} carries {raised.sizes[small[0]]}" if small else "its switches have no link to each other"
    planner.scope.note(f"The stretched segment {segment.name} is left out: {reason}.")
    return True


def _domain(planner: Planner, wave: int, work: SegmentWork) -> int:
    row, segment = Row(planner, STAGE, wave), work.segment
    prefixes = planner.prefixes([(segment, segment.ip_mtu)])
    hosts = planner.hosts([segment])
    lifts = {end: planner.lift_changes(end, prefixes) for end in hosts}
    reload_boxes(row, work.reload)
    raise_ports(row, [work], prove=any(lifts.values()))
    for batch in _racks(planner, work)[:-1]:
        text = f"Every port of {segment.name} carries its size; production stays at its old size, routes pinned first."
        row.add("host_link", batch, None, text)
    rest = SegmentWork(segment, (), (), (), (), tuple(_racks(planner, work)[-1] if work.hosts else ()), ())
    first = raise_hosts(row, [rest], prove=any(lifts.values()))
    raise_gateways(row, [work])
    last = _lift(planner, row, segment, lifts)
    if last:
        expose(planner, [segment], first or last, last)
    planner.done[segment.name] = segment
    return row.taken


def _racks(planner: Planner, work: SegmentWork) -> list[list[Change]]:
    """Return the changes of hosts in waves of racks."""
    by_rack: dict[str, list[Change]] = {}
    for change in work.hosts:
        by_rack.setdefault(planner.topology.rack_of(change.host) or "", []).append(change)
    racks = [rack for rack in planner.topology.racks if rack in by_rack]
    rest = [change for rack, some in by_rack.items() if rack not in planner.topology.racks for change in some]
    found = [[change for rack in batch for change in by_rack[rack]] for batch in planner.batches(racks)]
    return [*found, rest] if rest else found


def _lift(planner: Planner, row: Row, segment: Segment, lifts: dict[End, list[Change]]) -> str | None:
    """Append the canary's host routes, then the subnet for everybody, rack by rack."""
    todo = [end for end, changes in lifts.items() if changes]
    if not todo:
        return None
    pair = _canary(planner, todo)
    couple = [pair, (pair[1], pair[0])] if pair else []
    routes = [change for a, b in couple for change in _host_routes(planner, a, b, segment)]
    if routes:
        gate = planner.gate("lifted", couple, [segment.ip_mtu])
        row.add("lift", routes, gate, f"All of {segment.name} receives its size; two hosts are the first to send it.")
    racks: dict[str, list[Change]] = {}
    for end in todo:
        racks.setdefault(planner.topology.rack_of(end.device) or "", []).extend(lifts[end])
    last = None
    named = [rack for rack in planner.topology.racks if rack in racks]
    for batch in [*planner.batches(named), *([[""]] if "" in racks else [])]:
        changes = [change for rack in batch for change in racks[rack]]
        sources = {End(change.host, change.interface) for change in changes}
        pairs = [each for each in planner.near_pairs([segment]) if each[0] in sources]
        text = f"Hosts and gateways of {segment.name} are confirmed and persisted, and no timer is armed there."
        last = row.add("lift", changes, planner.gate("lifted", pairs, [segment.ip_mtu]), text)
    return last


def _canary(planner: Planner, ends: Sequence[End]) -> tuple[End, End] | None:
    """Return two hosts of different racks, one of the canary rack where there is one."""
    ordered = sorted(ends, key=lambda end: planner.topology.rack_of(end.device) != planner.topology.canary)
    rack = planner.topology.rack_of(ordered[0].device)
    other = next((end for end in ordered if planner.topology.rack_of(end.device) != rack), None)
    return (ordered[0], other) if other else None


def _host_routes(planner: Planner, end: End, peer: End, segment: Segment) -> list[Change]:
    addresses = (planner.live.interface(peer) or {}).get("addresses") or ()
    nets = [ipaddress.ip_interface(str(address)) for address in addresses]
    subnets = [ipaddress.ip_network(subnet) for subnet in segment.subnets]
    inside = [net for net in nets if any(net.version == s.version and net.ip in s for s in subnets)]
    routes = [(f"{net.ip}/{net.max_prefixlen}", segment.ip_mtu) for net in inside]
    return planner.lift_changes(end, routes)
