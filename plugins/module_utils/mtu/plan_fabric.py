"""The stage fabric: the routed links, one plane after the other, then the proof between racks, then its lifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .errors import JumboError
from .intent_types import End, Link, Segment, natural_key
from .planner import Planner
from .scope import LinkTarget
from .steps import Change

STAGE = "fabric"
_DRAINED = ("ospf", "isis")


@dataclass(frozen=True)
class LinkWork:
    """What one routed link lacks."""

    target: LinkTarget
    changes: tuple[Change, ...]

    @property
    def link(self) -> Link:
        """The link."""
        return self.target.link


def plan_fabric(planner: Planner) -> None:
    """Append a step per plane (or part of one), the cross-rack proof, and the cross-rack lifts in waves."""
    works = [_work_on(planner, target) for target in map(planner.scope.link_target, planner.topology.uplinks())]
    chosen = STAGE in planner.intent.stages
    left_out = _planes_left_out(planner, works) if chosen else {}
    raised: set[Link] = set()
    wave = 0
    for plane, links in planner.topology.planes().items():
        here = [work for work in works if work.link in links and _may_change(planner, work)]
        if not chosen or plane in left_out:
            continue
        raised |= {work.link for work in here}
        for part in _parts(planner, plane, [work for work in here if work.changes]):
            wave += 1
            _raise(planner, plane, wave, part)
    if chosen:
        _refuse_small(planner, works, raised)
        _cross_rack(planner, wave, _Carrying(planner, works, raised))


def _work_on(planner: Planner, target: LinkTarget) -> LinkWork:
    changes = []
    for port in target.link.ends:
        end = planner.topology.logical(port)
        size = planner.live.ip_mtu(end)
        if size is not None and size < target.ip_mtu:
            changes.append(planner.scope.size_change(end, target.ip_mtu, target.link.tagging))
        elif size is not None and size > target.ip_mtu:
            text = f"{end} is at {size}, above the {target.ip_mtu} that {target.link} shall carry: it is left as it is"
            planner.scope.note(text)
    return LinkWork(target, tuple(changes))


def _planes_left_out(planner: Planner, works: Sequence[LinkWork]) -> dict[str, str]:
    """Return {plane: reason}: one switch that may not be touched, or was not read, leaves its whole plane out."""
    left_out = {}
    for plane, links in planner.topology.planes().items():
        reasons = []
        for work in works:
            if work.link in links and not _is_done(planner, work):
                ends = [planner.topology.logical(port) for port in work.link.ends]
                reasons += [str(end) for end in ends if not planner.scope.may_change(end)]
        if reasons:
            left_out[plane] = ", ".join(sorted(set(reasons), key=natural_key))
            planner.scope.note(
                f"The plane of {plane} is left out: {left_out[plane]} may not be touched or was not read."
            )
    return left_out


def _may_change(planner: Planner, work: LinkWork) -> bool:
    """Tell whether both ends may be touched; a link that carries enough as it is stays so without being touched."""
    return all(planner.scope.may_change(planner.topology.logical(port)) for port in work.link.ends)


def _is_done(planner: Planner, work: LinkWork) -> bool:
    """Tell whether a link carries what jumbo packets need as it is, so that nobody has to touch it."""
    sizes = [planner.live.ip_mtu(planner.topology.logical(port)) for port in work.link.ends]
    return all(size is not None and size >= planner.scope.needed for size in sizes)


def _parts(planner: Planner, plane: str, works: Sequence[LinkWork]) -> list[list[LinkWork]]:
    """Split a plane by leafs where it has more switches than may change at once; both ends stay together."""
    parts: list[list[LinkWork]] = []
    room = max(1, planner.intent.max_wave - 1)
    seen: set[str] = set()
    for work in works:
        far = next(end.device for end in work.link.ends if end.device != plane)
        if far not in seen:
            if len(seen) % room == 0:
                parts.append([])
            seen.add(far)
        next(part for part in reversed(parts) if _belongs(part, far) or part is parts[-1]).append(work)
    return parts


def _belongs(part: Sequence[LinkWork], device: str) -> bool:
    return any(device in {work.link.a.device, work.link.b.device} for work in part)


def _raise(planner: Planner, plane: str, wave: int, works: Sequence[LinkWork]) -> None:
    """Append one step: both ends of these links."""
    changes: dict[tuple[str, str], Change] = {}
    pairs = []
    for work in works:
        _refuse_routing(planner, work)
        for change in work.changes:
            changes.setdefault((change.host, change.object), change)
        a, b = (planner.topology.logical(port) for port in work.link.ends)
        pairs += [(a, b), (b, a)]
    gate = planner.gate("leg", pairs, [work.target.ip_mtu for work in works])
    text = (
        f"Nobody is lifted across {plane} yet; both ends of each link change together, other planes stay as they are."
    )
    planner.add(STAGE, wave, "link", list(changes.values()), gate, text, atomic=True)


def _refuse_routing(planner: Planner, work: LinkWork) -> None:
    if work.link.routing in _DRAINED:
        planner.scope.problems.append(
            JumboError(
                f"this link runs {work.link.routing} and must be drained first, which this version does not do",
                object=str(work.link),
                variable="jumbo_links",
                wish=work.link.routing,
                limit="none, static, bgp",
                advice="Leave the stage fabric out of jumbo_stages, or drain the link by hand",
            )
        )


def _refuse_small(planner: Planner, works: Sequence[LinkWork], raised: set[Link]) -> None:
    """Refuse links that shall be raised and can't carry `jumbo_ip_mtu` with its encapsulation."""
    for work in works:
        target = work.target
        if work.link in raised and target.ip_mtu < planner.scope.needed and target.limited_by:
            extra = f" and {planner.scope.overhead} of encapsulation" if planner.scope.overhead else ""
            wanted = planner.scope.needed - planner.scope.overhead
            reason = f"{target.limited_by} can do {target.ip_mtu} at most, {wanted}{extra} are needed"
            end = planner.topology.logical(work.link.a)
            if target.limited_by == str(planner.topology.logical(work.link.b)):
                end = planner.topology.logical(work.link.b)
            planner.scope.refuse(end.device, end.interface, reason, wanted)


class _Carrying:
    """What each routed link carries once the planes of this plan are raised."""

    def __init__(self, planner: Planner, works: Sequence[LinkWork], raised: set[Link]) -> None:
        self._sizes: dict[Link, int] = {}
        self._topology = planner.topology
        self._pairs: dict[tuple[str, str], int | None] = {}
        for work in works:
            ends = [planner.topology.logical(port) for port in work.link.ends]
            known = [planner.live.ip_mtu(end) or 0 for end in ends]
            coming = {End(change.host, change.object): change.to for change in work.changes if work.link in raised}
            self._sizes[work.link] = min(coming.get(end, size) for end, size in zip(ends, known))

    def between(self, source: str, target: str) -> int | None:
        """Return what every path between two leafs carries, after failures too; None where there is no path."""
        if source == target:
            return None
        key = (min(source, target), max(source, target))
        if key not in self._pairs:
            links = self._topology.failover_links(*key)
            self._pairs[key] = min((self._sizes[link] for link in links), default=None)
        return self._pairs[key]


def _cross_rack(planner: Planner, wave: int, carrying: _Carrying) -> None:
    """Append the proof between racks and the lifts that it allows."""
    lifts: dict[str, list[Change]] = {}
    pairs: dict[int, list[tuple[End, End]]] = {}
    for source in planner.ready:
        for target in planner.ready:
            size = planner.lift_size(source, target)
            if not _far(planner, source, target, size, carrying):
                continue
            for end in planner.hosts([source]):
                changes = planner.lift_changes(end, source, target)
                lifts.setdefault(planner.rack_of(source), []).extend(changes)
                for peer in planner.hosts([target]) if changes else ():
                    pairs.setdefault(size, []).extend([(end, peer), (peer, end)])
    todo = [rack for rack in planner.topology.racks if lifts.get(rack)]
    for size in sorted(pairs, reverse=True):
        wave += 1
        gate = planner.gate("cross_rack", pairs[size], [size], ecmp=True)
        name = "fabric.proof" if len(pairs) == 1 else f"fabric.proof.{size}"
        planner.add(name, wave, "link", (), gate, "Every plane is confirmed and persisted; hosts are still pinned.")
    for batch in planner.batches(todo):
        wave += 1
        changes = [change for rack in batch for change in lifts[rack]]
        sources = {End(change.host, change.interface) for change in changes}
        checked = [pair for some in pairs.values() for pair in some if pair[0] in sources]
        gate = planner.gate("lifted", checked, [change.to for change in changes])
        text = "Every path between the racks is proven at full size in both directions, and no timer is armed on it."
        planner.add(STAGE, wave, "lift", changes, gate, text)


def _far(planner: Planner, source: Segment, target: Segment, size: int, carrying: _Carrying) -> bool:
    """Tell whether two segments are in different racks and every path between them carries the size."""
    if planner.rack_of(source) == planner.rack_of(target):
        return False
    gateways = [planner.topology.gateways(segment) for segment in (source, target)]
    if not gateways[0] or not gateways[1]:
        return False
    carried = carrying.between(gateways[0][0].device, gateways[1][0].device)
    if carried is None or carried < planner.scope.outer(size):
        reason = "there is no path" if carried is None else f"a path carries {carried}"
        first, second = sorted((source.name, target.name), key=natural_key)
        planner.scope.note(f"{first} and {second} are not lifted towards each other: {reason}.")
        return False
    return True
