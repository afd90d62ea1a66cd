"""The way back: what was applied, taken back in an order in which nothing is lost (design rules 8, 9 and 10).

A running session keeps its size until its *sender* is pinned, so senders come first and are read back; only then may
any hop be lowered. Gateways follow, then routed links, one plane at a time and drained as they were on the way up, then
host links with their pins, and switched ports. What a plan had lowered itself is raised again last, step by step.
"""

from __future__ import annotations

from typing import Collection, Iterable, Iterator, Mapping, Sequence

from .steps import Change, Step
from .topology import Topology
from .traits import traits_of

LOWER = "lower"
"""The stage in which a plan lowers; see plan_lower.py."""

BACK = "back"
"""The stage of the steps that way_back() makes."""

_SENDERS_AND_GATEWAYS = ("lift", "persist", "svi")
_LINKS = ("undrain", "link", "drain")
_RACKS = ("host_link", "l2")
_BACKWARDS = {"drain": "undrain", "undrain": "drain"}
_NAMES = {"lift": "pin", "persist": "unpersist"}


def is_lowering(step_id: str) -> bool:
    """Tell whether a step is one of those that lower: taken back, it raises."""
    return step_id.partition(".")[0] == LOWER


def lowering_order(
    steps: Mapping[str, str], hosts: Mapping[str, Collection[str]], topology: Topology
) -> list[list[str]]:
    """Return steps, {id: phase} in the order they were applied, in groups that are taken back one after the other.

    `hosts`: {id: devices that it touches}. Each group waits until the one before is read back: a lift that can't be
    pinned keeps all hops high. Within a group the newest comes first. What had been lowered is raised last, exactly
    backwards. Where links are drained, or flap, their steps go one by one in the reverse order: one plane at a time is
    drained, taken back and undrained, and the others carry its traffic.
    """
    newest = list(steps)[::-1]
    raised = [step for step in newest if not is_lowering(step)]
    together = (*_SENDERS_AND_GATEWAYS, *_LINKS, *_RACKS)
    links = [step for step in raised if steps[step] in _LINKS]
    flap = any(traits_of(topology.intent.devices[host].platform).readds for step in links for host in hosts[step])
    one_by_one = flap or any(steps[step] != "link" for step in links)
    groups = [[step for step in raised if steps[step] == phase] for phase in _SENDERS_AND_GATEWAYS]
    groups += [[step] for step in links] if one_by_one else [links]
    groups += [[step for step in raised if steps[step] == phase] for phase in _RACKS]
    groups += [[step] for step in raised if steps[step] not in together]
    groups += [[step] for step in newest if is_lowering(step)]
    return [group for group in groups if group]


def way_back(applied: Sequence[Step], topology: Topology) -> tuple[Step, ...]:
    """Return the steps that take these back, each needing the one before, so that the way back can be proven as well.

    `applied`: steps of one plan, in its order. Several changes of one object in one group become one, from its last
    value to its first; both members of a pair are never in one step, unless it joins them. Large frames of a box
    (field jumbo) stay on: to receive more harms nobody, and ending them takes a second reload.
    """
    by_id = {step.id: step for step in applied}
    steps: list[Step] = []
    phases, hosts = {step.id: step.phase for step in applied}, {step.id: step.hosts for step in applied}
    for group in lowering_order(phases, hosts, topology):
        phase = by_id[group[0]].phase
        atomic = len(group) == 1 and by_id[group[0]].atomic
        changes = list(_net(change for name in reversed(group) for change in by_id[name].changes))
        for part in [changes] if atomic and changes else _by_turn(changes, topology):
            steps.append(_step(steps, _BACKWARDS.get(phase, phase), part, atomic))
    return tuple(steps)


def _step(steps: Sequence[Step], phase: str, changes: Sequence[Change], atomic: bool) -> Step:
    needs = (steps[-1].id,) if steps else ()
    text = "Everything before is read back." if steps else "Senders first: a session shrinks only where it is sent."
    name = f"{BACK}.{_NAMES.get(phase, phase)}"
    again = sum(step.id == name or step.id.startswith(f"{name}.") for step in steps)
    step_id = f"{name}.{again + 1}" if again else name
    return Step(step_id, BACK, len(steps) + 1, phase, tuple(changes), needs, text, atomic=atomic)


def _by_turn(changes: Sequence[Change], topology: Topology) -> list[list[Change]]:
    """Divide changes so that each part holds one member of a pair at most; none where nothing is left to change."""
    turns: dict[int, list[Change]] = {}
    for change in changes:
        pair = topology.pair_of(change.host)
        turns.setdefault(pair.devices.index(change.host) if pair else 0, []).append(change)
    return [turns[turn] for turn in sorted(turns)]


def _net(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the reverse of all changes, one per object, the last applied first; what is back already is left out."""
    first: dict[tuple[str, str, str], Change] = {}
    last: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        key = (change.host, change.object, change.field)
        first.setdefault(key, change)
        last.pop(key, None)
        last[key] = change
    for key in reversed(last):
        begin, end = first[key], last[key]
        if begin.before != end.to and begin.field != "jumbo":
            yield Change(
                begin.host, begin.object, begin.field, end.to, begin.before, end.to_device_mtu, begin.from_device_mtu
            )
