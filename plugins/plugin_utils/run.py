"""The roll-out that this ansible-playbook process conducts: its evidence, and what plays hand to each other."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible import constants
from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.lock import Lock
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain

POINTER = "jumbo-rollout"
"""A file in Ansible's own temporary directory, which belongs to one ansible-playbook process and is removed with it.
It tells every worker and every lookup of that process which evidence directory is theirs."""

DIFFERENCES = "differences"
"""The file with each device's own difference, {host: text}; only a dry run has it."""

PLANNED = ("plan", "intent")
"""The files that say what a roll-out is about."""


class Run:
    """One roll-out: `<evidence dir>/<id>/` with state.json, plan.json, fleet.json, intent.json and journal.jsonl."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = Lock(path.parent / "lock")
        self.journal = Journal(path / "journal.jsonl", fence=self.lock.require_ours)

    @property
    def id(self) -> str:
        """Return the roll-out's id, the name of its directory: time in UTC and four random characters."""
        return self.path.name

    @classmethod
    def current(cls) -> Run | None:
        """Return the run of this ansible-playbook process, None where none was opened."""
        try:
            return cls(Path(_pointer().read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    @classmethod
    def required(cls) -> Run:
        """Return the run of this process; JumboError where a play forgot to open one."""
        run = cls.current()
        if run is None:
            raise JumboError(
                "no roll-out is open in this ansible-playbook process",
                advice="Call jumbo.fabric.rollout_journal with state: opened first, as playbooks/rollout.yml does.",
            )
        return run

    @classmethod
    def open(cls, evidence_dir: Path, *, process: int, exclusive: bool) -> Run:
        """Make a new evidence directory and take the lock (if `exclusive`) for the process `ansible-playbook`."""
        identifier = f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
        run = cls(evidence_dir.resolve() / identifier)
        try:
            run.path.mkdir(parents=True, mode=0o700)
        except OSError as error:
            raise JumboError(
                f"cannot write evidence: {error.strerror}",
                object=str(run.path),
                variable="jumbo_evidence_dir",
                wish=str(evidence_dir),
            ) from None
        if exclusive:
            run.lock.take(identifier, process)
        _pointer().write_text(str(run.path), encoding="utf-8")
        return run

    def close(self, *, publish: bool) -> None:
        """Give the lock back; `latest` leads here, unless this was a dry run."""
        if publish:
            link = self.path.parent / f".latest-{self.id}"
            link.symlink_to(self.id)
            os.replace(link, self.path.parent / "latest")
        self.lock.release(self.id)

    def load(self, name: str) -> Any:
        """Return the content of `<name>.json`, None where it is not there."""
        try:
            return json.loads((self.path / f"{name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def save(self, name: str, value: Any, *, indent: int | None = 1) -> Path:
        """Write `<name>.json` in one move: a reader sees the old file or the new one."""
        path = self.path / f"{name}.json"
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(to_plain(value), file, indent=indent)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
        return path

    def note_plan(self) -> None:
        """Write into the journal what this roll-out was planned with: later ones act on these files."""
        digests = {name: self.digest(name) for name in PLANNED}
        self.journal.write(step="rollout", host="", event="done", verb="plan", data=digests)

    def digest(self, name: str) -> str | None:
        """Return the SHA-256 of `<name>.json`, None where it is not there."""
        try:
            return hashlib.sha256((self.path / f"{name}.json").read_bytes()).hexdigest()
        except FileNotFoundError:
            return None

    def verify(self) -> None:
        """Raise JumboError where the journal, or the plan that belongs to it, is not what was written."""
        for line in self.journal.lines():
            if line["verb"] != "plan":
                continue
            for name in PLANNED:
                if self.digest(name) != line["data"][name]:
                    raise JumboError(
                        f"{name}.json is not the one that the journal of this roll-out was written with",
                        object=str(self.path),
                        advice="Bring back the untouched evidence: what is applied is taken back by it.",
                    )

    def is_dry(self) -> bool:
        """Tell whether nothing may be written but this run's evidence: check mode, or a plan only."""
        return bool(self.state().get("check_mode"))

    def state(self) -> dict[str, Any]:
        """Return what plays share; the keys are in plugin_utils/waves.py."""
        return dict(self.load("state") or {"verdict": "running"})

    def update(self, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Change the shared state. Only run_once actions do: there is one writer at a time."""
        state = self.state()
        change(state)
        self.save("state", state)
        return state


def _pointer() -> Path:
    return Path(constants.DEFAULT_LOCAL_TMP) / POINTER
