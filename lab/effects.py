"""What a configuration does to a data plane, and what that tells back: the same for every emulated platform."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .plane import Neighbour, Plane, PortCounters, Session

_LOG = logging.getLogger(__name__)
_ABSENT = (KeyError, OSError)  # no such interface in the node, or its node is just starting


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the configuration wants of one interface; sizes in bytes of IP packet.

    receives: what it takes in, None where the platform does not limit that.
    """

    ip_mtu: int
    enabled: bool
    receives: int | None = None


class Effects:
    """Brings a data plane in line with a device's configuration, one difference at a time.

    What the plane cannot do is logged and never stops a commit. `flaps`: an interface whose size changes goes down for
    the time of the change. `pause` is called while it is down.
    """

    def __init__(
        self, device: str, plane: Plane, clock: Callable[[], float], *, pause: Callable[[], None] | None = None
    ) -> None:
        self._device = device
        self._plane = plane
        self._clock = clock
        self._pause = pause
        self._applied: dict[str, Wanted] = {}
        self._changes: dict[str, tuple[int, float]] = {}

    def reset(self) -> None:
        """Forget what was applied, as a device that boots does."""
        self._applied.clear()

    def apply(self, wanted: Mapping[str, Wanted], peers: Collection[str] = ()) -> None:
        """Make the plane what the configuration wants; `peers`: the BGP neighbours that may have a session."""
        resized = [name for name, wish in wanted.items() if self._is_resized(name, wish)]
        for name in resized if self._pause else ():
            self._switch(name, up=False)
        if self._pause and resized:
            self._pause()
        for name, wish in wanted.items():
            self._bring(name, self._applied.get(name), wish, again=bool(self._pause) and name in resized)
        for name in self._applied.keys() - wanted.keys():  # an interface that was deleted
            self._try(self._plane.set_up, name, False)
        self._applied = dict(wanted)
        self._plane.set_peers(peers)

    def session(self, address: str) -> Session | None:
        """Return the session with a BGP neighbour, None where nobody is there."""
        return self._plane.session(address)

    def power_off(self, names: Iterable[str]) -> None:
        """Switch ports off, as a box that goes down does."""
        for name in names:
            self._try(self._plane.set_up, name, False)

    def changes(self, name: str, since: float) -> tuple[int, float]:
        """Return how often the interface was switched, and when last; `since` where it never was."""
        return self._changes.get(name, (1, since))

    def linked(self, name: str) -> bool:
        """Tell whether the plane has the interface up."""
        try:
            return self._plane.is_up(name)
        except _ABSENT:
            return False

    def counters(self, name: str) -> PortCounters:
        """Return the plane's counters of the interface, zeros where it has none."""
        try:
            return self._plane.counters(name)
        except _ABSENT:
            return PortCounters()

    def neighbour(self, name: str) -> Neighbour | None:
        """Return who is at the far end of the port's cable."""
        try:
            return self._plane.neighbour(name)
        except _ABSENT:
            return None

    def _is_resized(self, name: str, wish: Wanted) -> bool:
        old = self._applied.get(name)
        return old is not None and old.enabled and (old.ip_mtu, old.receives) != (wish.ip_mtu, wish.receives)

    def _bring(self, name: str, old: Wanted | None, wish: Wanted, *, again: bool) -> None:
        if old is None or old.ip_mtu != wish.ip_mtu:
            self._try(self._plane.set_ip_mtu, name, wish.ip_mtu)
        if wish.receives is not None and (old is None or old.receives != wish.receives):
            self._try(self._plane.set_receives, name, wish.receives)
        if old is None or old.enabled != wish.enabled or again:
            self._switch(name, up=wish.enabled)

    def _switch(self, name: str, *, up: bool) -> None:
        self._try(self._plane.set_up, name, up)
        count, _since = self._changes.get(name, (0, 0.0))
        self._changes[name] = (count + 1, self._clock())

    def _try(self, action: Callable[[str, Any], None], name: str, value: object) -> None:
        try:
            action(name, value)
        except KeyError:  # configured, but without a cable in the lab
            _LOG.debug("%s: the data plane has no %s", self._device, name)
        except Exception:  # noqa: BLE001 - a data plane that fails must not leave a commit half done
            _LOG.exception("%s: the data plane failed on %s", self._device, name)
