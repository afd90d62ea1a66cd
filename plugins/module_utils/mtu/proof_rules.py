"""Rules that a plan keeps whatever the sizes are: which objects it may name, and in which order its steps stand."""

from __future__ import annotations

from typing import Any

from .errors import JumboError
from .intent_types import End
from .live import Live, network, v4_subnets
from .steps import Change, Plan, Step

PROBES = ("rack_receive", "cross_rack")
_PROVABLE = ("ip_mtu", "route_mtu", "persisted")


class NotProven(JumboError):
    """A plan that may lose packets in some state: `pair`, `path`, `hop` and `step` say where and when.

    `verdict` is BLACKHOLE (lost in silence), PTB ("fragmentation needed" where none is declared) or RULE.
    """

    def __init__(
        self,
        message: str,
        *,
        step: str,
        verdict: str = "RULE",
        pair: tuple[str, str] | None = None,
        path: tuple[str, ...] = (),
        hop: str | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.step = step
        self.verdict = verdict
        self.pair = pair
        self.path = path
        self.hop = hop


def check_rules(plan: Plan, live: Live) -> None:
    """Raise NotProven where a step stands in the wrong place or a change touches what it must not."""
    seen: set[str] = set()
    gates: dict[str, set[tuple[str, str, int]]] = {}
    started: set[tuple[str, str]] = set()
    for step in plan.steps:
        _check_place(step, seen)
        seen.add(step.id)
        proven = set().union(*(gates[need] for need in step.needs))
        gates[step.id] = proven | _what_gate_proves(step)
        for change in step.changes:
            _check_proven(step, change, live, proven)
            _check_object(step, change, live)
            _check_route(step, change, live)
            if change.field == "ip_mtu" and (change.host, change.object) not in started:
                started.add((change.host, change.object))
                _check_fresh(step, change, live)


def _refuse(step: Step, change: Change, message: str, advice: str | None = None) -> NotProven:
    return NotProven(f"{step.id}: {message}", step=step.id, host=change.host, object=change.object, advice=advice)


def _check_place(step: Step, seen: set[str]) -> None:
    if step.id in seen:
        raise NotProven(f"{step.id}: two steps have this id", step=step.id)
    late = [need for need in step.needs if need not in seen]
    if late:
        message = f"{step.id}: it needs {late[0]}, which does not come before it"
        raise NotProven(message, step=step.id, advice="Put the steps in the order of their needs")


def _check_object(step: Step, change: Change, live: Live) -> None:
    if change.field not in _PROVABLE:
        raise _refuse(step, change, f"changes of {change.field!r} are not proven by this version")
    end = End(change.host, change.interface)
    segment = live.topology.segment_of(end)
    if live.intent.is_excluded(end):
        raise _refuse(step, change, "this interface is excluded (jumbo_excluded_interfaces)")
    if segment is not None and segment.role != "jumbo":
        raise _refuse(step, change, f"this interface belongs to {segment.name}, whose role is {segment.role}")
    if not live.is_read(change.host):
        raise _refuse(step, change, "the device was not read")


def _check_route(step: Step, change: Change, live: Live) -> None:
    """Refuse a lifted default, lifts of other prefixes or by another way, and pins on a host that forwards."""
    if change.field != "route_mtu":
        return
    if live.forwards(change.host):
        raise _refuse(
            step, change, "this host forwards packets: pinned, it would answer transit packets with the old size"
        )
    if change.prefix is None:
        return
    prefix = str(network(change.prefix))
    if network(prefix).prefixlen == 0:
        raise _refuse(step, change, "the default route is never lifted", "Lift explicit prefixes of jumbo segments")
    subnets = [subnet for segment in live.topology.jumbo_segments() for subnet in v4_subnets(segment)]
    if prefix not in subnets:
        raise _refuse(
            step, change, f"{prefix} is not the subnet of a jumbo segment", "Lift only prefixes that are proven"
        )
    end = End(change.host, change.interface)
    way = live.leaves_by(end, prefix)
    if way != end.interface:
        raise _refuse(step, change, f"packets to {prefix} leave by {way}: the lift would send them another way")


def _check_fresh(step: Step, change: Change, live: Live) -> None:
    found = live.ip_mtu(End(change.host, change.interface))
    if found != change.before:
        message = f"the plan says it is at {change.before}, the device says {found}"
        raise _refuse(step, change, message, "Read the devices again and make a new plan")


def _what_gate_proves(step: Step) -> set[tuple[str, str, int]]:
    if step.gate is None or step.gate.name not in PROBES:
        return set()
    return {(pair[0], pair[1], size) for pair in step.gate.pairs for size in step.gate.ip_mtus}


def _check_proven(step: Step, change: Change, live: Live, proven: set[tuple[str, str, int]]) -> None:
    """Refuse a lift before the gates of the steps it needs have probed its paths, both ways and at its size."""
    if change.field != "route_mtu" or change.prefix is None or change.to <= live.intent.baseline_ip_mtu:
        return
    end = str(End(change.host, change.interface))
    for segment in live.topology.jumbo_segments():
        if str(network(change.prefix)) not in v4_subnets(segment):
            continue
        for peer in map(str, live.topology.hosts_in(segment)):
            for pair in ((end, peer), (peer, end)):
                if peer != end and (*pair, change.to) not in proven:
                    message = (
                        f"no step that this one needs proves {pair[0]} to {pair[1]} at {change.to} before it is used"
                    )
                    raise _refuse(step, change, message, "Probe first: the gates rack_receive and cross_rack do")
