"""One emulated FastIron box: running and saved configuration, what of `jumbo` is active, and how it reloads."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from ..audit import Audit, Entry
from ..effects import Effects, Wanted
from ..plane import Neighbour, Plane, PortCounters
from ..platforms import PLATFORMS
from .config import Config
from .hardware import DEFAULT_MTU, OVERHEAD, Hardware
from .ports import ETHERNET, LAG, LOOPBACK, MANAGEMENT, VE, Interface, interfaces_of

_STARTUP = "startup-config"
_OTHER = "console"  # who holds configuration mode in tests


class Options(TypedDict, total=False):
    """What a device can be told beside its name, configuration, ports and data plane; see `Hardware` for most.

    enable: the password of enable mode, "" for none; enable_user: whether it asks for a user first. readers: users who
    may look only. privileged: whether a login lands in enable mode.
    """

    model: str
    version: str
    jumbo: int
    ip_mtu: tuple[int, int]
    mtu_line: Literal["icx", "icx-older", "fesx"]
    lag_line: Literal["lag", "primary"]
    reload_questions: Literal[1, 2]
    any_key: bool
    reload_seconds: float
    schedules: bool
    interface_mtu: bool
    lldp: bool
    follows_jumbo: bool
    default_line: Literal["kept", "dropped", "refused"]
    reload_words: Literal["sentence", "nothing", "unforeseen"]
    users: dict[str, str]
    readers: set[str]
    enable: str
    enable_user: bool
    privileged: bool
    state_dir: Path | str | None
    clock: Callable[[], float]


@dataclass(slots=True)
class Trouble:
    """What goes wrong on purpose.

    hangs: how many lines that fit `hang_at` (any, if it is empty) get their answer `hang_seconds` late, though they are
    carried out at once. flash_busy: how often `write memory` finds the flash in use. save_refused: it never writes.
    reload_never: a reload goes down and does not come back. boots_without: what it does not know after a reload, until
    `boots_seconds` have passed: "users" (every password is refused), or "commands" (every `show` is).
    """

    hangs: int = 0
    hang_at: str = ""
    hang_seconds: float = 45.0
    flash_busy: int = 0
    save_refused: bool = False
    reload_never: bool = False
    boots_without: Literal["", "users", "commands"] = ""
    boots_seconds: float = 2.0


class FastironDevice:
    """A box that is on: it boots when it is made. Safe to use from several threads."""

    def __init__(
        self, hostname: str, config: str, ports: Sequence[str], plane: Plane, **options: Unpack[Options]
    ) -> None:
        self.hardware = Hardware(**{f.name: options[f.name] for f in fields(Hardware) if f.name in options})  # type: ignore[literal-required]
        self.users = options.get("users", {"admin": "admin"})
        self.readers = options.get("readers", set())
        self.enable = options.get("enable", "")
        self.enable_user = options.get("enable_user", False)
        self.privileged = options.get("privileged", False)
        self.plane = plane
        self.now = options.get("clock", time.time)
        self.lock = threading.RLock()
        self.trouble = Trouble()
        self.configuring: object | None = None  # whoever is in configuration mode: one at a time
        self.due: float | None = None  # when `tick` has something to do next, by this device's clock
        self.on_deadline: Callable[[], None] | None = None
        self.on_power: Callable[[bool], None] | None = None
        self.is_on = True
        self.reloaded_by = "power cycle"
        self._hostname, self._ports = hostname, tuple(ports)
        self._back_at: float | None = None
        self._scheduled: float | None = None
        self._scheduled_by = ""
        state_dir = options.get("state_dir")
        self._state_dir = Path(state_dir) if state_dir else None
        self._audit = Audit(self.now)
        self._effects = Effects(hostname, plane, self.now)
        digest = hashlib.sha256(hostname.encode()).hexdigest()
        self.mac = f"d4c1.9e{digest[0:2]}.{digest[2:6]}"
        self.startup = Config.read(self._stored() or config)
        self._zeros: dict[str, PortCounters] = {}
        self._boot()

    # -- the configuration ---------------------------------------------------------------------------------------------

    @property
    def hostname(self) -> str:
        """The name it is configured to have."""
        return self.running.value("hostname") or self._hostname

    @property
    def ip_mtu_limit(self) -> int:
        """The largest `ip mtu` that it takes as it runs now."""
        return self.hardware.ip_mtu[1] if self.jumbo_active else DEFAULT_MTU

    @property
    def default_ip_mtu(self) -> int:
        """What an interface sends at most that states no `ip mtu`."""
        return self.ip_mtu_limit if self.hardware.follows_jumbo else DEFAULT_MTU

    @property
    def receives(self) -> int:
        """The largest IP packet that a port takes in."""
        return self.hardware.jumbo - OVERHEAD if self.jumbo_active else DEFAULT_MTU

    def changed(self) -> None:
        """Bring the data plane in line with the running configuration."""
        self.interfaces = interfaces_of(self.running, self._ports)
        self._effects.apply(dict(self._wanted()))

    def save(self) -> None:
        """Write the running configuration to flash."""
        self.startup = self.running.copy()
        if self._state_dir:
            self._state_dir.mkdir(parents=True, exist_ok=True)
            scratch = self._state_dir / f"{_STARTUP}.new"
            scratch.write_text(self.startup.text())
            scratch.replace(self._state_dir / _STARTUP)

    def _stored(self) -> str:
        path = self._state_dir / _STARTUP if self._state_dir else None
        return path.read_text() if path and path.exists() else ""

    def ip_mtu(self, interface: Interface) -> int:
        """Return what an interface sends at most: a size that is configured counts only where the box can do it."""
        if interface.ip_mtu is None:
            return self.default_ip_mtu if interface.kind != MANAGEMENT else DEFAULT_MTU
        return interface.ip_mtu if interface.ip_mtu <= self.ip_mtu_limit else DEFAULT_MTU

    def _wanted(self) -> Iterator[tuple[str, Wanted]]:
        """Yield what the data plane has. What leaves by a switched port nothing limits: see the facts of the plane."""
        for interface in self.interfaces.values():
            switched = interface.kind == ETHERNET and not interface.is_routed
            size = PLATFORMS["fastiron"].port_ip_mtu if switched else self.ip_mtu(interface)
            if interface.kind == ETHERNET:
                yield interface.name, Wanted(size, interface.enabled, self.receives)
            elif interface.kind == VE:
                yield interface.name, Wanted(size, interface.enabled)

    def lacks(self, what: Literal["users", "commands"]) -> bool:
        """Tell whether it has booted too short a time ago to know its users, or its commands."""
        is_young = self.reloaded_by == "reload" and self.now() - self.booted_at < self.trouble.boots_seconds
        return is_young and self.trouble.boots_without == what

    # -- reloading -----------------------------------------------------------------------------------------------------

    def _boot(self) -> None:
        """Start from what is saved: that is when `jumbo` becomes active, or stops to be."""
        self.running = self.startup.copy()
        self.jumbo_active = self.running.has("jumbo")
        self.booted_at = self.now()
        self.configuring = None
        self._effects.reset()
        self.changed()

    def reload(self, user: str = "", words: str = "reload") -> None:
        """Go down: ports pass nothing, management is gone; what was not saved is lost."""
        with self.lock:
            self.record(user, "reboot", words)
            self.is_on = False
            self._scheduled = None
            self._back_at = None if self.trouble.reload_never else self.now() + self.hardware.reload_seconds
            self._effects.power_off(self._ports)
        if self.on_power:
            self.on_power(False)
        self.notify()

    def schedule(self, at: float, user: str) -> None:
        """Reload by itself at a time."""
        with self.lock:
            self._scheduled, self._scheduled_by = at, user
        self.notify()

    def cancel(self) -> bool:
        """Take the scheduled reload back; tell whether there was one."""
        with self.lock:
            found, self._scheduled = self._scheduled is not None, None
        self.notify()
        return found

    @property
    def reload_in(self) -> int | None:
        """Seconds until the scheduled reload, None where there is none."""
        return None if self._scheduled is None else max(0, round(self._scheduled - self.now()))

    def tick(self) -> None:
        """Do what is due by the clock: come back from a reload, begin the scheduled one."""
        now = self.now()
        if self._back_at is not None and self._back_at <= now:
            with self.lock:
                self._back_at = None
                self.reloaded_by = "reload"
                self._zeros = {name: self._effects.counters(name) for name in self._ports}
                self._boot()
                self.is_on = True
            if self.on_power:
                self.on_power(True)
        elif self._scheduled is not None and self._scheduled <= now:
            self.reload(self._scheduled_by, "scheduled reload")
        self.notify()

    def notify(self) -> None:
        """Note when `tick` has something to do next, and tell the server when that moved."""
        with self.lock:
            before = self.due
            self.due = min((at for at in (self._back_at, self._scheduled) if at is not None), default=None)
        if self.due != before and self.on_deadline:
            self.on_deadline()

    # -- the data plane ------------------------------------------------------------------------------------------------

    def is_up(self, interface: Interface) -> bool:
        """Tell whether an interface is up."""
        if not interface.enabled:
            return False
        if interface.kind == LAG:
            return any(self.is_up(one) for one in self.interfaces.values() if one.number in interface.members)
        return interface.kind in (LOOPBACK, MANAGEMENT) or self._effects.linked(interface.name)

    def counters(self, interface: Interface) -> PortCounters:
        """Return what an interface has counted since the last boot; of a LAG the sum."""
        if interface.kind == LAG:
            seen = [self.counters(one) for one in self.interfaces.values() if one.number in interface.members]
            return PortCounters(*(sum(getattr(one, f.name) for one in seen) for f in fields(PortCounters)))
        now, zero = self._effects.counters(interface.name), self._zeros.get(interface.name, PortCounters())
        return PortCounters(*(max(0, getattr(now, f.name) - getattr(zero, f.name)) for f in fields(PortCounters)))

    def up_since(self, interface: Interface) -> float:
        """Return when an interface went up or down last."""
        return self._effects.changes(interface.name, self.booted_at)[1]

    def neighbour(self, interface: Interface) -> Neighbour | None:
        """Return who is at the far end of a port's cable."""
        return self._effects.neighbour(interface.name) if interface.kind == ETHERNET else None

    # -- the record ----------------------------------------------------------------------------------------------------

    def record(self, user: str, kind: str, command: str) -> None:
        """Add a line to the record of changes."""
        self._audit.record(user, kind, command)

    @property
    def writes(self) -> list[Entry]:
        """Everything that was done to configurations."""
        return list(self._audit.entries)

    def audit(self) -> dict[str, Any]:
        """Return the record as plain data, and what is left open: configuration mode, a scheduled reload, no save."""
        with self.lock:
            held = [str(getattr(self.configuring, "user", _OTHER))] if self.configuring is not None else []
            found = self._audit.summary(held, self._scheduled_by if self._scheduled is not None else None)
            return {**found, "dirty": self.running.text() != self.startup.text()}

    @property
    def on_first_write(self) -> Callable[[Entry], None] | None:
        """Called once, after the first change and before its client gets the answer."""
        return self._audit.on_first_write

    @on_first_write.setter
    def on_first_write(self, hook: Callable[[Entry], None] | None) -> None:
        self._audit.on_first_write = hook

    def jumbo_state(self) -> Literal["absent", "configured", "saved", "active"]:
        """Return how far `jumbo` has come, for tests."""
        if not self.running.has("jumbo"):
            return "absent"
        if not self.startup.has("jumbo"):
            return "configured"
        return "active" if self.jumbo_active else "saved"
