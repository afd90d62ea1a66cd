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
# IP header without options (RFC 791, RFC 8200) and UDP header (RFC 768); an ICMP echo's header is as long as UDP's.
OVERHEADS = {4: 28, 6: 48}
TOKEN_SIZE = 8
PROBE_HEAD = struct.Struct("!8s8sI")  # magic, token of the run, sequence
# magic, token, sequence, IP length received, largest fragment (0: came whole), ReasmOKs of the host, known
REPORT = struct.Struct("!8s8sIIIQB")
LEAST_PROBE = max(OVERHEADS.values()) + REPORT.size
FRAGMENT_KNOWN, REASSEMBLIES_KNOWN = 1, 2

PMTUDISC_PROBE = 3
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33  # asm-generic/socket.h
# linux/errqueue.h: errno, origin, type, code, pad, info, data
EXTENDED_ERROR = struct.Struct("=IBBBBII")
ORIGIN_LOCAL, ORIGIN_ICMP, ORIGIN_ICMP6 = 1, 2, 3
MSG_ERRQUEUE = 0x2000
# What routers say, as (origin, type, code); no code where the type says it all (RFC 792, RFC 1191, RFC 4443).
TOO_BIG = {(ORIGIN_ICMP, 3): 4, (ORIGIN_ICMP6, 2): None}
UNREACHABLE = {(ORIGIN_ICMP, 3), (ORIGIN_ICMP6, 1)}
NUMBER = struct.Struct("=i")
BUFFER = 8 << 20
LARGEST_DATAGRAM = 65535


class Dialect(NamedTuple):
    """How one family names the same socket options (linux/in.h, linux/in6.h; Python names only some of them)."""

    family: int
    level: int
    mtu_discover: int
    receive_errors: int
    receive_fragment_size: int
    address_start: int  # of the address in struct sockaddr_in or sockaddr_in6
    address_end: int


DIALECTS = {
    4: Dialect(socket.AF_INET, socket.IPPROTO_IP, 10, 11, 25, 4, 8),
    6: Dialect(socket.AF_INET6, socket.IPPROTO_IPV6, 23, 25, 77, 8, 24),
}


def dialect(address: str) -> Dialect:
    """Return the options of an address's family."""
    return DIALECTS[6 if ":" in address else 4]


def overhead(address: str) -> int:
    """Return the bytes of an IP packet that a datagram to this address does not fill itself."""
    return OVERHEADS[6 if ":" in address else 4]


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

    @property
    def too_big(self) -> bool:
        """Whether a router says that the packet did not fit."""
        kind = (self.origin, self.type)
        return kind in TOO_BIG and TOO_BIG[kind] in {None, self.code}

    @property
    def unreachable(self) -> bool:
        """Whether a router or the target says that the packet could not be delivered, for another reason."""
        return (self.origin, self.type) in UNREACHABLE and not self.too_big


def probing_socket(address: str, port: int) -> socket.socket:
    """Return a UDP socket that sends whole packets up to the device's MTU, whatever route or cache say (ip(7))."""
    words = dialect(address)
    sock = socket.socket(words.family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        sock.setblocking(False)
        sock.setsockopt(words.level, words.mtu_discover, PMTUDISC_PROBE)
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


def make_report(token: bytes, sequence: int, length: int, fragment: int | None, reassemblies: int | None) -> bytes:
    """Return the datagram that answers one probe, whose IP packet had this length."""
    known = (FRAGMENT_KNOWN if fragment is not None else 0) | (REASSEMBLIES_KNOWN if reassemblies is not None else 0)
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
    words = next(one for one in DIALECTS.values() if one.family == sock.family)
    found: list[Trouble] = []
    while True:
        try:
            payload, ancillary, _flags, destination = sock.recvmsg(512, 512, MSG_ERRQUEUE)
        except OSError:
            return found
        for level, kind, data in ancillary:
            if (level, kind) == (words.level, words.receive_errors) and len(data) >= EXTENDED_ERROR.size:
                found.append(_trouble(data, payload, destination, words))


def _trouble(data: bytes, payload: bytes, destination: tuple[str, int] | None, words: Dialect) -> Trouble:
    _errno, origin, kind, code, _pad, info, _data = EXTENDED_ERROR.unpack_from(data)
    offender = data[EXTENDED_ERROR.size :]  # a sockaddr follows: family, port, (flow,) address
    told = origin in {ORIGIN_ICMP, ORIGIN_ICMP6} and len(offender) >= words.address_end
    address = offender[words.address_start : words.address_end]
    reporter = socket.inet_ntop(words.family, address) if told else None
    return Trouble(origin, kind, code, info, reporter, destination[0] if destination else None, payload)
