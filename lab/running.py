"""One node that is on: its namespaces, its plane, its front end, and what happens when it boots."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End

from .adjacencies import Adjacencies
from .aggregates import Aggregates
from .events import Events
from .fabric import Node
from .faults import Damage
from .fragments import show_rules
from .front_ends import FrontEnd, SshFrontEnd, eos_front_end, fastiron_front_end, junos_front_end
from .hosts import make_etc, private_tmp, read_persisted
from .inband import InBandFrontEnd, backstage
from .inventory import Design, advertise_config
from .limits import follow_link, node_rules, silence_rules
from .namespace_plane import NamespacePlane
from .namespaces import PATH, Namespace
from .sentinel import Sentinel
from .sshd import SshFiles, find_sshd
from .traffic_log import KILLED, TrafficLog
from .traffic_plan import traffic_programs
from .watch import Change, Watch
from .wiring import boot_commands, carrier_commands, persisted_commands, port_commands, unplug_commands

_ADVERTISE = Path(__file__).with_name("advertise.py")
_PORTS_FREE_WITHIN = 3.0  # seconds that the kernel may take to clear a node that went down
_CARRIER_WITHIN = 5.0  # seconds that a boot waits for what needs a carrier
_RETRY = 0.02
_RELOAD_SECONDS = 3.0  # a real ICX takes one to two minutes
_JUNOS_COMMIT_SECONDS = 0.5  # a real box takes seconds; the fault commit-slow does


@dataclass(slots=True)
class Surroundings:
    """What all nodes of a lab share."""

    folder: Path
    design: Design
    damage: Damage
    plant: Namespace
    ssh: SshFiles
    eapi: ssl.SSLContext | None
    device_key: Any
    events: Events
    traffic: TrafficLog
    sentinel: Sentinel
    aggregates: Aggregates
    adjacencies: Adjacencies
    log: IO[bytes]
    pids: dict[str, int] = field(default_factory=dict)
    receives: dict[End, int] = field(default_factory=dict)


class RunningNode:
    """A node of the lab. `start` and `stop` are its power switch."""

    def __init__(self, node: Node, around: Surroundings) -> None:
        self.node = node
        self.front_end: FrontEnd
        self._around = around
        self._namespace: Namespace | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost = False
        stuck = {end.interface for end in around.damage.port_limits if end.device == node.name}
        fabric, pid_of = around.design.fabric, around.pids.__getitem__
        self.plane = NamespacePlane(fabric, node, pid_of, around.plant.pid, stuck, around.receives, around.adjacencies)
        self.front_end = self._make_front_end()

    async def start(self) -> None:
        """Boot: namespaces, ports, configuration, management."""
        node, around = self.node, self._around
        self._namespace = await Namespace.start(node.name, *self._start_arguments())
        around.pids[node.name] = self._namespace.pid
        await around.sentinel.watch(self._namespace)
        await self._plug_in(self._namespace.pid)
        await self._namespace.run(
            "ip", "-batch", "-", text=boot_commands(node, around.adjacencies.routes_of(node.name))
        )
        limits = {end.interface: size for end, size in around.damage.port_limits.items() if end.device == node.name}
        await self._namespace.run("nft", "-f", "-", text=node_rules(node, limits) + show_rules(node))
        if node.name in around.damage.silent:
            await self._namespace.run("nft", "-f", "-", text=silence_rules())
        await around.aggregates.boot(self._namespace)
        if node.is_linux:
            await self._apply_persisted(self._namespace)
        watch = await Watch.start(self._namespace, node)
        await self._follow(watch.known)
        self._keep(self._watch(watch))
        if not self._lost:
            await self.front_end.open()
        # Only now: a switch that forwards before it has its configuration would answer for sizes that are not its own.
        self.plane.connect()
        around.adjacencies.powered(node.name, self._ip)
        if node.is_linux:
            await self._apply_with_carrier(self._namespace)
        self._start_advertising(self._namespace)
        around.events.add(node.name, "up", f"management on {node.listen}:{self.front_end.port}")

    async def _ip(self, batch: str) -> None:
        """Run commands of `ip` in the node; there is nobody to run them in while its power is off."""
        if self._namespace:
            await self._namespace.run("ip", "-force", "-batch", "-", text=batch, only_net=True)

    def _start_advertising(self, namespace: Namespace) -> None:
        config = advertise_config(self._around.design, self.node)
        if config:
            command = [sys.executable, "-I", "-S", str(_ADVERTISE), json.dumps(config)]
            self._keep(self._follow_program(namespace, "advertise", command))

    async def _follow_program(self, namespace: Namespace, name: str, command: Sequence[str]) -> None:
        process = await namespace.spawn(*command, errors=self._around.log)
        if await process.wait() not in KILLED:
            self._around.events.add(self.node.name, name, "the program ended by itself; see the lab's log")

    def start_traffic(self) -> None:
        """Start the host's production traffic, once its peers are there."""
        if namespace := self._namespace:
            for program, config in traffic_programs(self._around.design, self.node):
                self._keep(self._around.traffic.follow(namespace, program, config))

    async def stop(self) -> None:
        """Power off: nothing is shut down in order, as with a plug that is pulled."""
        self._around.adjacencies.powered(self.node.name, None)
        await self.front_end.close()
        if self._namespace:
            self.plane.disconnect()
            # Its ports go first: a connection that cannot end keeps the namespace, and with it the ports, for a while.
            await self._namespace.run("ip", "-batch", "-", text=unplug_commands(self.node))
            self._around.sentinel.leave(self.node.name)
            self._around.aggregates.leave(self.node.name)
            await self._namespace.kill()
            self._namespace = None
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def reboot(self) -> None:
        """Power off and on again."""
        self._around.events.add(self.node.name, "reboot", "power off")
        await self.stop()
        self.front_end = self._make_front_end()
        await self.start()
        self.start_traffic()

    def status(self) -> dict[str, Any]:
        """Return what `lab status` shows of the node."""
        interfaces: dict[str, dict[str, Any]] = {}
        for name, _kernel in self.node.interfaces():
            try:
                interfaces[name] = {"ip_mtu": self.plane.ip_mtu(name), "up": self.plane.is_up(name)}
            except OSError:  # it is rebooting
                interfaces[name] = {"ip_mtu": None, "up": False}
        return {
            "platform": self.node.platform,
            "address": self.node.listen,
            "port": self.front_end.port,
            "pid": self._namespace.pid if self._namespace else None,
            "reachable": self.front_end.reachable,
            "interfaces": interfaces,
        }

    # -- booting ---------------------------------------------------------------------------------------------------

    def _start_arguments(self) -> tuple[str, ...]:
        if not self.node.is_linux:
            return ("switch",)
        ethtool = shutil.which("ethtool", path=PATH) or "/usr/sbin/ethtool"
        needed = [Path(__file__), find_sshd(), Path(sys.prefix), Path(sys.base_prefix)]
        return ("host" if self.node.is_host else "router", str(self._etc()), ethtool, private_tmp(needed))

    def _etc(self) -> Path:
        folder = self._around.folder / "nodes" / self.node.name / "etc"
        if not folder.exists():
            nodes = self._around.design.fabric.nodes.values()
            names = {node.name: address for node in nodes if (address := _name_address(node))}
            make_etc(folder, self.node.name, self._around.ssh, names)
        return folder

    async def _plug_in(self, pid: int) -> None:
        """Give the node its ports; after a reboot the kernel may still be clearing the old ones, all at once."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + _PORTS_FREE_WITHIN
        text = port_commands(self.node, pid)
        while True:
            try:
                await self._around.plant.run("ip", "-batch", "-", text=text, only_net=True)
            except JumboError:
                if loop.time() > give_up:
                    raise
                await asyncio.sleep(_RETRY)
            else:
                return

    async def _apply_persisted(self, namespace: Namespace) -> None:
        content, problem = read_persisted(self._etc())
        await self._boot(namespace, persisted_commands(content), problem)

    async def _apply_with_carrier(self, namespace: Namespace) -> None:
        """Apply what waits for a carrier; where none comes for now, that goes on beside all else."""
        waiting = carrier_commands(read_persisted(self._etc())[0])
        tasks = [self._keep(self._when_ready(namespace, name, commands)) for name, commands in waiting.items()]
        if tasks:
            await asyncio.wait(tasks, timeout=_CARRIER_WITHIN)

    async def _when_ready(self, namespace: Namespace, name: str, commands: Iterable[Sequence[str]]) -> None:
        while not await namespace.run("ip", "-6", "address", "show", "dev", name, "scope", "link", "-tentative"):
            await asyncio.sleep(_RETRY)
        await self._boot(namespace, commands)

    async def _boot(self, namespace: Namespace, commands: Iterable[Sequence[str]], problem: str = "") -> None:
        for command in commands:
            try:
                await namespace.run(*command)
            except JumboError as error:
                problem = str(error)
        if problem:
            self._around.events.add(self.node.name, "boot", problem)

    # -- what happens while it is on -------------------------------------------------------------------------------

    async def _watch(self, watch: Watch) -> None:
        names = {kernel: interface for interface, kernel in self.node.interfaces()}
        async for change in watch.changes():
            kind = "route" if change.ip_mtu is None else "mtu"
            self._around.events.add(
                self.node.name,
                kind,
                change.text.replace(change.interface, names.get(change.interface, change.interface)),
            )
            if change.ip_mtu is not None:
                await self._follow({change.interface: change.ip_mtu})
            await self._may_lose_management(change)

    async def _follow(self, mtus: Mapping[str, int]) -> None:
        """Let the node's limits be what its links' MTUs, by the kernel's names, now say."""
        broken = {end.interface for end in self._around.damage.port_limits if end.device == self.node.name}
        known = {kernel for name, kernel in self.node.interfaces() if not (self.node.is_linux and name in broken)}
        text = "".join(follow_link(self.node, kernel, mtus[kernel]) for kernel in mtus if kernel in known)
        if text and self._namespace:
            await self._namespace.run("nft", "-f", "-", text=text)

    async def _may_lose_management(self, change: Change) -> None:
        if self.node.is_host and change.interface in self.node.backend:
            await self._first_write()

    async def _first_write(self) -> None:
        """Break what a fault wants broken when the first change has taken effect."""
        if self.node.name in self._around.damage.unreachable and not self._lost:
            self._lost = True
            self._around.events.add(self.node.name, "fault", "management is lost with the first change")
            await self.front_end.lose()

    def _make_front_end(self) -> FrontEnd:
        around, node = self._around, self.node
        in_band = around.design.in_band.get(node.name)
        if in_band is None:
            return self._front_end_of(node)
        pids = (lambda: around.pids[in_band.station], lambda: around.pids[node.name])
        return InBandFrontEnd(self._front_end_of(backstage(node)), node, in_band.address, pids, self._run_nft)

    async def _run_nft(self, script: str) -> None:
        if self._namespace:
            await self._namespace.run("nft", "-f", "-", text=script)

    def _front_end_of(self, node: Node) -> FrontEnd:
        around = self._around
        if node.is_linux:
            return SshFrontEnd(node, lambda: around.pids[node.name], around.log)
        options = self._device_options()
        trouble = around.damage.trouble_of(node.name)
        if node.platform == "junos":
            front_end = junos_front_end(node, self.plane, options, trouble, around.device_key)
        elif node.platform == "fastiron":
            front_end = fastiron_front_end(
                node, self.plane, options, trouble, around.device_key, in_band=node.name in around.design.in_band
            )
        else:
            assert around.eapi is not None  # noqa: S101 - for the type checker: it is there where EOS switches are
            front_end = eos_front_end(node, self.plane, options, around.eapi)
        if node.name in around.damage.unreachable:
            front_end.on_first_write = self._threadsafe(self._first_write)
        return front_end

    def _device_options(self) -> dict[str, Any]:
        """Return what the emulated switch is told beside its name, configuration and data plane."""
        around, node = self._around, self.node
        user, password = (
            str(around.design.knob(node.name, *knob)) for knob in (("user", "admin"), ("password", "jumbo-lab"))
        )
        options: dict[str, Any] = {
            "users": {user: password},
            "state_dir": around.folder / "nodes" / node.name / "flash",
        }
        if node.platform == "junos":
            options["authorized_keys"] = (around.ssh.folder / "id_ed25519.pub").read_text()
            options["commit_seconds"] = around.damage.slow_commits.get(node.name, _JUNOS_COMMIT_SECONDS)
        if node.platform == "fastiron":
            options["enable"] = password
            options["reload_questions"] = 2
            options["reload_seconds"] = float(around.design.knob(node.name, "reload_seconds", _RELOAD_SECONDS))
            options["schedules"] = bool(around.design.knob(node.name, "reload_schedules", True))
            if node.name in around.design.in_band:
                options["client"] = around.design.in_band[node.name].seen_from
        if node.name in around.damage.max_mtu:
            options["max_mtu"] = around.damage.max_mtu[node.name]
        if version := around.design.knob(node.name, f"{node.platform}_version", None):
            options["version"] = str(version)
        return options

    def _threadsafe(self, action: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def call() -> None:
            loop.call_soon_threadsafe(lambda: self._keep(action()))

        return call

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and self._namespace:
            self._around.events.add(self.node.name, "lab", f"internal error: {error!r}")


def _name_address(node: Node) -> str | None:
    """Return the address that goes with a node's name in /etc/hosts: its back end's, else its first."""
    interfaces = [*node.backend, *node.addresses]
    found = next((node.addresses[name] for name in interfaces if node.addresses.get(name)), ())
    return found[0].partition("/")[0] if found else None
