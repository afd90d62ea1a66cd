"""Watches a node's links and routes: port limits follow the link, the diary hears of it, a fault may wait for it."""

from __future__ import annotations

import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from dataclasses import dataclass

from .fabric import Node
from .namespaces import Namespace

_LINK = re.compile(r"^\d+: (?P<name>[^:@]+)(?:@[^:]*)?: .*? mtu (?P<mtu>\d+) ")
_ROUTE = re.compile(r"\bdev (?P<name>\S+)")
_ADDRESS_ROUTES = ("local ", "broadcast ", "multicast ")


@dataclass(frozen=True, slots=True)
class Change:
    """An interface got another MTU, or a route of it was changed (`ip_mtu` is None then). Names are the kernel's."""

    interface: str
    ip_mtu: int | None
    text: str


class Watch:
    """Sees every change of an MTU in a node, on hosts also of routes."""

    def __init__(self, process: Process, known: dict[str, int]) -> None:
        self.known = known
        self._process = process

    @classmethod
    async def start(cls, namespace: Namespace, node: Node) -> Watch:
        """Start to watch; `known` are the MTUs by then."""
        objects = ("link", "route") if node.is_host else ("link",)
        process = await namespace.spawn("ip", "-4", "-o", "monitor", *objects)
        known: dict[str, int] = {}
        for line in (await namespace.run("ip", "-o", "link")).splitlines():
            read_line(line, known)
        return cls(process, known)

    async def changes(self) -> AsyncIterator[Change]:
        """Yield the changes until the node goes down."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker: it was asked for
        async for raw in self._process.stdout:
            change = read_line(raw.decode(), self.known)
            if change:
                yield change


def read_line(line: str, known: dict[str, int]) -> Change | None:
    """Return what a line of `ip -o monitor` means; `known` holds the MTUs seen so far and is brought up to date."""
    if link := _LINK.match(line):
        name, ip_mtu = link["name"], int(link["mtu"])
        before = known.get(name)
        known[name] = ip_mtu
        return Change(name, ip_mtu, f"{name}: {before} -> {ip_mtu}") if before not in (None, ip_mtu) else None
    route = _ROUTE.search(line)
    if route is None or line.removeprefix("Deleted ").startswith(_ADDRESS_ROUTES):
        return None
    return Change(route["name"], None, " ".join(line.split()))
