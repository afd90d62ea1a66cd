"""The evidence a person or a program reads afterwards: report.json and report.html."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils import summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import MAKING
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run
from jinja2 import Environment

TEMPLATE = Path(__file__).with_name("report.html.j2")


def write_report(run: Run) -> dict[str, Any]:
    """Write both files from the state and the journal, return the report.

    {rollout, inventory, verdict, reason, stages: [{name, verdict, started, ended, changes, gates}], findings}; a change
    is {host, interface, from_ip_mtu, to_ip_mtu, taken_back}, in bytes of IP packet.
    """
    report = report_of(run.state(), run.load("plan") or {"steps": []}, run.journal.lines())
    run.save("report", report)
    html = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE.read_text("utf-8"))
    (run.path / "report.html").write_text(html.render(report=report, what=summary.what), encoding="utf-8")
    return report


def report_of(state: Mapping[str, Any], plan: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the report as plain data."""
    made = _changes(lines)
    stages = []
    for name, stage in state["stages"].items():
        steps = [step["id"] for step in plan["steps"] if step["stage"] == name]
        stages.append(
            {
                "name": name,
                "verdict": stage["verdict"] or "skipped",
                "started": stage["started"],
                "ended": stage["ended"],
                "changes": [change for step in steps for change in made.get(step, [])],
                "gates": [
                    {key: gate[key] for key in ("name", "step", "verdict", "expected", "actual")}
                    for gate in state["gates"]
                    if gate["stage"] == name
                ],
            }
        )
    return {
        "rollout": state["rollout"],
        "inventory": state["inventory"],
        "verdict": state["verdict"],
        "reason": state.get("reason"),
        "started": state["started"],
        "ended": waves.now(),
        "stages": stages,
        "notes": state.get("notes", []),
        "findings": [
            {key: finding.get(key) for key in ("host", "interface", "reason", "evidence")}
            for finding in state["findings"]
        ],
    }


def _changes(lines: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what was really changed: {step id: changes}, those that were taken back marked."""
    made: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if line["event"] != "done" or line["data"].get("error"):
            continue
        if line["verb"] in MAKING and line["data"].get("changed"):
            made.setdefault(line["step"], []).extend(_row(change) for change in line["data"]["changes"])
        if line["verb"] == "revert":
            for row in made.get(line["step"], []):
                row["taken_back"] = row["taken_back"] or row["host"] == line["host"]
    return made


def _row(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "host": change["host"],
        "interface": change["object"],
        "field": change["field"],
        "from_ip_mtu": change["from"],
        "to_ip_mtu": change["to"],
        "taken_back": False,
    }
