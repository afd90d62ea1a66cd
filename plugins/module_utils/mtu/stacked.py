"""What an interface that stands on others may have: VLANs on their parents, tunnels on their underlay.

Pure; sizes are bytes of IP packet.
"""

from __future__ import annotations

from .encapsulation import left_inside, underlay_needs
from .platform_table import PLATFORMS
from .units import IP_MTU_RANGE

# Kinds that send through what is below them, with the encapsulations that they add.
_THROUGH = {"vxlan": ["vxlan"], "vxlan6": ["vxlan6"], "macsec": ["macsec"]}


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
