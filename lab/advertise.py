"""The router advertisements of one lab switch (RFC 4861), with or without an MTU option.

Run as a program inside the switch (`python -I -S advertise.py CONFIG`), standard library only. CONFIG is JSON:
{"interfaces": {name: [prefixes]}, "mtu": whether the interface's own MTU is told, "interval": seconds}. What it tells
is what the interface has now: once an SVI is raised, its hosts are told the new size. It is nobody's default router,
and gives out no addresses.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

ALL_NODES = "ff02::1"
_ADVERTISEMENT, _PREFIX, _MTU = 134, 3, 5
_HOP_LIMIT = 255  # anything less is not believed
_ON_LINK = 0x80
_VALID, _PREFERRED = 3600, 1800


def advertisement(prefixes: list[str], ip_mtu: int | None) -> bytes:
    """Return the message; the kernel fills in its checksum."""
    message = struct.pack("!BBHBBHII", _ADVERTISEMENT, 0, 0, 64, 0, 0, 0, 0)
    if ip_mtu is not None:
        message += struct.pack("!BBHI", _MTU, 1, 0, ip_mtu)
    for prefix in map(ipaddress.IPv6Network, prefixes):
        head = struct.pack("!BBBBIII", _PREFIX, 4, prefix.prefixlen, _ON_LINK, _VALID, _PREFERRED, 0)
        message += head + prefix.network_address.packed
    return message


def run(config: dict[str, Any]) -> None:
    """Advertise until the process is ended."""
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, _HOP_LIMIT)
        while True:
            for name, prefixes in config["interfaces"].items():
                with contextlib.suppress(OSError):  # it is down, or has no link-local address yet
                    ip_mtu = int(Path(f"/sys/class/net/{name}/mtu").read_text()) if config["mtu"] else None
                    index = socket.if_nametoindex(name)
                    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                    sock.sendto(advertisement(prefixes, ip_mtu), (ALL_NODES, 0, 0, index))
            time.sleep(config["interval"])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        run(json.loads(sys.argv[1]))
