"""Rules that a plan keeps whatever the sizes are: which objects it may name, and in which order its steps stand."""

from __future__ import annotations

from typing import Any

from .errors import JumboError
from .intent_types import End
from .live import Live
from .routes import canonical, network
from .steps import Change, Plan, Step

PROBES = ("rack_receive", "cross_rack")
_PROVABLE = ("ip_mtu", "route_mtu", "persisted", "drained", "jumbo")


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
    started: set[tuple[str, str]] = set()
    known: set[tuple[str, str, str]] = set()
    for step in plan.steps:
        _check_place(step, seen)
        seen.add(step.id)
        _check_domains(step, live)
        _check_senders(step, live)
        for change in step.changes:
            if (change.host, change.interface, change.field) not in known:
                known.add((change.host, change.interface, change.field))
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


def _check_domains(step: Step, live: Live) -> None:
    """Refuse a step that changes both members of a pair: only what joins the two may change at both ends at once."""
    touched: dict[str, dict[str, Change]] = {}
    for change in step.changes:
        pair = live.topology.pair_of(change.host)
        if pair and change.field != "drained" and not (step.atomic and _joins(live, change)):
            touched.setdefault(pair.name, {}).setdefault(change.host, change)
    for name, members in touched.items():
        if len(members) > 1:
            change = list(members.values())[1]
            message = f"it changes both members of the pair {name} at once: {', '.join(members)}"
            raise _refuse(step, change, message, "Change one, confirm it, then change the other")


def _check_senders(step: Step, live: Live) -> None:
    """Refuse to lower anything while there is a sender of which nothing is known: it may send what it could before."""
    down = next((c for c in step.changes if c.field == "ip_mtu" and c.before and c.to < c.before), None)
    unread = [end for end in live.topology.endpoints() if live.ip_mtu(end) is None] if down else []
    if down and unread:
        message = f"it lowers {down.host} {down.object} while {unread[0]} was not read and may still send large"
        raise NotProven(
            f"{step.id}: {message}",
            step=step.id,
            pair=(str(unread[0]), f"{down.host}:{down.object}"),
            host=unread[0].device,
            object=unread[0].interface,
            advice="Make it answer, or take it out of the segment; until then what it can reach stays high",
        )


def _joins(live: Live, change: Change) -> bool:
    """Tell whether an interface is one end of what joins the two members of a pair."""
    end, pair = End(change.host, change.interface), live.topology.pair_of(change.host)
    if pair and end.interface == pair.peering:
        return True
    links = [*live.topology.uplinks(), *(live.topology.peer_links(pair) if pair else ())]
    return any(
        live.topology.is_within_pair(link) and end in {live.topology.logical(port) for port in link.ends}
        for link in links
    )


def _check_object(step: Step, change: Change, live: Live) -> None:
    if change.field not in _PROVABLE:
        raise _refuse(step, change, f"changes of {change.field!r} are not proven by this version")
    end = End(change.host, change.interface)
    segment = live.topology.segment_of(end)
    if live.intent.is_excluded(end):
        raise _refuse(step, change, "this interface is excluded (jumbo_excluded_interfaces)")
    if segment is not None and segment.role != "jumbo" and not _joins(live, change):
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
    prefix = change.prefix
    if prefix is None:
        return
    prefix = prefix if live.subnets.within(prefix) else canonical(prefix)
    if network(prefix).prefixlen == 0:
        raise _refuse(step, change, "the default route is never lifted", "Lift explicit prefixes of jumbo segments")
    if not live.subnets.within(prefix):
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
