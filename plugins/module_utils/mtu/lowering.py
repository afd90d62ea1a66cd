"""The way back: what was applied, taken back in an order in which nothing is lost (design rules 8 and 9).

A running session keeps its size until its *sender* is pinned, so senders come first and are read back; only then may
any hop be lowered. Gateways follow, then routed links, host links and ports; the pins themselves go last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from .intent_types import End
from .steps import Change, Step
from .topology import Topology

# Group -> the phase of a step that does the same work.
_PHASES = {
    "pin": "lift",
    "unpersist": "persist",
    "svi": "svi",
    "link": "link",
    "host_link": "host_link",
    "l2": "l2",
    "restore": "svi",
    "unpin": "host_link",
}
GROUPS = tuple(_PHASES)


@dataclass(frozen=True)
class Lowering:
    """Changes that may go together. `wait`: the next group begins only when every one of them is read back."""

    name: str
    changes: tuple[Change, ...]
    wait: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return {name, phase, changes, wait}."""
        changes = [change.as_dict() for change in self.changes]
        return {"name": self.name, "phase": _PHASES[self.name], "changes": changes, "wait": self.wait}


def lowering_plan(applied: Iterable[Mapping[str, Any]], topology: Topology) -> list[Lowering]:
    """Return the groups, in order, that take these changes back. Each waits for the one before to be read back.

    `applied`: changes as dicts (the shape of a plan or a journal line), in the order they were applied; several changes
    of one object become one, from its last value to its first. Groups without changes are left out:

    * `pin`: lifted prefixes go back to their old size at the sender. One that can't be read back blocks all the rest:
      the hops stay high (rule 8).
    * `unpersist`: the boot configuration forgets the lifts, so that a reboot doesn't bring them back.
    * `svi`, `link`, `host_link`, `l2`: gateways, routed links, hosts, switched ports.
    * `restore`: gateways that the roll-out had lowered.
    * `unpin`: the pins of the hosts, whose links are at their old size again.

    Large frames of a box (field jumbo) stay on: to receive more harms nobody, and ending them takes a second reload.
    """
    groups: dict[str, list[Change]] = {name: [] for name in GROUPS}
    for change in _net(applied):
        groups[_group(change, topology)].append(change)
    parts = [(name, part) for name, changes in groups.items() for part in _by_turn(changes, topology)]
    return [Lowering(name, tuple(part), name != "unpin") for name, part in parts]


def _by_turn(changes: Sequence[Change], topology: Topology) -> list[list[Change]]:
    """Divide changes so that each part holds one member of a pair at most."""
    turns: dict[int, list[Change]] = {}
    for change in changes:
        pair = topology.pair_of(change.host)
        turns.setdefault(pair.devices.index(change.host) if pair else 0, []).append(change)
    return [turns[turn] for turn in sorted(turns)]


def lowering_phases(applied: Iterable[Mapping[str, Any]], topology: Topology) -> list[str]:
    """Return the phases whose steps are taken back, in order, each once; a host's link and its pins are one step."""
    changes = list(applied)
    kept = ["reload"] if any(change["field"] == "jumbo" for change in changes) else []  # its driver says that it stays
    return list(dict.fromkeys([*(_PHASES[group.name] for group in lowering_plan(changes, topology)), *kept]))


def lowering_steps(groups: Iterable[Lowering]) -> tuple[Step, ...]:
    """Return the groups as steps that need each other in a row, so that the way back can be proven as well."""
    steps: list[Step] = []
    for wave, group in enumerate(groups, 1):
        needs = (steps[-1].id,) if steps else ()
        text = "Everything before is read back." if steps else "Senders first: a session shrinks only where it is sent."
        phase = _PHASES[group.name]
        again = sum(step.id.startswith(f"lower.{group.name}") for step in steps)
        name = f"lower.{group.name}.{again + 1}" if again else f"lower.{group.name}"
        steps.append(Step(name, "lower", wave, phase, group.changes, needs, text))
    return tuple(steps)


def _net(applied: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Return the reverse of all changes, one per object, the last applied first; what is back already is left out."""
    first: dict[tuple[str, str, str], Change] = {}
    last: dict[tuple[str, str, str], Change] = {}
    for data in applied:
        change = Change.from_dict(data)
        key = (change.host, change.object, change.field)
        first.setdefault(key, change)
        last.pop(key, None)
        last[key] = change
    found = []
    for key in reversed(last):
        begin, end = first[key], last[key]
        if begin.before != end.to and begin.field != "jumbo":
            found.append(
                Change(
                    begin.host,
                    begin.object,
                    begin.field,
                    end.to,
                    begin.before,
                    end.to_device_mtu,
                    begin.from_device_mtu,
                )
            )
    return found


def _group(change: Change, topology: Topology) -> str:
    if change.field == "persisted":
        return "unpersist"
    if change.field == "route_mtu":
        return "pin" if change.prefix else "unpin"
    end = End(change.host, change.interface)
    device = topology.intent.devices.get(change.host)
    if device is not None and device.is_host:
        return "host_link"
    if topology.segment_of(end) is not None:
        return "svi" if change.before is None or change.to is None or change.to < change.before else "restore"
    pair = topology.pair_of(change.host)
    ports = {topology.logical(port) for link in topology.uplinks() for port in link.ends}
    return "link" if end in ports or (pair and end.interface == pair.peering) else "l2"
