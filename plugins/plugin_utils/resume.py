"""What a new roll-out does about those before it that did not come to their end.

A roll-out that goes on after another says so in both journals: `resume` with `of` in its own, with `by` in the other's.
So a chain of interrupted and continued roll-outs is known as one, for its approvals, its soak and its way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import natural_key
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_values import LISTS
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import conduct, fabric, past, soak, summary
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Outcome
from ansible_collections.jumbo.fabric.plugins.plugin_utils.report import write_report
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run
from ansible_collections.jumbo.fabric.plugins.plugin_utils.standing import ROLLOUT, Standing, standing

SHAPE = tuple(name for name in LISTS if name not in ("jumbo_waivers", "jumbo_control_sessions"))
"""The variables that say what fabric it is; sizes, waves, waits and waivers may differ from one attempt to the next."""

Acts = list[tuple[Outcome, Handle]]


@dataclass(frozen=True)
class Earlier:
    """One roll-out of the evidence directory and where it stands."""

    run: Run
    stands: Standing

    @property
    def counts(self) -> bool:
        """Tell whether it stands between this run and what was before: a wave, a wait, one it goes on after."""
        stands = self.stands
        return stands.changed_something or stands.how == "stopped" or stands.resumes is not None


def earlier(run: Run) -> list[Earlier]:
    """Return all other roll-outs of this run's evidence directory, newest first; raises where a journal is damaged."""
    return [Earlier(one, standing(one.journal.lines())) for one in past.all_runs(run.path.parent) if one.id != run.id]


def still_open(found: Iterable[Earlier]) -> list[Earlier]:
    """Return those that did not come to their end, newest first: the last that counts, and all that left something."""
    counting = [one for one in found if one.counts]
    return [
        one
        for index, one in enumerate(counting)
        if one.stands.how != "finished" and (index == 0 or one.stands.left or one.stands.soak_failed)
    ]


def chain(run: Run) -> list[Run]:
    """Return this run and those that it goes on after, newest first."""
    found = [run]
    while (of := standing(found[-1].journal.lines()).resumes) and (run.path.parent / of).is_dir():
        found.append(Run(run.path.parent / of))
    return found


def approvals(run: Run) -> tuple[set[str], dict[str, str]]:
    """Return the stages that a person has approved in this chain, and those that wait: {stage: digest of its steps}."""
    approved: set[str] = set()
    waits: dict[str, str] = {}
    for one in chain(run):
        stands = standing(one.journal.lines())
        approved |= stands.approved
        if stands.waits:
            waits.setdefault(stands.waits["stage"], stands.waits["steps"])
    return approved, waits


def soaking(run: Run) -> Run | None:
    """Return the roll-out whose soak this one goes on with."""
    return next((one for one in chain(run)[1:] if soak.until(one.journal.lines())), None)


def refuse_other_inventory(one: Run, inventory: Mapping[str, Any]) -> None:
    """Refuse to act on a roll-out of another fabric: its steps and their order belong to the inventory of then."""
    then = one.load("intent")
    if then is None:
        return  # it ended before it had a plan
    differences = _differences(then, inventory)
    if differences:
        raise JumboError(
            f"roll-out {one.id} is not finished, and was planned for another inventory: {'; '.join(differences)}",
            object=str(one.path),
            variable="jumbo_resume",
            advice="Use its inventory, or an own jumbo_evidence_dir for each fabric. If this is the same fabric, "
            f"described anew: rollback.yml -e jumbo_rollout={one.id} takes it back, jumbo_resume: new leaves it alone.",
        )


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    found = []
    for what, hosts in (("gone", set(then) - set(now)), ("new", set(now) - set(then))):
        if hosts:
            found.append(f"{what}: {', '.join(sorted(hosts))}")
    both = sorted(set(then) & set(now))
    other = [host for host in both if then[host]["platform"] != now[host]["platform"]]
    if other:
        found.append(f"another platform: {', '.join(other)}")
    changed = [name for name in SHAPE if any(_value(then, host, name) != _value(now, host, name) for host in both)]
    if changed:
        found.append(f"{', '.join(changed)} changed")
    return found


def _value(inventory: Mapping[str, Any], host: str, name: str) -> Any:
    return inventory[host]["variables"].get(name)


def where(one: Earlier) -> list[str]:
    """Return where a roll-out stands, for a person."""
    stands = one.stands
    wave = f" in {stands.wave['name']}" if stands.wave else ""
    said = {
        "interrupted": f"was interrupted{wave}" if wave else "ended before it changed anything",
        "unfinished": f"ended{wave} and could not take everything back",
        "stopped": f"waits for approval of stage {stands.waits['stage']}" if stands.waits else "waits for its window",
        "soaking": f"is soaking until {soak.until(one.run.journal.lines())}",
        "finished": "is finished",
    }[stands.how]
    lines = [f"roll-out {one.run.id} {said}: {summary.counted(stands.confirmed, 'change')} of it confirmed"]
    steps = list(dict.fromkeys(step for step, _host in stands.left))
    for step in steps:
        hosts = ", ".join(sorted((host for name, host in stands.left if name == step), key=natural_key))
        lines.append(f"not confirmed, or not read back: {step} on {hosts}")
    return lines


def take_back_left(one: Earlier, access_to: conduct.AccessTo) -> Acts:
    """Take back what a roll-out left, in the lowering order; after a failed soak, all that no soak has ended for."""
    if one.stands.soak_failed:
        return past.take_back_runs(past.unproven(one.run.path.parent, one.run.id), access_to)
    left = {step for step, _host in one.stands.left}
    if not left:
        return []
    phases = {step["id"]: step["phase"] for step in one.run.load("plan")["steps"] if step["id"] in left}
    _intent, topology = fabric.intent_of(one.run)
    return conduct.take_back(one.run.journal, one.run.id, access_to, phases, topology, only=set(one.stands.left))


def whole(found: Sequence[Earlier]) -> list[Run]:
    """Return these roll-outs with all they went on after, newest first, as far as anything of them is applied."""
    runs = {one.id: one for each in found for one in chain(each.run)}
    return [runs[name] for name in sorted(runs, reverse=True) if past.applied(runs[name])]


def affected(found: Iterable[Earlier]) -> set[str]:
    """Return the hosts that taking back what is left touches."""
    hosts = {host for one in found for _step, host in one.stands.left}
    failed = [one for one in found if one.stands.soak_failed]
    for one in failed:
        hosts |= {host for each in past.unproven(one.run.path.parent, one.run.id) for _s, host in past.applied(each)}
    return hosts


def note_taken_over(run: Run, found: Sequence[Earlier], how: str) -> None:
    """Write into both journals that this run has dealt with earlier ones; `how`: resumed or reverted.

    Its own first: killed in between, this run is the one to go on after, and nothing is left of the others.
    """
    data = {"of": found[0].run.id, "how": how}
    run.journal.write(step=ROLLOUT, host="", event="done", verb="resume", data=data)
    for one in found:
        note_taken_over_by(one.run, run, how)


def note_taken_over_by(one: Run, run: Run, how: str) -> None:
    """End an earlier roll-out in its own journal; one that was killed gets the report that it could not write."""
    one.journal.write(step=ROLLOUT, host="", event="done", verb="resume", data={"by": run.id, "how": how})
    if one.load("report") is None:
        reason = f"nobody has ended it: it was killed, and is {how} by {run.id}"
        one.update(lambda state: state.update(verdict="stopped", reason=reason, wave=None))
        write_report(one)


def harmless(found: Sequence[Earlier]) -> list[str]:
    """Return what is to be said of the last roll-out where it was cut before it changed anything."""
    last = next(iter(found), None)
    if last is None or last.stands.how != "interrupted" or last.stands.changed_something:
        return []
    if any(line["step"] == ROLLOUT and line["verb"] == "revert" for line in last.run.journal.lines()):
        return [f"roll-back {last.run.id} was interrupted: rollback.yml takes back the rest, this raises it again"]
    return where(last)
