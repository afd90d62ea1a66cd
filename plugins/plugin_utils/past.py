"""The roll-outs of an evidence directory, as their journals tell: what is still applied, and taking all of it back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.conduct import AccessTo, lowering_groups, take_back
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Outcome, handles
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run


def all_runs(evidence_dir: Path) -> list[Run]:
    """Return every roll-out with a plan in an evidence directory, newest first; one that cannot be read is an error.

    Their journals and plans are what was written (see Journal.lines and Run.verify), or this raises.
    """
    found = []
    for path in sorted(
        (path for path in evidence_dir.iterdir() if path.is_dir() and not path.is_symlink()), reverse=True
    ):
        try:
            if (path / "plan.json").exists() or (path / "journal.jsonl").exists():
                run = Run(path)
                run.verify()
                found.append(run)
        except PermissionError:
            raise JumboError(
                "this roll-out's evidence cannot be read, so what it has applied is not known",
                object=str(path),
                advice="Run it as the user who owns the evidence.",
            ) from None
    return found


def applied(run: Run) -> list[tuple[str, str]]:
    """Return what a roll-out's journal says may still be applied, as (step, host)."""
    return list(handles(run.journal.lines()))


def way_back(run: Run) -> list[tuple[str, Handle]]:
    """Return what `take_back_runs` would take back of one roll-out, as (host, handle), in that order."""
    steps = {step["id"]: step["phase"] for step in run.load("plan")["steps"]}
    _intent, topology = fabric.intent_of(run)
    applied_now = {key: handle for key, handle in handles(run.journal.lines()).items() if key[0] in steps}
    return [
        (host, applied_now[step, host])
        for group in lowering_groups(applied_now, steps, topology)
        for host, its_steps in group.items()
        for step in its_steps
    ]


def is_persisted(run: Run) -> bool:
    """Tell whether a roll-out's lifts have passed their soak and are written to boot configurations."""
    return any(
        line["verb"] == "persist" and line["event"] == "done" and not line["data"].get("error")
        for line in run.journal.lines()
    )


def refuse_unreachable_by_play(hosts: Iterable[str], inventory: Iterable[str], play_hosts: Iterable[str]) -> None:
    """Refuse to take back what this play may not touch as a whole: all of it, or nothing."""
    wanted = set(hosts)
    gone = sorted(wanted - set(inventory))
    if gone:
        raise JumboError(
            f"no longer in the inventory, but raised by these roll-outs: {', '.join(gone)}",
            advice="Put them back for this: what sends large must be pinned before any hop goes down.",
        )
    outside = sorted(wanted - set(play_hosts))
    if outside:
        raise JumboError(
            f"what was raised together is lowered together, and --limit leaves out {', '.join(outside)}",
            advice="Run it without --limit.",
        )


def unproven(evidence_dir: Path, current: str) -> list[Run]:
    """Return the roll-outs that no soak has ended for, with something applied: what a violation takes back."""
    found = [one for one in all_runs(evidence_dir) if not is_persisted(one) or one.id == current]
    return [one for one in found if applied(one)]


def take_back_runs(runs: Iterable[Run], access_to: AccessTo) -> list[tuple[Outcome, Handle]]:
    """Take whole roll-outs back, in the order given (newest first); one that is not read back blocks the rest."""
    done: list[tuple[Outcome, Handle]] = []
    for run in runs:
        steps = {step["id"]: step["phase"] for step in run.load("plan")["steps"]}
        _intent, topology = fabric.intent_of(run)
        acts = take_back(run.journal, run.id, access_to, steps, topology)
        done += acts
        if not all(outcome.ok for outcome, _handle in acts):
            break
    return done
