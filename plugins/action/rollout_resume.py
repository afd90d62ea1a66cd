# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Deals with roll-outs that did not come to their end; see the module of the same name for its documentation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported_inventory
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric, past, resume, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.refusal import note_refusal
from ansible_collections.jumbo.fabric.plugins.plugin_utils.resume import Earlier
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()


class ActionModule(FabricAction):
    """Before anything is read or planned: what an earlier roll-out left in the middle goes back first."""

    NAME = "rollout_resume"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - the shape of all actions
        """Say where the earlier roll-outs stand, take back what is left of them; `goes_on`: whether to plan now."""
        run = Run.required()
        try:
            return self._deal(run)
        except JumboError as error:
            run.update(functools.partial(note_refusal, error=error))
            raise

    def _deal(self, run: Run) -> dict[str, Any]:
        running = run.lock.running() if run.is_dry() else None  # else the lock is this run's own
        earlier = [one for one in resume.earlier(run) if one.run.id != (running or {}).get("rollout")]
        inventory = fabric.inventory_of(self.variables["hostvars"], self.variables["groups"]["all"])
        intent = read_intent(inventory)  # whatever is wrong with it is said before any device is asked
        if not run.state().get("plan_only"):  # a plan may show what a roll-out would not do
            refuse_unsupported_inventory(intent, Topology(intent))
        mode = intent.resume
        found = resume.still_open(earlier)
        lines = [line for one in found for line in resume.where(one)] or resume.harmless(earlier)
        if running:
            lines.append(f"roll-out {running['rollout']} of {running['user']} is running: read in the middle of it")
        if mode == "new" or (mode == "auto" and not found):
            return {"changed": False, "goes_on": True, "progress": lines}
        if not found:
            raise JumboError(
                "no roll-out of this evidence directory is unfinished",
                variable="jumbo_resume",
                wish=mode,
                limit="auto, new",
                advice="rollback.yml takes back what is finished.",
            )
        for one in found:
            resume.refuse_other_inventory(one.run, inventory)
        return self._act(run, mode, found, lines)

    def _act(self, run: Run, mode: str, found: Sequence[Earlier], lines: list[str]) -> dict[str, Any]:
        everything = resume.whole(found) if mode == "revert" else []
        hosts = resume.affected(found) | {host for one in everything for _step, host in past.applied(one)}
        past.refuse_unreachable_by_play(hosts, self.variables["groups"]["all"], self.play_hosts)
        ends = mode == "revert" or (mode == "auto" and any(one.stands.failed for one in found))
        if run.is_dry():
            return self._foretell(run, hosts, lines, ends=ends)
        acts = [act for one in found for act in resume.take_back_left(one, self.access)]
        if all(outcome.ok for outcome, _handle in acts):
            acts += past.take_back_runs(everything, self.access)
        bad = [outcome for outcome, _handle in acts if not outcome.ok]
        if not bad:
            resume.note_taken_over(run, found, "reverted" if ends else "resumed")

        def note(state: waves.State) -> None:
            state["touched"] = sorted({outcome.host for outcome, _handle in acts})
            for outcome in bad:
                waves.note_not_taken_back(state, outcome.host, outcome.message, unreachable=outcome.unreachable)
            if bad:
                state.update(verdict="failed", reason="what an earlier roll-out left could not be taken back")
            elif ends:
                state.update(verdict="reverted", reason=_why(mode, found))

        state = run.update(note)
        goes_on = state["verdict"] == "running"
        lines += summary.taken_back_lines(acts)
        lines += ["it goes on from what is confirmed"] if goes_on else []
        return {"changed": any(o.ok for o, _handle in acts), "goes_on": goes_on, "progress": lines}

    @staticmethod
    def _foretell(run: Run, hosts: set[str], lines: list[str], *, ends: bool) -> dict[str, Any]:
        """In a dry run: what stands in the way of a plan that would be worth reading."""
        if not hosts and not ends:
            return {"changed": False, "goes_on": True, "progress": lines}
        reason = f"first, what is left of it would be taken back on {', '.join(sorted(hosts)) or 'no device'}"
        reason += "; the roll-out would end there" if ends else "; the plan follows from what devices say then"
        run.update(lambda state: state.update(verdict="planned", reason=reason))
        return {"changed": bool(hosts) and not run.state().get("plan_only"), "goes_on": False, "progress": lines}


def _why(mode: str, found: Sequence[Earlier]) -> str:
    names = ", ".join(one.run.id for one in found)
    if mode == "revert":
        return f"jumbo_resume is revert: {names} is taken back as a whole"
    return f"something had failed in {names}: what it left is taken back. See why, then run it again"
