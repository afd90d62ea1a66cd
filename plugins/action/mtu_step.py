# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Conducts one step on all its devices, or takes steps back; see the module of the same name for its documentation."""

from __future__ import annotations

import functools
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import drains as judged
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import (
    conduct,
    drains,
    fabric,
    judging,
    past,
    reload_window,
    resume,
    soak,
    standing,
    summary,
    waves,
)
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import CONFIRMING, MAKING, Executor, Outcome
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import plan_step, within
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()


class ActionModule(FabricAction):
    """Both ends of a link must change together, and taking back has an order across hosts: one process does it."""

    NAME = "mtu_step"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Apply a conducted wave, or take back what a failed wave left."""
        if self.check_mode:
            return {"changed": False, "skipped": True}
        run = Run.required()
        if arguments["state"] == "reverted":
            return self._take_back(run)
        return self._conduct(run, arguments["stage"], arguments["wave"])

    def _conduct(self, run: Run, stage: str, number: int) -> dict[str, Any]:
        if run.state()["verdict"] != waves.GO:
            return {"changed": False, "skipped": True}
        if reload_window.PHASE in run.state()["stages"][stage]["waves"][number]["phases"]:
            shut = reload_window.closed(fabric.intent_of(run)[0], stage)
            if shut:
                run.update(functools.partial(waves.stop_before_wave, reason=shut))
                return {"changed": False, "passed": False, "progress": [shut]}
        state = run.update(lambda state: waves.open_numbered_wave(state, stage, number))
        standing.note_opened(run.journal, state["wave"])
        if "soak" in state["wave"]["steps"]:
            waiting = self._wait_for_soak(run, plan_step(run, state["wave"]["steps"]["soak"]))
            if waiting:
                return {"changed": False, "passed": False, "progress": [waiting]}
        lines, outcomes = [waves.wave_line(state)], []
        for phase, name in state["wave"]["steps"].items():
            step = plan_step(run, name)
            if not waves.may_apply(run.state(), phase):
                break
            lines += [summary.change_line(change) for change in step["changes"]]
            applied, more = self._phase(run, phase, step)
            outcomes += applied
            lines += more
        taken_back = {"progress": []} if waves.wave_passed(run.state()) else self._take_back(run)
        wave = state["wave"]
        state = run.update(lambda state: waves.close_wave(state, reverted=state["reverted"]))
        standing.note_closed(run.journal, wave, state["verdict"])
        return {
            "changed": any(outcome.changed for outcome in outcomes),
            "passed": state["verdict"] == waves.GO,
            "progress": [*lines, *taken_back["progress"], f"wave {state['verdict']}"],
            "diff": [
                {"prepared": summary.titled(outcome.host, outcome.data["diff"])}
                for outcome in outcomes
                if outcome.data.get("diff")
            ],
        }

    def _wait_for_soak(self, run: Run, step: dict[str, Any]) -> str | None:
        """Begin a long soak, or go on waiting for it; None when it is time to judge."""
        intent, topology = fabric.intent_of(run)
        if not soak.outlasts(intent.soak_seconds):
            return None
        earlier = resume.soaking(run)
        until = soak.carry_on(run, earlier) if earlier else None
        if until is not None and soak.is_over(until):
            return None
        wave = run.state()["wave"]
        if until is None:
            accesses = self.accesses(fabric.hosts_of(run))
            watched = Measurement(topology, run.load("fleet"), accesses, 0).watched(step)
            states = fabric.read_states([accesses[host] for host in watched])
            for state in fabric.not_read(states).values():
                reason = f"the soak cannot begin: {state['error']['text']}"
                run.update(functools.partial(waves.abandon_wave, reason=reason))
                standing.note_closed(run.journal, wave, "failed")
                raise JumboError(reason, advice="What is lifted stays as proven; run the roll-out again.")
            until = soak.begin(run, states, intent.soak_seconds)
        run.update(waves.close_wave_soaking)
        standing.note_closed(run.journal, wave, "soaking")
        return f"soaking until {until}: the next roll-out after that judges the counters and persists the lift"

    def _phase(self, run: Run, phase: str, step: dict[str, Any]) -> tuple[list[Outcome], list[str]]:
        accesses = self.accesses(fabric.hosts_of(run))
        executor = Executor(run.journal, run.id)
        if phase in ("drain", "link") and (finding := self._refused_drain(run, step, accesses)):
            return [], [summary.finding_line(finding, evidence=True)]
        outcomes = conduct.apply_everywhere(executor, accesses, step, within(step))
        passed, lines = judging.all_did(run, step, MAKING)
        if passed:
            passed, lines = judging.judge(run, step, accesses)
        run.update(lambda state: waves.record(state, phase, "applied", passed))
        if passed:
            confirmed = conduct.confirm_everywhere(executor, accesses, step["id"])
            lines += [f"{outcome.host} confirmed" for outcome in confirmed if outcome.ok]
            passed, more = judging.all_did(run, step, CONFIRMING)
            run.update(lambda state: waves.record(state, phase, "confirmed", passed))
            lines += more
        return outcomes, lines

    @staticmethod
    def _refused_drain(run: Run, step: dict[str, Any], accesses: dict[str, Access]) -> dict[str, Any] | None:
        """Return the finding of a step that may not begin: by what is up now, its drained links would be missed.

        Before links change this is asked again, since others may have gone down after the drain.
        """
        topology = fabric.intent_of(run)[1]
        links = judged.drained_at(run.load("plan")["steps"], step["id"], topology)
        reason = drains.refusal(links, topology, accesses) if links else None
        if reason is None:
            return None
        change = step["changes"][0]
        finding = {
            "host": change["host"],
            "interface": change["object"],
            "reason": "its link is not drained" if step["phase"] == "drain" else "its drained link is not changed",
            "evidence": reason,
        }
        run.update(lambda state: state["findings"].append(finding))
        return finding

    def _take_back(self, run: Run) -> dict[str, Any]:
        state = run.state()
        if not state["wave"] or waves.wave_passed(state):
            return {"changed": False, "skipped": True, "progress": []}
        if state["wave"]["stage"] == "soak":
            # What was lifted may be of earlier roll-outs: all that no soak has ended for goes back.
            acts = past.take_back_runs(past.unproven(run.path.parent, run.id), self.access)
        else:
            steps = waves.steps_to_take_back(state)
            phases = {step["id"]: step["phase"] for step in run.load("plan")["steps"] if step["id"] in steps}
            _intent, topology = fabric.intent_of(run)
            acts = conduct.take_back(run.journal, run.id, self.access, phases, topology)
        bad = [outcome for outcome, _handle in acts if not outcome.ok]
        changed = any(handle.get("changed") for _outcome, handle in acts)

        def note(state: waves.State) -> None:
            state["reverted"] = False if bad else True if changed else None
            for outcome in bad:
                waves.note_not_taken_back(state, outcome.host, outcome.message, unreachable=outcome.unreachable)

        run.update(note)
        return {"changed": changed, "progress": summary.taken_back_lines(acts)}
