"""One emulated Junos box: its configuration database, its operations, and their effect on the data plane."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from ..audit import Audit, Entry
from ..effects import Effects, Wanted
from ..plane import Neighbour, Plane, PortCounters
from ..plane import Session as PeerSession
from .bgp import bgp_of
from .database import Commit, Database, Session
from .errors import Refused
from .hardware import Hardware
from .inherit import effective
from .load import apply, set_edits, text_edits
from .ports import ETHERNET, IRB, LAG, LOOPBACK, MANAGEMENT, Physical, ports_of
from .text import curly, set_lines
from .tree import Tree, branch, entries, normal, value

_HISTORY = "commits.json"


class Options(TypedDict, total=False):
    """What a device can be told beside its name, configuration and data plane; see `Hardware` for most."""

    model: str
    version: str
    max_mtu: int
    shows_mru: bool
    lldp_style: Literal["device", "name"]
    ping_errors: Literal["own", "base"]
    netconf: Literal["subsystem", "fallback"]
    commit_seconds: float
    readd_seconds: float
    log_replaces_comment: bool
    marks_pending: bool
    users: dict[str, str]
    authorized_keys: str
    state_dir: Path | str | None
    clock: Callable[[], float]


@dataclass(slots=True)
class Trouble:
    """What goes wrong on purpose.

    lose_commit_reply: the next confirmed commit is done and not answered. lose_confirms: commits that only confirm
    another never arrive.
    """

    lose_commit_reply: bool = False
    lose_confirms: bool = False


class JunosDevice:
    """A box that is on: it boots when it is made. Safe to use from several threads."""

    def __init__(self, hostname: str, config: str, plane: Plane, **options: Unpack[Options]) -> None:
        self.hardware = Hardware(**{f.name: options[f.name] for f in fields(Hardware) if f.name in options})  # type: ignore[literal-required]
        self.users = options.get("users", {"admin": "admin"})
        self.authorized_keys = options.get("authorized_keys", "")
        self.plane = plane
        self.now = options.get("clock", time.time)
        self.lock = threading.RLock()
        self.committing = threading.Lock()
        self.on_deadline: Callable[[], None] | None = None
        self.due: float | None = None  # when `tick` has something to do next, by this device's clock
        self.trouble = Trouble()
        self._hostname = hostname
        state_dir = options.get("state_dir")
        self._state_dir = Path(state_dir) if state_dir else None
        self._audit = Audit(self.now)
        pause = self._wait_for_readding if self.hardware.readd_seconds else None
        self._effects = Effects(hostname, plane, self.now, pause=pause)
        digest = hashlib.sha256(hostname.encode()).hexdigest()
        self.mac = ":".join(["2c", "6b", "f5", digest[0:2], digest[2:4], digest[4:6]])
        self.serial = f"XH{digest[:10].upper()}"
        self._boot(self._stored() or [Commit(normal(read(config)), self.now(), "root", "other", 0)])

    # -- the configuration -------------------------------------------------------------------------------------------

    def _boot(self, history: list[Commit]) -> None:
        """Start from what is committed. Whether a reboot ends a confirmed commit is contested: here it keeps it."""
        self.booted_at = self.now()
        self.database = Database(self, self.now, history)
        self._sockets = set(entries(branch(effective(history[-1].config)[0], "interfaces"), "interface"))
        self._effects.reset()
        self.committed_changed()

    def committed_changed(self) -> None:
        """Bring the data plane in line with the committed configuration, and keep it for the next boot."""
        self.effective, self.origins = effective(self.config)
        self.ports = ports_of(self.effective, self._sockets)
        self.bgp = bgp_of(self.effective)
        self._effects.apply(dict(self._wanted()), [peer.address for peer in self.bgp.peers if not peer.shut])
        self._store()

    @property
    def config(self) -> Tree:
        """The committed configuration."""
        return self.database.committed

    @property
    def hostname(self) -> str:
        """The name it is configured to have."""
        return value(self.config, "system", "host-name") or self._hostname

    def _wanted(self) -> Iterable[tuple[str, Wanted]]:
        """Yield what the data plane has: ports, aggregates, and the units of irb."""
        for port in self.ports.values():
            if port.kind == IRB:
                for unit in port.units:
                    if (size := unit.mtu()) is not None:
                        yield unit.name, Wanted(size, port.enabled and unit.enabled)
            elif port.kind in (ETHERNET, LAG) and port.mtu is not None:
                room = port.mtu - port.overhead
                sizes = [size for unit in port.units if (size := unit.mtu()) is not None]
                enabled = port.enabled and all(unit.enabled for unit in port.units)
                yield port.name, Wanted(min(sizes, default=room), enabled, room)

    def _wait_for_readding(self) -> None:
        time.sleep(self.hardware.readd_seconds)

    def _stored(self) -> list[Commit]:
        path = self._state_dir / _HISTORY if self._state_dir else None
        if path is None or not path.exists():
            return []
        return [Commit(**{**entry, "config": normal(read(entry["config"]))}) for entry in json.loads(path.read_text())]

    def _store(self) -> None:
        if self._state_dir is None:
            return
        self._state_dir.mkdir(parents=True, exist_ok=True)
        history = [
            {**{f.name: getattr(entry, f.name) for f in fields(Commit)}, "config": "\n".join(curly(entry.config))}
            for entry in self.database.history[:10]
        ]
        scratch = self._state_dir / f"{_HISTORY}.new"
        scratch.write_text(json.dumps(history))
        scratch.replace(self._state_dir / _HISTORY)

    # -- the data plane ------------------------------------------------------------------------------------------------

    def is_up(self, port: Physical) -> bool:
        """Tell whether a physical interface is up."""
        if not port.enabled:
            return False
        if port.kind == IRB:
            return any(self._effects.linked(unit.name) for unit in port.units) or not port.units
        if port.kind == LAG and port.members:
            return any(self.is_up(self.ports[name]) for name in port.members)
        return port.kind in (LOOPBACK, MANAGEMENT) or self._effects.linked(port.name)

    def counters(self, port: Physical) -> PortCounters:
        """Return what a physical interface has counted: of an aggregate the sum, of irb its units'."""
        names = {IRB: [unit.name for unit in port.units], LAG: list(port.members)}.get(port.kind) or [port.name]
        seen = [self._effects.counters(name) for name in names]
        return PortCounters(*(sum(getattr(one, f.name) for one in seen) for f in fields(PortCounters)))

    def flapped_at(self, port: Physical) -> float:
        """Return when an interface went up or down last."""
        return self._effects.changes(port.name, self.booted_at)[1]

    def session(self, address: str) -> PeerSession | None:
        """Return the session with a BGP neighbour, None where nobody is there."""
        return self._effects.session(address)

    def neighbour(self, port: Physical) -> Neighbour | None:
        """Return who is at the far end of a port's cable."""
        return self._effects.neighbour(port.name) if port.kind == ETHERNET else None

    # -- time --------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is due by the clock: take a confirmed commit back whose time is over."""
        with self.committing, self.lock:
            if self.database.tick():
                self.record("", "timer-revert", "Commit was not confirmed; automatic rollback complete.")
        self.notify()

    def notify(self) -> None:
        """Note when `tick` has something to do next, and tell the server when that moved."""
        with self.lock:
            before, self.due = self.due, self.database.deadline()
        if self.due != before and self.on_deadline:
            self.on_deadline()

    # -- the record --------------------------------------------------------------------------------------------------

    def record(self, user: str, kind: str, command: str) -> None:
        """Add a line to the record of changes."""
        self._audit.record(user, kind, command)

    @property
    def writes(self) -> list[Entry]:
        """Everything that was done to configurations, what only prepared something included."""
        return list(self._audit.entries)

    def audit(self) -> dict[str, Any]:
        """Return the record as plain data, and what is left open: lock, changed candidate, confirmed commit."""
        with self.lock:
            holder, pending = self.database.lock, self.database.pending
            open_sessions = [f"{session.user} (pid {session.pid})" for session in (holder,) if session]
            found = self._audit.summary(open_sessions, pending.user if pending else None)
            return {**found, "dirty": self.database.is_dirty}

    @property
    def on_first_write(self) -> Callable[[Entry], None] | None:
        """Called once, after the first commit and before its client gets the answer."""
        return self._audit.on_first_write

    @on_first_write.setter
    def on_first_write(self, hook: Callable[[Entry], None] | None) -> None:
        self._audit.on_first_write = hook

    # -- hooks for tests and faults ------------------------------------------------------------------------------------

    def foreign_session(self, user: str = "someone", client: str = "cli") -> Session:
        """Return somebody else's session, to lock, edit or commit with."""
        return Session(user, client, self.now())

    def edit(self, lines: Iterable[str], user: str = "someone", minutes: int | None = None) -> None:
        """Commit set commands as somebody else would; `minutes` makes it a confirmed commit."""
        with self.committing, self.lock:
            session = self.foreign_session(user)
            self.database.load(session, set_edits("\n".join(lines)))
            kind = self.database.commit(session, minutes=minutes)
            self.record(user, kind, "commit")
        self.notify()

    def reboot(self) -> None:
        """Boot what is committed: sessions, locks and a confirmed commit's time are lost."""
        with self.lock:
            self.record("", "reboot", "")
            self._boot(self.database.history)
        self.notify()

    def set_lines(self, word: str = "interfaces") -> list[str]:
        """Return the set commands of a part of the committed configuration, for tests."""
        return [line for line in set_lines(self.config) if line.startswith(f"set {word}")]


def read(text: str) -> Tree:
    """Return the tree of a configuration in text or set commands; raises ValueError for what is not known."""
    try:
        is_set = text.lstrip().startswith("set ")
        tree, _warnings = apply({}, set_edits(text) if is_set else text_edits(text, tagged=False))
    except Refused as error:
        facts = "; ".join(f"{item.path} {item.element}: {item.message}" for item in error.complaints)
        raise ValueError(facts) from None
    return tree
