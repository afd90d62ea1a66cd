"""The stage soak: counters watched while large packets flow, then the lifts are persisted on the hosts."""

from __future__ import annotations

from .intent_types import End
from .planner import Planner
from .steps import Change

STAGE = "soak"


def plan_soak(planner: Planner) -> None:
    """Append the soak's gate and the persisting of what was lifted; nothing where nothing waits to be persisted."""
    if STAGE not in planner.intent.stages:
        return
    old = planner.intent.baseline_ip_mtu
    changes = [change for step in planner.steps for change in step.changes if change.prefix and change.to > old]
    lifted = {(change.host, change.interface) for change in changes}
    ends = [
        end
        for end in planner.hosts(planner.ready.values())
        if (end.device, end.interface) in lifted or planner.live.unpersisted_lifts(end)
    ]
    if not ends:
        return
    sizes = [planner.lift_size(segment, segment) for segment in planner.ready.values()]
    gate = planner.gate("soak", _pairs(planner, ends), sizes)
    text = f"Large packets flow for {planner.intent.soak_seconds} seconds and no counter of too long frames moves."
    if gate:
        planner.add("soak.gate", 1, "soak", (), gate, text)
    changes = [_persist(end) for end in ends if planner.scope.may_change(end) and planner.live.persists(end.device)]
    for end in ends:
        if not planner.live.persists(end.device):
            planner.scope.note(f"{end.device} runs with its new values only: it has no known place to persist them.")
    if changes:
        planner.add("soak.persist", 1, "persist", changes, None, "The soak has passed.")


def _persist(end: End) -> Change:
    return Change(end.device, end.interface, "persisted", False, True)


def _pairs(planner: Planner, ends: list[End]) -> list[tuple[End, End]]:
    """Return pairs that cross each of these hosts with large packets, both ways."""
    wanted = set(ends)
    pairs = [*planner.near_pairs(planner.ready.values()), *planner.crossed]
    return [pair for pair in pairs if pair[0] in wanted or pair[1] in wanted]
