"""The Junos driver: a confirmed commit under the lock of a clean candidate, confirmed from a new connection."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.units import ping_payload
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import (
    junos_bgp,
    junos_drains,
    junos_state,
    parse_junos,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import junos_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, State, keeping
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_session import Session
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_step import (
    AGAIN,
    Step,
    Values,
    key,
    sizes,
    told_value,
    values,
)


class JunosDriver:
    """Junos over NETCONF. A port's media MTU and the MTU of its families are committed together."""

    def __init__(self, access: Access) -> None:
        self.access = access

    # ------------------------------------------------------------------ reading

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:  # noqa: ARG002
        """Return the state; see platforms.base.Driver. What is committed is what boots: `saved` is always true."""
        with Session(self.access) as session:
            ports = session.read_ports()
            information = session.interfaces(extensive=True)
            with session.errors():
                found = junos_state.interfaces_of(information, ports)
            state: State = {"host": self.access.host, "platform": "junos", "interfaces": found}
            if only_interfaces:
                return state
            self._add_neighbours(session, found)
            self._add_adjacencies(session, found)
            software = session.software()
            return {
                **state,
                "model": software.findtext(".//product-model"),
                "version": software.findtext(".//junos-version"),
                "pending": self._pending(session),
                "saved": True,
                "unsaved_diff": "",
            }

    @staticmethod
    def _add_neighbours(session: Session, interfaces: Mapping[str, dict[str, Any]]) -> None:
        listed = session.neighbours()
        with session.errors():
            local = junos_state.local_ports(listed) if listed is not None else []
        for interface in interfaces.values():
            interface["neighbours"] = []
        for port in local:
            answer = session.neighbours_of(port)
            name = port.partition(".")[0]
            if answer is not None and name in interfaces:
                with session.errors():
                    interfaces[name]["neighbours"] = junos_state.neighbours_of(answer)

    @staticmethod
    def _add_adjacencies(session: Session, interfaces: Mapping[str, dict[str, Any]]) -> None:
        """Tell the BGP sessions over each interface; a box that speaks none is not asked."""
        near = {name: port.neighbours for name, port in session.ports.items()}
        peers, now = (session.peers(), session.now()) if any(near.values()) else ({}, 0)
        for name, interface in interfaces.items():
            interface["adjacencies"] = [junos_bgp.adjacency(n, peers, now) for n in near.get(name, ())]

    def pending(self) -> dict[str, Any]:
        """Return what waits: a confirmed commit, or changes in the shared candidate; see platforms.base.Driver.

        `name` says who and since when where it is not ours; `kind` is timer, candidate or None.
        """
        with Session(self.access) as session:
            return self._pending(session)

    @staticmethod
    def _pending(session: Session) -> dict[str, Any]:
        return words.describe(session.history(), session.now(), session.is_dirty())

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """DF ping; Junos counts the ICMP payload. What is lost is asked for once more in text: it names who refused."""
        payload = ping_payload(ip_mtu, 6 if ":" in target else 4)
        with Session(self.access) as session:
            result = session.ping(target, payload, source, count)
            with session.errors():
                found = parse_junos.parse_ping(result)
            if found["received"] == 0 and not found["too_big_local"]:
                again = session.ping(target, payload, source, 1, text=True)
                with session.errors():
                    told = parse_junos.parse_ping(again)
                found = {**found, **{key: told[key] for key in ("too_big_reported_by", "reported_mtu")}}
                found["too_big_local"] = bool(told["too_big_local"])
            return found

    # ------------------------------------------------------------------ writing

    def diff(self, changes: Sequence[Change]) -> str:
        """Load the changes into the locked candidate, check them, return Junos's own difference, discard them."""
        with Session(self.access) as session:
            self._begin(session, changes)
            difference = session.difference()
            if difference:
                session.check()  # nothing is pending, and nobody can begin anything while we hold the lock
            return difference

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Commit for `within` seconds, rounded up to whole minutes; see platforms.base.Driver.

        The handle has also: `already`, the interfaces that had their value before; `before`, the statements that were
        there; `minutes`, the time as Junos counts it.
        """
        minutes = words.minutes_of(within)
        handle: Handle = {"name": name, "minutes": minutes, "changes": list(changes), "changed": False}
        with keeping(handle):
            return self._apply(handle, changes)

    def _apply(self, handle: Handle, changes: Sequence[Change]) -> Handle:
        minutes = handle["minutes"]
        with Session(self.access) as session:
            handle.update(self._begin(session, changes))
            handle["diff"] = session.difference()
            if not handle["diff"]:
                return handle
            del handle["changed"]
            step = Step(self.access, handle)
            log = words.trial_log(step.name, minutes)
            step.commit(session, log, minutes, lambda history: history[0].belongs_to(step.name))
        try:
            step.expect("to")
        except JumboError as failure:
            self._undo(step, failure)
            raise
        return {**handle, "changed": True}

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Make the commit stay, from this new connection; refuses when somebody committed meanwhile."""
        if handle.get("changed") is not False:
            Step(self.access, handle).confirm()
        return {"confirmed": True, "persisted": True}

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take the step back, confirmed or not, and read back; `notes` tells of commits of others that stay."""
        if handle.get("changed") is False:  # it was so before us, or was refused
            return {"reverted": True}
        step = Step(self.access, handle)
        step.take_back()
        return {"reverted": True, **({"notes": step.notes} if step.notes else {})}

    # ------------------------------------------------------------------ steps of the above

    def _begin(self, session: Session, changes: Sequence[Change]) -> dict[str, Any]:
        """Lock, look and load; return {changes, already, before}. Leaving the session discards and unlocks."""
        session.lock()
        found = self._pending(session)
        if found["owner"] != "none":
            message = f"a confirmed commit waits ({found['owner']}): {found['name']}"
            raise JumboError(message, host=self.access.host, advice=found["advice"])
        self._refuse_others(changes)
        ports, mtus = session.read_ports(), sizes(session)
        with session.errors():
            changes = junos_drains.resolved(changes, ports, self.access.host)
        now = values(session, changes, mtus)
        self._refuse_unfit(session, changes, now)
        known = {name: mtu for name, mtu in mtus.items() if mtu is not None}
        wanted = words.statements(changes, "to", ports, known)
        before = words.stated(wanted, ports)
        commands = words.lines(wanted, before)
        if commands:
            self._load(session, commands, changes)
        already = [change["object"] for change in changes if now.get(key(change)) == change["to"]]
        return {"changes": changes, "already": already, "before": words.pack(before)}

    @staticmethod
    def _load(session: Session, commands: Sequence[str], changes: Sequence[Change]) -> None:
        try:
            session.load(commands)
        except JumboError as failure:
            if "syntax error" in failure.message and any(map(words.is_drain, changes)):
                failure.advice = junos_drains.SINCE
            raise

    @staticmethod
    def _undo(step: Step, failure: JumboError) -> None:
        """Take a commit back that is not what it should be; says more than `failure` where that fails too."""
        try:
            step.take_back()
        except JumboError as more:
            raise more from failure

    def _refuse_others(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change["field"] not in ("ip_mtu", "drained"):
                message = f"Junos has no {change['field']}: a switch pins no routes"
                raise JumboError(message, host=self.access.host, object=change["object"])

    def _refuse_unfit(self, session: Session, changes: Sequence[Change], now: Values) -> None:
        """Refuse what could not be taken back, and what is not an interface's own to have."""
        for change in changes:
            name, value = change["object"], now.get(key(change))
            lag = session.ports[name].lag if name in session.ports else None
            if lag:
                message, advice = f"it is a member of {lag}, whose MTU it has", f"Name {lag} in its place."
                raise JumboError(message, host=self.access.host, object=name, advice=advice)
            if value not in {change["from"], change["to"]}:
                told = told_value(change, value)
                message = f"the interface has {told}, not the {change['from']} that the change begins with"
                raise JumboError(message, host=self.access.host, object=name, advice=AGAIN)
