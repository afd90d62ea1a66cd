"""Whether a plan does what was asked for at all: where every host is left out, the rest is not what was wanted."""

from __future__ import annotations

from typing import Collection

from .intent_types import End
from .live import Live
from .steps import Plan


def refused_hosts(live: Live, plan: Plan, touchable: Collection[str] | None) -> list[End]:
    """Return the hosts' interfaces below their segment's size, where the plan raises none of them; else nothing.

    Hosts that may not be touched are not asked for, nor are those whose stage is not in `jumbo_stages`.
    """
    wanted = [
        end
        for end in live.topology.endpoints()
        if _stage_of(live, end) in live.intent.stages and (touchable is None or end.device in touchable)
    ]
    below = [end for end in wanted if _is_below(live, end)]
    raised = {
        End(change.host, change.object) for step in plan.steps for change in step.changes if change.field == "ip_mtu"
    }
    return [] if raised & set(below) else below


def _stage_of(live: Live, end: End) -> str:
    return "canary" if live.topology.rack_of(end.device) == live.topology.canary else "leaf"


def _is_below(live: Live, end: End) -> bool:
    segment, size = live.topology.segment_of(end), live.ip_mtu(end)
    return segment is not None and size is not None and size < segment.ip_mtu
