"""The FastIron driver: Brocade and Ruckus ICX over SSH. `ip mtu` of routed interfaces, and `jumbo` by a reload."""

from __future__ import annotations

from typing import Any, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.units import ping_payload
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_state, parse_fastiron
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import (
    Access,
    Change,
    Handle,
    NoAnswer,
    State,
    keeping,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_dead_man import DeadMan, note_unguarded
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_reload import STAYS_ON, Reload
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Session, asked, looked
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import OWN_SIZE, Interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_step import AGAIN, Step
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

PING_MILLISECONDS = 1000


class FastironDriver:
    """FastIron over SSH. Its changes take effect at once; what `write memory` has not seen is lost by a reload."""

    def __init__(self, access: Access) -> None:
        self.access = access

    # ------------------------------------------------------------------ reading

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:  # noqa: ARG002
        """Return the state; see platforms.base.Driver. `jumbo` tells how far large frames are: mtu/boxes.py."""
        return self._asked_in_pieces(lambda session, pieces: self._read(session, only_interfaces, pieces))

    def _asked_in_pieces(self, question: Any) -> State:
        """Ask once for all interfaces together; what gets no answer is asked for port by port, on a new connection.

        Long answers are known to hang a session where management leaves by the management port (FI-223210).
        """
        try:
            with Session(self.access) as session:
                return dict(question(session, False))
        except NoAnswer:
            with Session(self.access) as session:
                return dict(question(session, True))

    def _read(self, session: Session, only_interfaces: bool, pieces: bool) -> State:
        saved, running = session.configs()
        shown = _piecewise(session) if pieces else session.show("show interfaces")
        found = fastiron_state.interfaces_of(shown, saved, running)
        _add_giants(session, found)
        version = parse_fastiron.parse_version(session.show("show version"))
        state: State = {
            "host": self.access.host,
            "platform": "fastiron",
            "up_seconds": version["up_seconds"],
            "interfaces": found,
            "jumbo": fastiron_state.jumbo_of(found, saved, running),
        }
        if only_interfaces:
            return state
        fastiron_state.add_neighbours(found, session.may_show("show lldp neighbors detail"))
        unsaved = fastiron_state.unsaved_of(saved, running)
        told = {
            **state,
            "model": version["model"],
            "version": version["version"],
            "pending": fastiron_state.pending_of(session.scheduled_reload()),
            "saved": not unsaved,
            "unsaved_diff": unsaved,
        }
        note_unguarded(session, found)  # the last: it may end the session
        return told

    def pending(self) -> dict[str, Any]:
        """Return what waits: a scheduled reload; see platforms.base.Driver."""
        return fastiron_state.pending_of(asked(self.access, Session.scheduled_reload))

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """DF ping; FastIron counts the ICMP payload, at most 10000. IPv6 has no such ping here."""
        if ":" in target:
            raise JumboError("this driver pings IPv4 only", host=self.access.host, object=target)
        payload = ping_payload(ip_mtu, 4)
        by = f" source {source}" if source else ""
        command = f"ping {target}{by} count {count} timeout {PING_MILLISECONDS} size {payload} no-fragment"
        text = asked(self.access, lambda session: session.show(command))
        sent = parse_fastiron.ping_size(text)
        if sent != payload:
            message = f"it was asked to ping with {payload} bytes, and says {sent}"
            raise JumboError(message, host=self.access.host, object=target, wish=ip_mtu)
        return parse_fastiron.parse_ping(text)

    # ------------------------------------------------------------------ writing

    def diff(self, changes: Sequence[Change]) -> str:
        """Return what would be typed; the box has no candidate, so it refuses nothing here.

        Configuration mode is entered and left: who may not, or finds somebody in it, learns it before any change.
        """
        with Session(self.access) as session:
            interfaces, saved, running = looked(session)
            session.configure([])
        self._refuse_unfit(changes, interfaces)
        self._refuse_unsaved(saved, running)
        sizes = [change for change in changes if change["field"] == "ip_mtu" and self._differs(change, interfaces)]
        told = [words.told_size(c["object"], running.ip_mtu(c["object"]), c["to"]) for c in sizes]
        reloads = Reload(self.access).difference() if _reloads(changes) else ""
        if sizes:
            DeadMan(self.access, [change["object"] for change in sizes], "").is_needed()
        return "\n".join([*([reloads] if reloads else []), *told])

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Write, and read back; see platforms.base.Driver. `jumbo` reloads the box, which may take minutes.

        The handle has also: `already`, the interfaces that had their value before; `before`, the `ip mtu` that was
        stated of each (or what was up before a reload); `armed`, whether a reload is scheduled as dead-man.
        """
        handle: Handle = {"name": name, "changes": [dict(change) for change in changes], "changed": False}
        with keeping(handle):
            return self._apply(handle, within)

    def _apply(self, handle: Handle, within: int) -> Handle:
        changes: Sequence[Change] = handle["changes"]
        interfaces, saved, running = asked(self.access, looked)
        self._refuse_unfit(changes, interfaces)
        if _reloads(changes) and len(changes) > 1:
            raise JumboError("`jumbo` is alone in its step", host=self.access.host, object=words.JUMBO)
        if _reloads(changes):
            return {**handle, **Reload(self.access).run()}
        self._refuse_unsaved(saved, running)
        self._refuse_pending()
        handle["already"] = [change["object"] for change in changes if not self._differs(change, interfaces)]
        step = Step(self.access, handle)
        handle["before"] = step.before = {name: running.ip_mtu(name) for name in step.objects}
        told = [words.told_size(c["object"], running.ip_mtu(c["object"]), c["to"]) for c in step.changes]
        handle["diff"] = "\n".join(told)
        if not step.changes:
            return handle
        del handle["changed"]
        handle["armed"] = self._dead_man(step).arm(within)
        try:
            step.write("to")
        except JumboError as failure:
            self._undo(step, failure, armed=handle["armed"])
            raise
        return {**handle, "changed": True}

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Save, from this new connection, and end the dead-man; refuses when somebody edited meanwhile."""
        if _reloads(handle["changes"]):
            Reload(self.access).check()
        elif handle.get("changed") is not False:
            step = Step(self.access, handle)
            step.expect("to")
            step.save()
            if handle.get("armed") is True:
                self._dead_man(step).disarm()
        return {"confirmed": True, "persisted": True}

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take the step back, saved or not, and read back; `jumbo` stays on, and `notes` says so.

        Only a reload of ours is cancelled. A handle that does not say whether one was armed, after a crash in
        mid-apply, is taken back as well; then a reload that is scheduled is an error, since it may be anybody's.
        """
        if _reloads(handle["changes"]):
            return {"reverted": True, "notes": [STAYS_ON]}
        if handle.get("changed") is False:  # it was so before us, or was refused
            return {"reverted": True}
        step = Step(self.access, handle)
        notes = step.take_back()
        if handle.get("armed") is True:
            self._dead_man(step).disarm()
        elif "armed" not in handle:
            self._refuse_pending("the sizes are taken back; whose reload it is, nobody has noted: ")
        return {"reverted": True, **({"notes": notes} if notes else {})}

    # ------------------------------------------------------------------ steps of the above

    def _dead_man(self, step: Step) -> DeadMan:
        return DeadMan(self.access, step.objects, step.name)

    def _undo(self, step: Step, failure: JumboError, *, armed: bool) -> None:
        """Take a change back that is not what it should be; says more than `failure` where that fails too."""
        try:
            step.take_back()
            if armed:
                self._dead_man(step).disarm()
        except JumboError as more:
            raise more from failure

    @staticmethod
    def _differs(change: Change, interfaces: Interfaces) -> bool:
        return bool(interfaces[change["object"]]["ip_mtu"] != change["to"])

    def _refuse_unfit(self, changes: Sequence[Change], interfaces: Interfaces) -> None:
        """Refuse what could not be taken back, and what is not an interface's own to have."""
        for change in changes:
            name, found = change["object"], interfaces.get(change["object"])
            if change["field"] == words.JUMBO:
                if not change["to"]:
                    raise JumboError("`jumbo` is not taken back", host=self.access.host, object=name, advice=STAYS_ON)
                continue
            if change["field"] != "ip_mtu":
                message = f"FastIron has no {change['field']}: a switch pins no routes"
                raise JumboError(message, host=self.access.host, object=name)
            if found is None or found["kind"] not in OWN_SIZE:
                advice = "Only routed ports and ve have an `ip mtu`; what ports take in is `jumbo`, for the whole box."
                message = "there is no such interface" if found is None else f"a {found['kind']} port has no IP MTU"
                raise JumboError(message, host=self.access.host, object=name, advice=advice)
            if found["ip_mtu"] not in {change["from"], change["to"]}:
                message = (
                    f"the interface has IP MTU {found['ip_mtu']}, not the {change['from']} that the change begins with"
                )
                raise JumboError(message, host=self.access.host, object=name, advice=AGAIN)

    def _refuse_unsaved(self, saved: Config, running: Config) -> None:
        """A save would save for others, and a scheduled reload would lose it (design rule 14)."""
        unsaved = fastiron_state.unsaved_of(saved, running)
        if unsaved:
            message = f"running and saved configuration differ:\n{unsaved}"
            raise JumboError(message, host=self.access.host, advice=AGAIN)

    def _refuse_pending(self, what: str = "") -> None:
        found = self.pending()
        if found["owner"] != "none":
            message = f"{what}a reload is scheduled: {found['name']}"
            raise JumboError(message, host=self.access.host, advice=found["advice"])


def _reloads(changes: Sequence[Change]) -> bool:
    return any(change["field"] == words.JUMBO for change in changes)


def _piecewise(session: Session) -> str:
    """Return `show interfaces` of one interface after the other."""
    names = [line.split()[0] for line in session.show("show interfaces brief").splitlines() if line.strip()]
    found = []
    for name in names:
        kind, number = (
            ("ethernet", name)
            if name[0].isdigit()
            else (name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        )
        text = session.may_show(f"show interfaces {kind} {number}") if number else None
        found.append(text or "")
    return "\n".join(found)


def _add_giants(session: Session, interfaces: Interfaces) -> None:
    """Count by `show statistics` what `show interfaces` of a port that is up does not count."""
    for name, interface in interfaces.items():
        command = words.command_of(name) or ""
        if interface["counters"]["oversize"] is None and interface["oper_up"] and command.startswith("ethernet"):
            counted = parse_fastiron.parse_statistics(session.may_show(f"show statistics {command}") or "")
            interface["counters"]["oversize"] = counted.get(words.number_of(name))
