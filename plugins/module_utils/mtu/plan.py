"""Derives the steps of a roll-out from the intent, the topology and what the devices say."""

from __future__ import annotations

from typing import Any, Collection, Mapping

from .collector import paused
from .errors import InvalidIntent
from .intent_types import Intent
from .live import Live
from .plan_cross import plan_cross
from .plan_links import plan_links
from .plan_lower import plan_lower
from .plan_rack import plan_racks
from .plan_soak import plan_soak
from .plan_stretched import plan_firewalls, plan_stretched
from .planner import Planner
from .scope import Scope
from .steps import Change, DeadMan, Gate, Outage, Plan, Step
from .topology import Topology

__all__ = ["Change", "DeadMan", "Gate", "Outage", "Plan", "Step", "make_plan"]


def make_plan(
    intent: Intent,
    topology: Topology,
    states: Mapping[str, Mapping[str, Any]],
    touchable: Collection[str] | None = None,
) -> Plan:
    """Return the plan that brings every jumbo segment to its size, or an empty one where all is there.

    What is above its size comes down first, then the rest is raised.

    `states`: {host: state}; a host without a state, or outside `touchable` (None: no limit), stays as it is: what
    depends on it is left out, with a note. Raises InvalidIntent where a wished size can't be reached, naming the
    largest common value, and where the topology is of a kind that isn't planned yet. Same input, same plan.
    """
    with paused():
        return _make(intent, topology, states, touchable)


def _make(
    intent: Intent,
    topology: Topology,
    states: Mapping[str, Mapping[str, Any]],
    touchable: Collection[str] | None,
) -> Plan:
    scope = Scope(Live(intent, topology, states), touchable)
    planner = Planner(scope)
    plan_lower(planner)
    plan_racks(planner)
    raised = plan_links(planner)
    plan_stretched(planner, raised)
    raised = plan_firewalls(planner, raised)
    plan_cross(planner, raised)
    plan_soak(planner)
    if scope.problems:
        raise InvalidIntent(tuple(scope.problems))
    return Plan(tuple(planner.steps), scope.clamps(), tuple(scope.notes), tuple(planner.exposures))
