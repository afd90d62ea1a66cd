"""The record of who changed what: the proof that a dry run was one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

# Kinds that change the running-config, the startup-config or a file. The others only prepare or give up.
WRITES = frozenset(
    {
        "commit",
        "commit-timer",
        "confirm",
        "revert",
        "timer-revert",
        "config-line",
        "config-replace",
        "write-startup",
        "write-file",
        "checkpoint",
    }
)
"""`confirm` is also a check that confirms, where a platform's does."""

PREPARES = frozenset(
    {
        "session-open",
        "session-line",
        "session-abort",
        "session-timeout",
        "config-no-change",
        "reboot",
        "clear-counters",
        "lock",
        "unlock",
        "load",
        "discard",
        "commit-check",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the record. `writes`: it changed something that lasts longer than a session."""

    at: float
    user: str
    kind: str
    command: str
    session: str
    writes: bool


class Audit:
    """The record of one device; it survives a reboot of the device."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.entries: list[Entry] = []
        self.on_first_write: Callable[[Entry], None] | None = None

    def record(self, user: str, kind: str, command: str, session: str = "") -> None:
        """Add a line. The first that writes is told to `on_first_write`, after it took effect."""
        first = kind in WRITES and not any(entry.writes for entry in self.entries)
        entry = Entry(self._clock(), user, kind, command, session, kind in WRITES)
        self.entries.append(entry)
        if first and self.on_first_write:
            self.on_first_write(entry)

    def summary(self, open_sessions: list[str], timer: str | None) -> dict[str, Any]:
        """Return the record for a test: entries, whether anything was written, what became of each session."""
        return {
            "entries": [asdict(entry) for entry in self.entries],
            "written": any(entry.writes for entry in self.entries),
            "aborted_sessions": [entry.session for entry in self.entries if entry.kind == "session-abort"],
            "open_sessions": open_sessions,
            "commit_timer": timer,
        }
