"""Where a roll-out stands, from its journal alone: how it ended, and what of it must be taken back first.

A step is settled when every host that began it has confirmed it, or has taken it back and read it back. What is neither
is *left*: its devices may be anywhere between the old and the new value, armed or gone back by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import DRAINED, MAKING, handles

Line = Mapping[str, Any]
Key = tuple[str, str]  # (step, host)

ROLLOUT = "rollout"
"""The `step` of journal lines that are about a roll-out as a whole."""

RACK_STAGES = ("canary", "leaf")
"""In these a wave that fails is taken back alone: racks that are proven keep what they have."""

SOAK = "soak"


@dataclass(frozen=True)
class Standing:
    """How one roll-out stands.

    `how`: `finished`; `interrupted` (nobody closed it: killed, crashed, or ended by a signal; or it was to go on after
    another one and got nowhere); `stopped` (waits for a person); `soaking`; `unfinished` (closed, and something could
    not be taken back). `left`: what has to be taken back first; `failed`: something had gone wrong, so `left` is all
    that a failure takes back; `soak_failed`: that is everything no soak has ended for, of earlier roll-outs as well.
    `wave` is the last one that was opened.
    """

    how: str
    wave: Mapping[str, Any] | None
    left: tuple[Key, ...]
    failed: bool
    soak_failed: bool
    confirmed: int
    resumes: str | None
    waits: Mapping[str, Any] | None
    approved: frozenset[str]

    @property
    def changed_something(self) -> bool:
        """Tell whether it opened a wave: before that, nothing is changed."""
        return self.wave is not None


def note_opened(journal: Journal, wave: Mapping[str, Any]) -> None:
    """Write down that a wave begins, and which steps it has."""
    data = {"stage": wave["stage"], "hosts": wave["hosts"], "steps": list(wave["steps"].values())}
    journal.write(step=_name(wave), host="", event="intent", verb="open", data=data)


def note_closed(journal: Journal, wave: Mapping[str, Any], verdict: str) -> None:
    """Write down how a wave ended."""
    journal.write(step=_name(wave), host="", event="done", verb="close", data={"verdict": verdict})


def _name(wave: Mapping[str, Any]) -> str:
    return f"{wave['stage']}.{wave['index']}"


def standing(lines: Sequence[Line]) -> Standing:
    """Return where a roll-out stands; `lines` are all of its journal."""
    waves = _waves(lines)
    applied = handles(lines)
    failed = [wave for wave in waves if wave["verdict"] != "passed" and _went_wrong(lines, wave)]
    left = _half_taken_back(lines, applied)
    for wave in waves:
        if wave["verdict"] == "passed":
            continue
        steps = _scope(wave, waves) if wave in failed else _unconfirmed(lines, wave) | _left_drained(lines, wave)
        left |= {key for key in applied if key[0] in steps}
    about = [line for line in lines if line["step"] == ROLLOUT]
    ends = [line["data"] for line in about if line["verb"] == "close" or line["data"].get("by")]
    soak_failed = any(wave["stage"] == SOAK and wave["verdict"] != "reverted" for wave in failed)
    soak_failed = soak_failed and not _is_taken_over(ends)
    return Standing(
        how="interrupted" if _got_nowhere(about, waves) else _how(ends, leaves_something=bool(left) or soak_failed),
        wave=waves[-1] if waves else None,
        left=tuple(key for key in applied if key in left),
        failed=bool(failed),
        soak_failed=soak_failed,
        confirmed=sum(len(applied[key]["changes"]) for key in applied if key not in left),
        resumes=next((line["data"]["of"] for line in about if line["verb"] == "resume" and "of" in line["data"]), None),
        waits=next((line["data"] for line in lines if line["verb"] == "approve" and line["event"] == "intent"), None),
        approved=frozenset(line["step"] for line in lines if line["verb"] == "approve" and line["event"] == "done"),
    )


def _waves(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Return the waves that were opened, in order: {name, stage, hosts, steps, verdict}, verdict None while open."""
    waves: dict[str, dict[str, Any]] = {}
    for line in lines:
        if line["step"] == ROLLOUT:
            continue
        if line["verb"] == "open":
            waves[line["step"]] = {"name": line["step"], **line["data"], "verdict": None}
        elif line["verb"] == "close":
            waves[line["step"]]["verdict"] = line["data"]["verdict"]
    return list(waves.values())


def _went_wrong(lines: Iterable[Line], wave: Mapping[str, Any]) -> bool:
    """Tell whether anything failed in a wave: an act, a gate; or whether its taking back had begun."""
    of_wave = [line for line in lines if line["step"] in wave["steps"]]
    if wave["verdict"] in ("failed", "reverted") and any(line["verb"] in MAKING for line in of_wave):
        return True
    return any(line["verb"] == "revert" or (line["event"] == "done" and _is_bad(line)) for line in of_wave)


def _is_bad(line: Line) -> bool:
    """Tell whether an act failed or a gate did not pass."""
    return bool(line["data"].get("error")) or (line["verb"] == "probe" and line["data"].get("verdict") != "success")


def _scope(wave: Mapping[str, Any], waves: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the steps that a failure of this wave takes back; see waves.steps_to_take_back."""
    if wave["stage"] in RACK_STAGES:
        return set(wave["steps"])
    return {step for one in waves if one["stage"] == wave["stage"] for step in one["steps"]}


def _unconfirmed(lines: Sequence[Line], wave: Mapping[str, Any]) -> set[str]:
    """Return the steps of an undisturbed wave that not every host which began them has confirmed.

    Both ends of a link change together, so a step goes back as a whole. At most the last one is in this state: a step
    begins when the one before is confirmed everywhere.
    """
    begun = {(line["step"], line["host"]) for line in lines if line["verb"] in (*MAKING, "arm")}
    return {step for step, _host in begun - _confirmed(lines) if step in wave["steps"]}


def _confirmed(lines: Iterable[Line]) -> set[Key]:
    return {
        (line["step"], line["host"])
        for line in lines
        if line["verb"] == "confirm" and line["event"] == "done" and not line["data"].get("error")
    }


def _left_drained(lines: Sequence[Line], wave: Mapping[str, Any]) -> set[str]:
    """Return all steps of a wave that has drained links and not undrained them everywhere: it goes back as a whole.

    So what was changed meanwhile is lowered while its links are still drained, and they are undrained in any case.
    """
    drains: dict[bool, set[Key]] = {True: set(), False: set()}
    for line in lines:
        for change in line["data"].get("changes", ()) if line["step"] in wave["steps"] else ():
            if change["field"] == DRAINED:
                drains[bool(change["to"])].add((line["step"], line["host"]))
    done = {host for _step, host in drains[False] & _confirmed(lines)}
    return set(wave["steps"]) if {host for _step, host in drains[True]} - done else set()


def _half_taken_back(lines: Iterable[Line], applied: Mapping[Key, Any]) -> set[Key]:
    """Return what somebody began to take back without having read it back: a failure, or a roll-back, that was cut."""
    begun = {(line["step"], line["host"]) for line in lines if line["verb"] == "revert"}
    return begun & set(applied)


def _got_nowhere(about: Iterable[Line], waves: Sequence[Any]) -> bool:
    """Tell whether a roll-out that was to go on after another one was refused before its first wave."""
    told = [line["data"] for line in about]
    went_on = any("of" in data and data["how"] == "resumed" for data in told)
    return went_on and not waves and any(data.get("verdict") == "failed" for data in told) and not _is_taken_over(told)


def _is_taken_over(told: Iterable[Mapping[str, Any]]) -> bool:
    return any("by" in data for data in told)


def _how(ends: Sequence[Mapping[str, Any]], *, leaves_something: bool) -> str:
    """Judge by how the roll-out was closed, or taken over `by` a later one."""
    if not ends:
        return "interrupted"
    if leaves_something:
        return "unfinished"
    verdict = str(ends[-1].get("verdict"))
    return verdict if verdict in ("stopped", "soaking") and "by" not in ends[-1] else "finished"
