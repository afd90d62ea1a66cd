"""The datagrams between prober and responder, and the socket options both need.

A probe begins with `JUMBOPRB`, so that counters can tell it from production; a report begins otherwise, so that two
responders can never answer each other. A report is smaller than the smallest probe: nobody is amplified.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

PROBE_MAGIC = b"JUMBOPRB"
REPORT_MAGIC = b"JUMBORPT"
DEFAULT_PORT = 47900
UDP_OVERHEAD = 28  # IPv4 header without options (RFC 791) and UDP header (RFC 768)
TOKEN_SIZE = 8
PROBE_HEAD = struct.Struct("!8s8sI")  # magic, token of the run, sequence
# magic, token, sequence, IP length received, largest fragment (0: came whole), ReasmOKs of the host, known
REPORT = struct.Struct("!8s8sIIIQB")
LEAST_PROBE = UDP_OVERHEAD + REPORT.size
FRAGMENT_KNOWN, REASSEMBLIES_KNOWN = 1, 2

# linux/in.h; Python names only some of them.
IP_MTU_DISCOVER, IP_RECVERR, IP_RECVFRAGSIZE = 10, 11, 25
IP_PMTUDISC_PROBE = 3
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33  # asm-generic/socket.h
# linux/errqueue.h: errno, origin, type, code, pad, info, data
EXTENDED_ERROR = struct.Struct("=IBBBBII")
ORIGIN_LOCAL, ORIGIN_ICMP = 1, 2
MSG_ERRQUEUE = 0x2000
ADDRESS_START, ADDRESS_END = 4, 8  # of sin_addr in struct sockaddr_in
NUMBER = struct.Struct("=i")
BUFFER = 8 << 20
LARGEST_DATAGRAM = 65535


class Report(NamedTuple):
    """What a responder tells of one probe; sizes are bytes of IP packet."""

    token: bytes
    sequence: int
    ip_length: int
    fragment: int | None
    reassemblies: int | None


class Trouble(NamedTuple):
    """One entry of a socket's error queue (ip(7), IP_RECVERR)."""

    origin: int
    type: int
    code: int
    info: int
    reporter: str | None
    destination: str | None
    payload: bytes


def probing_socket(address: str, port: int) -> socket.socket:
    """Return a UDP socket that sends with DF up to the device's MTU, whatever route or cache say (ip(7))."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
        _large_buffer(sock, socket.SO_RCVBUF, SO_RCVBUFFORCE)
        _large_buffer(sock, socket.SO_SNDBUF, SO_SNDBUFFORCE)
        sock.bind((address, port))
    except OSError:
        sock.close()
        raise
    return sock


def _large_buffer(sock: socket.socket, option: int, forced: int) -> None:
    """Hold a burst of large datagrams: the default takes about twenty. Past rmem_max only with CAP_NET_ADMIN."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, forced, BUFFER)
    except OSError:
        sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)


def make_report(
    token: bytes, sequence: int, payload_size: int, fragment: int | None, reassemblies: int | None
) -> bytes:
    """Return the datagram that answers one probe."""
    known = (FRAGMENT_KNOWN if fragment is not None else 0) | (REASSEMBLIES_KNOWN if reassemblies is not None else 0)
    length = payload_size + UDP_OVERHEAD
    return REPORT.pack(REPORT_MAGIC, token, sequence, length, fragment or 0, reassemblies or 0, known)


def read_report(data: bytes) -> Report | None:
    """Read a datagram as a report, None where it is none."""
    if len(data) != REPORT.size or not data.startswith(REPORT_MAGIC):
        return None
    _magic, token, sequence, length, fragment, reassemblies, known = REPORT.unpack(data)
    return Report(
        token,
        sequence,
        length,
        fragment if known & FRAGMENT_KNOWN else None,
        reassemblies if known & REASSEMBLIES_KNOWN else None,
    )


def read_errors(sock: socket.socket) -> list[Trouble]:
    """Drain a socket's error queue."""
    found: list[Trouble] = []
    while True:
        try:
            payload, ancillary, _flags, destination = sock.recvmsg(512, 512, MSG_ERRQUEUE)
        except OSError:
            return found
        for level, kind, data in ancillary:
            if level == socket.IPPROTO_IP and kind == IP_RECVERR and len(data) >= EXTENDED_ERROR.size:
                found.append(_trouble(data, payload, destination))


def _trouble(data: bytes, payload: bytes, destination: tuple[str, int] | None) -> Trouble:
    _errno, origin, kind, code, _pad, info, _data = EXTENDED_ERROR.unpack_from(data)
    offender = data[EXTENDED_ERROR.size :]  # a sockaddr_in follows: family, port, address
    told = origin == ORIGIN_ICMP and len(offender) >= ADDRESS_END
    reporter = socket.inet_ntoa(offender[ADDRESS_START:ADDRESS_END]) if told else None
    return Trouble(origin, kind, code, info, reporter, destination[0] if destination else None, payload)
