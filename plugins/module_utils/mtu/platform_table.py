"""What each platform's own number counts, as data with sources. Sizes are bytes; no check sequence (FCS) anywhere.

`counted` is what the number has besides the IP packet, by tagging. What is true of single models only is in
capability_table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

# Ethernet header; with one 802.1Q tag; with room for two.
LAYER2 = {"untagged": 14, "tagged": 18, "flexible": 22}
TAGGING_WORDS = {"vlan-tagging": "tagged", "flexible-vlan-tagging": "flexible", "none": "untagged"}

_IDENTITY = {"untagged": 0, "tagged": 0, "flexible": 0}


@dataclass(frozen=True)
class Platform:
    """One platform.

    accepts: what an interface receives: `untold` (the number limits what is sent only), `number` (the number is the
    limit both ways), `box` (one frame size for all ports), `link` (at least what it sends; how much more isn't told).
    vlan_parent: bytes that a VLAN's parent without a number of its own gets on top of its child's.
    fields: what its driver carries out, of steps.FIELDS; a plan that asks for another one is refused by name.
    drains: the routing of links, in the words of jumbo_links, that its driver drains.
    """

    counted: Mapping[str, int]
    accepts: str
    source: str
    vlan_parent: int = 0
    fields: frozenset[str] = frozenset()
    drains: frozenset[str] = frozenset()


PLATFORMS: Mapping[str, Platform] = {
    "eos": Platform(
        _IDENTITY,
        "untold",
        '`show interfaces` prints "IP MTU"; a limit of what is sent: aristaeos.blogspot.com 2020/03, MTU behavior 1-3',
        fields=frozenset({"ip_mtu", "drained"}),
        drains=frozenset({"bgp"}),
    ),
    "fastiron": Platform(
        _IDENTITY,
        "box",
        "`ip mtu` of a ve or routed port; `jumbo` is the box's frame size: FastIron 08.0.60 Layer 3 guide",
        fields=frozenset({"ip_mtu", "jumbo"}),
    ),
    "junos": Platform(
        LAYER2,
        "number",
        'Juniper "Configuring the Media MTU": 14, tagged 18, flexible 22; larger frames are dropped on receipt',
        fields=frozenset({"ip_mtu", "drained"}),
        drains=frozenset({"bgp"}),
    ),
    "linux": Platform(
        _IDENTITY,
        "link",
        "dev->mtu leaves header and tag out: net/8021q/vlan_dev.c",
        fields=frozenset({"ip_mtu", "route_mtu", "persisted"}),
    ),
    "opnsense": Platform(
        _IDENTITY, "link", "ifconfig(8), as Linux; interfaces.inc gives an unassigned parent 4 more", vlan_parent=4
    ),
}

# FastIron's `jumbo`, box-wide. Current ICX take frames of 10200 bytes, FESX and FWS 10240. What 10200 counts is not
# confirmed, so the smallest reading is used for all: two tags and a header off the smaller one.
BOX_FRAME = 1500  # how the box itself prints its size without `jumbo`
BOX_FRAME_JUMBO = 10200
BOX_RECEIVES = BOX_FRAME
BOX_RECEIVES_JUMBO = BOX_FRAME_JUMBO - LAYER2["flexible"]
