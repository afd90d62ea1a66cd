"""Acts of somebody who is logged in, over NETCONF or on the command line: each is recorded, each locks the device."""

from __future__ import annotations

import time
from collections.abc import Iterable

from .database import DEFAULT_CONFIRM_MINUTES, Session
from .device import JunosDevice
from .errors import Complaint
from .load import Edit


class NoReply(Exception):
    """The request gets no answer, whatever became of it."""


class Login:
    """One session and what it may do."""

    def __init__(self, device: JunosDevice, user: str, client: str) -> None:
        self.device = device
        self.session = Session(user, client, device.now())

    @property
    def user(self) -> str:
        """The user's name."""
        return self.session.user

    def take_lock(self) -> None:
        """Lock the candidate."""
        with self.device.lock:
            self.device.database.take_lock(self.session)
            self._record("lock", "lock")

    def unlock(self) -> None:
        """Give the lock back."""
        with self.device.lock:
            self.device.database.unlock(self.session)
            self._record("unlock", "unlock")

    def open_private(self) -> None:
        """Get a candidate of one's own."""
        with self.device.lock:
            self.device.database.open_private(self.session)
            self._record("session-open", "configure private")

    def close_private(self) -> None:
        """Throw it away."""
        with self.device.lock:
            self.device.database.close_private(self.session)
            self._record("session-abort", "close private")

    def load(self, edits: Iterable[Edit], words: str, *, override: bool = False) -> list[Complaint]:
        """Load into the candidate; returns warnings."""
        with self.device.lock:
            warnings = self.device.database.load(self.session, edits, override=override)
            self._record("load", words)
            return warnings

    def load_rollback(self, number: int) -> None:
        """Load an older configuration."""
        with self.device.lock:
            self.device.database.load_rollback(self.session, number)
            self._record("discard" if number == 0 else "load", f"rollback {number}")

    def check(self) -> None:
        """Do a `commit check`, which also confirms."""
        with self.device.committing:
            with self.device.lock:
                self._record(self.device.database.check(self.session), "commit check")
            self.device.notify()

    def commit(self, *, minutes: int | None = None, confirmed: bool = False, log: str = "") -> None:
        """Commit; raises NoReply where that is what shall go wrong."""
        device = self.device
        if confirmed and minutes is None:
            minutes = DEFAULT_CONFIRM_MINUTES
        with device.committing:
            if minutes is None and device.trouble.lose_confirms and device.database.only_confirms(self.session):
                raise NoReply
            if device.hardware.commit_seconds:
                time.sleep(device.hardware.commit_seconds)  # others may read meanwhile
            with device.lock:
                kind = device.database.commit(self.session, minutes=minutes, log=log)
                self._record(kind, "commit" + (f" confirmed {minutes}" if minutes is not None else ""))
        device.notify()
        if kind == "commit-timer" and device.trouble.lose_commit_reply:
            device.trouble.lose_commit_reply = False
            raise NoReply

    def leave(self) -> None:
        """End the session."""
        with self.device.lock:
            self.device.database.leave(self.session)

    def _record(self, kind: str, command: str) -> None:
        self.device.record(self.session.user, kind, command)
