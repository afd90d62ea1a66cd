"""One step's commit on EOS: made, looked at, taken back. What is ours goes, what somebody else did stays.

A commit puts a session's whole configuration in force, and a commit timer that ends puts the whole configuration of
before back: both would undo what others change meanwhile (design rule 14). So each looks at running-config in the same
request, and what is found that is not ours is kept and named.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Change, Handle
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_api import RUNNING, STARTUP, Session

KEPT = "Save or undo these lines, or leave them; then run it again."


@dataclass
class Step:
    """The changes of a handle on the device that a session is logged in to.

    `edits` collects what somebody else changed; `digest` is running-config right after our commit, None where the
    handle is a crash's and has no more than name and changes.
    """

    session: Session
    name: str
    changes: Sequence[Change]
    digest: str | None = None
    edits: list[str] = field(default_factory=list)
    lowered: bool = False

    @classmethod
    def of(cls, session: Session, handle: Handle) -> Step:
        """Return the step of a handle."""
        return cls(session, words.session_name(handle["name"]), handle["changes"], handle.get("digest"))

    def error(self, message: str, *, advice: str, lines: Iterable[str] = ()) -> JumboError:
        """Return an error about this step's device; lines of a configuration are told without their secrets."""
        text = words.told([message, *lines]) if lines else message
        return JumboError(text, host=self.session.access.host, advice=advice)

    # ------------------------------------------------------------------ looking

    def strangers(self, mtus: Mapping[str, int | None], *sides: str) -> list[tuple[Change, Any]]:
        """Return the changes whose interface has now none of the values of these sides, each with what it has."""
        return [
            (change, mtus.get(change["object"]))
            for change in self.changes
            if mtus.get(change["object"]) not in {change[side] for side in sides}
        ]

    def expect(self, side: str, mtus: Mapping[str, int | None] | None = None) -> None:
        """Raise where an interface has not the value of this side."""
        now = self.session.status()[1] if mtus is None else mtus
        for change, actual in self.strangers(now, side):
            raise JumboError(
                f"EOS reports MTU {actual} after the change",
                host=self.session.access.host,
                object=change["object"],
                wish=change[side],
                advice="The step is taken back, at once or by its commit timer.",
            )

    def edits_in(self, startup: str, running: str) -> list[str]:
        """Return what somebody else changed since our commit, as far as the two configurations tell."""
        found = words.beside_ours(self.changes, startup, running)
        if not found and self.digest and self.digest != words.digest(running):
            found = [f"(what was changed is saved already: startup-config {words.last_saved(startup)})"]
        return found

    def changed_since(self, mtus: Mapping[str, int | None]) -> list[str]:
        """Return a line for each interface of ours that somebody has set to a value that is not ours."""
        return [
            f"interface {change['object']} has MTU {actual}, neither our {change['to']} nor the {change['from']} before"
            for change, actual in self.strangers(mtus, "from", "to")
        ]

    # ------------------------------------------------------------------ committing

    def commit_on_trial(self, within: int) -> tuple[str, str, str]:
        """Commit with a timer; return running-config right before it, and startup- and running-config right after."""
        minutes, seconds = divmod(within, 60)
        timer = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        commit = f"configure session {self.name} commit timer {timer}"
        before, _, startup, running = self.session.text([RUNNING, commit, STARTUP, RUNNING])
        return before, startup, running

    def commit_plainly(self) -> tuple[str, str]:
        """End our timer for good, save nothing; return startup- and running-config right before."""
        try:
            startup, running, _ = self.session.text([STARTUP, RUNNING, f"configure session {self.name} commit"])
        except Unreachable:
            raise
        except JumboError as failure:
            if self.session.status()[0].timer == self.name:
                raise
            raise self.gone() from failure
        return startup, running

    def gone(self) -> JumboError:
        """Return the error of a timer that is over, with what it took along."""
        return JumboError(
            "the commit timer of this step is no longer running: EOS has gone back by itself"
            + (", and took along:\n" + words.told(self.edits) if self.edits else ""),
            host=self.session.access.host,
            object=self.name,
            advice="Nothing is pending. Run it again, with a longer jumbo_confirm_within if gates need it.",
        )

    # ------------------------------------------------------------------ taking back

    def take_back(self) -> None:
        """Take back what is ours, from running-config and startup-config, and read both back.

        Raises when all of that is done and somebody else's edit was met on the way.
        """
        sessions, mtus = self.session.status()
        if sessions.timer == self.name:
            self._end_timer(mtus)
        for name in sessions.open:
            if words.belongs_to(name, self.name):
                self.session.abort(name)
        self.lower()

    def lower(self) -> None:
        """Write the old values where the new ones are in force, save if only that is to be saved, read back."""
        sessions, mtus = self.session.status()
        if not self.edits:
            self.edits = self.changed_since(mtus)
        ours = [change for change in self.changes if mtus.get(change["object"]) == change["to"] != change["from"]]
        if ours:
            self._refuse_timer_of_others(sessions.timer)
            self._write_back(ours)
            mtus = self.session.status()[1]
        for change, actual in self.strangers(mtus, "from"):
            if change in ours:
                self.expect("from", {change["object"]: actual})
        self._settle(sessions)
        if self.edits:
            raise self.error(
                "somebody else changed the configuration; what is ours was taken back, theirs was kept:",
                lines=self.edits,
                advice=KEPT,
            )
