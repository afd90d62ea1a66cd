# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Takes whole roll-outs back from their journals; see the module of the same name for its documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import conduct, fabric, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Outcome, handles
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()


class ActionModule(FabricAction):
    """Newest roll-out first, each in the lowering order."""

    NAME = "rollout_rollback"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Take back what the journals say is applied; a sender that cannot be pinned stops everything after it."""
        run = Run.required()
        wanted = self._wanted(run, arguments["rollout"])
        self._refuse_outside_limit(wanted)
        if self.check_mode:
            lines = [f"{host}: {step} would be taken back" for path in wanted for step, host in _applied(path)]
            run.update(lambda state: state.update(verdict="planned"))
            return {"changed": bool(lines), "progress": lines or ["nothing to take back"]}
        acts: list[tuple[Outcome, Handle]] = []
        for path in wanted:
            phases = {step["id"]: step["phase"] for step in _plan(path)["steps"]}
            _intent, topology = fabric.intent_of(Run(path))
            acts += conduct.take_back(Run(path).journal, path.name, self.access, phases, topology)
            if not all(outcome.ok for outcome, _handle in acts):
                break
        return self._settle(run, acts)

    def _wanted(self, run: Run, rollout: str | None) -> list[Path]:
        found = [path for path in conduct.rollouts(run.path.parent) if path != run.path]
        if rollout is None:
            return [path for path in found if _applied(path)]
        chosen = [path for path in found if path.name == rollout]
        if not chosen:
            raise JumboError(
                "there is no such roll-out in this evidence directory",
                variable="jumbo_rollout",
                wish=rollout,
                limit=", ".join(path.name for path in found) or "none",
            )
        return chosen

    def _refuse_outside_limit(self, wanted: list[Path]) -> None:
        hosts = {host for path in wanted for _step, host in _applied(path)}
        outside = sorted(hosts - set(self.play_hosts))
        if outside:
            raise JumboError(
                f"what was raised together is lowered together, and --limit leaves out {', '.join(outside)}",
                advice="Run it without --limit.",
            )

    def _settle(self, run: Run, acts: list[tuple[Outcome, Handle]]) -> dict[str, Any]:
        bad = [outcome for outcome, _handle in acts if not outcome.ok]

        def note(state: waves.State) -> None:
            state["verdict"] = "failed" if bad else waves.GO
            for outcome in bad:
                waves.note_not_taken_back(state, outcome.host, outcome.message, unreachable=outcome.unreachable)

        run.update(note)
        lines = summary.taken_back_lines(acts) or ["nothing to take back"]
        return {"changed": any(outcome.ok for outcome, _handle in acts), "progress": lines}


def _applied(path: Path) -> list[tuple[str, str]]:
    return list(handles(Journal(path / "journal.jsonl").lines()))


def _plan(path: Path) -> dict[str, Any]:
    return dict(json.loads((path / "plan.json").read_text(encoding="utf-8")))
