"""The roll-outs of an evidence directory, as their journals tell: what is still applied, and taking all of it back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.conduct import AccessTo, take_back
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Outcome, handles
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run


def all_runs(evidence_dir: Path) -> list[Run]:
    """Return every roll-out with a plan in an evidence directory, newest first; one that cannot be read is an error."""
    found = []
    for path in sorted(
        (path for path in evidence_dir.iterdir() if path.is_dir() and not path.is_symlink()), reverse=True
    ):
        try:
            if (path / "plan.json").exists():
                found.append(Run(path))
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


def is_persisted(run: Run) -> bool:
    """Tell whether a roll-out's lifts have passed their soak and are written to boot configurations."""
    return any(
        line["verb"] == "persist" and line["event"] == "done" and not line["data"].get("error")
        for line in run.journal.lines()
    )


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
