"""The responder: a detached process that tells for each probe what has arrived, until its deadline.

It is the judge of a path. An echo would not do: it may come back in fragments and be reassembled. So each report says
how long the IP packet was and whether it had been reassembled here (IP_RECVFRAGSIZE, ip(7), or IPv6's; `ReasmOKs` of
/proc/net/snmp and snmp6, RFC 4293, as a second witness).
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import signal
import socket
import time
from typing import Any, Callable, Dict

from .daemon import detach
from .errors import ProbeError
from .files import boot_time, is_locked, lock, read_json, take_lock, write_json
from .record import ROOT, make_folder
from .wire import (
    DEFAULT_PORT,
    DIALECTS,
    LARGEST_DATAGRAM,
    NUMBER,
    PROBE_HEAD,
    PROBE_MAGIC,
    REPORT,
    dialect,
    make_report,
    overhead,
    probing_socket,
)

LONGEST = 24 * 3600
LARGEST_PORT = 65535
STOP_LIMIT = 5.0
SNMP, SNMP6 = "/proc/net/snmp", "/proc/net/snmp6"
SNMP_EVERY = 0.02
BURST = 64
Json = Dict[str, Any]


def respond(request: Json) -> Json:
    """Have a responder listening: `{"addresses", "port", "seconds"}`. One that runs already is used or replaced."""
    addresses, port, seconds = _addresses(request.get("addresses")), _port(request), _seconds(request.get("seconds"))
    deadline = boot_time() + seconds
    folder = os.path.join(ROOT, f".responder-{port}")
    make_folder(folder)
    settings, alive = os.path.join(folder, "responder.json"), os.path.join(folder, "alive")
    with lock(os.path.join(folder, "lock"), STOP_LIMIT) as held:
        if not held:
            message = f"another request is starting a responder on port {port}"
            raise ProbeError(message, object=str(port), advice="try again")
        running = (read_json(settings) or {}) if is_locked(alive) else {}
        reused = bool(running) and set(addresses) <= set(running["addresses"]) and running["deadline"] > boot_time() + 1
        if reused:
            write_json(settings, {**running, "deadline": max(deadline, running["deadline"])})
            deadline = max(deadline, running["deadline"])
            addresses = running["addresses"]
        else:
            addresses = sorted({*addresses, *running.get("addresses", ())} if running else addresses)
            _stop(running, alive)
            _start(addresses, port, deadline, settings, alive)
    left = round(deadline - boot_time(), 1)
    return {"listening": True, "addresses": addresses, "port": port, "seconds_left": left, "reused": reused}


def _start(addresses: list[str], port: int, deadline: float, settings: str, alive: str) -> None:
    """Bind here, so that a wrong address is told at once, then detach."""
    sockets: list[socket.socket] = []
    try:
        sockets.extend(_listen(address, port) for address in addresses)
        with open(alive, "a", encoding="ascii"):
            pass
        content = {"addresses": addresses, "port": port, "deadline": deadline, "pid": 0}
        responder = Responder(sockets, settings, alive, content)
        detach(responder.run, "jumbo-responder", [sock.fileno() for sock in sockets])
    finally:
        for sock in sockets:
            sock.close()


def _stop(running: Json, alive: str) -> None:
    """End the one that runs; its process id is believed only while it holds its lock."""
    if not running:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(running["pid"]), signal.SIGTERM)
    with open(alive, "a+b") as file:
        if not take_lock(file.fileno(), STOP_LIMIT):
            message = f"the responder {running['pid']} does not end"
            raise ProbeError(message, object=str(running["port"]), advice="end that process")


def _listen(address: str, port: int) -> socket.socket:
    try:
        sock = probing_socket(address, port)
    except OSError as error:
        message = f"the responder cannot listen on {address} port {port}: {error.strerror}"
        advice = "the address must be on this host, the port free"
        raise ProbeError(message, object=address, wish=port, advice=advice) from None
    words = dialect(address)
    with contextlib.suppress(OSError):  # before Linux 4.10 only ReasmOKs tells
        sock.setsockopt(words.level, words.receive_fragment_size, 1)
    return sock


class Responder:
    """The process: sockets that are bound already, and a deadline that a later request may move."""

    def __init__(self, sockets: list[socket.socket], settings: str, alive: str, content: Json) -> None:
        self.sockets = sockets
        self.settings = settings
        self.alive = alive
        self.content = content
        self.knows_fragments = _knows_fragments(sockets[0])
        self.reassemblies: dict[str, tuple[float, int | None]] = {}

    def run(self, ready: Callable[[], None]) -> None:
        """Answer probes until the deadline."""
        with open(self.alive, "r+b") as alive:
            if not take_lock(alive.fileno(), STOP_LIMIT):
                message = "another responder listens already"
                raise ProbeError(message, object=str(self.content["port"]))
            write_json(self.settings, {**self.content, "pid": os.getpid()})
            signal.signal(signal.SIGTERM, _end)
            poller = select.poll()
            for sock in self.sockets:
                poller.register(sock, select.POLLIN)
            by_descriptor = {sock.fileno(): sock for sock in self.sockets}
            ready()
            while self._left() > 0:
                for descriptor, _events in poller.poll(min(1.0, self._left()) * 1000):
                    self._answer(by_descriptor[descriptor])

    def _left(self) -> float:
        left = float(self.content["deadline"]) - boot_time()
        if left <= 0:  # it may have been moved meanwhile
            self.content["deadline"] = (read_json(self.settings) or self.content)["deadline"]
            left = float(self.content["deadline"]) - boot_time()
        return left

    def _answer(self, sock: socket.socket) -> None:
        arrived = []
        for _turn in range(BURST):
            try:
                arrived.append(sock.recvmsg(LARGEST_DATAGRAM, socket.CMSG_SPACE(NUMBER.size)))
            except OSError:  # noqa: PERF203 - nothing more waits
                break
        own = sock.getsockname()[0]
        reassemblies = self._reassemblies(SNMP6 if ":" in own else SNMP)
        for data, ancillary, _flags, source in arrived:
            # Shorter than the answer: never send more than was asked with.
            if not data.startswith(PROBE_MAGIC) or len(data) < REPORT.size:
                continue
            _magic, token, sequence = PROBE_HEAD.unpack_from(data)
            fragment = _fragment(ancillary) if self.knows_fragments else None
            with contextlib.suppress(OSError):
                sock.sendto(make_report(token, sequence, len(data) + overhead(own), fragment, reassemblies), source)

    def _reassemblies(self, path: str) -> int | None:
        now = time.monotonic()
        if now - self.reassemblies.get(path, (0.0, None))[0] > SNMP_EVERY:
            self.reassemblies[path] = (now, read_reassemblies(path))
        return self.reassemblies[path][1]


def _end(*_: Any) -> None:
    raise SystemExit


def _knows_fragments(sock: socket.socket) -> bool:
    words = dialect(sock.getsockname()[0])
    try:
        return bool(sock.getsockopt(words.level, words.receive_fragment_size))
    except OSError:
        return False


def _fragment(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Return the size of the largest fragment, 0 where the packet came whole: the kernel then says nothing."""
    kinds = {(words.level, words.receive_fragment_size) for words in DIALECTS.values()}
    for level, kind, data in ancillary:
        if (level, kind) in kinds and len(data) >= NUMBER.size:
            return int(NUMBER.unpack_from(data)[0])
    return 0


def read_reassemblies(path: str = SNMP) -> int | None:
    """Return how many IP packets of a family this host has reassembled so far (`ReasmOKs`)."""
    try:
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file if line.startswith(("Ip:", "Ip6ReasmOKs"))]
        if rows[0][0] != "Ip:":  # snmp6 has a line for each
            return int(rows[0][1])
        return int(dict(zip(rows[0], rows[1]))["ReasmOKs"])
    except (OSError, IndexError, KeyError, ValueError):
        return None


def _addresses(value: Any) -> list[str]:
    try:
        addresses = [str(ipaddress.ip_address(one)) for one in value]
    except (ValueError, TypeError) as error:
        message = f"{value!r} are no addresses to listen on: {error}"
        raise ProbeError(message, object="addresses", wish=value, limit="addresses of this host") from None
    if not addresses:
        message = "the responder needs at least one address"
        raise ProbeError(message, object="addresses", wish=value, limit="addresses of this host")
    return addresses


def _port(request: Json) -> int:
    port = request.get("port", DEFAULT_PORT)
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port <= LARGEST_PORT:
        message = f"{port!r} is no UDP port"
        raise ProbeError(message, object="port", wish=port, limit=f"1-{LARGEST_PORT}")
    return port


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= LONGEST:
        message = f"{value!r} is no time to listen for"
        raise ProbeError(message, object="seconds", wish=value, limit=f"more than 0, at most {LONGEST}")
    return float(value)
