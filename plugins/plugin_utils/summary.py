"""What a person is told on the terminal: one line for each thing, in the field's words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import Intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

FIELDS = {
    "ip_mtu": "IP MTU",
    "drained": "drained",
    "route_mtu": "route MTU",
    "persisted": "lift persisted",
    "jumbo": "large frames",
}


def notes_of(plan: Mapping[str, Any], proven: Iterable[str]) -> list[str]:
    """Return every sentence that a person should read before saying yes: clamps, notes, exposures, the proof's own."""
    exposed: dict[str, list[str]] = {}
    for exposure in plan["exposures"]:
        exposed.setdefault(f"{exposure['segment']} up to {exposure['ip_mtu']} bytes", []).append(exposure["class"])
    notes = [clamp["sentence"] for clamp in plan["clamps"]] + list(plan["notes"]) + list(proven)
    notes += [
        f"not bounded by pins once links are raised: {' and '.join(sorted(set(kinds)))} traffic in {where}"
        for where, kinds in exposed.items()
    ]
    return list(dict.fromkeys(notes))


def plan_lines(plan: Mapping[str, Any], notes: Iterable[str], findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the plan in one line per stage, then notes and findings."""
    lines = []
    stages: dict[str, dict[str, set[Any]]] = {}
    for step in plan["steps"]:
        stage = stages.setdefault(step["stage"], {"waves": set(), "hosts": set()})
        stage["waves"].add(step["wave"])
        stage["hosts"].update(change["host"] for change in step["changes"])
    for name, stage in stages.items():
        lines.append(f"{name}: {counted(len(stage['waves']), 'wave')} over {counted(len(stage['hosts']), 'device')}")
    if not plan["steps"]:
        lines.append("everything is at its target already: nothing to do")
    return [*lines, *notes, *(finding_line(f, evidence=True) for f in findings if not f["blocking"])]


def canary_line(intent: Intent, topology: Topology) -> str:
    """Return which rack goes first and why: a misspelt group would choose another one in silence."""
    rack = topology.canary
    if intent.canary:
        return f"the canary is {rack}, the rack of {', '.join(intent.canary)} in the group canary"
    groups = {group for device in intent.devices.values() for group in device.groups}
    similar = difflib.get_close_matches("canary", sorted(groups), n=1)
    hint = f" (there is a group {similar[0]})" if similar else ""
    return f"the canary is {rack}, the smallest rack: no device is in the group canary{hint}"


def change_line(change: Mapping[str, Any]) -> str:
    """Return one change: `leaf1 Vlan10: 1500 -> 9000`."""
    return f"{change['host']} {change['object']}: {what(change)}"


def what(change: Mapping[str, Any]) -> str:
    """Return what a change does to its object."""
    if change["field"] == "ip_mtu":
        return f"{change['from']} -> {change['to']}"
    if change["field"] == "route_mtu":
        pinned = (change["from"] or 0) < change["to"] and change["from"] is not None
        return f"{'lifted to' if pinned else 'routes pinned at'} {change['to']}"
    if change["field"] == "jumbo":
        return "large frames on all of its ports, by a reload"
    if change["field"] == "drained":
        return "drained: its traffic takes other links" if change["to"] else "undrained"
    return "written to the boot configuration" if change["to"] else "taken out of the boot configuration"


def taken_back_lines(acts: Iterable[tuple[Any, Mapping[str, Any]]]) -> list[str]:
    """Return one line for each change that was taken back and read back, and the reason where one was not."""
    lines = []
    for outcome, handle in acts:
        if outcome.ok:
            ends = {"jumbo": ""}  # it stays as it is
            lines += [f"{back_line(c)}{ends.get(c['field'], ', read back')}" for c in reversed(handle["changes"])]
        else:
            lines.append(outcome.message)
    return lines


def ways_back(order: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """Return each host's difference of being taken back, {host: text}: the value now, and the one it gets."""
    found: dict[str, list[str]] = {}
    for host, handle in order:
        for change in (change for change in reversed(handle["changes"]) if change["field"] != "jumbo"):  # stays on
            now, then = (f"{change['object']} {FIELDS[change['field']]} {_told(change[key])}" for key in ("to", "from"))
            found.setdefault(host, []).extend([f"-{now}", f"+{then}"])
    return {host: "\n".join(lines) for host, lines in found.items()}


def _told(value: Any) -> str:
    return "as before the pin" if value is None else str(value)


def back_line(change: Mapping[str, Any]) -> str:
    """Return one change the other way round: `leaf1 Vlan10: 9000 -> 1500`."""
    what_now = f"{change['to']} -> {change['from']}"
    if change["field"] == "route_mtu":
        pinned = f"{'pinned at' if change['from'] and change['from'] < change['to'] else 'lifted to'} {change['from']}"
        what_now = pinned if " " in change["object"] else "routes as they were before the pin"
    if change["field"] == "persisted":
        what_now = "out of the boot configuration"
    if change["field"] == "drained":
        what_now = "undrained" if change["to"] else "drained again"
    if change["field"] == "jumbo":
        return f"{change['host']}: its large frames stay on, which harms nobody; only a second reload would end them"
    return f"{change['host']} {change['object']}: {what_now}"


def finding_line(finding: Mapping[str, Any], *, evidence: bool = False) -> str:
    """Return one finding: where and why, and what was seen if that is asked for."""
    where = ":".join(str(part) for part in (finding["host"], finding["interface"]) if part)
    reason = str(finding["reason"])
    text = f"{where}: {reason}" if where and not reason.startswith(where) else reason
    return f"{text} ({finding['evidence']})" if evidence and finding["evidence"] else text


def found_on_the_way(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the findings of gates and of taking back; preflight has told its own, which say whether they block."""
    return [finding for finding in findings if "blocking" not in finding]


def first_line(text: str) -> str:
    """Return a text's first line; a list that follows it has been told where it was found, and is in the report."""
    first, _newline, more = str(text).partition("\n")
    return f"{first} (each is named above, and in the report)" if more else first


def gate_line(step: str, gate: Mapping[str, Any]) -> str:
    """Return one gate's verdict, with what was found where it is not what was expected."""
    text = f"gate {gate['name']} ({step}): {gate['verdict']}"
    if gate["verdict"] == "success":
        return f"{text} - {gate['expected']}"
    return f"{text}\n  expected: {gate['expected']}\n  found: {gate['actual']}"


def titled(host: str, text: str) -> str:
    """Return a device's own difference under its name."""
    return f"--- {host}\n{text.rstrip()}\n"


def counted(number: int, noun: str) -> str:
    """Return `1 wave` or `3 waves`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
