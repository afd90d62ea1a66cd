"""What differs from box to box: model, version, and what its MTU commands accept."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from .config import Config
from .errors import CliError, invalid_token
from .names import is_subinterface, kind_of, parent_of

# Vendor documentation and fixtures of public projects agree on these.
L2_MTU = 9214
LOOPBACK_MTU = 65535
VXLAN_MTU = 0
LOWEST_MTU, HIGHEST_MTU = 68, 65535  # `mtu <68-65535>`
UNAVAILABLE = "Unavailable command (not supported on this hardware platform)"
UPTIME, EPOCH = "uptime", "epoch"


@dataclass(frozen=True, slots=True)
class Hardware:
    """The properties of one switch.

    per_interface_mtu: `rejected` as on CCS-720 and its kind, `ignored` as their releases that take the line and do
    nothing. commit_clock: what `commitBy` counts from. Public client code reads it as uptime, the one public sample
    shows seconds since 1970; which is true of which release is not confirmed.
    """

    model: str = "vEOS-lab"
    version: str = "4.32.2F"
    max_mtu: int = 9214
    per_interface_mtu: Literal["accepted", "rejected", "ignored"] = "accepted"
    no_mtu_ports: frozenset[str] = field(default_factory=frozenset)
    subinterface_mtu: bool = False
    l2_mtu: bool = False
    commit_clock: Literal["uptime", "epoch"] = "uptime"

    @property
    def release(self) -> tuple[int, int]:
        """Return the numbers that behaviour depends on, for example (4, 32)."""
        match = re.match(r"(\d+)\.(\d+)", self.version)
        return (int(match[1]), int(match[2])) if match else (0, 0)

    @property
    def new_commit_timer(self) -> bool:
        """Tell whether a running commit timer is shown at the top level (4.32 and later)."""
        return self.release >= (4, 32)

    def check_mtu(self, name: str | None, value: int) -> None:
        """Refuse an MTU as the box does; a name of None stands for `interface defaults`."""
        if not LOWEST_MTU <= value <= HIGHEST_MTU:
            raise invalid_token(1, str(value))
        if name is None:
            # The text of an `interface defaults` above the maximum is not confirmed: the shortest true one.
            if value > self.max_mtu:
                raise invalid_token(1, str(value))
            return
        self._check_support(name)
        if value > self.max_mtu:
            raise CliError(f"Max MTU for {name} is {self.max_mtu}")

    def _check_support(self, name: str) -> None:
        if is_subinterface(name) and not self.subinterface_mtu:
            raise CliError("mtu  not supported on this hardware platform")  # with two spaces, as reported publicly
        # Whether Loopback and Vxlan take the line at all is not confirmed: refused, since nothing could come of it.
        unavailable = kind_of(name) in {"Loopback", "Vxlan"} or name in self.no_mtu_ports
        if unavailable or self.per_interface_mtu == "rejected":
            raise CliError(UNAVAILABLE)

    def check_l2(self, value: int) -> None:
        """Refuse `l2 mtu` and `l2 mru` where the platform has none."""
        if not self.l2_mtu:
            raise CliError(UNAVAILABLE)
        if not LOWEST_MTU <= value <= HIGHEST_MTU:
            raise invalid_token(2, str(value))

    def mtu_of(self, config: Config, name: str, *, routed: bool) -> tuple[int, bool]:
        """Return the MTU that `show interfaces` prints, and whether it is the interface's own.

        `mtu` on a switchport is stored and has an effect only once the port is routed (believed widely, not
        confirmed). `interface defaults` moves Management as well: not confirmed either, so the worse is done.
        """
        kind = kind_of(name)
        if kind == "Loopback":
            return LOOPBACK_MTU, False
        if kind == "Vxlan":
            return VXLAN_MTU, False
        own = self._own_mtu(config, name)
        if not routed:
            return L2_MTU, own is not None
        if is_subinterface(name) and own is None:
            return self.mtu_of(config, parent_of(name), routed=True)[0], False
        return own or config.default_mtu, own is not None

    def _own_mtu(self, config: Config, name: str) -> int | None:
        block = config.root.children.get(f"interface {name}")
        value = block.value("mtu") if block and self.per_interface_mtu == "accepted" else None
        return int(value) if value else None
