"""One step's commit on EOS: confirmed, or taken back. What is ours goes; what somebody else did stays, and is named.

A commit puts a session's whole configuration in force, and a commit timer that ends puts the whole configuration of
before back: either would undo what others change meanwhile. So every commit and every abort looks at running-config in
its own request, and nothing is saved that was not looked at.
"""

from __future__ import annotations

import time
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos_changes
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Change, Handle
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_api import RUNNING, STARTUP, Session
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_bgp import ADMIN, is_down
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_changes import Values, is_drain, key
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_words import Sessions

TAKES_EFFECT = 10.0
"""Seconds within which BGP must do what is configured."""
BETWEEN_READS = 0.3

AGAIN = "Save it or undo it (nothing is saved for others), then run it again."
BY_HAND = "Whoever has set it decides: lower it by hand if nobody else wants it, then take it back again."


class Step:
    """The changes of a handle, on the device that `session` is logged in to."""

    def __init__(self, session: Session, handle: Handle) -> None:
        self.session = session
        self.name = words.session_name(handle["name"])
        already = handle.get("already", ())  # had the wanted value before us: not ours to take back
        self.changes: Sequence[Change] = [change for change in handle["changes"] if change["object"] not in already]
        self.knows_before = "already" in handle  # a crash leaves neither this nor the digest
        self.digest: str | None = handle.get("digest")
        self.edits: list[str] = []
        self.notes: list[str] = []

    # ------------------------------------------------------------------ committing

    def commit_on_trial(self, within: int, looked: str) -> str:
        """Commit with a timer of `within` seconds; return the digest. Raises unless that made of `looked` what we want.

        What was changed between `looked` and our commit is overwritten by it, and an abort brings it back. What was
        changed after it is in `edits` then: an abort would undo that.
        """
        minutes, seconds = divmod(within, 60)
        timer = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        commit = f"configure session {self.name} commit timer {timer}"
        before, _committed, running = self.session.text([RUNNING, commit, RUNNING])
        overwritten = eos_changes.config_difference(looked, before)
        self.edits = eos_changes.beside_ours(self.changes, looked, running)
        if overwritten and not self.edits:
            self.session.abort(self.name)
            message = "somebody else changed the configuration right before our commit, which is taken back:"
            raise self._error(message, overwritten, AGAIN)
        self.edits += [f"{line} (overwritten by our commit)" for line in overwritten]
        if self.edits:
            raise self._error("somebody else changed the configuration while we committed:", self.edits, AGAIN)
        self.expect("to", self.session.status(self.changes)[1])
        self.await_sessions("to")
        return eos_changes.digest(running, self.changes)

    def confirm(self) -> None:
        """End our timer and save, if running-config is startup-config plus our lines; else take back what is ours."""
        sessions, values = self.session.status(self.changes)
        if sessions.timer != self.name:
            self._expect_confirmed(values)
            return
        if self._others(values, "to"):
            self.take_back()
            self.expect("to", values)
        startup, running = self._commit_plainly()
        self.edits = self._edits(startup, running)
        if self.edits:
            self._lower(*self.session.status(self.changes))  # raises, and names them
        else:
            self.session.save(running)
            self.expect("to", self.session.status(self.changes)[1])

    def _expect_confirmed(self, values: Values) -> None:
        """Raise unless our values are in force and saved: then an earlier confirmation got through after all."""
        if self._others(values, "to"):
            raise self._gone()
        unsaved = eos_changes.config_difference(*self.session.configs())
        if unsaved:
            raise self._error(
                "no commit timer of ours is running, and our values are in force without being saved:",
                unsaved,
                "Take the step back, then run it again.",
            )

    def _commit_plainly(self) -> tuple[str, str]:
        """End our timer for good and save nothing; return startup- and running-config of that moment."""
        try:
            startup, running, _said = self.session.text([STARTUP, RUNNING, f"configure session {self.name} commit"])
        except Unreachable:
            raise
        except JumboError as failure:
            if self.session.status(self.changes)[0].timer == self.name:
                raise
            raise self._gone() from failure
        return startup, running

    def _gone(self) -> JumboError:
        lost = ", and what somebody else had changed went with it:\n" + words.told(self.edits) if self.edits else ""
        return JumboError(
            f"the commit timer of this step is no longer running: EOS has gone back by itself{lost}",
            host=self.session.access.host,
            object=self.name,
            advice="Nothing is pending. Run it again, with a longer jumbo_confirm_within if gates need it.",
        )

    # ------------------------------------------------------------------ taking back

    def take_back(self) -> None:
        """Take what is ours out of running-config and startup-config, and read both back.

        An edit of somebody else that was met on the way is raised when all of that is done, and so is a value that
        may have been there before us.
        """
        self._find_what_was_shut()
        sessions, values = self.session.status(self.changes)
        for name in sessions.open:
            if words.belongs_to(name, self.name):  # a controller that died left it: it was never committed
                self.session.abort(name)
        unproven = self._set_unproven_aside(sessions, values)
        if sessions.timer == self.name:
            self._end_timer(sessions, values)
            sessions, values = self.session.status(self.changes)
            self.await_sessions(
                "from", [change for change in self.changes if values.get(key(change)) == change["from"]]
            )
        self._lower(sessions, values)
        for change in unproven:
            message = f"it has MTU {change['to']}, and nothing on the box shows that this step has set it: it stays"
            raise JumboError(message, host=self._host, object=change["object"], wish=change["from"], advice=BY_HAND)

    def _set_unproven_aside(self, sessions: Sessions, values: Values) -> Sequence[Change]:
        """Leave out, and return, what may have had its value before us, where a crash left no handle that tells.

        A commit of ours shows in its timer or among the completed sessions, and startup-config still has the old value.
        """
        committed = (sessions.timer, *sessions.completed)
        if self.knows_before or any(name and words.belongs_to(name, self.name) for name in committed):
            return ()
        startup, _running = self.session.configs()
        found = [
            change
            for change in self.changes
            if not is_drain(change)  # found by what startup-config has not
            and values.get(key(change)) == change["to"] == eos_changes.persisted(change, startup) != change["from"]
        ]
        self.changes = [change for change in self.changes if change not in found]
        return found

    def _find_what_was_shut(self) -> None:
        """Find the neighbours of drains whose handle was never written."""
        if any(is_drain(change) and "shut" not in change for change in self.changes):
            startup, running = self.session.configs()
            found = [
                eos_changes.made_since(change, startup, running)
                if is_drain(change) and "shut" not in change
                else change
                for change in self.changes
            ]
            self.changes = [change for change in found if not is_drain(change) or change["shut"]]

    def _end_timer(self, sessions: Sessions, values: Values) -> None:
        """Abort our commit, which also undoes what others did since; where they did anything, commit it plainly."""
        if not self.changes:
            advice = words.describe(sessions)["advice"]
            raise JumboError("its commit timer is running", host=self._host, object=self.name, advice=advice)
        startup, running = self.session.configs()
        self.edits = self.edits or self._edits(startup, running) or self._changed_since(values)
        if self.edits:
            self._commit_plainly()
            return
        try:
            last, _aborted = self.session.text([RUNNING, f"configure session {self.name} abort"])
        except Unreachable:
            raise
        except JumboError:
            if self.session.status(self.changes)[0].timer == self.name:
                raise
            return  # EOS was quicker, and has done the same
        lost = eos_changes.config_difference(running, last)
        self.edits = [f"{line} (made at the last moment: EOS took it back with ours)" for line in lost]

    def _lower(self, sessions: Sessions, values: Values) -> None:
        """Write the old value where ours is in force, bring startup-config in line, and raise for edits of others."""
        self.edits = self.edits or self._changed_since(values)
        ours = [c for c in self.changes if c["from"] != c["to"] and values.get(key(c)) == c["to"]]
        if ours:
            self._refuse_timer(sessions)
            self._write_back(ours)
            self.expect("from", self.session.status(self.changes)[1], ours)
            self.await_sessions("from", ours)
            self.notes = [
                f"session {name} of somebody else is open: its commit would bring our values back"
                for name in sessions.open
                if not name.startswith(words.PREFIX)
            ]
        self._clean_startup(sessions)
        if self.edits:
            message = "somebody else changed the configuration; what was ours is taken back, and this is not ours:"
            raise self._error(message, self.edits, AGAIN)

    def _write_back(self, changes: Sequence[Change]) -> None:
        """Open a session, fill and commit it in one request: the less time, the less can be overwritten."""
        name = words.undo_name(self.name, time.time())
        commands = [f"configure session {name}", *eos_changes.config_lines(changes, "from"), "end"]
        try:
            self.session.text([*commands, f"configure session {name} commit"])
        except Unreachable:
            raise
        except JumboError:
            if name in self.session.status(self.changes)[0].open:
                self.session.abort(name)
            raise

    def _clean_startup(self, sessions: Sessions) -> None:
        """Save where startup-config holds a value of ours, unless that would save for somebody else as well."""
        startup, running = self.session.configs()
        if not eos_changes.config_difference(startup, running):
            return
        foreign = eos_changes.beside_ours(self.changes, startup, running)
        if not foreign:
            self._refuse_timer(sessions)
            self.session.save(running)
            return
        held = [
            change["object"]
            for change in self.changes
            if change["from"] != change["to"] == eos_changes.persisted(change, startup)
        ]
        if held:
            message = f"startup-config still holds our change of {', '.join(held)}, and saving would save for others:"
            raise self._error(message, foreign, "Save these lines or undo them, then take it back again.")

    # ------------------------------------------------------------------ looking

    @property
    def _host(self) -> str:
        return self.session.access.host

    def expect(self, side: str, values: Values, changes: Sequence[Change] | None = None) -> None:
        """Raise where an interface has not the value of this side, of all changes or of these."""
        for change, actual in self._others(values, side):
            if changes is None or change in changes:
                advice = "Check who else configures it, and that this port takes an MTU of its own."
                message = f"EOS reports {eos_changes.told_value(change, actual)} after the change"
                raise JumboError(message, host=self._host, object=change["object"], wish=change[side], advice=advice)

    def await_sessions(self, side: str, changes: Sequence[Change] | None = None) -> None:
        """Wait until BGP does what these drains say: sessions are down without routes, or no longer shut down.

        Whether a session is up again depends on the far end as well: that is for a gate to look at.
        """
        wanted = [change for change in (self.changes if changes is None else changes) if is_drain(change)]
        give_up = time.monotonic() + TAKES_EFFECT
        while wanted:
            peers = self.session.peers()
            wrong = next((found for change in wanted for found in _not_as_told(change, change[side], peers)), None)
            if wrong is None:
                return
            if time.monotonic() > give_up:
                interface, message = wrong
                raise JumboError(message, host=self._host, object=interface, advice="Look at `show ip bgp summary`.")
            time.sleep(BETWEEN_READS)

    def _others(self, values: Values, *sides: str) -> list[tuple[Change, Any]]:
        """Return the changes whose interface has the value of none of these sides, each with what it has."""
        now = [(change, values.get(key(change))) for change in self.changes]
        return [(change, value) for change, value in now if value not in {change[side] for side in sides}]

    def _changed_since(self, values: Values) -> list[str]:
        return [
            f"interface {change['object']} has {eos_changes.told_value(change, value)}, "
            f"neither our {change['to']} nor the {change['from']} of before"
            for change, value in self._others(values, "from", "to")
        ]

    def _edits(self, startup: str, running: str) -> list[str]:
        """Return what somebody else changed since our commit: `apply` saw startup- and running-config equal."""
        lines = eos_changes.beside_ours(self.changes, startup, running)
        if not lines and self.digest and self.digest != eos_changes.digest(running, self.changes):
            lines = [f"(not told: what was changed is saved already, startup-config {words.last_saved(startup)})"]
        return lines

    def _refuse_timer(self, sessions: Sessions) -> None:
        """Refuse to write while a commit of somebody else waits: EOS refuses commits then, and a save would keep it."""
        if sessions.timer:
            raise JumboError(
                "a commit that is not of this step waits for its confirmation",
                host=self._host,
                object=sessions.timer,
                advice=words.describe(sessions)["advice"],
            )

    def _error(self, message: str, lines: Iterable[str], advice: str) -> JumboError:
        return JumboError(message + "\n" + words.told(lines), host=self._host, advice=advice)


def _not_as_told(change: Change, drained: bool, peers: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield (interface, sentence) where a session of a drain is not what it should be."""
    for neighbour in change["shut"]:
        address = neighbour["address"]
        peer = peers.get(address) or {}
        if drained and not is_down(peer):
            routes = f"with {peer.get('prefixReceived')} routes"
            yield change["object"], f"the BGP session with {address} is {peer.get('peerState')} {routes}: not drained"
        if not drained and peer.get("peerStateIdleReason") == ADMIN:
            yield change["object"], f"the BGP session with {address} is still shut down"
