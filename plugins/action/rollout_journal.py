# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Opens and closes a roll-out and its waves; see the module of the same name for its documentation."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_values import STAGES
from ansible_collections.jumbo.fabric.plugins.plugin_utils import interrupted, standing, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

interrupted.watch()  # ansible-playbook imports actions itself, before it forks

SKIPS_SOMETHING = (*STAGES, "all", "always", "tagged", "untagged")
"""What somebody who skips it expects to be left out: stages, and Ansible's own words for tasks."""


class ActionModule(FabricAction):
    """The only writer of verdicts."""

    NAME = "rollout_journal"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Open or close, a roll-out or a wave."""
        if arguments["state"] == "opened":
            return self._open(Path(arguments["evidence_dir"]), plan_only=arguments["plan_only"])
        if arguments["state"] == "closed":
            return self._close()
        if arguments["wave"] == "opened":
            return self._open_wave(arguments["stage"])
        if arguments["wave"] == "closed":
            return self._close_wave()
        raise JumboError("say what to open or close", variable="state, wave", limit="opened, closed")

    def _open(self, evidence_dir: Path, *, plan_only: bool) -> dict[str, Any]:
        self._refuse_tags()
        # A task runs in a forked worker: its parent is ansible-playbook, which the lock is about.
        dry, what = self.check_mode or plan_only, "plan" if plan_only else "roll-out"
        run = Run.open(evidence_dir, process=os.getppid(), exclusive=not dry)
        state = {
            "rollout": run.id,
            "check_mode": dry,
            "plan_only": plan_only,
            "inventory": [str(source) for source in self.variables["ansible_inventory_sources"]],
            "started": waves.now(),
            "verdict": "running",
            "stages": {},
            "wave": None,
            "gates": [],
            "findings": [],
            "troubles": {},
        }
        run.save("state", state)
        run.journal.write(step="rollout", host="", event="done", verb="open", data={"check_mode": dry})
        return {
            "changed": False,
            "rollout": run.id,
            "evidence": str(run.path),
            "progress": [f"{what} {run.id}"],
        }

    def _refuse_tags(self) -> None:
        """Refuse tags that mean to choose; to skip one that no task has, as molecule does, is harmless."""
        chosen = [str(tag) for tag in self.variables.get("ansible_run_tags") or ["all"]]
        skipped = [str(tag) for tag in self.variables.get("ansible_skip_tags") or [] if str(tag) in SKIPS_SOMETHING]
        if chosen != ["all"] or skipped:
            raise JumboError(
                "tags choose nothing here, and nothing was done: each task of a roll-out needs those before it",
                variable="--skip-tags" if chosen == ["all"] else "--tags",
                wish=", ".join(skipped if chosen == ["all"] else chosen),
                advice="Choose stages with jumbo_stages, hosts with --limit.",
            )

    def _close(self) -> dict[str, Any]:
        run = Run.required()
        state = run.state()
        run.journal.write(step="rollout", host="", event="done", verb="close", data={"verdict": state["verdict"]})
        run.close(publish=not state["check_mode"])
        return {"changed": False, "verdict": state["verdict"]}

    def _open_wave(self, stage: str) -> dict[str, Any]:
        run = Run.required()
        state = run.state()
        try:
            may_begin = waves.open_wave(state, stage, self.batch)
        except JumboError as error:
            run.update(functools.partial(_refused, str(error)))
            raise
        if not may_begin:
            return {"changed": False, "skipped": True, "skip_reason": "something before has not passed"}
        run.save("state", state)
        standing.note_opened(run.journal, state["wave"])
        return {"changed": False, "progress": [waves.wave_line(state)]}

    def _close_wave(self) -> dict[str, Any]:
        run = Run.required()
        wave = run.state()["wave"]
        if wave is None:
            return {"changed": False, "skipped": True}
        state = run.update(lambda state: waves.close_wave(state, reverted=state.get("reverted")))
        standing.note_closed(run.journal, wave, state["verdict"])
        return {"changed": False, "verdict": state["verdict"], "progress": [f"wave {state['verdict']}"]}


def _refused(reason: str, state: waves.State) -> None:
    state.update(verdict="failed", reason=reason)
