"""One step's commit on Junos: confirmed, or taken back. Only our statements are touched; what others did is named.

A confirmed commit ends with any commit of anybody, and a commit takes everything along that is in the shared candidate.
So everything is done under the lock of a clean candidate, and the history of commits says whose commits there are: ours
have a log that begins with the step's name. A commit without an answer may have been made: the history is read first.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, Sequence, Tuple

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import junos_drains, junos_state
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import junos_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_bgp import is_down
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_session import Session
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import (
    Entry,
    Port,
    Statements,
    is_drain,
)

Values = Dict[Tuple[str, str], Any]
"""{(object, field): the value it has now}."""

TAKES_EFFECT = 10.0
"""Seconds within which what is committed must read back: an interface is deleted and added again for it."""
BETWEEN_READS = 0.5
NOT_MADE = "no commit of this step is in the history: it is not ours, and stays"
REMEMBERED = 50
"""Commits that Junos keeps: the one in force and 49 before it."""
AGAIN = "Read the device again and make a new plan."


def sizes(session: Session) -> dict[str, int | None]:
    """Return the IP MTU that each interface has now."""
    information, ports = session.interfaces(), session.ports or session.read_ports()
    with session.errors():
        return {name: found["ip_mtu"] for name, found in junos_state.interfaces_of(information, ports).items()}


def values(session: Session, changes: Iterable[Change], mtus: Mapping[str, int | None] | None = None) -> Values:
    """Return the value that each object of these changes has now; `mtus`: as `sizes` has told them."""
    ports = session.ports or session.read_ports()
    known = sizes(session) if mtus is None else mtus
    return {
        key(change): junos_drains.drained(change, ports) if is_drain(change) else known.get(change["object"])
        for change in changes
    }


def key(change: Change) -> tuple[str, str]:
    """Return what a change is about."""
    return change["object"], change["field"]


class Step:
    """The changes of a handle, on one box. Every act logs in on its own: a commit may cost the session."""

    def __init__(self, access: Access, handle: Handle) -> None:
        self.access = access
        self.name = words.step_name(handle["name"])
        already = handle.get("already", ())  # had the wanted value before us: not ours to take back
        self.changes: Sequence[Change] = [change for change in handle["changes"] if change["object"] not in already]
        self.is_made = bool(handle.get("changed"))  # else the history of commits says
        self.before: Statements | None = words.unpack(handle["before"]) if "before" in handle else None
        self.notes: list[str] = []

    # ------------------------------------------------------------------ committing

    def commit(self, session: Session, log: str, minutes: int | None, done: Callable[[Sequence[Entry]], bool]) -> None:
        """Commit what the session has loaded; where no answer comes, find out with `done` whether it was made."""
        try:
            session.commit(log, minutes)
        except NoAnswer as failure:
            session.abandon()
            self._find_out(failure, done)

    def _find_out(self, failure: NoAnswer, done: Callable[[Sequence[Entry]], bool]) -> None:
        """Wait until the commit is in the history, or until its session has given the lock back without it."""
        give_up = time.monotonic() + self.access.timeout
        while True:
            with Session(self.access) as session:
                if done(session.history()):
                    return
                if self._is_over(session):
                    if done(session.history()):
                        return
                    raise JumboError(
                        "a commit was not answered, and the history of commits says that it was not made",
                        host=self.access.host,
                        object=self.name,
                        advice="Nothing was changed by it. A slow box needs a longer ansible_command_timeout.",
                    ) from failure
            if time.monotonic() > give_up:
                raise failure
            time.sleep(BETWEEN_READS)

    @staticmethod
    def _is_over(session: Session) -> bool:
        """Tell whether the session that committed is gone: then nobody holds the lock."""
        try:
            session.lock()
        except Unreachable:
            raise
        except JumboError:
            return False
        return True

    def expect(self, side: str, changes: Sequence[Change] | None = None) -> None:
        """Raise unless all changes, or these, read back with the value of this side, from a new connection."""
        give_up = time.monotonic() + TAKES_EFFECT
        wanted = self.changes if changes is None else changes
        with Session(self.access) as session:
            wrong = self._wrong(session, side, wanted)
            while wrong and time.monotonic() < give_up:
                time.sleep(BETWEEN_READS)
                session.read_ports()
                wrong = self._wrong(session, side, wanted)
        for change, message in wrong:
            advice = "An irb unit is held by the smallest port of its VLAN. Check who else configures this interface."
            raise JumboError(message, host=self.access.host, object=change["object"], wish=change[side], advice=advice)

    def _wrong(self, session: Session, side: str, changes: Sequence[Change]) -> list[tuple[Change, str]]:
        """Return the changes that are not in force with the value of this side, each with what is there."""
        found = [
            (change, f"Junos reports {told_value(change, value)} after the commit")
            for change, value in self._others(values(session, changes), side, changes)
        ]
        drains = [change for change in changes if is_drain(change) and change[side]]
        peers = session.peers() if drains and not found else {}
        return found + [(change, said) for change in drains for said in _still_up(change, peers)]

    def _others(self, now: Values, side: str, changes: Sequence[Change] | None = None) -> list[tuple[Change, Any]]:
        found = [(change, now.get(key(change))) for change in (self.changes if changes is None else changes)]
        return [(change, value) for change, value in found if value != change[side]]

    # ------------------------------------------------------------------ confirming

    def confirm(self) -> None:
        """Make the confirmed commit stay, if it is still ours and nobody committed after it."""
        foreign: Sequence[Entry] = ()
        with Session(self.access) as session:
            history = session.history()
            pending = words.seconds_left(history, session.now()) is not None
            if pending and history[0].belongs_to(self.name):
                self._confirm(session)
            else:
                foreign = self._others_confirmed(session, history)
        if foreign:
            self.take_back()
            self._raise_foreign(foreign)
        self.expect("to")

    def _confirm(self, session: Session) -> None:
        wrong = self._others(values(session, self.changes), "to")
        if wrong:
            self._raise_changed(wrong)
        session.lock()  # refused where somebody's changes would be committed with it
        count = len([entry for entry in session.history() if entry.belongs_to(self.name)])

        def done(history: Sequence[Entry]) -> bool:
            return len([entry for entry in history if entry.belongs_to(self.name)]) > count

        self.commit(session, f"{self.name}: confirmed", None, done)

    def _others_confirmed(self, session: Session, history: Sequence[Entry]) -> Sequence[Entry]:
        """Return the commits of others that made ours stay, none where it was ourselves; raises where it is gone."""
        in_force = not self._others(values(session, self.changes), "to")
        foreign = self._foreign_since(history)
        if in_force and (foreign or history[0].belongs_to(self.name)):
            return foreign
        raise JumboError(
            "the confirmed commit of this step is no longer there: Junos has gone back by itself"
            + (", and somebody else committed: " + _told(foreign) if foreign else ""),
            host=self.access.host,
            object=self.name,
            advice="Nothing is pending. Run it again, with a longer jumbo_confirm_within if gates need it.",
        )

    def _foreign_since(self, history: Sequence[Entry]) -> list[Entry]:
        """Return the commits after ours that are not ours, without those by which Junos itself went back."""
        ours = next((position for position, entry in enumerate(history) if entry.belongs_to(self.name)), None)
        later = history[:ours] if ours is not None else []
        return [entry for entry in later if not (entry.user == "root" and entry.client == "other")]

    def _raise_foreign(self, foreign: Sequence[Entry]) -> None:
        raise JumboError(
            "somebody else committed within this step, which made it stay; ours is taken back, theirs is not: "
            + _told(foreign),
            host=self.access.host,
            object=self.name,
            advice="Check what they changed, then run it again.",
        )

    def _raise_changed(self, wrong: Sequence[tuple[Change, Any]]) -> None:
        change, value = wrong[0]
        message = f"the interface has {told_value(change, value)} now, not the {change['to']} of this step"
        raise JumboError(
            message, host=self.access.host, object=change["object"], advice="Check who else configures it."
        )

    # ------------------------------------------------------------------ taking back

    def take_back(self) -> None:
        """Write the old statements where ours are in force, which also ends our confirmed commit; read back."""
        with Session(self.access) as session:
            history = session.history()
            pending = words.seconds_left(history, session.now())
            self._refuse_foreign(history, pending)
            self._lock_to_take_back(session, pending)
            history = session.history()  # a commit that was under way when its controller died held the lock
            ports, mtus = session.read_ports(), sizes(session)
            self._find_what_was_shut(session, history)
            now = values(session, self.changes, mtus)
            foreign = [(change, value) for change, value in self._others(now, "to") if value != change["from"]]
            ours = [change for change in self.changes if now.get(key(change)) == change["to"] != change["from"]]
            if ours and not self._has_committed(history):
                self.notes += [f"{c['object']} has {told_value(c, c['to'])}, and {NOT_MADE}" for c in ours]
                ours = []
            before = self._statements_before(session, history, ours, mtus)
            commands = words.lines(before, words.stated(before, ports))
            if commands or pending is not None:
                self._commit_back(session, commands)
            stays = "somebody else committed meanwhile, and that stays"
            theirs = (entry for entry in self._foreign_since(history) if not entry.is_ours)
            self.notes += [f"{stays}: {entry.who()}" for entry in theirs]
        if ours:
            self.expect("from", ours)
        if foreign:
            self._raise_changed(foreign)

    def _has_committed(self, history: Sequence[Entry]) -> bool:
        """Tell whether this step may have changed the box. A full history may have lost a commit."""
        return self.is_made or len(history) >= REMEMBERED or any(entry.belongs_to(self.name) for entry in history)

    def _refuse_foreign(self, history: Sequence[Entry], pending: int | None) -> None:
        if pending is not None and not history[0].belongs_to(self.name):
            found = words.describe(history, 0, dirty=False)
            message = (
                f"a confirmed commit that is not of this step waits ({pending} s left), and ours would make it stay"
            )
            who = history[0].who()
            raise JumboError(f"{message}: {who}", host=self.access.host, object=self.name, advice=found["advice"])

    def _lock_to_take_back(self, session: Session, pending: int | None) -> None:
        try:
            session.lock()
        except Unreachable:
            raise
        except JumboError as failure:
            if pending is not None:
                failure.advice = f"Junos goes back by itself in {pending} s. {failure.advice or ''}".strip()
            raise

    def _commit_back(self, session: Session, commands: Sequence[str]) -> None:
        if commands:
            session.load(commands)
        count = len([entry for entry in session.history() if entry.belongs_to(self.name)])

        def done(history: Sequence[Entry]) -> bool:
            return len([entry for entry in history if entry.belongs_to(self.name)]) > count

        self.commit(session, f"{self.name}: taken back", None, done)

    def _find_what_was_shut(self, session: Session, history: Sequence[Entry]) -> None:
        """Find the neighbours of drains whose handle was never written: what is shut down since our first commit."""
        if not any(is_drain(change) and "shut" not in change for change in self.changes):
            return
        ports = session.ports
        old = self._ports_before(session, history)
        found = [
            junos_drains.made_since(change, ports if old is None else old, ports)
            if is_drain(change) and "shut" not in change
            else change
            for change in self.changes
        ]
        self.changes = [change for change in found if not is_drain(change) or change["shut"]]

    def _ports_before(self, session: Session, history: Sequence[Entry]) -> Mapping[str, Port] | None:
        """Return what was configured before the first commit of this step, None where it has made none."""
        first = max((entry.number for entry in history if entry.belongs_to(self.name)), default=None)
        if first is None:
            return None
        ports = session.ports
        session.load_rollback(first + 1)
        old = session.read_ports("candidate")
        session.discard()
        session.ports = ports
        return old

    def _statements_before(
        self, session: Session, history: Sequence[Entry], ours: Sequence[Change], mtus: Mapping[str, int | None]
    ) -> Statements:
        """Return the statements to go back to: as the handle has them, as the box remembers them, else as they must be.

        A controller that died in mid-apply left a name and changes; the configuration before our commit is on the box.
        """
        known = {name: mtu for name, mtu in mtus.items() if mtu is not None}
        ports = session.ports
        wanted = words.statements(ours, "from", ports, known)
        objects = {change["object"].partition(".")[0] for change in ours}
        if self.before is not None:
            return {key: value for key, value in self.before.items() if key.interface in objects}
        old = self._ports_before(session, history) if ours else None
        if old is None:
            return wanted
        raised = words.statements(ours, "to", old, {**known, **{change["object"]: change["from"] for change in ours}})
        return words.stated(raised, old)


def _told(entries: Sequence[Entry]) -> str:
    return "; ".join(entry.who() for entry in entries)


def _still_up(change: Change, peers: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each neighbour of a drain whose session is up, or brings routes."""
    for neighbour in change["shut"]:
        address = neighbour["address"]
        peer = peers.get(address) or {}
        if not is_down(peer):
            yield f"the BGP session with {address} is {peer.get('state')} with {peer.get('routes')} routes: not drained"


def told_value(change: Change, value: Any) -> str:
    """Return a value as a sentence has it."""
    if not is_drain(change):
        return f"IP MTU {value}"
    return f"its BGP sessions {_TOLD[value]}"


_TOLD = {True: "shut down", False: "not shut down", None: "shut down in part"}
