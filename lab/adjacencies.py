"""BGP in a running lab: which sessions are up, and the routes that follow from that on every switch.

A session is up while both ends want it and the link is on at both; it comes back a moment after that is so again. What
a switch announces is what it reaches itself, so a link that is gone moves traffic everywhere, not only at its ends.
There is no policy: the shortest ways count, through other leafs as well.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Link
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import LINK_POOLS, first_address
from .bgp import BGP, bgp_links, routed_links
from .events import Events
from .fabric import Fabric, Route
from .plane import Session
from .routing import Router
from .wiring import route_commands, unroute_commands

COMES_BACK_AFTER = 1.0
"""Seconds from the moment that both ends want a session to its being established with all routes exchanged."""

Run = Callable[[str], Awaitable[object]]
"""Runs a batch of the program `ip` in a node."""


@dataclass(eq=False, slots=True)
class _Adjacency:
    """One session, in one family, and how it is seen: {device: (its neighbour's address, its own port)}."""

    link: Link
    family: int
    sides: dict[str, tuple[str, str]]
    established: bool = True
    since: float = field(default_factory=time.time)
    timer: asyncio.TimerHandle | None = None


class Adjacencies:
    """All sessions of a lab. What nodes say of themselves may come from any thread, the rest happens in the loop."""

    def __init__(self, topology: Topology, fabric: Fabric, events: Events, delay: float = COMES_BACK_AFTER) -> None:
        self._topology = topology
        self._fabric = fabric
        self._events = events
        self._delay = delay
        self._addresses = {
            End(node.name, interface): prefixes
            for node in fabric.nodes.values()
            for interface, prefixes in node.addresses.items()
        }
        self._sessions = [one for link in bgp_links(topology) for one in self._of_link(link)]
        self._by_peer = {(device, side[0]): one for one in self._sessions for device, side in one.sides.items()}
        self._born = Router(topology, dict.fromkeys(LINK_POOLS, routed_links(topology)), self._addresses)
        self._wanted: dict[str, frozenset[str]] = {}
        self._off: set[tuple[str, str]] = set()
        self._off_links: frozenset[Link] = frozenset()
        self._running: dict[str, Run] = {}
        self._routes = {name: node.routes for name, node in fabric.nodes.items() if node.bgp}
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._begun = False
        self._applying = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def _of_link(self, link: Link) -> Iterator[_Adjacency]:
        for family in LINK_POOLS:
            ends = [(end, link.other(end)) for end in link.ends]
            found = {
                end.device: (address, end.interface)
                for end, far in ends
                if (address := first_address(self._addresses.get(far, ()), family))
            }
            if len(found) == len(ends):
                yield _Adjacency(link, family, found)

    # -- what nodes say ----------------------------------------------------------------------------------------------

    def want(self, device: str, addresses: Collection[str]) -> None:
        """Let a device have sessions with these neighbours, and with no others."""
        with self._lock:
            self._wanted[device] = frozenset(addresses)
        self._changed()

    def port(self, device: str, interface: str, *, on: bool) -> None:
        """Note that a port was switched."""
        with self._lock:
            (self._off.discard if on else self._off.add)((device, interface))
        self._changed()

    def powered(self, device: str, run: Run | None) -> None:
        """Note that a device is on, and how to run commands in it; None: it is off."""
        with self._lock:
            if run is None:
                self._running.pop(device, None)
                self._wanted.pop(device, None)
                self._off = {port for port in self._off if port[0] != device}
            else:
                self._running[device] = run
        self._changed()

    # -- what is asked -----------------------------------------------------------------------------------------------

    def session(self, device: str, address: str) -> Session | None:
        """Return the session that a device has with a neighbour."""
        one = self._by_peer.get((device, address))
        if one is None:
            return None
        learned = [route.prefix for route in self.routes_of(device) or () if address in dict(route.hops)]
        return Session(one.established, one.since, tuple(learned) if one.established else ())

    def routes_of(self, device: str) -> Sequence[Route] | None:
        """Return the routes that a device has now, None where BGP has no part in them."""
        with self._lock:
            return self._routes.get(device)

    # -- what follows ------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """From now on sessions that go down have consequences: before, all that a lab is born with is coming up."""
        with self._lock:
            self._begun = True
        self._changed()

    def _changed(self) -> None:
        if self._begun and self._sessions and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        moved = False
        for one in self._sessions:
            wanted = self._is_wanted(one)
            if not wanted and one.timer:
                one.timer.cancel()
                one.timer = None
            if not wanted and one.established:
                self._note(one, established=False)
                moved = True
            elif wanted and not one.established and one.timer is None:
                one.timer = self._loop.call_later(self._delay, self._come_back, one)
        off = frozenset(link for link in routed_links(self._topology) if link.routing != BGP and not self._is_on(link))
        if moved or off != self._off_links:
            self._off_links = off
            self._route()

    def _is_on(self, link: Link) -> bool:
        with self._lock:
            return not any((end.device, end.interface) in self._off for end in link.ends)

    def _is_wanted(self, one: _Adjacency) -> bool:
        with self._lock:
            return all(
                device in self._running and address in self._wanted.get(device, ()) and (device, port) not in self._off
                for device, (address, port) in one.sides.items()
            )

    def _come_back(self, one: _Adjacency) -> None:
        one.timer = None
        self._note(one, established=True)
        self._route()

    def _note(self, one: _Adjacency, *, established: bool) -> None:
        one.established, one.since = established, time.time()
        word = "established" if established else "down"
        self._events.add(one.link.a.device, BGP, f"{one.link} (IPv{one.family}): {word}")

    def _route(self) -> None:
        task = self._loop.create_task(self._apply())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _apply(self) -> None:
        """Bring the routes of every switch in line, all at once."""
        async with self._applying:
            up = {(one.link, one.family) for one in self._sessions if one.established}
            known, off = routed_links(self._topology), self._off_links
            links = {
                family: [k for k in known if ((k, family) in up if k.routing == BGP else k not in off)]
                for family in LINK_POOLS
            }
            router = Router(self._topology, links, self._addresses, self._born)
            with self._lock:
                before = dict(self._routes)
                self._routes = {name: router.routes_of(name) for name in before}
                work = [(name, run) for name, run in self._running.items() if name in before]
            await asyncio.gather(
                *(self._change(name, before[name], self._routes[name], run) for name, run in work),
            )

    async def _change(self, name: str, before: Sequence[Route], after: Sequence[Route], run: Run) -> None:
        node = self._fabric.nodes[name]
        known, kept = set(before), {route.prefix for route in after}
        lines = [
            *route_commands(node, routes=[route for route in after if route not in known]),
            *unroute_commands(route.prefix for route in before if route.prefix not in kept),
        ]
        if lines:
            try:
                await run("".join(f"{line}\n" for line in lines))
            except JumboError as error:  # its power may be off by now
                self._events.add(name, BGP, str(error))
