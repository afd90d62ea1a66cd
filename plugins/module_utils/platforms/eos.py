"""The EOS driver: configuration sessions with a commit timer, confirmed from a new connection."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_eos
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, State, keeping
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_api import RUNNING, STARTUP, Session
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_bgp import SUMMARIES, adjacencies
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_changes import (
    FIELDS,
    Values,
    beside_ours_in,
    config_difference,
    config_lines,
    is_drain,
    key,
    resolved,
    told_value,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_step import AGAIN, Step
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_subinterfaces import fold, held_by
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_words import (
    PREFIX,
    Sessions,
    describe,
    pending_commit,
    session_name,
    told,
)


class EosDriver:
    """Arista EOS over eAPI. MTU on routed ports and SVIs is the IP MTU; L2 ports are never written (facts: 9214)."""

    def __init__(self, access: Access) -> None:
        self.access = access

    # ------------------------------------------------------------------ reading

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:  # noqa: ARG002
        """Return the state; see platforms.base.Driver."""
        with Session(self.access) as session:
            if only_interfaces:
                (shown,) = session.show(["show interfaces"])
                with session.errors():
                    found = {interface["name"]: interface for interface in parse_eos.parse_interfaces(shown)}
                    fold(found)
                return {"host": self.access.host, "platform": "eos", "interfaces": found}
            version, shown, errors, lldp = session.show(
                ["show version", "show interfaces", "show interfaces counters errors", "show lldp neighbors detail"]
            )
            startup, running = session.configs()
            with session.errors():
                state = parse_eos.state_interfaces(shown, errors, lldp, running, startup)
            self._add_adjacencies(session, state, running)
            pending = self._pending(session)
        unsaved = config_difference(startup, running)
        return {
            "host": self.access.host,
            "platform": "eos",
            "model": version.get("modelName"),
            "version": version.get("version"),
            "interfaces": state,
            "pending": pending,
            "saved": not unsaved,
            "unsaved_diff": told(unsaved),
        }

    @staticmethod
    def _add_adjacencies(session: Session, interfaces: Mapping[str, dict[str, Any]], running: str) -> None:
        """Tell the BGP sessions over each interface; a switch that speaks none is not asked."""
        summaries = session.show(list(SUMMARIES)) if "\nrouter bgp " in running else []
        with session.errors():
            found = adjacencies(running, summaries)
        for name, interface in interfaces.items():
            interface["adjacencies"] = found.get(name, [])

    def pending(self) -> dict[str, Any]:
        """Return what waits for a confirmation, with `kind` and `advice`; see platforms.base.Driver and eos_words.

        A handle {name: the name told here, changes: []} is enough for `revert` to remove an open session of ours.
        """
        with Session(self.access) as session:
            return self._pending(session)

    def _pending(self, session: Session) -> dict[str, Any]:
        detail, version = session.show(["show configuration sessions detail", "show version"])
        with session.errors():
            return pending_commit(detail, version.get("uptime"), time.time())

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """DF ping; `size` counts the whole IP packet on EOS (facts 5)."""
        command = f"ping {target}" + (f" source {source}" if source else "")
        with Session(self.access) as session:
            (output,) = session.text([f"{command} size {ip_mtu} df-bit repeat {count}"])
            with session.errors():
                return parse_eos.parse_ping(output)

    # ------------------------------------------------------------------ writing

    def diff(self, changes: Sequence[Change]) -> str:
        """Load the changes into a session, return EOS's own difference, abort the session."""
        name = f"{PREFIX}check-{time.time_ns() // 1000 % 10**9}"
        with Session(self.access, check_release=True) as session:
            changes = self._resolved(session, changes, session.configs()[1])
            with self._candidate(session, changes, name):
                (difference,) = session.text([_diffs(name)])
            session.abort(name)
        return told(_body(difference))

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Commit with a timer of `within` seconds; see platforms.base.Driver.

        The handle has also: `already`, the interfaces that had their value before, and `digest` (see
        eos_changes.digest); `opened` where it failed and a session of ours may be open.
        """
        handle: Handle = {"name": name, "changes": list(changes), "changed": False}
        with keeping(handle), Session(self.access, check_release=True) as session:
            startup, running = session.configs()
            handle["changes"] = changes = self._resolved(session, changes, running)
            sessions, values = session.status(changes)
            self._refuse_pending(sessions)
            self._refuse_unfit(changes, values)
            self._refuse_unsaved(startup, running)
            handle["already"] = [change["object"] for change in changes if values.get(key(change)) == change["to"]]
            session_of_step = session_name(name)
            handle["opened"] = True
            with self._candidate(session, changes, session_of_step):
                looked, handle["diff"] = self._look(session, changes, session_of_step)
            if not handle["diff"]:
                session.abort(session_of_step)
                del handle["opened"]
                return handle
            del handle["changed"], handle["opened"]
            step = Step(session, handle)
            try:
                handle["digest"] = step.commit_on_trial(within, looked)
            except JumboError as failure:
                self._undo(step, failure)
                raise
        return {**handle, "changed": True}

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Confirm the timer's commit and save, from this new connection; refuses when somebody edited meanwhile."""
        if handle.get("changed") is not False:
            with Session(self.access) as session:
                Step(session, handle).confirm()
        return {"confirmed": True, "persisted": True}

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take the step back: end the running timer, or write the old values where it is over; read back.

        `notes` tells of open sessions of others whose commit would bring our values back.
        """
        if handle.get("changed") is False:  # it was so before us, or was refused
            if not handle.get("opened"):
                return {"reverted": True}
            handle = {**handle, "changes": []}
        with Session(self.access) as session:
            step = Step(session, handle)
            step.take_back()
        return {"reverted": True, **({"notes": step.notes} if step.notes else {})}

    # ------------------------------------------------------------------ steps of the above

    def _resolved(self, session: Session, changes: Sequence[Change], running: str) -> list[dict[str, Any]]:
        """Return the changes with the BGP neighbours that those of them are about which drain a link."""
        for change in changes:
            if change["field"] not in FIELDS:
                message = f"EOS has no {change['field']}: a switch pins no routes"
                raise JumboError(message, host=self.access.host, object=change["object"])
            if not is_drain(change):
                self._refuse_held(change, running)
        with session.errors():
            return resolved(changes, running, self.access.host)

    def _refuse_held(self, change: Change, running: str) -> None:
        """Refuse to raise a port while a sub-interface would stay below: its `mtu` line is somebody's decision."""
        held = held_by(change["object"], change["to"], parse_eos.configured_mtus(running))
        if held:
            raise JumboError(
                f"its sub-interface {held[0]} has an MTU of its own, {held[1]}",
                host=self.access.host,
                object=change["object"],
                wish=change["to"],
                limit=held[1],
                advice=f"Take the mtu line of {held[0]} out, or raise it there first.",
            )

    @contextlib.contextmanager
    def _candidate(self, session: Session, changes: Sequence[Change], name: str) -> Iterator[None]:
        """Load the changes into a session of this name; it is aborted when the block fails, and left open otherwise."""
        session.napalm.config_session = name
        try:
            with session.errors():
                session.napalm.load_merge_candidate(config=config_lines(changes, "to"))
            yield
        except BaseException as error:
            if session.napalm.config_session:  # napalm has not done it already
                with contextlib.suppress(JumboError):  # the first error says more
                    session.abort(name)
            if isinstance(error, JumboError) and error.limit is not None:
                error.wish = next((change["to"] for change in changes if change["object"] == error.object), None)
            raise

    def _look(self, session: Session, changes: Sequence[Change], name: str) -> tuple[str, str]:
        """Return running-config and the session's difference to it; refuses where more than our lines would change.

        The session's commit overwrites all that was changed since it was opened.
        """
        startup, running, difference = session.text([STARTUP, RUNNING, _diffs(name)])
        self._refuse_unsaved(startup, running)
        lines = _body(difference)
        more = beside_ours_in(changes, lines)
        if more:
            raise JumboError(
                "our session would change more than we want: somebody else changed the configuration since it was "
                "opened:\n" + told(more),
                host=self.access.host,
                advice="Nothing was changed. Run it again.",
            )
        return running, told(lines)

    @staticmethod
    def _undo(step: Step, failure: JumboError) -> None:
        """Take a commit back that is not what it should be; says more than `failure` where that fails too."""
        try:
            step.take_back()
        except JumboError as more:
            raise more from failure

    def _refuse_pending(self, sessions: Sessions) -> None:
        found = describe(sessions)
        if found["owner"] != "none":
            what = "commit timer is running" if found["kind"] == "timer" else "configuration session is open"
            raise JumboError(
                f"a {what} ({found['owner']})", host=self.access.host, object=found["name"], advice=found["advice"]
            )

    def _refuse_unfit(self, changes: Sequence[Change], values: Values) -> None:
        """Refuse what could not be taken back: then `from` has to be what was there before."""
        for change in changes:
            value = values.get(key(change))
            if value not in {change["from"], change["to"]}:
                told_now = told_value(change, value)
                raise JumboError(
                    f"the interface has {told_now}, not the {change['from']} that the change begins with",
                    host=self.access.host,
                    object=change["object"],
                    advice="Read the device again and make a new plan.",
                )

    def _refuse_unsaved(self, startup: str, running: str) -> None:
        """A timer that fires replaces the whole running-config, and a save would save for others (design rule 14)."""
        unsaved = config_difference(startup, running)
        if unsaved:
            raise JumboError(
                "running-config and startup-config differ:\n" + told(unsaved), host=self.access.host, advice=AGAIN
            )


def _diffs(session: str) -> str:
    return f"show session-config named {session} diffs"


def _body(difference: str) -> list[str]:
    """Return the lines of `... diffs` without the two that name the files."""
    return "\n".join(difference.splitlines()[2:]).strip().splitlines()
