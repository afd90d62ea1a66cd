"""What differs from box to box: model, release, sizes, and how fast and how truthfully it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Vendor documentation (media MTU): what the media MTU counts beside the IP packet, by the port's tagging.
OVERHEAD = {"plain": 14, "vlan": 18, "flexible": 22}
DEFAULT_IP_MTU = 1500
MPLS_OVERHEAD = 12  # "Configuring the MPLS MTU": media MTU less its header, less 12
LOWEST_MTU = 256
MAX_MEDIA_MTU = 9216  # EX and QFX (vendor documentation); a vQFX of a public test set runs at 9214
MRU_BEYOND_MTU = 8  # outputs of newer releases: MRU 1522 with MTU 1514


@dataclass(frozen=True, slots=True)
class Hardware:
    """The properties of one box.

    shows_mru: newer releases print an MRU. lldp_style: which RPC tells the neighbour of one port; the other is a syntax
    error. ping_errors: whether the rpc-error in ping-results is in NETCONF's name space (`base`) or in its own (`own`);
    not confirmed, public clients know both. netconf: `fallback` refuses the subsystem, as a box does that only has
    `xml-mode`. commit_seconds: how long a commit takes; readd_seconds: how long an interface is gone whose MTU changes
    (vendor documentation: it is deleted and added again). log_replaces_comment: the log of a confirmed commit stands
    where "commit confirmed, rollback in ..." would.
    """

    model: str = "qfx5120-48y-8c"
    version: str = "21.4R3.15"
    max_mtu: int = MAX_MEDIA_MTU
    shows_mru: bool = True
    lldp_style: Literal["device", "name"] = "device"
    ping_errors: Literal["own", "base"] = "own"
    netconf: Literal["subsystem", "fallback"] = "subsystem"
    commit_seconds: float = 0.0
    readd_seconds: float = 0.2
    log_replaces_comment: bool = False
    marks_pending: bool = True

    @property
    def release(self) -> str:
        """Return what stands in the name spaces, for example 21.4R0."""
        return f"{self.version.partition('R')[0]}R0"
