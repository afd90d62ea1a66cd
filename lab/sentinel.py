"""The sentinel: sees each production packet that was too large for its next hop, and shouts unless its sender was told.

It sits where the lab drops, answers and fragments: nft rules (`limits.py`) log what happened to a packet, and nothing
is logged of packets that fit, so watching all of them costs next to nothing. Sizes that a router answers with an ICMP
"too big" are fine once that has arrived in the sender's namespace. The roll-out has no way to ask the sentinel.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End

from .fabric import Fabric
from .limits import HEARD, MADE, REFUSED, STUCK
from .namespaces import Namespace
from .nflog import Logged, open_log, read_log
from .packets import Packet, TooBig, read_packet, read_too_big
from .violations import Answers, Violation, Violations

Tell = Callable[[str, str, str], None]

# How long an ICMP "too big" may travel, on a busy machine; seconds.
_PATIENCE = 1.0
_DEVICE = re.compile(r"\bdev (\S+)")
# What was lost though nobody could read it: it may have been production.
_UNKNOWN = Packet("unknown", "unknown", 0, "unknown", None, is_production=True)


@dataclass(slots=True)
class _Post:
    """A namespace that is watched. made: answers made there; unanswered: drops for their size without one, as told."""

    namespace: Namespace
    log: socket.socket
    made: int = 0
    unanswered: int = 0


class Sentinel:
    """Watches the nodes and the cable plant of one lab; each violation is also a line of a file in its folder."""

    def __init__(self, file: Path, fabric: Fabric, tell: Tell) -> None:
        self._file = file
        self._fabric = fabric
        self._tell = tell
        self._posts: dict[str, _Post] = {}
        self._answers = Answers(_PATIENCE)
        self._unheard: dict[bytes, TooBig] = {}
        self._violations = Violations()
        self._judging: set[asyncio.Task[None]] = set()
        self._owners = {
            prefix.partition("/")[0]: node.name
            for node in fabric.nodes.values()
            for prefixes in node.addresses.values()
            for prefix in prefixes
        }

    async def watch(self, namespace: Namespace) -> None:
        """Take post in a namespace, before anything can be lost there."""
        log = await asyncio.to_thread(open_log, namespace.pid)
        self._posts[namespace.name] = _Post(namespace, log)
        asyncio.get_running_loop().add_reader(log, self._read, namespace.name)

    def leave(self, name: str) -> None:
        """Leave a namespace that goes down; it stays alive while the sentinel is in it."""
        if post := self._posts.get(name):
            self._read(name)
            asyncio.get_running_loop().remove_reader(post.log)
            post.log.close()
            del self._posts[name]

    async def violations(self) -> list[dict[str, Any]]:
        """Return all violations so far, once all answers had the time to arrive; see Violations.all."""
        await self._compare_answers()
        while self._judging:
            await asyncio.wait(self._judging)
        return self._violations.all()

    # -- what is logged --------------------------------------------------------------------------------------------

    def _read_all(self) -> None:
        for name in self._posts:
            self._read(name)

    def _read(self, name: str) -> None:
        try:
            for logged in read_log(self._posts[name].log):
                self._sort(name, logged)
        except OSError as error:  # more than the socket's buffer holds
            reason = f"packets were logged faster than they were read: {error.strerror}"
            self._shout(name, self._violation(_UNKNOWN, name, None, reason))

    def _sort(self, name: str, logged: Logged) -> None:
        what, *where = logged.prefix.split()
        self._posts[name].made += what == MADE
        if what in (MADE, HEARD):
            if (answer := read_too_big(logged.packet)) and answer.packet.is_production:
                self._note_answer(name, answer, made=what == MADE)
            return
        packet = read_packet(logged.packet) or _UNKNOWN
        if packet.is_production:
            device, limit = where[0], int(where[1])
            node, link, reason = self._place(name, what, device, limit, packet)
            self._shout(node, self._violation(packet, link, limit, reason))

    def _place(self, name: str, what: str, device: str, limit: int, packet: Packet) -> tuple[str, str, str]:
        """Return node, link, and what happened there."""
        if name not in self._fabric.nodes:
            end = self._plant_end(device)
            return end.device, self._towards(end), f"the cable passes {limit}"
        end = self._end(name, device)
        if what == REFUSED:
            return name, self._towards(end), f"{end} takes in {limit}"
        why = f"{end} sends {limit}" if what == STUCK else f"{end} sends {limit}, and a switch does not fragment"
        return name, self._behind(name, device, self._name(packet.destination)), why

    # -- answers ---------------------------------------------------------------------------------------------------

    def _note_answer(self, name: str, answer: TooBig, *, made: bool) -> None:
        now = time.time()
        if not made:
            self._answers.heard(answer.quoted, now)
            return
        self._answers.made(name, answer.quoted, now)
        self._unheard[answer.quoted] = answer
        if not self._judging:
            self._start(self._judge())

    async def _judge(self) -> None:
        """Wait until every answer has arrived or is overdue."""
        while self._answers.waiting:
            await asyncio.sleep(_PATIENCE / 10)
            self._read_all()  # so that what is late is the answer, not its reader
            for late in self._answers.overdue(time.time()):
                answer = self._unheard[late.key]
                link = await self._way_out(late.node, answer.packet)
                reason = f"{late.node} sends {answer.limit}, and its ICMP did not arrive at the sender"
                self._shout(late.node, self._violation(answer.packet, link, answer.limit, reason), late.time)
        self._unheard.clear()

    async def _compare_answers(self) -> None:
        """Shout where the kernel has dropped more for their size than it has answered: nothing leads back there."""
        switches = [name for name in self._posts if name in self._fabric.nodes and not self._fabric.nodes[name].is_host]
        dropped = {name: _too_big(self._posts[name].namespace.pid) for name in switches}
        self._read_all()
        if any(count > self._posts[name].made + self._posts[name].unanswered for name, count in dropped.items()):
            await asyncio.sleep(_PATIENCE / 10)  # an answer follows its drop at once, and not in the same moment
            self._read_all()
        for name, count in dropped.items():
            post = self._posts.get(name)
            if post and count > post.made + post.unanswered:
                reason = f"{count - post.made - post.unanswered} packets were too large for it, and it did not answer"
                post.unanswered = count - post.made
                self._shout(name, self._violation(_UNKNOWN, name, None, reason))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._judging.add(task)
        task.add_done_callback(self._judging.discard)

    async def _way_out(self, name: str, packet: Packet) -> str:
        """Return the link by which the node would have sent the packet, the right one of several equal ones."""
        post = self._posts.get(name)
        try:
            device = await _route(post.namespace, packet) if post else ""
        except JumboError:
            device = ""
        return self._behind(name, device, self._name(packet.destination)) if device else name

    # -- telling ---------------------------------------------------------------------------------------------------

    def _violation(self, packet: Packet, link: str, limit: int | None, reason: str) -> Violation:
        source, destination = self._name(packet.source), self._name(packet.destination)
        return Violation(source, destination, link, packet.size or None, limit, packet.protocol, reason)

    def _shout(self, node: str, violation: Violation, when: float | None = None) -> None:
        entry = self._violations.add(violation, time.time() if when is None else when)
        if entry:
            self._tell(node, "violation", str(violation))
            with self._file.open("a") as file:
                file.write(json.dumps(entry) + "\n")

    def _name(self, address: str) -> str:
        return self._owners.get(address, address)

    def _end(self, name: str, kernel: str) -> End:
        interfaces = self._fabric.nodes[name].interfaces()
        return End(name, next((interface for interface, known in interfaces if known == kernel), kernel))

    def _plant_end(self, device: str) -> End:
        wires = [(cable, wire) for cable in self._fabric.cables for wire in cable.wires()]
        ends = {name: end for cable, wire in wires for name, end in zip(wire, (cable.a, cable.b), strict=True)}
        return ends[device]

    def _towards(self, end: End) -> str:
        return f"{self._fabric.nodes[end.device].port(end.interface).peer} -> {end}"

    def _behind(self, name: str, kernel: str, destination: str) -> str:
        """Return the link behind a port; behind an SVI it is the one to the destination, if that has a port there."""
        for port in self._fabric.nodes[name].ports:
            if port.kernel == kernel or (port.bridge == kernel and port.peer.device == destination):
                return f"{End(name, port.interface)} -> {port.peer}"
        return str(self._end(name, kernel))


def _too_big(pid: int) -> int:
    """Return how many packets a namespace has dropped since they were too large and not to be fragmented (RFC 4293)."""
    count = 0
    try:
        heads, values = (line.split() for line in Path(f"/proc/{pid}/net/snmp").read_text().splitlines()[:2])
        count += int(values[heads.index("FragFails")])
        lines = Path(f"/proc/{pid}/net/snmp6").read_text().splitlines()
        count += sum(int(line.split()[1]) for line in lines if line.startswith("Ip6FragFails"))
    except OSError:  # it is going down, or the machine has no IPv6
        pass
    return count


async def _route(namespace: Namespace, packet: Packet) -> str:
    """Return the interface that a forwarded packet leaves by; equal-cost ways are chosen by addresses and ports."""
    back = _DEVICE.search(await namespace.run("ip", "route", "get", packet.source))
    words = ["ip", "route", "get", packet.destination, "from", packet.source, "iif", back[1] if back else "lo"]
    if packet.ports:
        words += ["ipproto", packet.protocol, "sport", str(packet.ports[0]), "dport", str(packet.ports[1])]
    way = _DEVICE.search(await namespace.run(*words))
    return way[1] if way else ""
