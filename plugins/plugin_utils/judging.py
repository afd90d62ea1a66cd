"""Closing a phase: did every device do its part, does the gate pass, and what is written down about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import gates, too_big
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric, soak, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import results
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

Step = Mapping[str, Any]


def all_did(run: Run, step: Step, verbs: Sequence[str]) -> tuple[bool, list[str]]:
    """Tell whether every host of the step has a good `done` in the journal; missing counts as not done.

    What went wrong is noted for the last play, which shows hosts as failed or unreachable.
    """
    done = results(run.journal.lines(), step["id"], verbs)
    bad = {}
    for host in dict.fromkeys(change["host"] for change in step["changes"]):
        data = done.get(host)
        if data is None:
            bad[host] = ({"text": f"{host}: step {step['id']} was not finished ({', '.join(verbs)})"}, False)
        elif data.get("error"):
            bad[host] = (data["error"], data["error"]["unreachable"])

    def note(state: waves.State) -> None:
        for host, (error, unreachable) in bad.items():
            waves.note_trouble(state, host, error["text"], unreachable=unreachable)

    if bad:
        run.update(note)
    return not bad, [error["text"] for error, _unreachable in bad.values()]


def judge(run: Run, step: Step, accesses: Mapping[str, Access]) -> tuple[bool, list[str]]:
    """Measure a step's gate, write evidence, verdict and findings down, return (passed, lines for a person)."""
    if step["gate"] is None:
        return True, []
    intent, topology = fabric.intent_of(run)
    run.journal.write(step=step["id"], host="", event="intent", verb="probe", data={"gate": step["gate"]["name"]})
    evidence = Measurement(topology, run.load("fleet"), accesses, soak.sitting(intent.soak_seconds)).of(step)
    if step["phase"] == "soak" and (watched := run.load(soak.FILE)):
        evidence["before"] = watched["states"]
    result = _management(gates.judge(step, evidence, topology).as_dict(), evidence)
    result["findings"] += _silent_routers(evidence, topology, step["gate"])
    run.journal.write(step=step["id"], host="", event="done", verb="probe", data=result)
    run.save(f"gate-{step['id']}", evidence)

    def note(state: waves.State) -> None:
        state["gates"].append({**result, "step": step["id"], "stage": step["stage"]})
        state["findings"] += [finding for finding in result["findings"] if finding not in state["findings"]]

    run.update(note)
    lines = [summary.gate_line(step["id"], result)]
    lines += [summary.finding_line(finding) for finding in result["findings"]]
    return result["verdict"] == "success", lines


def _management(result: dict[str, Any], evidence: Mapping[str, Any]) -> dict[str, Any]:
    """A device that could not be read over a new connection after the change has not been proven manageable."""
    lost = fabric.not_read(evidence["after"])
    if not lost:
        return result
    findings = [
        {"host": host, "interface": None, "reason": state["error"]["text"], "evidence": "read over a new connection"}
        for host, state in lost.items()
    ]
    verdict = "failure" if result["verdict"] == "failure" else "error"
    actual = f"{result['actual']}; no new connection to {', '.join(lost)}"
    return {**result, "verdict": verdict, "actual": actual, "findings": result["findings"] + findings}


def _silent_routers(evidence: Mapping[str, Any], topology: Topology, gate: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not evidence.get("asked"):
        return []
    sizes = gate["ip_mtus"]
    return too_big.silent_routers(
        topology, evidence["after"], evidence["asked"], evidence["too_big"], max(sizes), min(sizes)
    )
