"""Which hosts change together, in which phases, and when a wave may go on: the state that plays share.

The state (state.json) is plain data:

    {"rollout", "verdict",                              # "passed" lets later plays go on, see run.GO
     "check_mode", "plan_only",                         # dry: check mode, or only a plan; the latter in any mode
     "stages": {name: {"verdict", "started", "ended", "waves": [{"hosts": [...], "phases": {phase: step id}}]}},
     "wave": {"stage", "index", "hosts", "phases": {phase: {"applied": bool, "confirmed": bool}}} or None,
     "waits": None or {"stage", "steps", "sentence"},    # the stage that a person has to approve first; `steps` is null
                                                        # where it waits for its window
     "gates": [...], "findings": [...], "troubles": {host: {"unreachable": bool, "message"}}}

Everything fails closed: what was not recorded as passed has not passed.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import PHASES

GO = "passed"
"""The verdict with which later plays go on. Opening a wave takes it away; only a wave that passed gives it back."""

GOOD = ("planned", "passed", "soaking")
"""The verdicts with which a run exits 0."""

NOBODY = ["!all"]
"""A host pattern that matches no host and is no error."""

CONDUCTED = ("reload", "drain", "link", "undrain", "soak", "persist")
"""Phases that one process conducts on all their devices at once; the others are per-host tasks in serial batches."""

SERIAL: Mapping[str, tuple[str, ...]] = {"fabric": ("lift",), "lower": ()}
"""The phases that the batches of a stage have tasks for, where these are not all; waves with others are conducted."""

State = dict[str, Any]
Step = Mapping[str, Any]


def stages_of(steps: Iterable[Step]) -> dict[str, dict[str, Any]]:
    """Return the stages of a plan with their waves, in the plan's order."""
    stages: dict[str, dict[str, Any]] = {}
    for step in steps:
        waves = stages.setdefault(step["stage"], {"verdict": None, "started": None, "ended": None, "waves": []})[
            "waves"
        ]
        if not waves or waves[-1]["number"] != step["wave"]:
            waves.append({"number": step["wave"], "hosts": [], "phases": {}})
        waves[-1]["phases"][step["phase"]] = step["id"]
        waves[-1]["hosts"] += [host for host in hosts_of(step) if host not in waves[-1]["hosts"]]
    return stages


def before(stages: Mapping[str, Any], stage: str) -> dict[str, Any]:
    """Return the stages that come before one."""
    names = list(stages)
    return {name: stages[name] for name in names[: names.index(stage)]}


def hosts_of(step: Step) -> list[str]:
    """Return the hosts that a step changes or, where it only measures, those it measures from; each once, in order."""
    hosts = [change["host"] for change in step["changes"]]
    if not hosts and step["gate"]:
        hosts = [pair[0].split(":")[0] for pair in step["gate"]["pairs"]]
    return list(dict.fromkeys(hosts))


def play_of(state: State, stage: str) -> dict[str, Any]:
    """Return what plays over a stage need; where there is nothing to do, or something failed, no host matches.

    {"hosts", "serial": batch sizes, "conducted": {"hosts", "waves": indexes}}: `conducted` are the waves whose steps
    are conducted as one, the rest are serial batches.
    """
    waves = state.get("stages", {}).get(stage, {"waves": []})["waves"] if state["verdict"] == GO else []
    conducted = conducted_waves(stage, waves)
    serial = [wave["hosts"] for index, wave in enumerate(waves) if index not in conducted]
    return {
        "hosts": [host for hosts in serial for host in hosts] or NOBODY,
        "serial": [len(hosts) for hosts in serial] or [1],
        "conducted": {
            "hosts": list(dict.fromkeys(host for index in conducted for host in waves[index]["hosts"])) or NOBODY,
            "waves": conducted,
        },
    }


def conducted_waves(stage: str, waves: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the waves that are conducted; they run before the serial ones, in order.

    A host is in one batch of a play at most. Where waves share hosts (a rack with two segments), where a serial wave
    would come before a conducted one, or has no host, all of the stage is conducted. So is the stage that lowers: its
    steps have an order across hosts.
    """
    batches = SERIAL.get(stage, PHASES)
    conducted = [
        index
        for index, wave in enumerate(waves)
        if set(wave["phases"]) & set(CONDUCTED) or set(wave["phases"]) - set(batches)
    ]
    serial = [index for index in range(len(waves)) if index not in conducted]
    hosts = [host for index in serial for host in waves[index]["hosts"]]
    shared = len(hosts) != len(set(hosts)) or any(not waves[index]["hosts"] for index in serial)
    mixed = bool(conducted) and bool(serial) and min(serial) < max(conducted)
    return list(range(len(waves))) if shared or mixed else conducted


def open_wave(state: State, stage: str, batch: Sequence[str]) -> bool:
    """Begin the wave that this batch of hosts is; the verdict becomes `running` until it is closed as passed.

    Returns False, and nothing begins, where something before has not passed: the batches of a play were chosen when
    it started.
    """
    if state["verdict"] != GO:
        return False
    conducted = conducted_waves(stage, state["stages"][stage]["waves"])
    for index, wave in enumerate(state["stages"][stage]["waves"]):
        if set(batch) <= set(wave["hosts"]) and index not in conducted and not wave.get("opened"):
            open_numbered_wave(state, stage, index)
            return True
    raise JumboError(
        f"the hosts of this batch are no wave of stage {stage}: {', '.join(batch)}",
        advice="The plan and the play disagree; this is a bug in the playbook.",
    )


def open_numbered_wave(state: State, stage: str, index: int) -> None:
    """Begin a wave by its number in the stage."""
    wave = state["stages"][stage]["waves"][index]
    wave["opened"] = True
    state["verdict"] = "running"
    state["reverted"] = None
    state["stages"][stage].update(started=state["stages"][stage]["started"] or now(), verdict="running")
    state["wave"] = {
        "stage": stage,
        "index": index,
        "hosts": list(wave["hosts"]),
        "steps": dict(wave["phases"]),
        "phases": {phase: {"applied": False, "confirmed": False} for phase in PHASES if phase in wave["phases"]},
    }


def wave_line(state: State) -> str:
    """Return what a person is told when a wave opens."""
    wave = state["wave"]
    number = f"{wave['index'] + 1} of {len(state['stages'][wave['stage']]['waves'])}"
    return f"wave {number}: {', '.join(wave['hosts'])}"


def step_of(state: State, phase: str) -> str | None:
    """Return the id of the open wave's step for a phase, None where there is no such step or no open wave."""
    wave = state.get("wave")
    return wave["steps"].get(phase) if wave else None


def may_apply(state: State, phase: str) -> bool:
    """Tell whether a phase of the open wave may begin: every phase before it is confirmed."""
    wave = state.get("wave")
    if not wave or phase not in wave["phases"]:
        return False
    earlier = [name for name in wave["phases"] if PHASES.index(name) < PHASES.index(phase)]
    return all(wave["phases"][name]["confirmed"] for name in earlier)


def may_confirm(state: State, phase: str) -> bool:
    """Tell whether a phase may be confirmed: its gate has passed."""
    wave = state.get("wave")
    return bool(wave and wave["phases"].get(phase, {}).get("applied"))


def record(state: State, phase: str, what: str, passed: bool) -> None:
    """Write down whether the gate after `applied` or `confirmed` passed."""
    state["wave"]["phases"][phase][what] = passed


def wave_passed(state: State) -> bool:
    """Tell whether every phase of the open wave is confirmed."""
    wave = state.get("wave")
    return wave is not None and all(phase["confirmed"] for phase in wave["phases"].values())


def close_wave(state: State, *, reverted: bool | None) -> None:
    """End the open wave. `reverted`: None where nothing had to be taken back, else whether all of it is read back."""
    wave = state["wave"]
    passed = wave_passed(state) and reverted is None
    state["verdict"] = "passed" if passed else "reverted" if reverted else "failed"
    stage = state["stages"][wave["stage"]]
    last = wave["index"] == len(stage["waves"]) - 1
    if not passed or last:
        stage.update(verdict=state["verdict"], ended=now())
    state["wave"] = None


def not_run(state: State) -> list[str]:
    """Return the waves that a run which calls itself passed has never opened: there must be none."""
    return [
        f"{name}.{wave['number']}"
        for name, stage in state["stages"].items()
        for wave in stage["waves"]
        if not wave.get("opened")
    ]


def stop_before_wave(state: State, reason: str) -> None:
    """End the roll-out before a wave that may not begin now; nothing is pending, nothing failed."""
    state.update(verdict="stopped", reason=reason, wave=None)


def close_wave_soaking(state: State) -> None:
    """End the open wave because its soak outlasts this roll-out; nothing is pending, nothing failed."""
    state["stages"][state["wave"]["stage"]]["verdict"] = "soaking"
    state["verdict"] = "soaking"
    state["wave"] = None


def abandon_wave(state: State, reason: str) -> None:
    """End the open wave without taking anything back: nothing was changed in it, and nothing bad was seen."""
    state["stages"][state["wave"]["stage"]].update(verdict="failed", ended=now())
    state.update(verdict="failed", reason=reason, wave=None)


def steps_to_take_back(state: State) -> list[str]:
    """Return the ids of the steps of this run that a failure of the open wave takes back.

    A rack's wave stands alone: racks that are proven keep what they have. The fabric stage is one whole. (A violation
    in the soak takes back every roll-out that has not been persisted, this one and earlier ones: see mtu_step.)
    """
    wave = state["wave"]
    if wave["stage"] in ("canary", "leaf"):
        return list(wave["steps"].values())
    return [step for each in state["stages"][wave["stage"]]["waves"] for step in each["phases"].values()]


def note_trouble(state: State, host: str, message: str, *, unreachable: bool) -> None:
    """Remember why a host will be failed or unreachable at the end; unreachable wins, the first reason stays."""
    known = state.setdefault("troubles", {}).get(host)
    if known is None or (unreachable and not known["unreachable"]):
        state["troubles"][host] = {"unreachable": unreachable, "message": message}


def note_not_taken_back(state: State, host: str, message: str, *, unreachable: bool) -> None:
    """Remember a host whose changes could not be read back at their old values: a finding as well as a trouble."""
    note_trouble(state, host, message, unreachable=unreachable)
    reason = "it could not be read back at its old values"
    if unreachable:
        reason += "; what it has not confirmed, its own dead-man takes back"
    state["findings"].append({"host": host, "interface": None, "reason": reason, "evidence": message})


def now() -> str:
    """Return the time in UTC, as the evidence writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
