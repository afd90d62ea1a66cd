# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Takes whole roll-outs back from their journals; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric, past, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Outcome
from ansible_collections.jumbo.fabric.plugins.plugin_utils.resume import note_taken_over_by
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import DIFFERENCES, Run
from ansible_collections.jumbo.fabric.plugins.plugin_utils.standing import ROLLOUT

registry.preload()


class ActionModule(FabricAction):
    """Newest roll-out first, each in the lowering order."""

    NAME = "rollout_rollback"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Take back what the journals say is applied; a sender that cannot be pinned stops everything after it."""
        run = Run.required()
        try:
            wanted = self._wanted(run, arguments["rollout"])
            hosts = {host for one in wanted for _step, host in past.applied(one)}
            past.refuse_unreachable_by_play(hosts, self.variables["groups"]["all"], self.play_hosts)
            if not wanted:
                self._refuse_unknown_guards(run)
        except JumboError as error:
            reason = str(error)
            run.update(lambda state: state.update(verdict="failed", reason=reason))
            raise
        if self.check_mode:
            order = [(host, handle) for one in wanted for host, handle in past.way_back(one)]
            run.update(lambda state: state.update(verdict="planned", touched=sorted({host for host, _handle in order})))
            run.save(DIFFERENCES, summary.ways_back(order))
            lines = [summary.back_line(change) for _host, handle in order for change in reversed(handle["changes"])]
            return {"changed": False, "progress": lines or [self._nothing(run)]}
        rollouts = {"rollouts": [one.id for one in wanted]}
        run.journal.write(step=ROLLOUT, host="", event="intent", verb="revert", data=rollouts)
        result = self._settle(run, wanted, past.take_back_runs(wanted, self.access))
        run.journal.write(step=ROLLOUT, host="", event="done", verb="revert", data=rollouts)
        return result

    def _wanted(self, run: Run, rollout: str | None) -> list[Run]:
        """Return the roll-outs to take back; an older one only when nothing newer stands on it."""
        found = [one for one in past.all_runs(run.path.parent) if one.id != run.id]
        still = [one for one in found if past.applied(one)]
        if rollout is None:
            return still
        if rollout not in [one.id for one in found]:
            limit = ", ".join(one.id for one in found) or "none"
            message = "there is no such roll-out in this evidence directory"
            raise JumboError(message, variable="jumbo_rollout", wish=rollout, limit=limit)
        newer = [one.id for one in still if one.id > rollout]
        if newer:
            raise JumboError(
                f"newer roll-outs stand on this one: {', '.join(newer)}",
                variable="jumbo_rollout",
                wish=rollout,
                advice="Their senders may rely on what this one has raised. Take them back first, or all at once.",
            )
        return [one for one in still if one.id == rollout]

    def _refuse_unknown_guards(self, run: Run) -> None:
        """Where this directory knows of nothing, hosts may: a guard of ours whose journal is somewhere else."""
        hosts = fabric.inventory_of(self.variables["hostvars"], self.variables["groups"]["all"])
        states = fabric.read_states(self.accesses(hosts).values(), interfaces={host: [] for host in hosts})
        unread = fabric.not_read(states)
        held = [
            f"{host} ({guard['id']})"
            for host, state in states.items()
            for guard in state.get("guards") or []
            if guard.get("verdict") in ("armed", "confirmed")
        ]
        if held or unread:
            trouble = f"hosts are still held by guards of ours: {', '.join(held)}" if held else ""
            if unread:
                trouble += f"{'; ' if trouble else ''}not read: {', '.join(unread)}"
            raise JumboError(
                f"the journals in {run.path.parent} know of nothing to take back, yet {trouble}",
                variable="jumbo_evidence_dir",
                wish=str(run.path.parent),
                advice="Run it with the evidence directory that the roll-out was run with.",
            )

    @staticmethod
    def _nothing(run: Run) -> str:
        return f"nothing to take back: no journal in {run.path.parent} has anything applied"

    def _settle(self, run: Run, wanted: list[Run], acts: list[tuple[Outcome, Handle]]) -> dict[str, Any]:
        bad = [outcome for outcome, _handle in acts if not outcome.ok]

        def note(state: waves.State) -> None:
            state["verdict"] = "failed" if bad else waves.GO
            state["touched"] = sorted({outcome.host for outcome, _handle in acts})
            for outcome in bad:
                waves.note_not_taken_back(state, outcome.host, outcome.message, unreachable=outcome.unreachable)

        run.update(note)
        if not bad:
            for one in wanted:
                note_taken_over_by(one, run, "rolled back")
        lines = summary.taken_back_lines(acts) or [self._nothing(run)]
        return {"changed": False, "progress": lines}  # each host says at the end that it has changed
