"""What no pin bounds, from one lab host: multicast, broadcast, and datagrams whose sender ignores the path's MTU.

Run as a program inside the host (`python -I -S unbound.py CONFIG`), standard library only. CONFIG is JSON: {"name",
"address", "broadcast", "peers": {name: address}, "size", "interval"}; size: bytes of IP packet. It writes one JSON line
per second: how many of each kind it has heard from others. Nobody answers, and nobody waits for an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import sys
from collections.abc import Iterator
from typing import Any

PORT = 40102
GROUP = "239.77.0.1"  # organization-local (RFC 2365)
KINDS = {b"m": "multicast", b"b": "broadcast", b"p": "pmtu_ignoring"}
_HEADERS = 28  # IPv4 and UDP
# linux/in.h: no path MTU is heeded; what exceeds the link itself is fragmented, what does not leaves whole.
_MTU_DISCOVER, _PMTUDISC_OMIT = 10, 5


class Ear(asyncio.DatagramProtocol):
    """Counts what others send."""

    def __init__(self, own: str) -> None:
        self.heard = dict.fromkeys(KINDS.values(), 0)
        self._own = own

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Count a datagram; a host hears its own broadcasts, too."""
        kind = KINDS.get(data[:1])
        if kind and addr[0] != self._own:
            self.heard[kind] += 1


class Host:
    """One host's share."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.name, self.address = config["name"], config["address"]
        self.targets = [(b"m", GROUP), (b"b", config["broadcast"])]
        self.peers: list[str] = list(config["peers"].values())
        self.payload, self.interval = int(config["size"]) - _HEADERS, float(config["interval"])

    async def run(self) -> None:
        """Send and listen until the process is ended."""
        ear = Ear(self.address)
        with self._listener() as listener, self._to_groups() as groups, self._to_peers() as peers:
            await asyncio.get_running_loop().create_datagram_endpoint(lambda: ear, sock=listener)
            await asyncio.gather(self._send(groups, peers), self._report(ear))

    async def _send(self, groups: socket.socket, peers: socket.socket) -> None:
        for kind, address in self._turns():
            with contextlib.suppress(OSError):  # its link or its route may be gone for a while
                (peers if kind == b"p" else groups).sendto(kind.ljust(self.payload, b"\0"), (address, PORT))
            await asyncio.sleep(self.interval)

    def _turns(self) -> Iterator[tuple[bytes, str]]:
        peers = itertools.cycle(self.peers)
        while True:
            yield from self.targets
            if self.peers:
                yield b"p", next(peers)

    async def _report(self, ear: Ear) -> None:
        while True:
            await asyncio.sleep(1)
            sys.stdout.write(json.dumps({"host": self.name, "unbound": ear.heard}) + "\n")
            sys.stdout.flush()

    def _listener(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("", PORT))
        membership = socket.inet_aton(GROUP) + socket.inet_aton(self.address)
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        return listener

    def _to_groups(self) -> socket.socket:
        sender = self._sender()
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(self.address))
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
        return sender

    def _to_peers(self) -> socket.socket:
        sender = self._sender()
        sender.setsockopt(socket.IPPROTO_IP, _MTU_DISCOVER, _PMTUDISC_OMIT)
        return sender

    def _sender(self) -> socket.socket:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.bind((self.address, 0))
        return sender


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(Host(json.loads(sys.argv[1])).run())
