"""Candidate, committed configuration, locks, private copies and confirmed commits, as a state machine over a clock."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from .check import problems
from .errors import Complaint, Refused, commit_refused, refused
from .hardware import Hardware
from .load import Edit, apply
from .tree import Tree, copy, normal, replay

DEFAULT_CONFIRM_MINUTES = 10
KEPT = 50  # rollback 0 to 49
AUTOMATIC = "root"
_pids = itertools.count(4711)


@dataclass(slots=True, eq=False)
class Session:
    """Somebody who is logged in. `private`: (what it began with, its own candidate)."""

    user: str
    client: str
    since: float
    pid: int = field(default_factory=lambda: next(_pids))
    touched: float = 0.0
    private: tuple[Tree, Tree] | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of the history. `comment` is Junos's own remark, `log` what the committer said."""

    config: Tree
    at: float
    user: str
    client: str
    number: int
    comment: str = ""
    log: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """A confirmed commit whose time runs: what comes back, and when."""

    before: Tree
    deadline: float
    minutes: int
    user: str


class Device(Protocol):
    """What the database needs of the device."""

    hardware: Hardware

    def committed_changed(self) -> None:
        """Bring everything in line with the committed configuration."""


class Database:
    """The configuration database of one device."""

    def __init__(self, device: Device, clock: Callable[[], float], history: list[Commit]) -> None:
        self._device = device
        self._clock = clock
        self.history = history  # newest first; never empty
        self.candidate = copy(history[0].config)
        self.lock: Session | None = None
        self.editors: list[Session] = []
        self.pending: Pending | None = None

    @property
    def committed(self) -> Tree:
        """The configuration in force; never changed in place."""
        return self.history[0].config

    @property
    def is_dirty(self) -> bool:
        """Tell whether the shared candidate has changes that nobody has committed."""
        return normal(self.candidate) != normal(self.committed)

    # -- who may edit ----------------------------------------------------------------------------------------------

    def take_lock(self, session: Session) -> None:
        """Lock the shared candidate; refused while others hold it, or have left changes in it."""
        self._refuse_foreign_lock(session)
        if self.lock is not session and self.is_dirty:
            raise refused("configuration database modified", tag="lock-denied")
        self.lock = session
        session.touched = self._clock()

    def unlock(self, session: Session) -> None:
        """Give the lock back; what was not committed stays in the candidate."""
        if self.lock is not session:
            raise refused("Configuration database is not open")
        self.lock = None

    def open_private(self, session: Session) -> None:
        """Give a session a candidate of its own."""
        if self.lock is not None:
            self._refuse_foreign_lock(session)
        session.private = (copy(self.committed), copy(self.committed))

    def close_private(self, session: Session) -> None:
        """Throw a private candidate away."""
        session.private = None

    def leave(self, session: Session) -> None:
        """End a session: its lock goes, and with the lock what it did not commit (napalm#746)."""
        if self.lock is session:
            self.candidate = copy(self.committed)
            self.lock = None
        session.private = None
        self.editors = [other for other in self.editors if other is not session]

    def _refuse_foreign_lock(self, session: Session) -> None:
        holder = self.lock
        if holder is not None and holder is not session:
            raise refused("\n" + locked_by(holder, self._clock()), tag="lock-denied")

    # -- editing -----------------------------------------------------------------------------------------------------

    def candidate_of(self, session: Session | None) -> Tree:
        """Return the candidate that a session sees."""
        return session.private[1] if session and session.private else self.candidate

    def load(self, session: Session, edits: Iterable[Edit], *, override: bool = False) -> list[Complaint]:
        """Change the session's candidate, wholly or not at all; return warnings."""
        self._refuse_foreign_lock(session)
        tree, warnings = apply(self.candidate_of(session), list(edits), override=override)
        self._store(session, tree)
        return warnings

    def load_rollback(self, session: Session, number: int) -> None:
        """Put an older configuration into the candidate."""
        self._refuse_foreign_lock(session)
        if not 0 <= number < KEPT:
            raise refused(f"Value {number} is not within range (0..{KEPT - 1})")
        if number >= len(self.history):
            raise refused(f"rollback {number} does not exist")
        self._store(session, copy(self.history[number].config))

    def _store(self, session: Session, tree: Tree) -> None:
        session.touched = self._clock()
        if session.private:
            session.private = (session.private[0], tree)
            return
        self.candidate = tree
        if session not in self.editors:
            self.editors.append(session)

    # -- committing --------------------------------------------------------------------------------------------------

    def check(self, session: Session) -> str:
        """Check the candidate; return `confirm` where that ended a confirmed commit's time, else `commit-check`.

        A check confirms as well (ansible-junos-stdlib#57 relies on it).
        """
        self._refuse_foreign_lock(session)
        self._checked(self.candidate_of(session))
        if self.pending is None:
            return "commit-check"
        self.pending = None
        return "confirm"

    def commit(self, session: Session, *, minutes: int | None = None, log: str = "") -> str:
        """Commit, for a time or for good; return what that was: commit, commit-timer or confirm."""
        self._refuse_foreign_lock(session)
        wanted = self._wanted(session, confirmed=minutes is not None)
        self._checked(wanted)
        before, pending = self.committed, self.pending
        changed = normal(wanted) != normal(before)
        self.pending = None
        self._enter(wanted, session.user, session.client, _comment(minutes), log)
        if session.private:
            session.private = (copy(wanted), copy(wanted))
        if minutes is None:
            return "confirm" if pending and not changed else "commit"
        # Said again without a change it extends the time; with one, only the last commit is taken back.
        back = pending.before if pending and not changed else before
        self.pending = Pending(back, self._clock() + minutes * 60, minutes, session.user)
        return "commit-timer"

    def only_confirms(self, session: Session) -> bool:
        """Tell whether a commit of this session would change nothing but make another stay."""
        return self.pending is not None and normal(self.candidate_of(session)) == normal(self.committed)

    def _wanted(self, session: Session, *, confirmed: bool) -> Tree:
        if not session.private:
            return copy(self.candidate)
        if confirmed:  # 10.3 XML guide; of newer releases nothing is confirmed
            raise refused("commit confirmed is not supported with a private configuration")
        return replay(session.private[0], session.private[1], self.committed)

    def _checked(self, config: Tree) -> None:
        found = problems(normal(config), self._device.hardware)
        if found:
            raise commit_refused(found)

    def _enter(self, config: Tree, user: str, client: str, comment: str, log: str) -> None:
        """Put a configuration in force. The shared candidate follows unless somebody else's changes are in it."""
        follows = not self.is_dirty or normal(config) == normal(self.candidate)
        entry = Commit(normal(config), self._clock(), user, client, self.history[0].number + 1, comment, log)
        self.history = [entry, *self.history][:KEPT]
        if follows:
            self.candidate = copy(entry.config)
        self._device.committed_changed()

    def tick(self) -> bool:
        """Take a confirmed commit back whose time is over; tell whether there was one."""
        if self.pending is None or self._clock() < self.pending.deadline:
            return False
        before, self.pending = self.pending.before, None
        self._enter(before, AUTOMATIC, "other", "", "")
        return True

    def deadline(self) -> float | None:
        """Return when `tick` has something to do next."""
        return self.pending.deadline if self.pending else None


def _comment(minutes: int | None) -> str:
    return f"commit confirmed, rollback in {minutes}mins" if minutes is not None else ""


def locked_by(session: Session, now: float) -> str:
    """Return who holds the database, as Junos says it (napalm#1445, py-junos-eznc#843)."""
    idle = int(now - (session.touched or session.since))
    spent = f"{idle // 3600:02}:{idle // 60 % 60:02}:{idle % 60:02}"
    since = stamp(session.since)
    return (
        f"configuration database locked by:\n  {session.user} terminal  (pid {session.pid}) on since {since}, "
        f"idle {spent}\n      exclusive"
    )


def stamp(at: float) -> str:
    """Return a time as Junos writes it."""
    return datetime.datetime.fromtimestamp(at, tz=datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


__all__ = ["Commit", "Database", "Pending", "Refused", "Session"]
