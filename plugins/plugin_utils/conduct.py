"""Steps that one process conducts on all their devices: both ends of a link together, and every taking back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Executor, Outcome, everywhere, handles

LOWERING = (("lift",), ("persist",), ("svi", "link"), ("host_link",), ("l2",))
"""The order of taking back (design rules 8 and 9): senders pinned again and read back, their boot configuration, then
hops, then host links, then L2."""

AccessTo = Callable[[str], Access]
Key = tuple[str, str]


def apply_everywhere(
    executor: Executor, accesses: Mapping[str, Access], step: Mapping[str, Any], within: int
) -> list[Outcome]:
    """Apply one step on all of its devices at once."""
    wanted: dict[str, list[Mapping[str, Any]]] = {}
    for change in step["changes"]:
        wanted.setdefault(change["host"], []).append(change)
    return everywhere(lambda item: executor.apply(accesses[item[0]], step["id"], item[1], within), wanted.items())


def confirm_everywhere(executor: Executor, accesses: Mapping[str, Access], step: str) -> list[Outcome]:
    """Confirm one step on all devices that applied it, each from a new connection."""
    assert executor.journal is not None  # noqa: S101 - roll-outs always have one
    found = [(host, handle) for (name, host), handle in handles(executor.journal.lines()).items() if name == step]
    return everywhere(lambda item: executor.confirm(accesses[item[0]], step, item[1]), found)


def take_back(
    journal: Journal, rollout: str, access_to: AccessTo, phases: Mapping[str, str], steps: Iterable[str]
) -> list[Outcome]:
    """Take back what the journal says is applied of these steps, in the lowering order; `phases` is {step id: phase}.

    A sender that cannot be read back as pinned blocks everything after it: the hops stay high, and say so.
    """
    executor = Executor(journal, rollout)
    wanted = set(steps)
    applied = {key: handle for key, handle in handles(journal.lines()).items() if key[0] in wanted}
    done: list[Outcome] = []
    for group in LOWERING:
        keys = [key for key in reversed(list(applied)) if phases[key[0]] in group]
        outcomes = everywhere(lambda key: _revert(executor, access_to, key, applied[key]), keys)
        done += outcomes
        if "lift" in group and not all(outcome.ok for outcome in outcomes):
            return done
    return done


def _revert(executor: Executor, access_to: AccessTo, key: Key, handle: Handle) -> Outcome:
    step, host = key
    return executor.revert(access_to(host), step, handle)


def rollouts(evidence_dir: Path) -> list[Path]:
    """Return the evidence directories below, newest first: those that have a journal and a plan."""
    found = [path.parent for path in evidence_dir.glob("*/journal.jsonl") if not path.parent.is_symlink()]
    return sorted((path for path in found if (path / "plan.json").exists()), key=lambda path: path.name, reverse=True)
