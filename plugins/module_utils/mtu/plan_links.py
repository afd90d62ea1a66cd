"""The stage fabric, first half: the routed links, what joins a pair first, then one plane after the other.

Both ends of a link change in one step. Links that run OSPF or IS-IS, those whose platform re-adds the interface on a
change, and those that a control session may cross are drained before and undrained after (design rules 2 and 10).
The stage lower changes links the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

from .adjacency import ADJACENCY
from .capability import box_receives
from .errors import JumboError
from .intent_types import End, Link, natural_key
from .lowering import LOWER
from .plan_reload import reload_boxes
from .planner import Planner
from .scope import LinkTarget
from .steps import Change, Outage
from .traits import READD_SECONDS, traits_of
from .wave import Row

STAGE = "fabric"
TEXT = "Nobody is lifted across {plane} yet; both ends of each link change together, other planes stay as they are."


@dataclass(frozen=True)
class LinkWork:
    """What one routed link lacks."""

    target: LinkTarget
    changes: tuple[Change, ...]

    @property
    def link(self) -> Link:
        """The link."""
        return self.target.link


@dataclass
class Raised:
    """What the links of the fabric carry once the steps of this plan are done, and the last wave used."""

    sizes: dict[Link, int]
    wave: int


def plan_links(planner: Planner, before: Raised | None = None) -> Raised:
    """Append a step per plane (or part of one), with its drain and undrain where it needs them.

    `before`: None for all links but those of firewalls that reassemble; what is raised already for these alone.
    """
    works = {
        target.link: _work_on(planner, target) for target in map(planner.scope.link_target, planner.topology.uplinks())
    }
    chosen = STAGE in planner.intent.stages
    named = {
        name: [link for link in links if is_last(planner, link) == bool(before)] for name, links in _planes(planner)
    }
    planes = {name: [works[link] for link in links] for name, links in named.items() if chosen and links}
    todo = {
        name: [work for work in here if _may_change(planner, work)]
        for name, here in planes.items()
        if not _left_out(planner, name, here)
    }
    raised = {work.link for some in todo.values() for work in some}
    planner.raised |= raised
    boxes = Row(planner, STAGE, (before.wave if before else 0) + 1)
    reload_boxes(boxes, (device for some in todo.values() for work in some for device in _boxes(planner, work)))
    row = Row(planner, STAGE, boxes.first + boxes.taken)
    for name, some in todo.items():
        _refuse_unequal(planner, some)
        change_links(row, name, [work for work in some if work.changes or _left_drained(planner, work.link)], TEXT)
    if chosen:
        _refuse_small(planner, works.values(), raised)
    return Raised(_sizes(planner, works.values(), planner.raised), row.first + row.taken - 1)


def is_last(planner: Planner, link: Link) -> bool:
    """Tell whether an end of a link sends what it has reassembled: it is raised after everything behind it."""
    return any(planner.scope.reassembles(end.device) for end in link.ends)


def _planes(planner: Planner) -> Iterable[tuple[str, list[Link]]]:
    """Return (plane, its links); what joins the members of a pair stands first, borders last, by each of their links.

    A border sends what it forwards up to its own MTU, so its receivers are raised before it; each of its links is a
    step of its own, so that a failed one leaves it the others. Of a pair of borders the first named goes first. Planes
    with links that an earlier run has left drained come before the others: these are drained when those are back.
    """
    joins: dict[str, list[Link]] = {}
    planes: dict[str, list[Link]] = {}
    borders: dict[str, list[Link]] = {}
    for plane, links in planner.topology.planes().items():
        for link in links:
            border = next((end for end in link.ends if planner.intent.devices[end.device].is_border), None)
            if planner.topology.is_within_pair(link):
                joins.setdefault(planner.topology.unit_of(link.a.device), []).append(link)
            elif border or is_last(planner, link):
                border = border or next(end for end in link.ends if planner.scope.reassembles(end.device))
                borders.setdefault(str(planner.topology.logical(border)), []).append(link)
            else:
                planes.setdefault(plane, []).append(link)
    order = {device: place for pair in planner.intent.pairs for place, device in enumerate(pair.devices)}
    last = sorted(borders, key=lambda name: (order.get(name.split(":")[0], 0), natural_key(name)))
    drained = [plane for plane, links in planes.items() if any(_left_drained(planner, link) for link in links)]
    planes = {**{plane: planes[plane] for plane in drained}, **planes}
    return {**joins, **planes, **{name: borders[name] for name in last}}.items()


def _ends(planner: Planner, link: Link) -> list[End]:
    return [planner.topology.logical(port) for port in link.ends]


def _work_on(planner: Planner, target: LinkTarget) -> LinkWork:
    """Return what a link lacks: ends below its target, and with them an end above it where an IGP needs both equal."""
    sizes = {end: planner.live.ip_mtu(end) for end in _ends(planner, target.link)}
    lowers = LOWER in planner.intent.stages
    todo = [end for end, size in sizes.items() if size is not None and size < target.ip_mtu]
    if todo and lowers and target.link.routing in ADJACENCY:
        todo = [end for end, size in sizes.items() if size != target.ip_mtu]
    for end, size in sizes.items():
        if size is not None and size > target.ip_mtu and not lowers:
            text = f"{end} is at {size}, above the {target.ip_mtu} that {target.link} shall carry: it is left as it is"
            planner.scope.note(text)
    changes = [planner.scope.size_change(end, target.ip_mtu, target.link.tagging) for end in todo]
    return LinkWork(target, tuple(changes))


def _boxes(planner: Planner, work: LinkWork) -> list[str]:
    """Return the boxes at the ends of a link that do not take what it shall carry before they are reloaded."""
    ends = [end.device for end in work.link.ends]
    return [device for device in ends if planner.live.box_lacks(device, work.target.ip_mtu)]


def _left_out(planner: Planner, plane: str, works: Sequence[LinkWork]) -> bool:
    """Note what leaves a whole plane out: one switch that may not be touched, or was not read."""
    blocked = {
        str(end)
        for work in works
        if not _is_done(planner, work)
        for end in _ends(planner, work.link)
        if not planner.scope.may_change(end)
    }
    if blocked:
        names = ", ".join(sorted(blocked, key=natural_key))
        planner.scope.note(f"The plane of {plane} is left out: {names} may not be touched or was not read.")
    lacking = dict.fromkeys(d for work in works if not _is_done(planner, work) for d in _boxes(planner, work))
    waiting = [text for device in lacking for text in planner.scope.reload_obstacles(device)]
    machines = dict.fromkeys(c.host for work in works for c in work.changes if not planner.scope.may_keep(c.host))
    waiting += [f"{host} cannot persist its MTU (waiver: no_dead_man)" for host in machines]
    small = [segment.name for work in works for segment in planner.waiting_behind(work.link)]
    waiting += [f"{', '.join(dict.fromkeys(small))} behind it stays small"] if small else []
    if waiting:
        planner.scope.note(f"The plane of {plane} is left out: {'; '.join(waiting)}.")
    return bool(blocked or waiting)


def _may_change(planner: Planner, work: LinkWork) -> bool:
    """Tell whether both ends may be touched; a link that carries enough as it is stays so without being touched."""
    return all(planner.scope.may_change(end) for end in _ends(planner, work.link))


def _is_done(planner: Planner, work: LinkWork) -> bool:
    """Tell whether a link carries what jumbo packets need as it is, so that nobody has to touch it."""
    sizes = [planner.live.carries(end) for end in _ends(planner, work.link)]
    lacking = any(planner.live.box_lacks(end.device, planner.scope.needed) for end in work.link.ends)
    return not lacking and all(size is not None and size >= planner.scope.needed for size in sizes)


def _parts(planner: Planner, plane: str, works: Sequence[LinkWork]) -> list[list[LinkWork]]:
    """Split a plane by leafs where it has more switches than may change at once; both ends stay together.

    The two members of a pair are never in one part: they are one failure domain.
    """
    parts: list[tuple[dict[str, None], list[LinkWork]]] = []
    room = max(1, planner.intent.max_wave - 1)
    place: dict[str, int] = {}
    for work in works:
        far = next((end.device for end in work.link.ends if end.device != plane), plane)
        if far not in place:
            partner = planner.topology.partner_of(far)
            fitting = (n for n, (devices, _some) in enumerate(parts) if len(devices) < room and partner not in devices)
            place[far] = next(fitting, len(parts))
            if place[far] == len(parts):
                parts.append(({}, []))
            parts[place[far]][0][far] = None
        parts[place[far]][1].append(work)
    return [works for _devices, works in parts]


def change_links(row: Row, plane: str, works: Sequence[LinkWork], text: str) -> None:
    """Append the links of one plane, in parts of as many switches as may change at once; `text` says why they may."""
    for part in _parts(row.planner, plane, works):
        _change(row, plane, part, text.format(plane=plane))


def _change(row: Row, plane: str, works: Sequence[LinkWork], text: str) -> None:
    """Append one step for both ends of these links, between drain and undrain where some need that.

    What a firewall sends into is raised a wave before it.
    """
    planner = row.planner
    changes: dict[tuple[str, str], Change] = {}
    pairs = []
    for work in works:
        for change in work.changes:
            changes.setdefault((change.host, change.object), change)
        a, b = _ends(planner, work.link)
        pairs += [(a, b), (b, a)]
    sizes = [_afterwards(planner, work) for work in works]
    changing = [work.link for work in works if work.changes]
    drained = [k for k in changing if _needs_drain(planner, k) and _left_drained(planner, k) != _ends(planner, k)]
    readded = [link for link in changing if _is_readded(planner, link)]
    _note_sessions(planner, drained)
    _note_static(planner, plane, drained)
    if drained or readded:
        _refuse_cut_off(planner, list(dict.fromkeys([*drained, *readded])))
    if drained:
        other = f"Every link of other planes is up, so traffic has another way while those of {plane} are drained."
        baseline = [planner.intent.baseline_ip_mtu]
        others = planner.gate("cross_rack", _alternatives(planner), baseline, ecmp=True)
        row.add("drain", _drains(planner, drained, False, True), others or planner.gate("leg", pairs, baseline), other)
    outage = [Outage(str(link), READD_SECONDS) for link in readded]
    first = [change for change in changes.values() if not planner.scope.reassembles(change.host)]
    if first and len(first) < len(changes):
        gate = planner.gate("leg", pairs, [planner.intent.baseline_ip_mtu])
        before = f"{plane} sends no more than before; what it sends into goes first."
        row.add("link", first, gate, before, outage=outage)
        changes = {key: change for key, change in changes.items() if change not in first}
    gate = planner.gate("leg", pairs, sizes)
    if changes:
        row.add("link", list(changes.values()), gate, text, atomic=True, outage=outage)
    drained = list(dict.fromkeys([*drained, *(work.link for work in works if _left_drained(planner, work.link))]))
    if drained:
        after = f"Both ends of each link of {plane} are confirmed at their new size and no timer is armed."
        row.add("undrain", _drains(planner, drained, True, False), planner.gate("leg", pairs, sizes), after)


def _afterwards(planner: Planner, work: LinkWork) -> int:
    """Return what a link carries once its changes are made: less than its target where an end is still to be raised."""
    return min([work.target.ip_mtu, *(size for size in _coming(planner, work).values() if size is not None)])


def _coming(planner: Planner, work: LinkWork) -> dict[End, int | None]:
    """Return what each end is at once the changes are made, None where that is not told."""
    coming = {End(change.host, change.object): int(change.to) for change in work.changes}
    return {end: coming.get(end, planner.live.ip_mtu(end)) for end in _ends(planner, work.link)}


def _needs_drain(planner: Planner, link: Link) -> bool:
    """Where only the re-added interface asks for it, a person may accept its short loss instead: waiver `outage`.

    A control session that may cross the link is bound by no pin: its packets must not meet unequal ends.
    """
    if link.routing in ADJACENCY or link in planner.session_links():
        return True
    return _is_readded(planner, link) and not planner.intent.waived("outage", str(link), link.a.device, link.b.device)


def _note_sessions(planner: Planner, drained: Sequence[Link]) -> None:
    """Say which control sessions end at a router all of whose links are drained at once."""
    gone = set(drained)
    routers = {end.device for link in drained for end in link.ends}
    cut = {router for router in routers if {k for k in planner.topology.uplinks() if router in _devices(k)} <= gone}
    for ends in planner.intent.control_sessions:
        for router in (end for end in ends if end in cut):
            planner.scope.note(
                f"The control session {' - '.join(ends)} is down while the links of {router} are drained."
            )


def _note_static(planner: Planner, plane: str, drained: Sequence[Link]) -> None:
    """Say whom a drain does not move: a static route goes on leading to a switch that has lost its own way."""
    if not any(plane in _devices(link) and link.routing != "static" for link in drained):
        return
    links = [k for k in planner.topology.uplinks() if k.routing == "static" and plane in _devices(k)]
    for far in dict.fromkeys(link.other(link.end_on(plane)).device for link in links):
        planner.scope.note(
            f"{far} goes on sending to {plane} by static routes while links of {plane} are drained: "
            f"{plane} must have another way by then, or the gate takes the drain back."
        )


def _devices(link: Link) -> set[str]:
    return {end.device for end in link.ends}


def _left_drained(planner: Planner, link: Link) -> list[End]:
    """Return the ends that are drained as read: an earlier run was cut between drain and undrain."""
    return [end for end in _ends(planner, link) if (planner.live.interface(end) or {}).get("drained")]


def _is_readded(planner: Planner, link: Link) -> bool:
    return any(traits_of(planner.intent.devices[end.device].platform).readds for end in link.ends)


def _drains(planner: Planner, links: Iterable[Link], before: bool, to: bool) -> list[Change]:
    ends = dict.fromkeys(end for link in links for end in _ends(planner, link))
    return [Change(end.device, end.interface, "drained", before, to) for end in ends]


def _alternatives(planner: Planner) -> list[tuple[End, End]]:
    """Return pairs of hosts, one per segment, whose packets of the old size must find their other way."""
    firsts = [hosts[0] for hosts in (planner.hosts([s]) for s in planner.topology.jumbo_segments()) if hosts]
    read = [end for end in firsts if planner.live.is_read(end.device)]
    return [pair for pair in planner.topology.near(read) if planner.topology.path_count(*pair)]


def _refuse_unequal(planner: Planner, works: Iterable[LinkWork]) -> None:
    """Note a problem where OSPF or IS-IS would come up again over ends that differ: one is above what both can do."""
    for work in works:
        sizes = {str(end): size for end, size in _coming(planner, work).items() if size is not None}
        if work.link.routing not in ADJACENCY or not work.changes or len(set(sizes.values())) == 1:
            continue
        high = max(_ends(planner, work.link), key=lambda end: sizes.get(str(end), 0))
        common = work.target.ip_mtu
        found = " and ".join(f"{end} at {size}" for end, size in sizes.items())
        planner.scope.problems.append(
            JumboError(
                f"{work.link.routing} needs equal ends, and this plan would leave {found}",
                host=high.device,
                object=high.interface,
                variable="jumbo_links",
                wish=sizes[str(high)],
                limit=common,
                advice=f"Both can do {common}: let the stage lower bring it down, or set it to {common} first",
            )
        )


def _refuse_cut_off(planner: Planner, links: Sequence[Link]) -> None:
    """Note a problem where racks have no other way while these links are drained."""
    topology = planner.topology
    gone = frozenset(
        frozenset((k.a.device, k.b.device))
        for k in links
        if set(topology.between(k.a.device, k.b.device)) <= set(links)
    )
    before, after = topology.graph.parts(), topology.graph.parts(gone)
    first: dict[int, str] = {}
    for leaf in dict.fromkeys(d for s in topology.jumbo_segments() for d in topology.leafs_in(s) if d in before):
        other = first.setdefault(before[leaf], leaf)
        if after[leaf] != after[other] and not planner.intent.waived("only_path", leaf, other, *map(str, links)):
            planner.scope.problems.append(
                JumboError(
                    f"it carries nothing while it is raised, and {other} and {leaf} have no other way meanwhile",
                    object=", ".join(map(str, links)),
                    variable="jumbo_links",
                    wish=links[0].routing,
                    advice=f"Add another way, or accept it: jumbo_waivers with kind only_path and object {leaf}",
                )
            )
            return


def _refuse_small(planner: Planner, works: Iterable[LinkWork], raised: set[Link]) -> None:
    """Refuse links that shall be raised and can't carry `jumbo_ip_mtu` with its encapsulation."""
    for work in works:
        target = work.target
        if work.link in raised and target.ip_mtu < planner.scope.needed and target.limited_by:
            extra = f" and {planner.scope.overhead} of encapsulation" if planner.scope.overhead else ""
            wanted = planner.scope.needed - planner.scope.overhead
            reason = f"{target.limited_by} can do {target.ip_mtu} at most, {wanted}{extra} are needed"
            a, b = _ends(planner, work.link)
            end = b if target.limited_by == str(b) else a
            planner.scope.refuse(end.device, end.interface, reason, wanted)


def _sizes(planner: Planner, works: Iterable[LinkWork], raised: set[Link]) -> dict[Link, int]:
    """Return what each link carries once the planes of this plan are raised."""
    found = {}
    for work in works:
        coming = {End(change.host, change.object): change.to for change in work.changes if work.link in raised}
        found[work.link] = min(_carried(planner, end, coming.get(end)) for end in _ends(planner, work.link))
    return found


def _carried(planner: Planner, end: End, coming: int | None) -> int:
    """Return what an end carries: what it is changed to, else what it does now, and no more than its box takes."""
    size = coming or (None if planner.live.is_switched(end) else planner.live.ip_mtu(end))
    box = box_receives(jumbo=True) if end.device in planner.reloaded else planner.live.box(end.device)
    return min((each for each in (size, box) if each is not None), default=0)
