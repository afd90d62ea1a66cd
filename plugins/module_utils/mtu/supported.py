"""What is planned and proven but cannot be carried out yet: said at once, rather than done wrongly."""

from __future__ import annotations

from .adjacency import ADJACENCY
from .errors import InvalidIntent, JumboError
from .intent_types import End, Intent
from .platform_table import PLATFORMS
from .steps import Plan
from .topology import Topology
from .traits import traits_of

_UNKNOWN = "this must be changed"
_MESSAGES = {
    "drained": "this link must be drained while its ends differ",
    "jumbo": "this box takes its large frames only with a reload",
    "ip_mtu": "the MTU of this interface must be changed",
}
_LEAVE_OUT = "Leave the device out with --limit, or do this step by hand and run again"
_BY_HAND = "Leave the stage fabric out of jumbo_stages, or do this step by hand and run again"
_ADVICE = {
    "drained": f"{_BY_HAND}; the waiver outage accepts the short loss of an interface that is added anew, and "
    "sessions that jumbo_control_sessions does not name ask for no drain",
    "jumbo": "Reload it by hand (jumbo, write memory, reload) and run again: once that is active nothing is left to do",
}
_IGP = (
    "Leave the stage fabric out of jumbo_stages; or cost the link out, set both of its ends by hand to what the "
    "playbook plan shows, let traffic back and run again: a link that is at its size needs no drain"
)


def unsupported(plan: Plan, intent: Intent, topology: Topology) -> tuple[JumboError, ...]:
    """Return what of a plan the drivers or the lab-tested roll-out cannot carry out in this version."""
    return (*_steps(plan, intent), *_drains(plan, topology), *_pairs(intent), *_segments(topology))


def refuse_unsupported(plan: Plan, intent: Intent, topology: Topology) -> None:
    """Raise InvalidIntent with all that is `unsupported`, where anything is."""
    _refuse(unsupported(plan, intent, topology))


def refuse_unsupported_inventory(intent: Intent, topology: Topology) -> None:
    """Raise InvalidIntent for what the inventory alone tells, before any device is asked."""
    _refuse((*_pairs(intent), *_segments(topology)))


def _refuse(problems: tuple[JumboError, ...]) -> None:
    if problems:
        raise InvalidIntent(problems)


def _steps(plan: Plan, intent: Intent) -> list[JumboError]:
    """Refuse what a device's driver does not carry out, the first change of each kind and platform."""
    found: dict[tuple[str, str], JumboError] = {}
    for change in (change for step in plan.steps for change in step.changes):
        platform = intent.devices[change.host].platform
        if platform in PLATFORMS and change.field not in PLATFORMS[platform].fields:
            problem = JumboError(
                f"{_MESSAGES.get(change.field, _UNKNOWN)}, which no driver of {platform} does in this version",
                host=change.host,
                object=change.object,
                advice=_ADVICE.get(change.field, _LEAVE_OUT),
            )
            found.setdefault((change.field, platform), problem)
    return list(found.values())


def _drains(plan: Plan, topology: Topology) -> list[JumboError]:
    """Refuse the first link that must be drained and runs what the driver of an end does not drain."""
    changes = [change for step in plan.steps for change in step.changes if change.field == "drained"]
    routing = {topology.logical(port): link.routing for link in topology.uplinks() for port in link.ends}
    for change in changes:
        platform, runs = topology.intent.devices[change.host].platform, routing.get(End(change.host, change.object))
        drains = PLATFORMS[platform].drains if platform in PLATFORMS else frozenset()
        if drains and runs not in drains:
            return [
                JumboError(
                    f"{_MESSAGES['drained']}, and the driver of {platform} drains no link that runs {runs}",
                    host=change.host,
                    object=change.object,
                    variable="jumbo_links",
                    wish=runs,
                    limit=", ".join(sorted(drains)),
                    advice=_IGP if runs in ADJACENCY else _ADVICE["drained"],
                )
            ]
    return []


def _pairs(intent: Intent) -> list[JumboError]:
    """Refuse pairs of platforms whose pairs no lab has shown yet."""
    problems = []
    able = sorted(platform for platform in PLATFORMS if traits_of(platform).pairs)
    for pair in intent.pairs:
        platforms = sorted({intent.devices[device].platform for device in pair.devices})
        if not all(traits_of(platform).pairs for platform in platforms):
            message = f"pairs of {' and '.join(platforms)} are planned and proven, but not carried out by this version"
            advice = "Leave its segments out: another role than jumbo"
            known = {"object": pair.name, "variable": "jumbo_pairs", "advice": advice}
            problems.append(JumboError(message, wish=list(pair.devices), limit=", ".join(able), **known))
    return problems


def _segments(topology: Topology) -> list[JumboError]:
    problems = []
    for segment in topology.jumbo_segments():
        racks = sorted({str(topology.rack_of(m.device)) for m in segment.members if m.managed})
        if len(racks) > 1 and not topology.domains.is_switched(segment):
            message = f"stretched over {', '.join(racks)} without trunks: planned and proven, but not carried out yet"
            advice = "Give it another role than jumbo, or name the trunks that carry it in jumbo_links"
            known = {"object": segment.name, "variable": "jumbo_segments", "advice": advice}
            problems.append(JumboError(message, wish=racks, limit="racks joined by trunks", **known))
    return problems
