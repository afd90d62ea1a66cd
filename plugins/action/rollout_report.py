# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the evidence of the run; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils import approval, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.report import write_report
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run


class ActionModule(FabricAction):
    """After this the verdict is final: a run that nobody ended has failed."""

    NAME = "rollout_report"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - the shape of all actions
        """Settle the verdict and write report.json and report.html."""
        run = Run.current()
        if run is None:
            return {"changed": False, "skipped": True}
        state = run.update(self._settle)
        if state["verdict"] == "stopped" and (state.get("waits") or {}).get("steps"):
            approval.note_waiting(run, state["waits"])
        report = write_report(run)
        changed = {change["host"] for stage in report["stages"] for change in stage["changes"]}
        lines = [f"verdict: {state['verdict']}"]
        lines += [summary.first_line(state["reason"])] if state.get("reason") else []
        lines += [
            f"finding: {summary.finding_line(finding)}" for finding in summary.found_on_the_way(state["findings"])
        ]
        lines += [f"evidence: {run.path}/report.html"]
        return {
            "changed": False,
            "verdict": report["verdict"],
            "reason": report["reason"],
            "path": str(run.path / "report.json"),
            "troubles": state["troubles"],
            "touched": sorted(changed | set(state.get("touched", []))),
            "progress": lines,
        }

    @staticmethod
    def _settle(state: waves.State) -> None:
        if state["verdict"] == "running":
            state["verdict"] = "failed"
            state.setdefault("reason", "the roll-out ended before its last wave was closed")
        if state["verdict"] == waves.GO and (missing := waves.not_run(state)):
            state["verdict"] = "failed"
            state["reason"] = f"these waves of the plan never ran: {', '.join(missing)}"
        if state["verdict"] == waves.GO and state.get("waits"):
            state.update(verdict="stopped", reason=state["waits"]["sentence"])
        if state["verdict"] in waves.GOOD:
            return
        for finding in state["findings"]:
            if finding["host"] and finding.get("blocking", True):
                waves.note_trouble(state, finding["host"], summary.finding_line(finding), unreachable=False)
