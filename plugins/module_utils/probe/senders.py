"""The verb senders: who sends to groups or to all, larger than a size, while the link is still small.

At the old size such a datagram leaves in fragments; once the link is raised it would leave whole, since no route of the
interface bounds it (ip(7); net/ipv4/ip_output.c). So this listens for last fragments: they tell the datagram's size.
Unicast fragments say nothing: most of their senders honour the route. What does not is seen by the guard's own tap.
"""

from __future__ import annotations

import select
import time
from typing import Any, Dict

from .egress import (
    ETHERNET_HEADER,
    JEQ,
    LD_B,
    LD_W,
    PACKET_OUTGOING,
    PACKET_TYPE,
    RET,
    SNAP,
    VNET_HEADER,
    Tap,
    kind_of,
    read_packet,
)
from .errors import ProbeError
from .links import need_link, read_links

JSET = 0x45
LONGEST = 600.0
IPV6_FRAGMENT = 44
KINDS = ("multicast", "broadcast")
Json = Dict[str, Any]


def senders(request: Json) -> Json:
    """Listen: `{"interfaces", "limit", "seconds"}`; returns what was larger than the limit, once per destination."""
    names, limit, seconds = request.get("interfaces"), request.get("limit"), request.get("seconds", 1.0)
    if not isinstance(names, list) or not isinstance(limit, int) or not isinstance(seconds, (int, float)):
        message = "the request names no interfaces, limit and seconds"
        raise ProbeError(message, object="senders", wish=request, limit=f"at most {LONGEST} seconds")
    links = read_links()
    taps = [Tap(need_link(links, name).name, limit, groups_only()) for name in names]
    found: dict[tuple[str, str, str], Json] = {}
    end = time.monotonic() + min(float(seconds), LONGEST)
    try:
        while taps and time.monotonic() < end:
            for tap in select.select(taps, [], [], max(0.0, end - time.monotonic()))[0]:
                for data, ancillary in tap.packets():
                    _book(found, tap, data, ancillary)
    finally:
        for tap in taps:
            tap.close()
    return {"seconds": seconds, "exposed": list(found.values())}


def groups_only() -> list[tuple[int, int, int, int]]:
    """Return the kernel's filter: outgoing frames to groups and to all (the lowest bit of the first octet)."""
    return [
        (LD_W, 0, 0, PACKET_TYPE),
        (JEQ, 0, 3, PACKET_OUTGOING),
        (LD_B, 0, 0, 0),
        (JSET, 0, 1, 1),
        (RET, 0, 0, SNAP),
        (RET, 0, 0, 0),
    ]


def datagram_size(packet: bytes, size: int) -> int:
    """Return how large the datagram was whose last fragment this is; the size of the packet where it is none."""
    if len(packet) >= 20 and packet[0] >> 4 == 4:  # noqa: PLR2004
        fragment = int.from_bytes(packet[6:8], "big")
        return size + (fragment & 0x1FFF) * 8 if not fragment & 0x2000 else size
    if len(packet) >= 48 and packet[0] >> 4 == 6 and packet[6] == IPV6_FRAGMENT:  # noqa: PLR2004
        fragment = int.from_bytes(packet[42:44], "big")
        return size - 8 + (fragment & 0xFFF8) if not fragment & 1 else size
    return size


def _book(found: dict[tuple[str, str, str], Json], tap: Tap, data: bytes, ancillary: Any) -> None:
    seen = read_packet(data, ancillary)
    if seen is None:
        return
    frame = data[VNET_HEADER.size :]
    size = datagram_size(frame[ETHERNET_HEADER:], seen.ip_mtu)
    kind = kind_of(frame, seen.destination)
    if size > tap.limit and kind in KINDS:
        entry = {
            "interface": tap.interface,
            "kind": kind,
            "destination": seen.destination,
            "ip_mtu": size,
            "packets": 0,
        }
        known = found.setdefault((tap.interface, kind, seen.destination), entry)
        known.update(ip_mtu=max(size, known["ip_mtu"]), packets=known["packets"] + 1)
