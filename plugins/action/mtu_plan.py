# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Preflight, plan and proof; see the module of the same name for its documentation."""

from __future__ import annotations

import functools
from typing import Any

from ansible import constants, context
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import time_budget
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.elsewhere import other_rollouts
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import Intent, read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.left_out import refused_hosts
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.live import Live
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.preflight import Finding, check
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import Proof, prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import unsupported
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import (
    approval,
    fabric,
    judging,
    plan_text,
    reload_window,
    saved,
    summary,
    waves,
)
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import THREADS
from ansible_collections.jumbo.fabric.plugins.plugin_utils.exposure import exposures
from ansible_collections.jumbo.fabric.plugins.plugin_utils.limits import plan_within_limits
from ansible_collections.jumbo.fabric.plugins.plugin_utils.refusal import note_refusal
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import DIFFERENCES, Run

registry.preload()


def _first_waiting(run: Run, intent: Intent, steps: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the first stage that waits for a person or for its window, {stage, steps, sentence}."""
    found = [approval.first_waiting(run, intent, steps), reload_window.first_waiting(intent, steps)]
    order = list(dict.fromkeys(step["stage"] for step in steps))
    return min(filter(None, found), key=lambda waits: order.index(waits["stage"]), default=None)


class ActionModule(FabricAction):
    """Writes plan.json and the first state.json of the run, plan.txt in a dry one; changes nothing on any device."""

    NAME = "mtu_plan"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the plan's summary; a plan that may not be carried out leaves the verdict `failed`."""
        run = Run.required()
        try:
            return self._plan(run, arguments["facts"])
        except JumboError as error:
            run.update(functools.partial(note_refusal, error=error))
            raise

    def _plan(self, run: Run, facts: str | None) -> dict[str, Any]:
        inventory = fabric.inventory_of(self.variables["hostvars"], self.variables["groups"]["all"])
        intent = read_intent(inventory)
        topology = Topology(intent)
        run.save("intent", inventory)
        earlier = self._saved(run, facts, inventory)
        states = earlier.states if earlier else run.load("fleet")
        if states is None:
            raise JumboError("the fabric was not read", advice="The task before this one says why.")
        accesses = {} if earlier else self.accesses(inventory)
        touchable = frozenset(self.play_hosts) & frozenset(inventory)
        findings = [] if earlier else exposures(topology, states, {host: accesses[host] for host in touchable})
        findings += check(intent, topology, states, touchable)
        known = {path.name for path in run.path.parent.iterdir()}
        findings += other_rollouts(states, known, take_over=intent.resume == "new")
        run.update(functools.partial(self._note, findings, fabric.not_read(states)))
        self._refuse_blocked(findings, list(fabric.not_read(states)))
        plan = make_plan(intent, topology, states, touchable)
        stops = unsupported(plan, intent, topology)
        if stops:
            self._note_unsupported(run, stops)
        differences: dict[str, str] = {}
        if not earlier and not stops:
            plan, differences = plan_within_limits(plan, intent, topology, states, touchable, accesses)
        run.save("fleet", states)
        self._refuse_nothing_left(refused_hosts(Live(intent, topology, states), plan, touchable), plan, intent)
        self._refuse_too_slow(run, plan.as_dict()["steps"], states)
        proof = prove(plan, intent, topology, states)
        run.save("plan", plan.as_dict())
        run.note_plan()
        if plan.steps and not earlier:
            self._refuse_unhealthy(judging.baseline(topology, states, accesses, intent.baseline_ip_mtu), intent)
        if run.is_dry():
            self._note_differences(run, differences)
        return self._planned(run, topology, plan, proof, earlier)

    @staticmethod
    def _saved(run: Run, facts: str | None, inventory: dict[str, Any]) -> saved.SavedFacts | None:
        if facts is None:
            return None
        if not run.is_dry():
            raise JumboError(
                "a roll-out is not carried out from saved facts",
                variable=saved.VARIABLE,
                wish=facts,
                advice="Use them with playbooks/plan.yml or with --check.",
            )
        return saved.load(facts, inventory)

    @staticmethod
    def _note_unsupported(run: Run, stops: tuple[JumboError, ...]) -> None:
        """Refuse what this version does not carry out; a plan alone says so and goes on, since its proof is of use."""
        if not run.state().get("plan_only"):
            raise InvalidIntent(stops)
        said = [
            Finding(
                str(stop.host), stop.object, f"a roll-out refuses this plan: {stop}", "this version", blocking=False
            )
            for stop in stops
        ]
        run.update(lambda state: state["findings"].extend(finding.as_dict() for finding in said))

    @staticmethod
    def _note_differences(run: Run, differences: dict[str, str]) -> None:
        run.save(DIFFERENCES, differences)
        if not run.state().get("plan_only"):  # it is about a plan, so it reports no host as changed
            run.update(lambda state: state.update(touched=[host for host, text in differences.items() if text]))

    @staticmethod
    def _planned(
        run: Run, topology: Topology, plan: Plan, proof: Proof, earlier: saved.SavedFacts | None
    ) -> dict[str, Any]:
        data, intent, dry = plan.as_dict(), topology.intent, run.is_dry()
        findings = run.state()["findings"]
        notes = summary.notes_of(data, proof.notes)
        if any(step["stage"] == "canary" for step in data["steps"]):
            notes.insert(0, summary.canary_line(intent, topology))
        stages = waves.stages_of(data["steps"])
        waiting = _first_waiting(run, intent, data["steps"])
        if waiting:
            notes.append(waiting["sentence"])
        run.update(
            lambda state: state.update(
                verdict="planned" if dry else waves.GO,
                stages=waves.before(stages, waiting["stage"]) if waiting and not dry else stages,
                waits=waiting,
                notes=notes,
            )
        )
        lines = [*summary.plan_lines(data, notes, findings), plan_text.verdict_line(proof)]
        if dry:
            lines = plan_text.lines_of(data, topology, proof, lines, earlier.source if earlier else None)
            (run.path / plan_text.FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return {
            "changed": False,  # each host says at the end what would change on it
            "plan": str(run.path / "plan.json"),
            "text": str(run.path / plan_text.FILE) if dry else None,
            "steps": len(plan.steps),
            "clamps": data["clamps"],
            "notes": notes,
            "findings": findings,
            "progress": lines,
        }

    @staticmethod
    def _refuse_too_slow(run: Run, steps: list[dict[str, Any]], states: dict[str, Any]) -> None:
        """Refuse steps whose first device would go back before the last is confirmed; note what confirming takes."""
        seconds = {host: state.get("read_seconds", 0.0) for host, state in states.items()}
        forks = context.CLIARGS.get("forks") or constants.DEFAULT_FORKS
        confirm = {}
        drained = {(step["stage"], step["wave"]) for step in steps if step["phase"] == "drain"}
        for step in steps:
            if step["dead_man"] and step["changes"]:
                at_once = THREADS if step["phase"] in waves.CONDUCTED else int(forks)
                is_drained = (step["stage"], step["wave"]) in drained
                spare = time_budget.DRAINED_SPARE_SECONDS if is_drained else time_budget.SPARE_SECONDS
                found = time_budget.budget(step, seconds, at_once, spare)
                time_budget.refuse_too_slow(found, step["dead_man"]["seconds"], at_once)
                confirm[step["id"]] = found.confirm
        run.update(lambda state: state.update(confirm_seconds=confirm))

    @staticmethod
    def _refuse_nothing_left(hosts: list[End], plan: Plan, intent: Intent) -> None:
        if hosts:
            raise JumboError(
                "every host that should be raised is left out; nothing was changed:\n" + "\n".join(plan.notes),
                variable="jumbo_ip_mtu",
                wish=intent.ip_mtu,
                advice="Mend what stands in the way, or accept it by name in jumbo_waivers (docs/how-to/own-fabric.md, "
                '"What may be accepted by name").',
            )

    @staticmethod
    def _refuse_unhealthy(problems: list[str], intent: Intent) -> None:
        if problems:
            raise JumboError(
                f"not even packets of {intent.baseline_ip_mtu} bytes cross the fabric as it is; nothing was changed:\n"
                + "\n".join(problems),
                advice="Mend this first: what is lost at every size cannot be proven at a larger one.",
            )

    @staticmethod
    def _note(findings: list[dict[str, Any]], unread: dict[str, Any], state: waves.State) -> None:
        """Keep what preflight found, and why devices could not be read: their findings say no more than that."""
        for host, reason in unread.items():
            waves.note_trouble(state, host, reason["error"]["text"], unreachable=reason["unreachable"])
        for finding in findings:
            if finding["host"] in unread:
                finding.update(reason=unread[finding["host"]]["error"]["text"], evidence="not read in preflight")
        state["findings"] = findings

    @staticmethod
    def _refuse_blocked(findings: list[dict[str, Any]], unread: list[str]) -> None:
        """Refuse what blocks; why a device was not read was told when it was read, and is told of it at the end."""
        blocking = [finding for finding in findings if finding["blocking"]]
        lines = [summary.finding_line(f, evidence=True) for f in blocking if f["host"] not in unread]
        silent = [finding["host"] for finding in blocking if finding["host"] in unread]
        if silent:
            lines.append(f"not read: {', '.join(dict.fromkeys(silent))}")
        if blocking:
            raise JumboError("preflight found what must be mended first; nothing was changed:\n" + "\n".join(lines))
