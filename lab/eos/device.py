"""One emulated EOS switch: configuration, sessions, files, and their effect on the data plane."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from ..audit import Audit, Entry
from ..effects import Effects, Wanted
from ..plane import Neighbour, Plane, PortCounters, Session
from .bgp import bgp_of
from .cli import Cli
from .config import Config, render
from .editor import Editor, load
from .flash import STARTUP, Flash
from .hardware import Hardware
from .names import parent_of
from .ports import Port, ports_of
from .sessions import PENDING, Sessions
from .show_interfaces import Live

_LOG = logging.getLogger(__name__)
_NOBODY = PortCounters()


class Options(TypedDict, total=False):
    """What a device can be told beside its name, configuration and data plane; see `Hardware` for most."""

    version: str
    model: str
    max_mtu: int
    per_interface_mtu: Literal["accepted", "rejected", "ignored"]
    no_mtu_ports: frozenset[str]
    subinterface_mtu: bool
    l2_mtu: bool
    commit_clock: Literal["uptime", "epoch"]
    users: dict[str, str]
    state_dir: Path | str | None
    clock: Callable[[], float]


class EosDevice:
    """A switch that is on: it boots when it is made. Safe to use from several threads."""

    def __init__(self, hostname: str, startup_config: str, plane: Plane, **options: Unpack[Options]) -> None:
        self.hardware = Hardware(**{f.name: options[f.name] for f in fields(Hardware) if f.name in options})  # type: ignore[literal-required]
        self.users = options.get("users", {"admin": "admin"})
        self.plane = plane
        self.now = options.get("clock", time.time)
        self.lock = threading.RLock()
        self.on_deadline: Callable[[], None] | None = None
        state_dir = options.get("state_dir")
        self.flash = Flash(Path(state_dir) if state_dir else None)
        if STARTUP not in self.flash:  # what was saved on the switch wins over what it was built with
            self.flash.write(STARTUP, startup_config)
        self.checkpoints: dict[str, Config] = {}
        self.saved_at, self.saved_by = self.now(), ""
        self.sessions = Sessions(self, self.now)
        self._audit = Audit(self.now)
        self._hostname = hostname
        self._effects = Effects(hostname, plane, self.now)
        self._cleared: dict[str, tuple[PortCounters, float]] = {}
        digest = hashlib.sha256(hostname.encode()).hexdigest()
        self.mac = ":".join(["00", "1c", "73", digest[0:2], digest[2:4], digest[4:6]])
        self.serial = digest[:32].upper()
        self.due: float | None = None  # when `tick` has something to do next, by this device's clock
        self._sockets: frozenset[str] | None = None
        self._boot()

    # -- the running-config ----------------------------------------------------------------------------------------

    def _boot(self) -> None:
        """Start from the startup-config: a line that fails is skipped, as on the device."""
        self.booted_at = self.now()
        self._running, self.boot_errors = self._load_startup()
        self._sockets = self._running.ports
        for error in self.boot_errors:
            _LOG.warning("%s: startup-config: %s", self._hostname, error)
        self._effects.reset()
        self.edited()

    def _load_startup(self) -> tuple[Config, list[str]]:
        config, errors = load(self.flash.read(STARTUP), self.hardware, self._sockets)
        config.root.lines.setdefault("hostname", f"hostname {self._hostname}")
        return config, errors

    @property
    def running(self) -> Config:
        """The running-config. Call `edited` after a change in place."""
        return self._running

    def replace_running(self, config: Config) -> None:
        """Put another configuration in force."""
        self._running = config
        self.edited()

    def edited(self) -> None:
        """Bring the data plane in line with the running-config."""
        self.ports = ports_of(self._running, self.hardware)
        self.heads: dict[str, str] = {}
        self.bgp = bgp_of(self._running)
        self._effects.apply(
            {name: Wanted(self._sends(port), port.enabled) for name, port in self.ports.items() if port.in_plane},
            [peer.address for peer in self.bgp.peers if not peer.shut] if self.bgp else (),
        )

    def _sends(self, port: Port) -> int:
        """Return what a port sends at most: in the data plane its sub-interfaces are one with it."""
        return min([port.mtu, *(other.mtu for other in self.ports.values() if parent_of(other.name) == port.name)])

    def startup(self) -> Config:
        """Return the startup-config as the device would boot it."""
        return self._load_startup()[0]

    def save(self, user: str) -> None:
        """Write the running-config to the startup-config."""
        self.flash.write(STARTUP, "\n".join([*render(self._running), "end", ""]))
        self.saved_at, self.saved_by = self.now(), user

    # -- the data plane --------------------------------------------------------------------------------------------

    def live(self, port: Port) -> Live:
        """Return what the data plane says of a port now."""
        changes, changed_at = self._effects.changes(port.name, self.booted_at)
        up = port.enabled and self._linked(port)
        counters = self._effects.counters(port.name) if port.in_plane else _NOBODY
        zero = self._cleared.get(port.name)
        if zero is None:
            return Live(up, counters, changes, changed_at)
        return Live(up, _since(zero[0], counters), changes, changed_at, zero[1])

    def clear_counters(self, ports: Iterable[Port]) -> None:
        """Count from here on, as `clear counters` does: for the command line only, the data plane goes on counting."""
        for port in ports:
            self._cleared[port.name] = (self._effects.counters(port.name) if port.in_plane else _NOBODY, self.now())

    def _linked(self, port: Port) -> bool:
        if port.hardware == "subinterface":
            parent = self.ports.get(parent_of(port.name))
            return parent is not None and self._linked(parent)
        if port.kind == "Port-Channel":
            return any(self.ports[name].enabled and self._linked(self.ports[name]) for name in port.members)
        if not port.in_plane:
            return True
        return self._effects.linked(port.name)

    def session(self, address: str) -> Session | None:
        """Return the session with a BGP neighbour, None where nobody is there."""
        return self._effects.session(address)

    def neighbour(self, port: Port) -> Neighbour | None:
        """Return who is at the far end of the port's cable."""
        return self._effects.neighbour(port.name) if port.kind == "Ethernet" else None

    # -- requests and time -----------------------------------------------------------------------------------------

    def run(self, commands: Sequence[str | dict[str, Any]], user: str = "admin", encoding: str = "json") -> list[str]:
        """Run a request's commands; return their results as JSON texts, or raise `cli.RequestFailed`."""
        return Cli(self, user).run(commands, encoding)

    def tick(self) -> None:
        """Do what is due by the clock: a commit timer that ran out, sessions nobody came back to."""
        with self.lock:
            for event, session in self.sessions.tick():
                self._audit.record("", event, "", session)
        self.notify()

    def notify(self) -> None:
        """Note when `tick` has something to do next, and tell the server when that moved."""
        with self.lock:
            before, self.due = self.due, self.sessions.deadline()
        if self.due != before and self.on_deadline:
            self.on_deadline()

    # -- the record ------------------------------------------------------------------------------------------------

    def record(self, user: str, kind: str, command: str, session: str = "") -> None:
        """Add a line to the record of changes."""
        self._audit.record(user, kind, command, session)

    @property
    def writes(self) -> list[Entry]:
        """Everything that was done to configurations, sessions that were only prepared included."""
        return list(self._audit.entries)

    def audit(self) -> dict[str, Any]:
        """Return the record as plain data: entries, `written`, open and aborted sessions, a pending commit timer."""
        with self.lock:
            timer = self.sessions.timer
            return self._audit.summary(self.sessions.names(PENDING), timer.session if timer else None)

    @property
    def on_first_write(self) -> Callable[[Entry], None] | None:
        """Called once, after the first change that outlives a session and before its client gets the answer."""
        return self._audit.on_first_write

    @on_first_write.setter
    def on_first_write(self, hook: Callable[[Entry], None] | None) -> None:
        self._audit.on_first_write = hook

    # -- hooks for tests and faults --------------------------------------------------------------------------------

    def foreign_session(self, name: str, lines: Iterable[str] = (), user: str = "someone") -> None:
        """Open somebody else's session and leave it pending."""
        with self.lock:
            session, _entered = self.sessions.enter(name, user)
            editor = Editor(session.config, self.hardware)
            for line in lines:
                editor.enter(line)
            self.record(user, "session-open", f"configure session {name}", name)
        self.notify()

    def edit(self, lines: Iterable[str], user: str = "someone") -> None:
        """Change the running-config as somebody else would, line by line."""
        with self.lock:
            editor = Editor(self._running, self.hardware)
            for line in lines:
                changed = editor.enter(line)
                self.record(user, "config-line" if changed else "config-no-change", line)
            self.edited()

    def reboot(self) -> None:
        """Boot the startup-config: sessions and a running commit timer are lost (vendor documentation)."""
        with self.lock:
            self.sessions.clear()
            self.record("", "reboot", "")
            self._boot()
        self.notify()


def _since(zero: PortCounters, seen: PortCounters) -> PortCounters:
    return PortCounters(**{f.name: getattr(seen, f.name) - getattr(zero, f.name) for f in fields(PortCounters)})
