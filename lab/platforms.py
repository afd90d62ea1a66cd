"""What the lab knows of each platform that it can emulate: sizes that come with the box."""

from __future__ import annotations

from dataclasses import dataclass

# Both ends of every cable; larger than anything a device may send.
CABLE_MTU = 9300
# What an Ethernet frame adds to an IP packet, without and with its check sequence.
ETHERNET_HEADER = 14
ETHERNET_OVERHEAD = 18
DEFAULT_IP_MTU = 1500


@dataclass(frozen=True, slots=True)
class PlatformSizes:
    """Sizes of one platform.

    port_ip_mtu: what a bridged port sends. receives: the largest IP packet a port takes in when it boots, None where
    that is the link's own MTU or what the front end makes of it. max_frame: what LLDP tells, None where that is
    `frame_overhead` more than what the port takes in, or than the link's MTU.
    """

    port_ip_mtu: int
    receives: int | None
    max_frame: int | None
    frame_overhead: int = ETHERNET_OVERHEAD


PLATFORMS = {
    "eos": PlatformSizes(port_ip_mtu=9214, receives=9214, max_frame=9236),
    # One frame size for the whole box: what comes in is limited, what leaves by a switched port is not.
    "fastiron": PlatformSizes(port_ip_mtu=9214, receives=DEFAULT_IP_MTU, max_frame=None, frame_overhead=22),
    "junos": PlatformSizes(port_ip_mtu=DEFAULT_IP_MTU, receives=None, max_frame=None, frame_overhead=ETHERNET_HEADER),
    "linux": PlatformSizes(port_ip_mtu=DEFAULT_IP_MTU, receives=None, max_frame=None),
}
