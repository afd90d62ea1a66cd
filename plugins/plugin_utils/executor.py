"""Carrying out plan steps on devices, each act in the journal before and after."""

from __future__ import annotations

import contextvars
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import act_of
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Driver, Handle
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import open_driver

THREADS = 64
"""Devices talked to at once: the work is waiting for the network, so threads, not forks."""

DRAINED = "drained"

MAKING = ("apply", "lift", "persist")
"""The verbs that make changes; `confirm` and `revert` end them."""

CONFIRMING = ("confirm",)

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome:
    """What became of one act on one host; `error` is a JumboError as a dict (see `failed`), None when all went well."""

    host: str
    changed: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Return whether the act was done and read back."""
        return self.error is None

    @property
    def unreachable(self) -> bool:
        """Return whether the device could not be asked at all."""
        return bool(self.error and self.error["unreachable"])

    @property
    def message(self) -> str:
        """Return the error as one sentence, "" when all went well."""
        return str(self.error["text"]) if self.error else ""


def as_jumbo_error(error: Exception, host: str) -> JumboError:
    """Return an error that a user may see; one that nobody foresaw says that the fault is ours, and where it is."""
    if isinstance(error, JumboError):
        return error
    trace = traceback.extract_tb(error.__traceback__)
    where = f"{trace[-1].name}, line {trace[-1].lineno}" if trace else "unknown place"
    return JumboError(
        f"a fault of jumbo.fabric itself: {type(error).__name__}: {error} ({where})",
        host=host,
        advice="Please report it with the output of -vvv.",
    )


def failed(host: str, error: JumboError) -> Outcome:
    """Return the outcome of an act that raised; its error has `text` (one sentence) and `unreachable` as well."""
    facts = {**error.as_dict(), "host": error.host or host, "text": str(error)}
    return Outcome(host, error={**facts, "unreachable": isinstance(error, Unreachable)})


def everywhere(act: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Run `act` on all items at once, in threads, and return the results in the order of the items.

    Ansible keeps task state in context variables: each thread works in a copy of the caller's context.
    """
    wanted = list(items)
    if not wanted:
        return []
    with ThreadPoolExecutor(max_workers=min(THREADS, len(wanted))) as pool:
        futures = [pool.submit(contextvars.copy_context().run, act, item) for item in wanted]
        return [future.result() for future in futures]


class Executor:
    """Acts on devices for one run."""

    def __init__(self, journal: Journal | None, rollout: str) -> None:
        self.journal = journal
        self.rollout = rollout

    def apply(self, access: Access, step: str, changes: Sequence[Change], within: int) -> Outcome:
        """Arm the dead-man (`within` 0: none) and make the changes of a step on one host; the data is a handle."""
        name = f"{self.rollout}-{step}"
        changes = self._with_what_was_shut(access.host, changes)
        intent = {"name": name, "within": within, "changes": [dict(change) for change in changes]}
        verb = act_of(changes)
        if verb == "apply" and within:  # a reload has nothing to arm
            self._write(step, access.host, "intent", "arm", {"name": name, "within": within})

        def act(driver: Driver) -> tuple[bool, Handle]:
            handle = driver.apply(changes, within, name)
            return bool(handle["changed"]), handle

        return self._journaled(access, step, verb, intent, act)

    def _with_what_was_shut(self, host: str, changes: Sequence[Change]) -> Sequence[Change]:
        """Give changes that undrain what their drain has shut down, as its handle in the journal has it."""
        found: list[dict[str, Any]] = [dict(change) for change in changes]
        ours: dict[str, Any] = {}
        if any(change["field"] == DRAINED and not change["to"] for change in found):
            for (_step, other), handle in self.applied().items():
                shut = (change for change in handle["changes"] if change["field"] == DRAINED and change["to"])
                ours.update({change["object"]: change["shut"] for change in shut if other == host and "shut" in change})
        for change in found:
            if change["field"] == DRAINED and not change["to"] and change["object"] in ours:
                change["shut"] = ours[change["object"]]
        return found

    def confirm(self, access: Access, step: str, handle: Handle) -> Outcome:
        """Disarm and persist from a new connection."""
        return self._journaled(access, step, "confirm", {}, lambda driver: (False, driver.confirm(handle)))

    def revert(self, access: Access, step: str, handle: Handle) -> Outcome:
        """Take one step's changes on one host back and read them back."""
        return self._journaled(access, step, "revert", {}, lambda driver: (True, driver.revert(handle)))

    def applied(self) -> dict[tuple[str, str], Handle]:
        """Return what may still be applied, as `handles` does; nothing is known without a journal."""
        return handles(self.journal.lines()) if self.journal is not None else {}

    def _journaled(
        self,
        access: Access,
        step: str,
        verb: str,
        intent: Mapping[str, Any],
        act: Callable[[Driver], tuple[bool, dict[str, Any]]],
    ) -> Outcome:
        self._write(step, access.host, "intent", verb, intent)
        try:
            changed, data = act(open_driver(access))
        except Exception as error:  # noqa: BLE001 - whatever it is, what was begun must be known and taken back
            outcome = failed(access.host, as_jumbo_error(error, access.host))
            known = {"handle": error.handle} if isinstance(error, JumboError) and error.handle else {}
            self._write(step, access.host, "done", verb, {"error": outcome.error, **known})
            return outcome
        self._write(step, access.host, "done", verb, {**data, "changed": changed})
        return Outcome(access.host, changed=changed, data=data)

    def _write(self, step: str, host: str, event: str, verb: str, data: Mapping[str, Any]) -> None:
        if self.journal is not None:
            self.journal.write(step=step, host=host, event=event, verb=verb, data=data)


def handles(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Handle]:
    """Return what the journal says may still be applied: {(step, host): handle}, oldest first.

    An apply that was begun counts, whatever became of it: its intent holds the name and the changes that a revert
    needs, its error what was known of the device by then, and a revert reads the device first. What was taken back and
    read back is not in the result.
    """
    applied: dict[tuple[str, str], Handle] = {}
    for line in lines:
        key = (line["step"], line["host"])
        good = line["event"] == "done" and not line["data"].get("error")
        if line["verb"] in MAKING and (good or line["event"] == "intent"):
            applied[key] = line["data"]
        elif line["verb"] in MAKING and line["data"].get("handle"):
            applied[key] = line["data"]["handle"]
        elif line["verb"] == "revert" and good:
            applied.pop(key, None)
    return applied


def results(lines: Iterable[Mapping[str, Any]], step: str, verbs: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the last `done` of these verbs for each host of a step; a host that never ended is not in it."""
    return {
        line["host"]: line["data"]
        for line in lines
        if line["step"] == step and line["verb"] in verbs and line["event"] == "done"
    }
