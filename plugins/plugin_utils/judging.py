"""Closing a phase: did every device do its part, does the gate pass, and what is written down about it."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import drains as judged
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import gates, too_big
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import NotReadAgain
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.time_budget import SPARE_SECONDS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import drains, fabric, soak, summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import results
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

BASELINE_FLOWS = 8
"""Flows for each pair before anything is changed: enough to meet a dead leg, not to prove that there is none."""

KEPT_OPEN = (
    "They were read a moment ago, maybe over a connection that ControlPersist had kept: what is refused now counts."
)

Step = Mapping[str, Any]


def all_did(run: Run, step: Step, verbs: Sequence[str]) -> tuple[bool, list[str]]:
    """Tell whether every host of the step has a good `done` in the journal; missing counts as not done.

    What went wrong is noted for the last play, which shows hosts as failed or unreachable.
    """
    done = results(run.journal.lines(), step["id"], verbs)
    failed = any(data.get("error") for data in done.values())
    bad = {}
    for host in dict.fromkeys(change["host"] for change in step["changes"]):
        data = done.get(host)
        if data is None and failed:
            continue  # it was not begun there, for it had failed elsewhere
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
    if step["phase"] == "undrain":
        drains.wait_until_back(step["changes"], accesses)  # what is not back by then, the gate finds
    evidence = Measurement(topology, run.load("fleet"), accesses, soak.sitting(intent.soak_seconds)).of(step)
    if step["phase"] == "soak" and (watched := run.load(soak.FILE)):
        evidence["before"] = watched["states"]
    result = gates.judge(step, evidence, topology).as_dict()
    sessions = functools.partial(_sessions, run, step, topology)
    for check in (_management, _not_asked, _lost_pins, sessions, functools.partial(_time_left, run, step)):
        result = _worse(result, *check(evidence))
    result["findings"] += _silent_routers(evidence, topology, step["gate"])
    run.journal.write(step=step["id"], host="", event="done", verb="probe", data=result)
    run.save(_evidence_of(step["id"]), evidence)

    def note(state: waves.State) -> None:
        state["gates"].append({**result, "step": step["id"], "stage": step["stage"]})
        state["findings"] += [finding for finding in result["findings"] if finding not in state["findings"]]
        for host, device in fabric.not_read(evidence["after"]).items():
            waves.note_trouble(state, host, device["error"]["text"], unreachable=device["unreachable"])

    run.update(note)
    lines = [summary.gate_line(step["id"], result)]
    lines += [summary.finding_line(finding) for finding in result["findings"]]
    return result["verdict"] == "success", lines


Trouble = tuple[str, list[dict[str, Any]]]
"""What else went wrong, as text ("" for nothing), and the findings about it."""


def _worse(result: dict[str, Any], trouble: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a gate's result with a trouble that its packets do not show: it has not passed."""
    if not trouble:
        return result
    verdict = "failure" if result["verdict"] == "failure" else "error"
    actual = f"{result['actual']}; {trouble}"
    return {**result, "verdict": verdict, "actual": actual, "findings": result["findings"] + findings}


def _management(evidence: Mapping[str, Any]) -> Trouble:
    """A device that could not be read over a new connection after the change has not been proven manageable."""
    lost = fabric.not_read(evidence["after"])
    findings = [
        {"host": host, "interface": None, "reason": state["error"]["text"], "evidence": "read over a new connection"}
        for host, state in lost.items()
    ]
    return (f"no new connection to {', '.join(lost)}" if lost else ""), findings


def _not_asked(evidence: Mapping[str, Any]) -> Trouble:
    """A host that did not do its part of the probing has not been proven; that it is one of many must not hide it."""
    replies = {**evidence.get("probes", {}), **evidence.get("pings", {})}
    said = {end.partition(":")[0]: str(reply["error"]) for end, reply in replies.items() if reply.get("error")}
    findings = [
        {"host": host, "interface": None, "reason": "it could not be asked to probe", "evidence": text}
        for host, text in said.items()
        if host not in fabric.not_read(evidence["after"])
    ]
    return (f"no probes from {', '.join(f['host'] for f in findings)}" if findings else ""), findings


def _lost_pins(evidence: Mapping[str, Any]) -> Trouble:
    """A pin that had to be set again, a large packet beside the pins, or a guard's problem, stops the wave."""
    findings = []
    for host, state in evidence["after"].items():
        known = _guard_reports(evidence["before"].get(host, {}))
        new = [text for text in _guard_reports(state) if text not in known]
        findings += [{"host": host, "interface": None, "reason": "its guard had to act", "evidence": t} for t in new]
    return (f"guards had to act on {', '.join(f['host'] for f in findings)}" if findings else ""), findings


def _guard_reports(state: Mapping[str, Any]) -> list[str]:
    return [
        f"{what}: {json.dumps(entry, sort_keys=True)}"
        for guard in state.get("guards") or []
        for what in ("repinned", "exposed", "problems")
        for entry in guard.get(what) or []
    ]


def _sessions(run: Run, step: Step, topology: Topology, evidence: Mapping[str, Any]) -> Trouble:
    """Drained links carry nothing, undrained ones have their sessions back, and no other session went down."""
    before, after, ends = evidence["before"], evidence["after"], judged.ends_of(step["changes"])
    preflight, steps, name = run.load("fleet"), run.load("plan")["steps"], step["id"]
    findings = judged.not_drained(preflight, before, after, ends) if step["phase"] == "drain" else []
    findings += judged.not_back(preflight, after, ends) if step["phase"] == "undrain" else []
    known = judged.references(preflight, steps, name, functools.partial(_read_by_gate, run), topology)
    findings += judged.flapped(known, after, judged.expected_down(steps, name, topology))
    return "; ".join(judged.sentences(findings)), findings


def _read_by_gate(run: Run, step: str) -> Mapping[str, Any] | None:
    evidence = run.load(_evidence_of(step))
    return evidence["after"] if evidence else None


def _evidence_of(step: str) -> str:
    return f"gate-{step}"


def _time_left(run: Run, step: Step, _evidence: Mapping[str, Any]) -> Trouble:
    """A step that is confirmed too late is not confirmed at all: say so before devices go back one by one."""
    needed = run.state().get("confirm_seconds", {}).get(step["id"], SPARE_SECONDS)
    armed = [line for line in run.journal.lines() if line["step"] == step["id"] and line["verb"] == "arm"]
    now = datetime.datetime.now(datetime.UTC)
    for line in armed:
        gone = (now - datetime.datetime.fromisoformat(line["time"])).total_seconds()
        if gone > line["data"]["within"] - needed:
            within = line["data"]["within"]
            return f"{gone:.0f} s of {within} s are gone, too late to confirm: raise jumbo_confirm_within", []
    return "", []


def _silent_routers(evidence: Mapping[str, Any], topology: Topology, gate: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not evidence.get("asked"):
        return []
    sizes = gate["ip_mtus"]
    return too_big.silent_routers(
        topology, evidence["after"], evidence["asked"], evidence["too_big"], max(sizes), min(sizes)
    )


def baseline(topology: Topology, states: Mapping[str, Any], accesses: Mapping[str, Access], ip_mtu: int) -> list[str]:
    """Prove that packets of the old size cross the fabric today, in DF probes; return what does not, as sentences.

    Each host asks the next one in its segment and one in the next segment: every leaf, and every leg between
    neighbouring leafs, is crossed both ways. Raises NotReadAgain where a device cannot be read over a new connection.
    """
    pairs = topology.sample_pairs()
    if not pairs:
        return []
    gate = {"name": "baseline", "pairs": pairs, "ip_mtus": [ip_mtu], "flows": BASELINE_FLOWS}
    step = {"id": "preflight.baseline", "changes": [], "gate": gate}
    evidence = Measurement(topology, states, accesses, 0).of(step)
    lost = fabric.not_read(evidence["before"]) | fabric.not_read(evidence["after"])
    if lost:
        raise NotReadAgain({host: state["error"] for host, state in lost.items()}, KEPT_OPEN)
    result = gates.judge(step, evidence, topology)
    if result.verdict == "success":
        return []
    return [result.actual, *(summary.finding_line(dict(finding), evidence=True) for finding in result.findings)]
