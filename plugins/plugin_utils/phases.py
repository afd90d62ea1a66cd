"""The per-host half of a wave: this host's changes of the open wave's phase, applied, confirmed or taken back."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils import summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Executor, Outcome, handles
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

SKIPPED = {"skipped": True, "changed": False}


def plan_step(run: Run, step: str) -> dict[str, Any]:
    """Return one step of the run's plan."""
    return next(dict(item) for item in run.load("plan")["steps"] if item["id"] == step)


def within(step: dict[str, Any]) -> int:
    """Return the seconds after which devices take a step back by themselves; 0 where nothing can cost the way back."""
    return int(step["dead_man"]["seconds"]) if step["dead_man"] else 0


def result_of(outcome: Outcome, progress: list[str]) -> dict[str, Any]:
    """Return an outcome as a task result."""
    if not outcome.ok:
        key = "unreachable" if outcome.unreachable else "failed"
        return {key: True, "msg": outcome.message, "error": dict(outcome.error or {})}
    result: dict[str, Any] = {"changed": outcome.changed, "handle": dict(outcome.data), "progress": progress}
    if outcome.data.get("diff"):
        result["diff"] = [{"prepared": summary.titled(outcome.host, outcome.data["diff"])}]
    return result


class PhaseAction(FabricAction):
    """Shared by interface_mtu, route_mtu and pending_change when they serve a roll-out."""

    def apply_phase(self, phase: str) -> dict[str, Any]:
        """Apply this host's changes of a phase, unless the phase may not begin or has none for this host."""
        if self.check_mode:
            return {**SKIPPED, "skip_reason": "a roll-out's plan is shown by mtu_plan, check mode goes no further"}
        run = Run.required()
        state = run.state()
        step = waves.step_of(state, phase)
        if step is None or not waves.may_apply(state, phase):
            return {**SKIPPED, "skip_reason": f"phase {phase} may not begin"}
        planned = plan_step(run, step)
        changes = [change for change in planned["changes"] if change["host"] == self.host]
        if not changes:
            return {**SKIPPED, "skip_reason": f"nothing to change in phase {phase}"}
        outcome = Executor(run.journal, run.id).apply(self.access(self.host), step, changes, within(planned))
        return result_of(outcome, [summary.change_line(change) for change in changes])

    def confirm_phase(self, phase: str) -> dict[str, Any]:
        """Confirm what this host has applied in a phase, if the phase's gate has passed."""
        if self.check_mode:
            return {**SKIPPED, "skip_reason": "nothing is confirmed in check mode"}
        run = Run.required()
        state = run.state()
        step = waves.step_of(state, phase)
        if step is None or not waves.may_confirm(state, phase):
            return {**SKIPPED, "skip_reason": f"phase {phase} may not be confirmed"}
        handle = handles(run.journal.lines()).get((step, self.host))
        if handle is None:
            return {**SKIPPED, "skip_reason": "nothing was applied"}
        outcome = Executor(run.journal, run.id).confirm(self.access(self.host), step, handle)
        return result_of(outcome, [f"{self.host} confirmed"])
