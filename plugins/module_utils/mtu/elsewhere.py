"""Roll-outs of somebody else's evidence directory, as the devices themselves tell: whose they are, and what they hold.

A lock guards one evidence directory. Two operators with a directory each meet on the devices: every commit timer,
session and guard of ours has the id of its roll-out in its name.
"""

from __future__ import annotations

import re
from typing import Any, Collection, Iterator, Mapping

ROLLOUT_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}")
"""The id of a roll-out, as plugin_utils/run.py makes it."""

_NOT_HERE = "which is not of this evidence directory"

State = Mapping[str, Any]


def other_rollouts(states: Mapping[str, State], known: Collection[str], *, take_over: bool) -> list[dict[str, Any]]:
    """Return findings, in the shape of preflight, about what roll-outs outside of `known` hold on devices.

    What is pending blocks. A guard that is confirmed blocks too, unless `take_over`: then somebody has said that the
    other evidence is lost or no longer counts.
    """
    return [
        finding
        for host, state in states.items()
        for finding in (*_guards(host, state, known, take_over), *_pending(host, state, known))
    ]


def _guards(host: str, state: State, known: Collection[str], take_over: bool) -> Iterator[dict[str, Any]]:
    for rollout, guards in _held(state, known).items():
        by = sorted({str(guard["by"]) for guard in guards if guard.get("by")})
        names = sorted({name for guard in guards for name in guard.get("interfaces") or {}})
        evidence = ", ".join(f"guard {guard['id']} ({guard['verdict']})" for guard in guards)
        armed = any(guard["verdict"] == "armed" for guard in guards)
        advice = "" if take_over else "; run it with that jumbo_evidence_dir, or with jumbo_resume: new if it is lost"
        reason = f"held by roll-out {rollout} of {' and '.join(by) or 'somebody'}, {_NOT_HERE}"
        yield _finding(host, names[0] if len(names) == 1 else None, reason, evidence + advice, armed or not take_over)


def _pending(host: str, state: State, known: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield a pending commit on a device that has no guards: it tells the roll-out, not the operator."""
    pending = state.get("pending") or {}
    rollout = rollout_of(pending.get("name"))
    if pending.get("owner") == "ours" and rollout and rollout not in known and not state.get("guards"):
        yield _finding(host, None, f"pending for roll-out {rollout}, {_NOT_HERE}", str(pending["name"]), True)


def _finding(host: str, interface: str | None, reason: str, evidence: str, blocking: bool) -> dict[str, Any]:
    return {"host": host, "interface": interface, "reason": reason, "evidence": evidence, "blocking": blocking}


def _held(state: State, known: Collection[str]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the guards of a host that still hold something, by roll-outs that are not known here."""
    held: dict[str, list[Mapping[str, Any]]] = {}
    for guard in state.get("guards") or ():
        rollout = rollout_of(guard.get("id"))
        if rollout and rollout not in known and guard.get("verdict") in {"armed", "confirmed"}:
            held.setdefault(rollout, []).append(guard)
    return held


def rollout_of(name: Any) -> str | None:
    """Return the roll-out whose id stands in the name of a session or guard; None for a change outside roll-outs."""
    found = ROLLOUT_ID.search(str(name or ""))
    return found.group() if found else None
