"""What devices really accept: every wish is loaded on its device and discarded before a plan counts on it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import Intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, State
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import open_driver
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import everywhere

Changes = tuple[Mapping[str, Any], ...]


def plan_within_limits(
    plan: Plan,
    intent: Intent,
    topology: Topology,
    states: dict[str, State],
    touchable: frozenset[str],
    accesses: Mapping[str, Access],
) -> tuple[Plan, dict[str, str]]:
    """Return a plan that every device accepted, this one or one after it, and each device's difference for its changes.

    A value that a device refuses becomes that interface's `max_ip_mtu` (in `states`, in place) and the plan is made
    again: a refusal names one interface only, so this ends after at most as many rounds as there are interfaces.
    """
    accepted: dict[str, tuple[Changes, str]] = {}
    while True:
        wishes = wishes_of(plan)
        new = [host for host, changes in wishes.items() if accepted.get(host, ((), ""))[0] != changes]
        answers = everywhere(functools.partial(_try, accesses, wishes), new)
        refused = False
        for host, answer in zip(new, answers, strict=True):
            if isinstance(answer, str):
                accepted[host] = (wishes[host], answer)
            elif answer.limit is None or answer.object not in states[host]["interfaces"]:
                raise answer
            else:
                states[host]["interfaces"][answer.object]["max_ip_mtu"] = answer.limit
                refused = True
        if not refused:
            return plan, {host: accepted[host][1] for host in wishes}
        plan = make_plan(intent, topology, states, touchable)
        refuse_unsupported(plan, intent, topology)


def wishes_of(plan: Plan) -> dict[str, Changes]:
    """Return each host's changes of the whole plan, in the plan's order."""
    wishes: dict[str, list[Mapping[str, Any]]] = {}
    for step in plan.as_dict()["steps"]:
        for change in step["changes"]:
            wishes.setdefault(change["host"], []).append(change)
    return {host: tuple(changes) for host, changes in wishes.items()}


def _try(accesses: Mapping[str, Access], wishes: Mapping[str, Changes], host: str) -> str | JumboError:
    try:
        return open_driver(accesses[host]).diff(wishes[host])
    except JumboError as error:
        return error
