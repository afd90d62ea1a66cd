# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Conducts one step on all its devices, or takes steps back; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import conduct, fabric, judging, soak, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import CONFIRMING, MAKING, Executor, results
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import plan_step
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()


class ActionModule(FabricAction):
    """Both ends of a link must change together, and taking back has an order across hosts: one process does it."""

    NAME = "mtu_step"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Apply a conducted wave, or take back what a failed wave left."""
        run = Run.required()
        if arguments["state"] == "reverted":
            return self._take_back(run)
        return self._conduct(run, arguments["stage"], arguments["wave"], arguments["confirm_within"])

    def _conduct(self, run: Run, stage: str, number: int, within: int) -> dict[str, Any]:
        if run.state()["verdict"] != waves.GO:
            return {"changed": False, "skipped": True}
        state = run.update(lambda state: waves.open_numbered_wave(state, stage, number))
        if "soak" in state["wave"]["steps"]:
            waiting = self._wait_for_soak(run, plan_step(run, state["wave"]["steps"]["soak"]))
            if waiting:
                return {"changed": False, "passed": False, "progress": [waiting]}
        lines, changed = [waves.wave_line(state)], False
        for phase, name in state["wave"]["steps"].items():
            step = plan_step(run, name)
            lines += [summary.change_line(change) for change in step["changes"]]
            changed = changed or bool(step["changes"])
            lines += self._phase(run, phase, step, within)
        taken_back = {"progress": []} if waves.wave_passed(run.state()) else self._take_back(run)
        state = run.update(lambda state: waves.close_wave(state, reverted=state["reverted"]))
        return {
            "changed": changed,
            "passed": state["verdict"] == waves.GO,
            "progress": [*lines, *taken_back["progress"]],
        }

    def _wait_for_soak(self, run: Run, step: dict[str, Any]) -> str | None:
        """Begin a long soak, or go on waiting for it; None when it is time to judge."""
        intent, topology = fabric.intent_of(run)
        if not soak.outlasts(intent.soak_seconds):
            return None
        begun = soak.begun_earlier(run)
        if begun is not None and soak.is_over(begun):
            soak.carry_on(run, begun)
            return None
        if begun is not None:
            soak.carry_on(run, begun)
            until = begun["until"]
        else:
            accesses = self.accesses(fabric.hosts_of(run))
            watched = Measurement(topology, run.load("fleet"), accesses, 0).watched(step)
            until = soak.begin(run, fabric.read_states([accesses[host] for host in watched]), intent.soak_seconds)
        run.update(waves.close_wave_soaking)
        return f"soaking until {until}: the next roll-out after that judges the counters and persists the lift"

    def _phase(self, run: Run, phase: str, step: dict[str, Any], within: int) -> list[str]:
        accesses = self.accesses(fabric.hosts_of(run))
        executor = Executor(run.journal, run.id)
        conduct.apply_everywhere(executor, accesses, step, within)
        passed, lines = judging.all_did(run, step, MAKING)
        if passed:
            passed, lines = judging.judge(run, step, accesses)
        run.update(lambda state: waves.record(state, phase, "applied", passed))
        if passed:
            conduct.confirm_everywhere(executor, accesses, step["id"])
            passed, more = judging.all_did(run, step, CONFIRMING)
            run.update(lambda state: waves.record(state, phase, "confirmed", passed))
            lines += more
        return lines

    def _take_back(self, run: Run) -> dict[str, Any]:
        state = run.state()
        if not state["wave"] or waves.wave_passed(state):
            return {"changed": False, "skipped": True, "progress": []}
        steps = waves.steps_to_take_back(state)
        phases = {step["id"]: step["phase"] for step in run.load("plan")["steps"] if step["id"] in steps}
        _intent, topology = fabric.intent_of(run)
        changed = any(
            data.get("changed") for step in steps for data in results(run.journal.lines(), step, MAKING).values()
        )
        acts = conduct.take_back(run.journal, run.id, self.access, phases, topology)
        bad = [outcome for outcome, _handle in acts if not outcome.ok]

        def note(state: waves.State) -> None:
            state["reverted"] = False if bad else True if changed else None
            for outcome in bad:
                waves.note_not_taken_back(state, outcome.host, outcome.message, unreachable=outcome.unreachable)

        run.update(note)
        return {"changed": changed, "progress": summary.taken_back_lines(acts)}
