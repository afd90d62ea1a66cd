"""The prober: DF datagrams of exact sizes to many targets over many flows, all at once, in one process.

A probe is a triple (facts are the kernel's own: ip(7), IP_PMTUDISC_PROBE): the wished size must be reported whole by
the responder; the old size must be too, as control; one byte more than the sender's link must be refused by the
sender's own kernel, which proves that the datagrams are as large as they claim. Each flow is a source port, so that
paths are spread by their hash (ECMP, LAG).
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import selectors
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Dict, NamedTuple

from .errors import ProbeError
from .responder import LARGEST_PORT
from .wire import (
    DEFAULT_PORT,
    LARGEST_DATAGRAM,
    LEAST_PROBE,
    ORIGIN_LOCAL,
    PROBE_HEAD,
    PROBE_MAGIC,
    TOKEN_SIZE,
    Report,
    Trouble,
    dialect,
    overhead,
    probing_socket,
    read_errors,
    read_report,
)

# Eight datagrams, then a pause: about 8,000 a second, which the buffers of a slow link and of a responder take.
BURST, PAUSE = 8, 0.001
MOST_FLOWS, MOST_ATTEMPTS, LONGEST = 1024, 20, 600.0
SEND_TRIES = 4
REPORT_BUFFER = 2048
Json = Dict[str, Any]


class Wish(NamedTuple):
    """A request of the verb, checked."""

    source: str
    targets: list[tuple[str, str | None]]
    port: int
    sizes: list[int]
    refuse: int | None
    ports: list[int]
    attempts: int
    timeout: float


@dataclass
class Row:
    """What is known of one size to one target over one flow; sizes are bytes of IP packet."""

    destination: str
    host: str | None
    ip_mtu: int
    flow: int
    tries: int = 0
    sent: int = 0
    reports: list[Report] = field(default_factory=list)
    local_error_mtu: int | None = None
    local_error: str | None = None
    too_big: dict[tuple[str | None, int], None] = field(default_factory=dict)
    unreachable: dict[tuple[str | None, int], None] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether sending again could tell nothing new."""
        return bool(self.reports) or self.local_error_mtu is not None


def probe(request: Json) -> Json:
    """Probe: `{"source", "targets", "port", "sizes", "refuse", "flows", "attempts", "timeout"}`."""
    wish = read_wish(request)
    started = time.monotonic()
    sockets = _open(wish)
    try:
        prober = Prober(wish, sockets)
        prober.run()
    finally:
        for sock in sockets:
            sock.close()
    return {
        "source": wish.source,
        "flows": [prober.row(row) for row in prober.rows],
        "responders": prober.responders(),
        "seconds": round(time.monotonic() - started, 3),
    }


class Prober:
    """One run: rows by sequence number, a queue of what is due, sockets that answer."""

    def __init__(self, wish: Wish, sockets: list[socket.socket]) -> None:
        self.wish = wish
        self.sockets = sockets
        self.ports = [sock.getsockname()[1] for sock in sockets]
        self.token = os.urandom(TOKEN_SIZE)
        self.rows = [
            Row(address, host, size, flow)
            for size in wish.sizes
            for flow in range(len(sockets))
            # Targets innermost: neighbours in time go to different responders.
            for address, host in wish.targets
        ]
        if wish.refuse is not None:
            self.rows += [Row(address, host, wish.refuse, 0) for address, host in wish.targets]
        self.by_flow: dict[tuple[str, int], list[Row]] = {}
        for row in self.rows:
            self.by_flow.setdefault((row.destination, row.flow), []).append(row)
        self.padding = bytes(LARGEST_DATAGRAM)

    def run(self) -> None:
        """Send all, `attempts` times as long as nothing answers, and wait for the last one."""
        interval = self.wish.timeout / self.wish.attempts
        due: deque[tuple[float, int]] = deque((0.0, sequence) for sequence in range(len(self.rows)))
        with selectors.DefaultSelector() as selector:
            for flow, sock in enumerate(self.sockets):
                selector.register(sock, selectors.EVENT_READ, flow)
            while due:
                now = time.monotonic()
                for _turn in range(BURST):
                    if not due or due[0][0] > now:
                        break
                    _due, sequence = due.popleft()
                    if self._attempt(sequence):
                        due.append((time.monotonic() + interval, sequence))
                self._receive(selector, PAUSE if due and due[0][0] <= now else self._wait(due))

    def row(self, row: Row) -> Json:
        """Return a row as the reply has it."""
        return {
            "dst": row.destination,
            "host": row.host,
            "ip_mtu": row.ip_mtu,
            "port": self.ports[row.flow],
            "sent": row.sent,
            "received": len(row.reports),
            "reported": sorted({report.ip_length for report in row.reports}),
            "reassembled": self._reassembled(row),
            "local_error_mtu": row.local_error_mtu,
            "local_error": row.local_error,
            "too_big": [{"from": reporter, "mtu": mtu} for reporter, mtu in row.too_big],
            "unreachable": [{"from": reporter, "code": code} for reporter, code in row.unreachable],
        }

    def responders(self) -> list[Json]:
        """Return, per target, how many packets it has reassembled meanwhile: a second witness, for all its traffic."""
        return [
            {"dst": address, "host": host, "reassemblies": self._growth(address)} for address, host in self.wish.targets
        ]

    def _growth(self, address: str) -> int | None:
        counts = [
            report.reassemblies
            for flow in range(len(self.sockets))
            for row in self.by_flow[(address, flow)]
            for report in row.reports
            if report.reassemblies is not None
        ]
        return max(counts) - min(counts) if counts else None

    def _reassembled(self, row: Row) -> bool | None:
        """Return whether a datagram of this row came in fragments; where no kernel tells, the counter decides."""
        if not row.reports:
            return None
        told = [report.fragment for report in row.reports]
        if any(fragment is None for fragment in told):
            growth = self._growth(row.destination)
            return None if growth is None else growth > 0
        return any(bool(fragment) for fragment in told)

    def _attempt(self, sequence: int) -> bool:
        """Send once unless the row is settled; returns whether it must be looked at again."""
        row = self.rows[sequence]
        if row.settled or row.tries >= self.wish.attempts:
            return False
        head = PROBE_HEAD.pack(PROBE_MAGIC, self.token, sequence)
        datagram = head + self.padding[: row.ip_mtu - overhead(row.destination) - len(head)]
        row.tries += 1
        self._send(row, datagram)
        return not row.settled

    def _send(self, row: Row, datagram: bytes) -> None:
        """Hand a datagram to the kernel. An error may be an older one that waited on the socket: look, try again."""
        sock = self.sockets[row.flow]
        for _turn in range(SEND_TRIES):
            try:
                sock.sendto(datagram, (row.destination, self.wish.port))
            except OSError as error:  # noqa: PERF203 - it is about one datagram
                local = self._read_errors(row.flow)
                if error.errno == errno.EMSGSIZE and local is not None:
                    row.local_error_mtu = local
                    return
                row.local_error = os.strerror(error.errno or 0)
                if error.errno in {errno.EAGAIN, errno.ENOBUFS}:
                    return  # our own queue is full: the next attempt comes later
            else:
                row.sent += 1
                row.local_error = None
                return

    def _wait(self, due: deque[tuple[float, int]]) -> float:
        """Return how long nothing is to be sent; what is settled need not be waited for."""
        while due and self.rows[due[0][1]].settled:
            due.popleft()
        return max(0.0, due[0][0] - time.monotonic()) if due else 0.0

    def _receive(self, selector: selectors.BaseSelector, limit: float) -> None:
        for key, _events in selector.select(limit):
            sock, heard = self.sockets[key.data], False
            with contextlib.suppress(OSError):  # nothing more, or a pending error
                while True:
                    data, source = sock.recvfrom(REPORT_BUFFER)
                    self._take(read_report(data), source[0], key.data)
                    heard = True
            if not heard:  # then it was the error queue that woke us
                self._read_errors(key.data)

    def _take(self, report: Report | None, source: str, flow: int) -> None:
        if report is None or report.token != self.token or report.sequence >= len(self.rows):
            return
        row = self.rows[report.sequence]
        if row.destination == source and row.flow == flow:
            row.reports.append(report)

    def _read_errors(self, flow: int) -> int | None:
        """Book what waits in a socket's error queue; returns the MTU of our own kernel's refusal, if one is there."""
        local = None
        for trouble in read_errors(self.sockets[flow]):
            if trouble.origin == ORIGIN_LOCAL:
                local = trouble.info
            elif trouble.too_big or trouble.unreachable:
                self._book(trouble, flow)
        return local

    def _book(self, trouble: Trouble, flow: int) -> None:
        for row in self._meant(trouble, flow):
            if trouble.too_big:
                row.too_big[(trouble.reporter, trouble.info)] = None
            else:
                row.unreachable[(trouble.reporter, trouble.code)] = None

    def _meant(self, trouble: Trouble, flow: int) -> list[Row]:
        """Return the rows an ICMP error is about: by the quoted head, else (RFC 792 quotes 8 bytes) by their size."""
        if len(trouble.payload) >= PROBE_HEAD.size and trouble.payload.startswith(PROBE_MAGIC):
            _magic, token, sequence = PROBE_HEAD.unpack_from(trouble.payload)
            return [self.rows[sequence]] if token == self.token and sequence < len(self.rows) else []
        rows = self.by_flow.get((trouble.destination or "", flow), [])
        return [row for row in rows if row.sent and (not trouble.too_big or row.ip_mtu > trouble.info)]


def _open(wish: Wish) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for port in wish.ports:
            sock = probing_socket(wish.source, port)
            sockets.append(sock)
            words = dialect(wish.source)
            sock.setsockopt(words.level, words.receive_errors, 1)
    except OSError as error:
        for sock in sockets:
            sock.close()
        message = f"cannot send from {wish.source}: {error.strerror}"
        raise ProbeError(message, object="source", wish=wish.source, limit="an address of this host") from None
    return sockets


def read_wish(request: Json) -> Wish:
    """Check a request; a wrong part is refused by name."""
    targets = [
        (_address(entry.get("address") if isinstance(entry, dict) else entry, "targets"), _host(entry))
        for entry in request.get("targets") or ()
    ]
    if not targets or len({address for address, _name in targets}) != len(targets):
        message = "the probe needs targets, each address once"
        raise ProbeError(message, object="targets", wish=request.get("targets"))
    sizes = request.get("sizes") or []
    for size in sizes if isinstance(sizes, list) else [sizes]:
        _whole(size, "sizes", LEAST_PROBE, LARGEST_DATAGRAM)
    refuse = request.get("refuse")
    if refuse is not None:
        _whole(refuse, "refuse", LEAST_PROBE, LARGEST_DATAGRAM)
    if not sizes and refuse is None:
        message = "the probe needs sizes"
        raise ProbeError(message, object="sizes", wish=sizes, limit="bytes of IP packet")
    source = _address(request.get("source"), "source")
    if any(dialect(address) != dialect(source) for address, _name in targets):
        message = f"{source} cannot reach targets of the other IP family"
        raise ProbeError(message, object="targets", wish=request.get("targets"), advice="one request per family")
    return Wish(
        source=source,
        targets=targets,
        port=_whole(request.get("port", DEFAULT_PORT), "port", 1, LARGEST_PORT),
        sizes=list(dict.fromkeys(sizes)),
        refuse=refuse,
        ports=_ports(request),
        attempts=_whole(request.get("attempts", 3), "attempts", 1, MOST_ATTEMPTS),
        timeout=_number(request.get("timeout", 1.5), "timeout", PAUSE, LONGEST),
    )


def _ports(request: Json) -> list[int]:
    """Return the source ports: `flows` of the kernel's choice, or exactly those of `ports`, to walk a path again."""
    if request.get("ports"):
        return [_whole(port, "ports", 1, LARGEST_PORT) for port in request["ports"]]
    return [0] * _whole(request.get("flows", 1), "flows", 1, MOST_FLOWS)


def _address(value: Any, name: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError as error:
        message = f"{value!r} is no IP address: {error}"
        raise ProbeError(message, object=name, wish=value, limit="IPv4 or IPv6 addresses") from None


def _host(entry: Any) -> str | None:
    host = entry.get("host") if isinstance(entry, dict) else None
    return str(host) if host is not None else None


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if not isinstance(value, int):
        message = f"{value!r} is no whole number for {name}"
        raise ProbeError(message, object=name, wish=value, limit=f"{least}-{most}")
    return int(_number(value, name, least, most))


def _number(value: Any, name: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        message = f"{value!r} is no value for {name}"
        raise ProbeError(message, object=name, wish=value, limit=f"{least}-{most}")
    return value
