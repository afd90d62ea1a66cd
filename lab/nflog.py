"""What nft's `log group` hands out, read from a namespace without a process in it (linux/netfilter/nfnetlink_log.h)."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .namespaces import call_inside

GROUP = 93
# Enough for the headers of an ICMPv6 error, of the packet it quotes, and for the mark of a probe in that.
SNAPLEN = 160

_NETLINK_NETFILTER, _NETLINK_HEADER = 12, struct.Struct("=IHHII")
_FAMILY_HEADER = struct.Struct("!BBH")  # family, version, group
_ATTRIBUTE = struct.Struct("=HH")
_NLMSG_ERROR, _REQUEST, _ACKNOWLEDGE = 2, 1, 4
_LOG_PACKET, _LOG_CONFIG = 4 << 8, 4 << 8 | 1  # subsystem NFNL_SUBSYS_ULOG
_CFG_COMMAND, _CFG_MODE, _CFG_THRESHOLD = 1, 2, 5
_BIND, _COPY_PACKET, _AT_ONCE = 1, 2, 1
_PAYLOAD, _PREFIX = 9, 10
_SO_RCVBUFFORCE = 33  # asm-generic/socket.h
_BUFFER = 4 << 20
_READ = 1 << 16


@dataclass(frozen=True, slots=True)
class Logged:
    """One packet that a rule logged: the rule's prefix, and how the packet begins, from its IP header on."""

    prefix: str
    packet: bytes


def open_log(pid: int) -> socket.socket:
    """Return a socket that gets what rules log in the network namespace of a process. Raises JumboError.

    It keeps that namespace alive until it is closed.
    """
    try:
        return call_inside(pid, _open)
    except OSError as error:
        advice = "Load the module nfnetlink_log, and run as root"
        raise JumboError(f"the kernel cannot log packets: {error.strerror}", advice=advice) from None


def read_log(log: socket.socket) -> Iterator[Logged]:
    """Yield what has been logged so far; raises OSError (ENOBUFS) where the kernel had to drop some of it."""
    while True:
        try:
            data = log.recv(_READ)
        except BlockingIOError:
            return
        yield from read_messages(data)


def read_messages(data: bytes) -> Iterator[Logged]:
    """Yield the packets of one netlink datagram."""
    while len(data) >= _NETLINK_HEADER.size:
        size, kind, *_rest = _NETLINK_HEADER.unpack_from(data)
        if kind == _LOG_PACKET:
            found = dict(_attributes(data[_NETLINK_HEADER.size + _FAMILY_HEADER.size : size]))
            yield Logged(found.get(_PREFIX, b"").rstrip(b"\0").decode(), found.get(_PAYLOAD, b""))
        data = data[_aligned(max(size, _NETLINK_HEADER.size)) :]


def _open() -> socket.socket:
    log = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_NETFILTER)
    try:
        try:
            log.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
        except OSError:
            log.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        _configure(log, _CFG_COMMAND, struct.pack("!B", _BIND))
        _configure(log, _CFG_MODE, struct.pack("!IBx", SNAPLEN, _COPY_PACKET))
        _configure(log, _CFG_THRESHOLD, struct.pack("!I", _AT_ONCE))
        log.setblocking(False)
    except OSError:
        log.close()
        raise
    return log


def _configure(log: socket.socket, attribute: int, value: bytes) -> None:
    """Set one thing and wait for the kernel's word that it is set; packets that come in between are of no interest."""
    body = _FAMILY_HEADER.pack(0, 0, GROUP) + _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), attribute) + value
    size = _NETLINK_HEADER.size + _aligned(len(body))
    head = _NETLINK_HEADER.pack(size, _LOG_CONFIG, _REQUEST | _ACKNOWLEDGE, 0, 0)
    log.send((head + body).ljust(size, b"\0"))
    while True:
        answer = log.recv(_READ)
        if _NETLINK_HEADER.unpack_from(answer)[1] == _NLMSG_ERROR:
            (number,) = struct.unpack_from("=i", answer, _NETLINK_HEADER.size)
            if number:
                raise OSError(-number, os.strerror(-number))
            return


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        size, kind = _ATTRIBUTE.unpack_from(data)
        yield kind, data[_ATTRIBUTE.size : size]
        data = data[_aligned(max(size, _ATTRIBUTE.size)) :]


def _aligned(size: int) -> int:
    return (size + 3) & ~3
