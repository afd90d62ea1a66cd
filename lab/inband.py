"""Management in band: it crosses the fabric that is being changed, from a station that is one of the lab's hosts.

Clients still come to the node's management address on this machine. From there each connection goes on as one of the
station's own: a socket in its network namespace dials the node over the fabric, and one in the node's takes the call
and hands it to the node's front end, which listens backstage.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .fabric import Node
from .front_ends import FrontEnd
from .namespaces import socket_inside

_BACKLOG = 64
_CHUNK = 1 << 16
_DIAL_WITHIN = 30.0  # seconds; a client that waits gives up before
_BACKSTAGE = 1 << 23  # flips 127.0-127 and 127.128-255
# Packets are lost as in a fabric that has lost its way: nobody refuses, nobody resets.
_CUT = "table inet jumbo_lab_cut {{\nchain in {{ type filter hook input priority -200; tcp dport {port} drop; }}\n}}\n"
_MEND = "table inet jumbo_lab_cut\ndelete table inet jumbo_lab_cut\n"

Run = Callable[[str], Awaitable[object]]


def backstage(node: Node) -> Node:
    """Return the node as its front end shall see it: listening where nobody but the relay comes."""
    address = ipaddress.IPv4Address(int(ipaddress.IPv4Address(node.listen)) ^ _BACKSTAGE)
    return dataclasses.replace(node, listen=str(address))


class InBandFrontEnd:
    """The front end of a node, reached across the fabric.

    address: the node's in the fabric. station, node: process ids in their namespaces, asked for at each connection.
    run: runs an nft script in the node's network namespace.
    """

    def __init__(
        self, front_end: FrontEnd, node: Node, address: str, pids: tuple[Callable[[], int], Callable[[], int]], run: Run
    ) -> None:
        self.port = front_end.port
        self._front_end = front_end
        self._outside, self._backstage = node.listen, backstage(node).listen
        self._address = address
        self._station, self._node = pids
        self._run = run
        self._relays: list[Relay] = []
        self._cut = False

    @property
    def reachable(self) -> bool:
        """Whether it takes connections."""
        return self._front_end.reachable and not self._cut

    async def open(self) -> None:
        """Boot, listen in the fabric, and let clients in."""
        await self._front_end.open()
        inside = await socket_inside(self._node(), _stream)
        self._relays = [
            await Relay.start(inside, ("0.0.0.0", self.port), self._hand_over),  # noqa: S104 - in the node's namespace
            await Relay.start(_stream(), (self._outside, self.port), self._dial),
        ]

    async def _dial(self) -> socket.socket:
        return await _connect(await socket_inside(self._station(), _stream), (self._address, self.port))

    async def _hand_over(self) -> socket.socket:
        return await _connect(_stream(), (self._backstage, self.port))

    async def lose(self) -> None:
        """Let no packet of its management in from now on: nothing is refused and nothing is reset."""
        await self._run(_CUT.format(port=self.port))
        self._cut = True

    async def mend(self) -> None:
        """Let them in again; a device that had cut itself off listens again."""
        await self._run(_MEND)
        self._cut = False
        await self._front_end.mend()

    async def close(self) -> None:
        """Stop."""
        for relay in self._relays:
            relay.close()
        self._relays = []
        await self._front_end.close()

    def audit(self) -> dict[str, Any] | None:
        """Return what was written through it, None where nobody keeps a record."""
        return self._front_end.audit()


class Relay:
    """Takes connections and passes each on over one of its own; whichever side ends first ends the other."""

    def __init__(self, listener: socket.socket, onward: Callable[[], Awaitable[socket.socket]]) -> None:
        self._onward = onward
        self._calls: set[asyncio.Task[None]] = set()
        self._accepting = asyncio.get_running_loop().create_task(self._accept(listener))

    @classmethod
    async def start(
        cls, listener: socket.socket, place: tuple[str, int], onward: Callable[[], Awaitable[socket.socket]]
    ) -> Relay:
        """Listen; `onward` makes the connection that a call goes on by. Raises JumboError where the port is taken."""
        try:
            listener.bind(place)
        except OSError as error:
            listener.close()
            advice = "Another lab is up on these addresses: take it down, or set jumbo_lab_network"
            raise JumboError(f"cannot listen on {place[0]}:{place[1]}: {error.strerror}", advice=advice) from None
        listener.listen(_BACKLOG)
        return cls(listener, onward)

    def close(self) -> None:
        """Take no more connections, and end those that are open."""
        for task in (self._accepting, *self._calls):
            task.cancel()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listener:
            while True:
                call, _address = await loop.sock_accept(listener)
                task = loop.create_task(self._pass_on(call))
                self._calls.add(task)
                task.add_done_callback(self._calls.discard)

    async def _pass_on(self, call: socket.socket) -> None:
        with call, contextlib.suppress(OSError):
            call.setblocking(False)
            with await self._onward() as onward:
                await _both(_pump(call, onward), _pump(onward, call))


async def _both(*ways: Coroutine[Any, Any, None]) -> None:
    """Run both, and leave none running: the numbers of their sockets are about to be used for others."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy until the source ends; then the sink has no more to read, and may go on to write."""
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(source, _CHUNK):
        await loop.sock_sendall(sink, data)
    sink.shutdown(socket.SHUT_WR)


async def _connect(connection: socket.socket, place: tuple[str, int]) -> socket.socket:
    try:
        async with asyncio.timeout(_DIAL_WITHIN):
            await asyncio.get_running_loop().sock_connect(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection


def _stream() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
