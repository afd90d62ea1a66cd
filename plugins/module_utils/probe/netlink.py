"""A watch on what the kernel tells about links, addresses and routes (rtnetlink(7)): an alarm bell, not a source.

What is true is read afresh after each alarm, so a lost message costs nothing but a later look.
"""

from __future__ import annotations

import socket
import struct
from typing import Iterator, NamedTuple

# linux/rtnetlink.h
RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE = 0x1, 0x10, 0x40
RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE, RTMGRP_IPV6_IFINFO = 0x100, 0x400, 0x800
GROUPS = (
    RTMGRP_LINK
    | RTMGRP_IPV4_IFADDR
    | RTMGRP_IPV4_ROUTE
    | RTMGRP_IPV6_IFADDR
    | RTMGRP_IPV6_ROUTE
    | RTMGRP_IPV6_IFINFO  # what an advertisement has set on an interface
)
RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE, RTM_DELROUTE = 16, 17, 20, 21, 24, 25
RTA_OIF, RTA_MULTIPATH = 4, 9
HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
INDEX = struct.Struct("=4xI")  # ifinfomsg and ifaddrmsg both have the interface's index at byte 4
LINK_HEADER = struct.Struct("=4xII")  # ifinfomsg: index, flags
IFF_UP, IFF_LOWER_UP = 0x1, 0x10000
ATTRIBUTE = struct.Struct("=HH")
NUMBER = struct.Struct("=I")
ROUTE_HEADER = 12  # sizeof(struct rtmsg)
WINDOW = 1 << 20


class Heard(NamedTuple):
    """What was said since the last look: interfaces named, those seen down, and whether that is all."""

    indexes: set[int]
    down: set[int]
    complete: bool


class Watch:
    """An open subscription; `drain()` says which interfaces were spoken of."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
        self.socket.bind((0, GROUPS))

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self.socket.fileno()

    def drain(self) -> Heard:
        """Read all that waits."""
        indexes: set[int] = set()
        down: set[int] = set()
        complete = True
        while True:
            try:
                data = self.socket.recv(65536)
            except BlockingIOError:
                return Heard(indexes, down, complete)
            except OSError:  # ENOBUFS: more was said than we could hold
                complete = False
                continue
            for kind, body in messages(data):
                index = index_of(kind, body)
                complete = complete and index is not None
                indexes.add(index or 0)
                if is_down(kind, body):
                    down.add(index or 0)


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Split a datagram into messages: type and body."""
    offset = 0
    while offset + HEADER.size <= len(data):
        length, kind = HEADER.unpack_from(data, offset)[:2]
        if length < HEADER.size:
            return
        yield kind, data[offset + HEADER.size : offset + length]
        offset += (length + 3) & ~3


def index_of(kind: int, body: bytes) -> int | None:
    """Return the index of the interface that a message is about; None where it names several or cannot be read."""
    try:
        if kind in {RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR}:
            return int(INDEX.unpack_from(body)[0])
        if kind in {RTM_NEWROUTE, RTM_DELROUTE}:
            return _route_index(body)
    except struct.error:
        return None
    return 0


def is_down(kind: int, body: bytes) -> bool:
    """Return whether a message tells that a link is down, by hand or by its carrier: a flap may be over by now."""
    if kind != RTM_NEWLINK or len(body) < LINK_HEADER.size or body[0] == socket.AF_INET6:
        return False
    _index, flags = LINK_HEADER.unpack_from(body)
    return int(flags) & (IFF_UP | IFF_LOWER_UP) != IFF_UP | IFF_LOWER_UP


def _route_index(body: bytes) -> int | None:
    offset = ROUTE_HEADER
    while offset + ATTRIBUTE.size <= len(body):
        length, kind = ATTRIBUTE.unpack_from(body, offset)
        if kind == RTA_OIF:
            return int(NUMBER.unpack_from(body, offset + ATTRIBUTE.size)[0])
        if kind == RTA_MULTIPATH or length < ATTRIBUTE.size:
            return None
        offset += (length + 3) & ~3
    return 0
