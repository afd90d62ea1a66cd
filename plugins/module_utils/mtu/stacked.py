"""What an interface that stands on others may have: VLANs, tunnels, a routed interface over its switched ports.

Pure; sizes are bytes of IP packet.
"""

from __future__ import annotations

from typing import Sequence

from .encapsulation import left_inside, underlay_needs
from .platform_table import PLATFORMS
from .units import IP_MTU_RANGE

# Kinds that send through what is below them, with the encapsulations that they add.
_THROUGH = {"vxlan": ["vxlan"], "vxlan6": ["vxlan6"], "macsec": ["macsec"]}
MPLS_RESERVE = 12  # room for three labels: Juniper "Configuring the Media MTU", KB36425


def parent_needs(platform: str, kind: str | None, child: int, *, own_number: bool = True) -> int:
    """Return the IP MTU that an interface's parent needs for a child of that size.

    `own_number`: the parent has an MTU configured itself. OPNsense gives a parent that has none 4 bytes more.
    """
    if kind in _THROUGH:
        return underlay_needs(child, _THROUGH[kind])
    if kind in {"vlan", "qinq"} and not own_number:
        return child + PLATFORMS[platform].vlan_parent
    return child


def child_allows(kind: str | None, parent: int) -> int:
    """Return the largest IP MTU of an interface on a parent of that size."""
    return left_inside(parent, _THROUGH[kind], IP_MTU_RANGE[0]) if kind in _THROUGH else parent


def routed_over_ports(own: int, ports: Sequence[int]) -> int:
    """Return what an SVI really sends where its switched ports bound it (Junos irb): the least of all.

    `own` and `ports`: IP MTU of the interface and of the member ports, headers already taken off. Juniper KB27446: set
    above its ports, an irb is deleted and added again at the commit, so ports are raised first and lowered last.
    """
    return min([own, *ports])


def mpls_payload(ip_mtu: int) -> int:
    """Return the MPLS MTU that Junos derives from a port of that IP MTU: three labels are kept free."""
    return ip_mtu - MPLS_RESERVE
