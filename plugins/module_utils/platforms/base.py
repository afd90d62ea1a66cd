"""The one small interface behind which every platform hides."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, Mapping, Protocol, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable

Change = Mapping[str, Any]
"""One plan change of this device: {object, field, from, to, ...}; MTU values in bytes of IP packet."""

State = Dict[str, Any]  # the shape is in docs/explanation/architecture.md, "State"
Handle = Dict[str, Any]
"""What `apply` returns: {name, changes, changed, diff, ...}; plain JSON, kept in the journal.

`changed`: False where nothing was sent that changes the device, True where the changes read back; without it nobody
knows, since the apply failed or its end was never written.
"""


@contextlib.contextmanager
def keeping(handle: Handle) -> Iterator[None]:
    """Let an error of an apply carry the handle as it is by then: what was there before must not be forgotten."""
    try:
        yield
    except JumboError as failure:
        failure.handle = dict(handle)
        raise


@dataclass(frozen=True)
class Access:
    """How a device is reached. Built from inventory variables in one place, plugin_utils/access.py."""

    host: str
    platform: str
    address: str
    port: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    enable_password: str | None = field(default=None, repr=False)
    private_key_file: str | None = None
    use_tls: bool = True
    validate_certs: bool = True
    timeout: float = 30.0
    reload_within: float = 600.0
    """Seconds that a box gets to be back from a reload with all of its ports."""
    allow_reload: bool = False
    """Whether boxes may be reloaded: to activate large frames, or as the way back of management."""
    operator: str | None = None
    """Who runs this, `user@controller`: a host's guard tells it to whoever meets it."""
    other_secrets: tuple[str, ...] = field(default=(), repr=False)
    run_program: Callable[[Mapping[str, Any], bool], dict[str, Any]] | None = field(default=None, repr=False)
    """Linux hosts: sends one request of the `probe` package and returns its reply; True asks for a new connection."""

    waived: frozenset[str] = frozenset()
    """Linux hosts: interfaces in segments that a waiver of the kind `exposure` names; "*" for all."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what must never appear in a result or a log."""
        return tuple(value for value in (self.password, self.enable_password, *self.other_secrets) if value)


class NoAnswer(Unreachable):
    """A request that was sent and not answered: whether it was carried out is unknown."""


class Driver(Protocol):
    """What the roll-out asks of a device. Every method raises JumboError (Unreachable, AccessDenied) and nothing else.

    A driver translates and reads back; it decides nothing. Each method logs in on its own: `confirm` is by
    construction a new connection.
    """

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:
        """Return the device's state, or only its `interfaces`; writes nothing and opens no configuration session.

        `interfaces`: those that the caller wants to know about; a platform that reads all at once may return more.
        """

    def diff(self, changes: Sequence[Change]) -> str:
        """Return the device's own difference for these changes; loads and discards a candidate where there is one.

        Raises JumboError with `object` and `limit` (bytes of IP packet) where the device refuses a value.
        """

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Arm the device's dead-man for `within` seconds, then make the changes and read them back.

        `name` is unique to the step: it names the session or guard, so that a later process finds its own.

        A change of `drained` leads traffic around a link, or lets it come back: BGP sessions are shut down, or let up.
        The handle's change then has `shut`, what the driver has shut down in its own words; the change that undrains
        must have the same, since what others have shut down is never let up.
        """

    def pending(self) -> dict[str, Any]:
        """Return {owner: ours | foreign | none, name, seconds_left}: what waits for a confirmation."""

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Disarm the dead-man, persist, read back; {confirmed, persisted}: true, or null where nobody can."""

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take the changes of the handle back, confirmed or not, and read back; harmless when they are gone already.

        `name` and `changes` are enough: after a crash in mid-apply the journal has no more than these. Then only what
        the device shows to be of this step is taken back; what may have been there before it stays, and is named.
        """

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """Send DF echoes of `ip_mtu` bytes of IP packet; the shape of the filter `parse_ping`."""
