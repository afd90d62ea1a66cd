"""MTU arithmetic between IP packets, devices, probes and TCP. Pure functions; every size is in bytes.

`ip_mtu` is the size of an IP packet, headers included: the one unit. `device_mtu` is the number that a platform itself
configures and shows; what that counts is a row of platform_table.
"""

from __future__ import annotations

import math
from typing import Any

from .errors import JumboError
from .platform_table import LAYER2, PLATFORMS, TAGGING_WORDS

IP_MTU_RANGE = (68, 65535)  # RFC 791: every link carries 68; the length field holds 65535

_HEADERS = {4: 20, 6: 40}
_ICMP = 8
_TCP = 20
_TCP_TIMESTAMPS = 12  # RFC 7323: 10 bytes and 2 of padding


def _family(family: Any) -> int:
    known = {"4": 4, "6": 6, "ipv4": 4, "ipv6": 6}
    value = known.get(str(family).lower()) if not isinstance(family, bool) else None
    if value is None:
        raise JumboError("unknown address family", wish=family, limit="4, 6, ipv4, ipv6")
    return value


def whole_number(value: Any, what: str, bounds: tuple[int, int] = IP_MTU_RANGE) -> int:
    """Return a whole number within bounds, in bytes; text and booleans are refused, not converted."""
    low, high = bounds
    if isinstance(value, bool) or not isinstance(value, int):
        advice = "Write it as a number, without quotes or unit"
        raise JumboError(f"{what} is not a whole number", wish=value, limit=f"{low}-{high}", advice=advice)
    if not low <= value <= high:
        raise JumboError(f"{what} is out of range", wish=int(value), limit=f"{low}-{high}")
    return int(value)


def tagging_of(word: Any) -> str:
    """Return untagged, tagged or flexible; the words of the platform that has them are understood too."""
    name = TAGGING_WORDS.get(word, word) if isinstance(word, str) else None
    if name not in LAYER2:
        raise JumboError("unknown tagging", wish=word, limit=", ".join([*LAYER2, *TAGGING_WORDS]))
    return str(name)


def _counted(platform: Any, tagging: Any) -> int:
    if not isinstance(platform, str) or platform not in PLATFORMS:
        raise JumboError("unknown platform", wish=platform, limit=", ".join(sorted(PLATFORMS)))
    return PLATFORMS[platform].counted[tagging_of(tagging)]


def ping_payload(ip_mtu: int, family: Any = 4) -> int:
    """Return the ICMP payload that makes an IP packet of `ip_mtu` bytes: 28 less for IPv4, 48 less for IPv6."""
    header = _HEADERS[_family(family)] + _ICMP
    return whole_number(ip_mtu, "the IP MTU", (header, IP_MTU_RANGE[1])) - header


def tcp_mss(ip_mtu: int, family: Any = 4, timestamps: bool = False) -> int:
    """Return the TCP payload of a full packet: 40 less for IPv4, 60 for IPv6, 12 more with timestamps (RFC 7323).

    9000 bytes give 8960 as the option says, and 8948 as sockets show it, with timestamps.
    """
    header = _HEADERS[_family(family)] + _TCP
    return whole_number(ip_mtu, "the IP MTU") - header - (_TCP_TIMESTAMPS if timestamps else 0)


def device_mtu(ip_mtu: int, platform: str, tagging: str = "untagged") -> int:
    """Return the number that the platform configures for an IP MTU."""
    return whole_number(ip_mtu, "the IP MTU") + _counted(platform, tagging)


def ip_mtu(device_mtu: int, platform: str, tagging: str = "untagged") -> int:
    """Return the IP MTU, in bytes of IP packet, that a platform's own number means."""
    counted = _counted(platform, tagging)
    bounds = (IP_MTU_RANGE[0] + counted, IP_MTU_RANGE[1] + counted)
    return whole_number(device_mtu, "the device's MTU", bounds) - counted


def frame_to_ip_mtu(max_frame: int, tagging: str = "untagged") -> int:
    """Return the largest IP packet in a frame of `max_frame` bytes, FCS excluded: 9216 carry 9202 untagged."""
    return max_frame - LAYER2[tagging_of(tagging)]


def flows_needed(width: int, miss: float = 1e-6) -> int:
    """Return how many flows cross each of `width` equal paths, all of them missed with a probability below `miss`.

    N = ceil(ln(k/p) / -ln(1-1/k)): 21 for 2 paths, 53 for 4, 120 for 8 at p=1e-6. One path needs one flow.
    """
    if width <= 1:
        return 1
    return math.ceil(math.log(width / miss) / -math.log(1 - 1 / width))
