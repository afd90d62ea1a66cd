"""The EOS driver: configuration sessions with a commit timer, confirmed from a new connection."""

from __future__ import annotations

import hashlib
import re
import time
from typing import Any, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_eos
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, State
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_api import Session

PREFIX = "jumbo-"
"""Every configuration session of ours starts with this: what does not is somebody else's."""

EPOCH = 1_000_000_000
"""`commitBy` is seconds of uptime in some releases, of the epoch in others (napalm#2166): no uptime is this large."""

LONGEST_NAME = 40


class EosDriver:
    """Arista EOS over eAPI. MTU on routed ports and SVIs is the IP MTU; L2 ports are never written (facts: 9214)."""

    def __init__(self, access: Access) -> None:
        self.access = access

    # ------------------------------------------------------------------ reading

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:  # noqa: ARG002
        """Return the state; see platforms.base.Driver."""
        with Session(self.access, reading=True) as session:
            if only_interfaces:
                (shown,) = session.show(["show interfaces"])
                found = parse_eos.parse_interfaces(shown)
                return {
                    "host": self.access.host,
                    "platform": "eos",
                    "interfaces": {interface["name"]: interface for interface in found},
                }
            version, shown, errors, lldp = session.show(
                ["show version", "show interfaces", "show interfaces counters errors", "show lldp neighbors detail"]
            )
            running, startup = session.text(["show running-config", "show startup-config"])
            pending = self._pending(session)
        unsaved = config_difference(startup, running)
        return {
            "host": self.access.host,
            "platform": "eos",
            "model": version.get("modelName"),
            "version": version.get("version"),
            "interfaces": parse_eos.state_interfaces(shown, errors, lldp, running, startup),
            "pending": pending,
            "saved": not unsaved,
            "unsaved_diff": "\n".join(unsaved),
        }

    def pending(self) -> dict[str, Any]:
        """Return what waits for a confirmation; see platforms.base.Driver."""
        with Session(self.access, reading=True) as session:
            return self._pending(session)

    def _pending(self, session: Session) -> dict[str, Any]:
        detail, version = session.show(["show configuration sessions detail", "show version"])
        return pending_commit(detail, float(version.get("uptime", 0.0)), time.time())

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """DF ping; `size` counts the whole IP packet on EOS (facts 5)."""
        command = f"ping {target}" + (f" source {source}" if source else "")
        with Session(self.access, reading=True) as session:
            (output,) = session.text([f"{command} size {ip_mtu} df-bit repeat {count}"])
        return parse_eos.parse_ping(output)

    # ------------------------------------------------------------------ writing

    def diff(self, changes: Sequence[Change]) -> str:
        """Load the changes into a session, return EOS's own difference, abort the session."""
        with Session(self.access) as session:
            self._load(session, changes, f"{PREFIX}check-{time.time_ns() // 1000 % 10**9}", "to")
            difference = self._compare(session)
            self._abort(session)
        return difference

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Commit with a timer of `within` seconds; see platforms.base.Driver."""
        with Session(self.access) as session:
            self._refuse_pending(self._pending(session))
            self._refuse_unsaved(session)
            handle: Handle = {"name": name, "changes": [dict(change) for change in changes]}
            self._load(session, changes, session_name(name), "to")
            handle["diff"] = self._compare(session)
            if not handle["diff"]:
                self._abort(session)
                return {**handle, "changed": False}
            with session.errors():
                session.napalm.commit_config(revert_in=within)
            self._expect(session, changes, "to")
        return {**handle, "changed": True}

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Confirm the timer's commit and save, from this new connection; refuses when somebody edited meanwhile."""
        if not handle["changed"]:
            return {"confirmed": True, "persisted": True}
        with Session(self.access) as session:
            if not self._is_pending(session, handle):
                raise JumboError(
                    "the commit timer of this step is no longer running: EOS has gone back by itself",
                    host=self.access.host,
                    object=session_name(handle["name"]),
                    advice="Nothing is pending. Run it again, with a longer jumbo_confirm_within if gates need it.",
                )
            foreign = self._foreign_lines(session, handle)
            if foreign:
                self._take_back_ours_only(session, handle)
                raise self._foreign_error(foreign)
            session.napalm.config_session = session_name(handle["name"])
            with session.errors():
                session.napalm.confirm_commit()
            self._expect(session, handle["changes"], "to")
            self._expect_saved(session)
        return {"confirmed": True, "persisted": True}

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take the step back: abort the running timer, or write the old values where it is over; read back."""
        foreign: list[str] = []
        with Session(self.access) as session:
            if self._is_pending(session, handle):
                foreign = self._foreign_lines(session, handle)
                if foreign:  # an abort replaces the whole running-config: their lines would go as well
                    self._take_back_ours_only(session, handle)
                else:
                    session.napalm.config_session = session_name(handle["name"])
                    self._abort(session)
            elif self._mismatches(session, handle["changes"], "from"):
                self._refuse_pending(self._pending(session))
                foreign = self._foreign_lines(session, handle)
                self._write_back(session, handle, save=not foreign)
            self._expect(session, handle["changes"], "from")
        if foreign:
            raise self._foreign_error(foreign)
        return {"reverted": True}

    # ------------------------------------------------------------------ steps of the above

    def _load(self, session: Session, changes: Sequence[Change], name: str, side: str) -> None:
        session.napalm.config_session = name
        try:
            with session.errors():
                session.napalm.load_merge_candidate(config=config_lines(changes, side))
        except JumboError as error:
            error.wish = next((change[side] for change in changes if change["object"] == error.object), None)
            raise

    @staticmethod
    def _abort(session: Session) -> None:
        with session.errors():
            session.napalm.discard_config()

    @staticmethod
    def _compare(session: Session) -> str:
        with session.errors():
            return str(session.napalm.compare_config())

    def _is_pending(self, session: Session, handle: Handle) -> bool:
        pending = self._pending(session)
        return bool(pending["name"] == session_name(handle["name"]))

    def _refuse_pending(self, pending: dict[str, Any]) -> None:
        if pending["owner"] != "none":
            raise JumboError(
                f"a configuration session is pending ({pending['owner']})",
                host=self.access.host,
                object=pending["name"],
                advice="Commit or abort it first; nothing of it was touched.",
            )

    def _refuse_unsaved(self, session: Session) -> None:
        """A timer that fires replaces the whole running-config, and a save would save for others (design rule 14)."""
        unsaved = self._unsaved(session)
        if unsaved:
            raise JumboError(
                "running-config and startup-config differ:\n" + "\n".join(unsaved),
                host=self.access.host,
                advice="Save or undo these lines first: we never save for others.",
            )

    @staticmethod
    def _unsaved(session: Session) -> list[str]:
        running, startup = session.text(["show running-config", "show startup-config"])
        return config_difference(startup, running)

    def _foreign_lines(self, session: Session, handle: Handle) -> list[str]:
        """Return what differs from startup-config beside our own lines: `apply` saw both equal."""
        ours = tuple(f"interface {change['object']} > mtu " for change in handle["changes"])
        return [line for line in self._unsaved(session) if not line[2:].startswith(ours)]

    def _take_back_ours_only(self, session: Session, handle: Handle) -> None:
        """End our timer by a plain commit that saves nothing, then write our old values (design rule 14)."""
        commit = f"configure session {session_name(handle['name'])} commit"
        with session.errors():
            session.napalm.device.run_commands([commit], encoding="text")
        self._write_back(session, handle, save=False)

    def _write_back(self, session: Session, handle: Handle, *, save: bool) -> None:
        name = session_name(handle["name"] + "-undo")
        self._load(session, handle["changes"], name, "from")
        commands = [f"configure session {name} commit"] + (["write memory"] if save else [])
        with session.errors():
            session.napalm.device.run_commands(commands, encoding="text")
        session.napalm.config_session = None

    def _foreign_error(self, foreign: Sequence[str]) -> JumboError:
        return JumboError(
            "somebody changed the configuration while our timer ran; our lines were taken back, theirs were kept:\n"
            + "\n".join(foreign),
            host=self.access.host,
            advice="Save or remove these lines, then run the roll-out again.",
        )

    @staticmethod
    def _mismatches(session: Session, changes: Sequence[Change], side: str) -> list[tuple[Change, Any]]:
        (reply,) = session.show(["show interfaces"])
        running = {name: data.get("mtu") for name, data in reply["interfaces"].items()}
        actual = [(change, running.get(change["object"])) for change in changes]
        return [(change, mtu) for change, mtu in actual if mtu != change[side]]

    def _expect(self, session: Session, changes: Sequence[Change], side: str) -> None:
        for change, actual in self._mismatches(session, changes, side):
            raise JumboError(
                f"EOS reports MTU {actual} after the change",
                host=self.access.host,
                object=change["object"],
                wish=change[side],
                advice="The step is taken back.",
            )

    def _expect_saved(self, session: Session) -> None:
        unsaved = self._unsaved(session)
        if unsaved:
            raise JumboError(
                "startup-config differs from running-config after `write memory`:\n" + "\n".join(unsaved),
                host=self.access.host,
                advice="Check the free space of flash: and save by hand.",
            )


def session_name(name: str) -> str:
    """Return the name of the configuration session of a step: ours by its prefix, short, unique to the step."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    if len(plain) > LONGEST_NAME:
        plain = plain[:24] + "-" + hashlib.sha256(name.encode()).hexdigest()[:12]
    return PREFIX + plain


def config_lines(changes: Sequence[Change], side: str) -> str:
    """Return flat EOS lines that set each interface's MTU to the change's `from` or `to` value."""
    return "\n".join(f"interface {change['object']}\nmtu {change[side]}" for change in changes)


def pending_commit(detail: dict[str, Any], uptime: float, now: float) -> dict[str, Any]:
    """Judge `show configuration sessions detail` in both shapes (<= 4.31 per session, >= 4.32 at the top level).

    An open, uncommitted session of somebody else counts as pending too: its commit would overwrite ours.
    """
    name, ends = detail.get("commitTimerSessionName"), detail.get("commitTimerExpireTime")
    sessions = detail.get("sessions", {})
    if not name:
        for candidate, data in sessions.items():
            if "pendingCommitTimer" in data.get("state", ""):
                name, ends = candidate, data.get("commitBy")
    if name:
        reference = now if ends is not None and ends > EPOCH else uptime
        return {"owner": _owner(name), "name": name, "seconds_left": None if ends is None else round(ends - reference)}
    for candidate, data in sessions.items():
        if data.get("state") == "pending":
            return {"owner": _owner(candidate), "name": candidate, "seconds_left": None}
    return {"owner": "none", "name": None, "seconds_left": None}


def _owner(name: str) -> str:
    return "ours" if name.startswith(PREFIX) else "foreign"


def config_difference(before: str, after: str) -> list[str]:
    """Return what two configurations differ in, each line with the block it stands in: `+ interface Vlan10 > mtu 9000`.

    Comment lines do not count: their time stamps always differ between running- and startup-config.
    """
    old, new = _with_blocks(before), _with_blocks(after)
    return [f"- {line}" for line in old if line not in set(new)] + [f"+ {line}" for line in new if line not in set(old)]


def _with_blocks(config: str) -> list[str]:
    block: list[str] = []
    lines = []
    for line in config.splitlines():
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        depth = (len(line) - len(line.lstrip())) // 3  # EOS indents by three
        block = [*block[:depth], text]
        lines.append(" > ".join(block))
    return lines
