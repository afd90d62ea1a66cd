"""One step's `ip mtu` on a FastIron box: written, read back, saved or taken back.

There is no candidate and no confirmed commit: a line takes effect at once, and only `write memory` keeps it. Raising
what an interface sends costs nobody the way back, unless management crosses that very interface: fastiron_dead_man.py.
A line without an answer may have been taken: it is read, not sent again.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_save import ForeignEdit, Saving
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Session, asked, looked
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import Interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

AGAIN = "Read the device again and make a new plan."
UNSAVED = "somebody else's change is not saved, and we do not save for others: what boots is not what runs"


class Step:
    """The `ip mtu` changes of a handle, on one box."""

    def __init__(self, access: Access, handle: Handle) -> None:
        self.access = access
        already = handle.get("already", ())  # had the wanted value before us: not ours to take back
        self.changes: Sequence[Change] = [change for change in handle["changes"] if change["object"] not in already]
        self.before: Mapping[str, int | None] | None = handle.get("before")
        self.name = str(handle["name"])

    @property
    def objects(self) -> list[str]:
        """Return the interfaces that the step changes."""
        return [change["object"] for change in self.changes]

    # ------------------------------------------------------------------ writing

    def write(self, side: str) -> None:
        """Bring every interface to the value of this side, and read it back."""
        todo = self._others(side)
        while todo:
            todo = self._write(todo, side)
        self.expect(side)

    def _write(self, todo: Sequence[Change], side: str) -> list[Change]:
        """Type these changes; return those that are left where a line got no answer: the others read back as done."""
        try:
            with Session(self.access) as session:
                _saved, running = session.configs()
                self._type(session, running, todo, side)
        except NoAnswer:
            left = self._others(side)
            if len(left) == len(todo):
                raise
            return left
        return []

    def _type(self, session: Session, running: Config, todo: Sequence[Change], side: str) -> None:
        for change in todo:
            name, stated = change["object"], running.ip_mtu(change["object"])
            lines = words.mtu_lines(name, stated, self._stated(change, side))
            if not lines:  # what is stated does not count, or something else bounds it: say it again
                lines = words.mtu_lines(name, None, change[side])
            try:
                session.configure(lines)
            except NoAnswer:
                raise
            except JumboError as failure:
                raise self._refused(failure, change, side) from failure

    def _stated(self, change: Change, side: str) -> int | None:
        """Return what the configuration says then: the value; on the way back what it said, which may be nothing."""
        if side == "from" and self.before is not None and change["object"] in self.before:
            stated = self.before[change["object"]]
            return change["from"] if stated is None and change["from"] != words.DEFAULT_IP_MTU else stated
        return int(change[side])

    def _refused(self, failure: JumboError, change: Change, side: str) -> JumboError:
        allowed = words.allowed_in(failure.message)
        failure.object, failure.wish = change["object"], change[side]
        if allowed is not None and allowed[1] < change[side]:
            failure.limit = allowed[1]
        return failure

    def expect(self, side: str) -> None:
        """Raise unless every interface reads back with the value of this side."""
        for change, actual in self._now(side):
            message = f"it has IP MTU {actual} after the change"
            advice = "A box refuses sizes above 1500 until its `jumbo` is active. Check who else configures it."
            raise JumboError(message, host=self.access.host, object=change["object"], wish=change[side], advice=advice)

    def _others(self, side: str) -> list[Change]:
        return [change for change, _actual in self._now(side)]

    def _now(self, side: str) -> list[tuple[Change, Any]]:
        interfaces, _saved, _running = asked(self.access, looked)
        now = [(change, interfaces.get(change["object"], {}).get("ip_mtu")) for change in self.changes]
        return [(change, actual) for change, actual in now if actual != change[side]]

    # ------------------------------------------------------------------ the end

    def save(self) -> None:
        """Keep it: save, if nobody else changed anything meanwhile; then every interface reads back as persisted."""
        Saving(self.access, self._edits_of_others, self.name).run()

    def take_back(self) -> list[str]:
        """Write the old statements where ours are in force, and keep that; return what of others stays unsaved."""
        interfaces, saved, _running = asked(self.access, looked)
        unproven = self._set_unproven_aside(interfaces)
        if self.before is None:  # of a step that nobody has seen the end of; what is saved is what was before, or ours
            stated = {name: saved.ip_mtu(name) for name in self.objects}
            at = {change["object"]: change["to"] for change in self.changes}
            self.before = {name: size for name, size in stated.items() if size != at[name]}
        foreign = [c for c in self.changes if interfaces.get(c["object"], {}).get("ip_mtu") not in (c["to"], c["from"])]
        self.changes = [change for change in self.changes if change not in foreign]
        self.write("from")
        notes = []
        try:
            self.save()
        except ForeignEdit:
            notes.append(UNSAVED)
        if foreign:
            name, actual = foreign[0]["object"], interfaces.get(foreign[0]["object"], {}).get("ip_mtu")
            message = f"the interface has IP MTU {actual} now, not the {foreign[0]['to']} of this step"
            raise JumboError(message, host=self.access.host, object=name, advice="Check who else configures it.")
        for change in unproven:
            message = f"it has IP MTU {change['to']}, saved as well, which this step never did: it stays"
            advice = "Whoever has set it decides: lower it by hand if nobody else wants it, then take it back again."
            raise JumboError(
                message, host=self.access.host, object=change["object"], wish=change["from"], advice=advice
            )
        return notes

    def _set_unproven_aside(self, interfaces: Interfaces) -> Sequence[Change]:
        """Leave out, and return, what may have had its size before us: a crash left no `before`, and it is saved."""
        if self.before is not None:
            return ()
        now = {name: (found["ip_mtu"], found["persisted_mtu"]) for name, found in interfaces.items()}
        aside = [c for c in self.changes if now.get(c["object"]) == (c["to"], c["to"]) and c["to"] != c["from"]]
        self.changes = [change for change in self.changes if change not in aside]
        return aside

    def _edits_of_others(self, saved: Config, running: Config) -> str:
        """Return what differs besides the lines of this step, "" where nothing does."""
        return words.difference(*(config.without(self.objects, jumbo=False) for config in (saved, running)))
