"""Derives the steps of a roll-out from the intent, the topology and what the devices say."""

from __future__ import annotations

from typing import Any, Collection, Mapping

from .errors import InvalidIntent, JumboError
from .intent_types import Intent
from .live import Live, network
from .plan_fabric import plan_fabric
from .plan_rack import plan_racks
from .plan_soak import plan_soak
from .planner import Planner
from .scope import Scope
from .steps import Change, DeadMan, Gate, Outage, Plan, Step
from .topology import Topology

__all__ = ["Change", "DeadMan", "Gate", "Outage", "Plan", "Step", "make_plan"]

_IPV4 = 4


def make_plan(
    intent: Intent,
    topology: Topology,
    states: Mapping[str, Mapping[str, Any]],
    touchable: Collection[str] | None = None,
) -> Plan:
    """Return the plan that brings every jumbo segment to its size, or an empty one where all is there.

    `states`: {host: state}; a host without a state, or outside `touchable` (None: no limit), stays as it is: what
    depends on it is left out, with a note. Raises InvalidIntent where a wished size can't be reached, naming the
    largest common value, and where the topology is of a kind that isn't planned yet. Same input, same plan.
    """
    _refuse_unsupported(intent, topology)
    scope = Scope(Live(intent, topology, states), touchable)
    planner = Planner(scope)
    plan_racks(planner)
    plan_fabric(planner)
    plan_soak(planner)
    if scope.problems:
        raise InvalidIntent(tuple(scope.problems))
    return Plan(tuple(planner.steps), scope.clamps(), tuple(scope.notes), tuple(planner.exposures))


def _refuse_unsupported(intent: Intent, topology: Topology) -> None:
    """Refuse what this version can't prove, rather than plan it wrongly."""
    problems = []
    if intent.pairs:
        message = "MLAG pairs are not planned by this version"
        pair = intent.pairs[0]
        problems.append(JumboError(message, object=pair.name, variable="jumbo_pairs", wish=list(pair.devices)))
    for segment in topology.jumbo_segments():
        racks = sorted({str(topology.rack_of(m.device)) for m in segment.members if m.managed})
        if len(racks) > 1:
            message = (
                f"the segment is stretched over the racks {', '.join(racks)}, which is not planned by this version"
            )
            problems.append(JumboError(message, object=segment.name, variable="jumbo_segments", wish=segment.name))
        for subnet in segment.subnets:
            if network(subnet).version != _IPV4:
                message = "IPv6 in a jumbo segment is not planned by this version: raising a link would unpin it"
                problems.append(JumboError(message, object=segment.name, variable="jumbo_segments", wish=subnet))
    if problems:
        raise InvalidIntent(tuple(problems))
