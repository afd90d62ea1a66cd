"""The production traffic of one lab host: TCP and UDP with its peers, in natural sizes, all the time.

Run as a program inside the host (`python -I -S traffic.py CONFIG`), standard library only. CONFIG is JSON: {"name",
"addresses": [one per family], "peers": {name: address}, "interval"}; a peer in both families is two peers. It writes
one JSON line per second with what it did, and one at once for each stall: a transfer that makes no progress for more
than two seconds. For a stall it tells whether a packet of the old size gets through, which is what sets a black hole
apart from an outage.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import functools
import itertools
import json
import socket
import struct
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

TCP_PORT, UDP_PORT = 40100, 40101
BULK = 64 * 1024  # per transfer: more than one segment of any size
DATAGRAMS = (200, 1400, 8000)  # bytes of payload; the last is fragmented by its sender until it may be sent whole
OLD_DATAGRAM = 1400
PATIENCE = 2.0
GIVE_UP = 30.0
RENEW = 20  # transfers per connection: sessions live long, and new ones are made all the time
UDP_TRIES = 5
_HEADER = struct.Struct("!Q")
_NUMBER = struct.Struct("!I")
_READ = 1 << 18


class Echo(asyncio.DatagramProtocol):
    """Sends every datagram back; answers to our own wake the one who waits for them."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[str, int], asyncio.Future[None]] = {}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answers."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def send(self, data: bytes, address: tuple[str, int]) -> None:
        """Send from the socket that answers come back to."""
        if self._transport:
            self._transport.sendto(data, address)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question, or note an answer."""
        kind, number = data[:1], _NUMBER.unpack_from(data, 1)[0]
        if kind == b"?":
            self.send(b"!" + data[1:], addr)
        elif (future := self.waiting.get((addr[0], number))) and not future.done():
            future.set_result(None)


class Host:
    """One host's share of the traffic."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.name, self.interval = config["name"], float(config["interval"])
        self.addresses = {":" in address: address for address in config["addresses"]}
        self.peers: dict[str, str] = config["peers"]
        self.transfers = 0
        self.segments: dict[str, int] = {}
        self._numbers = itertools.count()
        self._echoes = {family: Echo() for family in self.addresses}
        self._streams: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}

    async def run(self) -> None:
        """Serve and ask until the process is ended."""
        loop = asyncio.get_running_loop()
        for address in self.addresses.values():
            await _usable(address)
        server = await asyncio.start_server(_sink, [*self.addresses.values()], TCP_PORT, limit=_READ)
        for family, address in self.addresses.items():
            echo = self._echoes[family]
            await loop.create_datagram_endpoint(functools.partial(_itself, echo), local_addr=(address, UDP_PORT))
        async with server:
            await asyncio.gather(self._report(), self._every_peer(self._tcp, 0.0), self._every_peer(self._udp, 0.5))

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(1)
            largest = max(self.segments.values(), default=0)
            _tell({"host": self.name, "transfers": self.transfers, "largest_segment": largest})

    async def _every_peer(self, transfer: Callable[[str], Awaitable[None]], phase: float) -> None:
        """Start one transfer after the other, around the peers; one that hangs does not hold up the rest."""
        busy: dict[str, asyncio.Task[None]] = {}
        await asyncio.sleep(self.interval * phase)
        for name in itertools.cycle(self.peers):
            if name not in busy or busy[name].done():
                busy[name] = asyncio.ensure_future(transfer(name))
            await asyncio.sleep(self.interval)

    async def _tcp(self, peer: str) -> None:
        try:
            reader, writer = self._streams.get(peer) or await self._connect(peer)
            writer.write(_HEADER.pack(BULK) + bytes(BULK))
            await self._acknowledged(peer, reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self._drop(peer)
            return
        self.transfers += 1
        self.segments[peer] = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        if self.transfers % RENEW == 0:
            self._drop(peer)

    async def _connect(self, peer: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = self.peers[peer]
        opening = asyncio.open_connection(address, TCP_PORT, local_addr=(self.addresses[":" in address], 0))
        try:
            self._streams[peer] = await asyncio.wait_for(opening, PATIENCE)
        except (OSError, TimeoutError) as error:
            if getattr(error, "errno", None) != errno.ECONNREFUSED:  # a peer that is only starting is no stall
                await self._stalled("tcp", peer, 0)
            raise
        return self._streams[peer]

    async def _acknowledged(self, peer: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Wait for the peer's word that it has everything; note a stall when nothing moves."""
        answer = asyncio.ensure_future(reader.readexactly(_HEADER.size))
        left, told, started = BULK, False, time.monotonic()
        while not (await asyncio.wait({answer}, timeout=PATIENCE))[0]:
            pending = _unacknowledged(writer)
            if pending >= left and not told:
                told = True
                await self._stalled("tcp", peer, pending)
            left = pending
            if time.monotonic() - started > GIVE_UP:
                answer.cancel()
                raise TimeoutError
        await answer

    async def _udp(self, peer: str) -> None:
        size = DATAGRAMS[next(self._numbers) % len(DATAGRAMS)]
        if await self._ask(peer, size, UDP_TRIES):
            self.transfers += 1
        else:
            await self._stalled("udp", peer, size)

    async def _ask(self, peer: str, size: int, tries: int) -> bool:
        """Send a datagram and wait for its echo, several times; tell whether one came."""
        number = next(self._numbers) & 0xFFFFFFFF
        key = (self.peers[peer], number)
        question = (b"?" + _NUMBER.pack(number)).ljust(size, b"\0")
        echo = self._echoes[":" in self.peers[peer]]
        answer = echo.waiting[key] = asyncio.get_running_loop().create_future()
        try:
            for _turn in range(tries):
                echo.send(question, (self.peers[peer], UDP_PORT))
                if (await asyncio.wait({answer}, timeout=PATIENCE / UDP_TRIES))[0]:
                    return True
            return False
        finally:
            del echo.waiting[key]

    async def _stalled(self, kind: str, peer: str, size: int) -> None:
        noticed = time.time() - PATIENCE
        old_size_passes = await self._ask(peer, OLD_DATAGRAM, 2)
        segment = self.segments.get(peer, 0) if kind == "tcp" else size
        stall = {"time": noticed, "kind": kind, "from": self.name, "to": peer, "size": size, "segment": segment}
        _tell({"host": self.name, "stall": {**stall, "old_size_passes": old_size_passes}})

    def _drop(self, peer: str) -> None:
        if stream := self._streams.pop(peer, None):
            stream[1].transport.abort()


def _itself(echo: Echo) -> Echo:
    return echo


async def _usable(address: str) -> None:
    """Wait until an address can be used: one of IPv6 cannot before its link has a carrier."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    while True:
        with socket.socket(family, socket.SOCK_DGRAM) as trial, contextlib.suppress(OSError):
            trial.bind((address, 0))
            return
        await asyncio.sleep(0.05)


async def _sink(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take transfers in; say after each that all of it is there."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            left = _HEADER.unpack(await reader.readexactly(_HEADER.size))[0]
            while left > 0:
                data = await reader.read(min(left, _READ))
                if not data:
                    return
                left -= len(data)
            writer.write(_HEADER.pack(BULK))


def _unacknowledged(writer: asyncio.StreamWriter) -> int:
    """Return how many bytes the peer's kernel has not acknowledged."""
    handle = writer.get_extra_info("socket").fileno()
    queued: int = struct.unpack("i", fcntl.ioctl(handle, termios.TIOCOUTQ, b"\0" * 4))[0]
    return queued + writer.transport.get_write_buffer_size()


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(Host(json.loads(sys.argv[1])).run())
