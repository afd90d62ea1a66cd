"""Configuration sessions and the commit timer, as a state machine over a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .config import Config
from .errors import CliError, runtime

MAX_OPEN = 5
MAX_SAVED = 1
IDLE_SECONDS = 24 * 3600.0  # vendor documentation: an uncommitted session is dropped after 24 hours

PENDING, PENDING_TIMER, COMPLETED = "pending", "pendingCommitTimer", "completed"


class Running(Protocol):
    """What sessions need of the device: its running-config, as one value that is replaced."""

    @property
    def running(self) -> Config:
        """The running-config."""

    def replace_running(self, config: Config) -> None:
        """Put another configuration in force, data plane included."""


@dataclass(slots=True)
class Session:
    """One named session; `config` is its candidate."""

    name: str
    config: Config
    opened_at: float
    user: str
    state: str = PENDING
    completed_at: float = 0.0
    commit_user: str = ""


@dataclass(frozen=True, slots=True)
class CommitTimer:
    """A commit that waits for its confirmation."""

    session: str
    deadline: float
    before: Config


class Sessions:
    """All sessions of one device."""

    def __init__(self, device: Running, clock: Callable[[], float]) -> None:
        self._device = device
        self._clock = clock
        self.known: dict[str, Session] = {}
        self.timer: CommitTimer | None = None

    def names(self, *states: str) -> list[str]:
        """Return the names of the sessions in one of these states."""
        return [name for name, session in self.known.items() if session.state in states]

    def enter(self, name: str, user: str) -> tuple[Session, bool]:
        """Open a session, or go on with one that is pending. True: it is new.

        A new session starts from a snapshot of the running-config.
        """
        found = self.known.get(name)
        if found and found.state == PENDING:
            return found, False
        if found:
            # Re-using the name of a completed session is not confirmed: refused, so that nobody relies on it.
            raise runtime(f"Cannot enter session {name} (already {COMPLETED})")
        if len(self.names(PENDING)) >= MAX_OPEN:
            raise runtime(
                "Maximum number of pending sessions has been reached. "
                "Please commit or abort previous sessions before creating a new one."
            )
        session = Session(name, self._device.running.copy(), self._clock(), user)
        self.known[name] = session
        return session, True

    def open_session(self, name: str) -> Session:
        """Return a pending session; whether EOS opens one for `commit` or `abort` is not confirmed: refused."""
        session = self.known.get(name)
        if session is None:
            raise runtime(f"Session {name} does not exist")
        return session

    def commit(self, name: str, user: str, seconds: int | None = None) -> str:
        """Commit, with a timer or not, or confirm; return which: commit, commit-timer or confirm.

        A commit puts the session's whole configuration in force: whatever others changed since it was opened is
        overwritten (vendor documentation). While a timer runs, other sessions are refused (public discussion of a
        client library); the wording of that refusal is not confirmed.
        """
        session = self.open_session(name)
        if self.timer:
            return self._commit_in_window(session, user, seconds)
        if session.state != PENDING:
            raise runtime(f"Session {name} is already {COMPLETED}")
        before = self._device.running
        self._device.replace_running(session.config.copy())
        self._complete(session, user)
        if seconds is None:
            return "commit"
        session.state = PENDING_TIMER
        self.timer = CommitTimer(name, self._clock() + seconds, before.copy())
        return "commit-timer"

    def _commit_in_window(self, session: Session, user: str, seconds: int | None) -> str:
        assert self.timer is not None  # noqa: S101 - for the type checker, the caller has looked
        if session.name != self.timer.session:
            raise runtime(f"Session {self.timer.session} has a commit timer pending")
        if seconds is not None:
            # Setting a running timer anew is not confirmed: refused.
            raise runtime(f"Session {session.name} has a commit timer pending")
        self.timer = None
        self._complete(session, user)
        return "confirm"

    def _complete(self, session: Session, user: str) -> None:
        session.state, session.completed_at, session.commit_user = COMPLETED, self._clock(), user
        for name in self.names(COMPLETED)[:-MAX_SAVED]:
            if name != session.name:
                del self.known[name]

    def abort(self, name: str) -> bool:
        """Drop a session; True if that took back a commit whose timer was running."""
        session = self.open_session(name)
        if self.timer and self.timer.session == name:
            self._revert()
            return True
        if session.state != PENDING:
            raise runtime(f"Session {name} is already {COMPLETED}")
        del self.known[name]
        return False

    def _revert(self) -> None:
        """Put the whole running-config of before the commit back: edits of others within the window go as well.

        Public syslog samples show it: a configure replace with the timer's own checkpoint.
        """
        assert self.timer is not None  # noqa: S101 - for the type checker, the callers have looked
        timer, self.timer = self.timer, None
        # What a list of sessions shows after a revert is not confirmed: the session is gone, so that nobody can
        # "confirm" what is no longer there.
        self.known.pop(timer.session, None)
        self._device.replace_running(timer.before)

    def tick(self) -> list[tuple[str, str]]:
        """Do what is due; return (event, session) pairs."""
        now = self._clock()
        events: list[tuple[str, str]] = []
        if self.timer and now >= self.timer.deadline:
            events.append(("timer-revert", self.timer.session))
            self._revert()
        for name in self.names(PENDING):
            if now >= self.known[name].opened_at + IDLE_SECONDS:
                del self.known[name]
                events.append(("session-timeout", name))
        return events

    def deadline(self) -> float | None:
        """Return when `tick` has something to do next."""
        due = [self.known[name].opened_at + IDLE_SECONDS for name in self.names(PENDING)]
        if self.timer:
            due.append(self.timer.deadline)
        return min(due, default=None)

    def clear(self) -> None:
        """Forget everything, as a reboot does."""
        self.known.clear()
        self.timer = None


def parse_timer(text: str) -> int:
    """Read hh:mm:ss, the only form that vendor documentation has; zero is refused."""
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    total = hours * 3600 + minutes * 60 + seconds
    if not total or minutes >= 60 or seconds >= 60:  # noqa: PLR2004 - sixty is sixty
        raise CliError(f"Invalid input (at token 0: '{text}')")
    return total
