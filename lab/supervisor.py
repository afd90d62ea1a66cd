"""The one process that owns a lab. Whatever ends it, SIGKILL included, ends every process and namespace of the lab."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .adjacencies import Adjacencies
from .aggregates import Aggregates
from .control import Verbs, serve_control
from .events import Events
from .fabric import Node
from .faults import FAULTS, Chosen, Damage, Site, break_fabric
from .folder import LabFolder
from .fragments import hide_rules
from .front_ends import NETCONF_PORT, device_key, eapi_context
from .inventory import Design, design
from .limits import plant_rules
from .namespaces import Namespace
from .running import RunningNode, Surroundings
from .sentinel import Sentinel
from .sshd import PORT as SSH_PORT
from .sshd import SshFiles
from .traffic_log import TrafficLog
from .wiring import cable_commands, offload_script

_LOG = logging.getLogger(__name__)


class Lab:
    """A running lab."""

    def __init__(self, folder: LabFolder, plan: Design, faults: list[Chosen], log: IO[bytes]) -> None:
        self.folder = folder
        self.design = plan
        self.faults = faults
        self.nodes: dict[str, RunningNode] = {}
        self.events = Events(folder.path / "events.jsonl")
        self.traffic = TrafficLog(folder.path / "stalls.jsonl", self.events.add, log)
        self.sentinel = Sentinel(folder.path / "violations.jsonl", plan.fabric, self.events.add)
        self.ended = asyncio.Event()
        self.started_at = time.time()
        self._log = log
        self._plant: Namespace | None = None
        self._aggregates: Aggregates | None = None
        self._control: asyncio.Server | None = None
        self._rebooting = asyncio.Lock()

    async def start(self) -> None:
        """Build everything; return when every node answers."""
        damage = break_fabric(self.faults, Site(self.design.fabric, self.design.topology))
        self._plant = await self._lay_cables(damage)
        around = await self._surroundings(damage, self._plant)
        self.nodes = {name: RunningNode(node, around) for name, node in self.design.fabric.nodes.items()}
        await asyncio.gather(*(node.start() for node in self.nodes.values()))
        around.adjacencies.begin()
        for node in self.nodes.values():
            node.start_traffic()
        for fault in self.faults:
            self.events.add(fault.place.partition(":")[0], "fault", f"{fault}: {FAULTS[fault.name].help}")
        self._control = await serve_control(self.folder, self._verbs())

    async def stop(self) -> None:
        """Take everything down."""
        if self._control:
            self._control.close()
        await asyncio.gather(*(node.stop() for node in self.nodes.values()), return_exceptions=True)
        if self._aggregates:
            await self._aggregates.stop()
        if self._plant:
            self.sentinel.leave(self._plant.name)
            await self._plant.kill()

    async def _lay_cables(self, damage: Damage) -> Namespace:
        fabric = self.design.fabric
        plant = await Namespace.start("plant", "plant")
        await plant.run("ip", "-batch", "-", text=cable_commands(fabric), only_net=True)
        await plant.run("sh", "-s", text=offload_script(fabric), only_net=True)
        await self.sentinel.watch(plant)
        rules = plant_rules(fabric, damage.cable_limits) + hide_rules(fabric)
        await plant.run("nft", "-f", "-", text=rules, only_net=True)
        return plant

    async def _bundle(self, plant: Namespace) -> Aggregates:
        self._aggregates = Aggregates(self.design.fabric, plant)
        await self._aggregates.start()
        return self._aggregates

    async def _surroundings(self, damage: Damage, plant: Namespace) -> Surroundings:
        nodes = self.design.fabric.nodes.values()
        ports = {"fastiron": SSH_PORT, "junos": NETCONF_PORT, "linux": SSH_PORT}
        places = [(node.listen, ports[node.platform]) for node in nodes if node.platform in ports]
        path = self.folder.path
        files = await asyncio.to_thread(SshFiles.make, path / "ssh", places)
        return Surroundings(
            folder=path,
            design=self.design,
            damage=damage,
            plant=plant,
            ssh=files,
            eapi=eapi_context(path / "eapi") if any(node.platform == "eos" for node in nodes) else None,
            device_key=device_key(files.folder / "host_key") if _over_ssh(nodes) else None,
            events=self.events,
            traffic=self.traffic,
            sentinel=self.sentinel,
            aggregates=await self._bundle(plant),
            adjacencies=Adjacencies(self.design.topology, self.design.fabric, self.events),
            log=self._log,
        )

    # -- what can be asked of a running lab ------------------------------------------------------------------------

    def _verbs(self) -> Verbs:
        return {
            "status": self._status,
            "violations": self._violations,
            "events": self._events,
            "audit": self._audit,
            "cut": self._cut,
            "mend": self._mend,
            "reboot": self._reboot,
            "down": self._down,
        }

    async def _status(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {
            "folder": str(self.folder.path),
            "pid": os.getpid(),
            "plant": self._plant.pid if self._plant else None,
            "started": self.started_at,
            "faults": [str(fault) for fault in self.faults],
            "nodes": {name: node.status() for name, node in self.nodes.items()},
            "traffic": self.traffic.summary(),
        }

    async def _violations(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"violations": await self.sentinel.violations()}

    async def _events(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"events": self.events.all()}

    async def _audit(self, _request: dict[str, Any]) -> dict[str, Any]:
        audits = {name: node.front_end.audit() for name, node in self.nodes.items()}
        return {"audit": {name: audit for name, audit in audits.items() if audit is not None}}

    def _asked_for(self, request: dict[str, Any]) -> RunningNode:
        node = self.nodes.get(str(request.get("node")))
        if node is None:
            raise JumboError("this node is not in the lab", wish=request.get("node"), limit=", ".join(self.nodes))
        return node

    async def _cut(self, request: dict[str, Any]) -> dict[str, Any]:
        node = self._asked_for(request)
        await node.front_end.lose()
        self.events.add(node.node.name, "cut", "management is cut by hand")
        return {"cut": node.node.name}

    async def _mend(self, request: dict[str, Any]) -> dict[str, Any]:
        node = self._asked_for(request)
        await node.front_end.mend()
        self.events.add(node.node.name, "mended", "management answers again")
        return {"mended": node.node.name}

    async def _reboot(self, request: dict[str, Any]) -> dict[str, Any]:
        node = self._asked_for(request)
        async with self._rebooting:
            await node.reboot()
        return {"rebooted": node.node.name}

    async def _down(self, _request: dict[str, Any]) -> dict[str, Any]:
        self.ended.set()
        return {"going": "down"}


def _over_ssh(nodes: Iterable[Node]) -> bool:
    return any(node.platform in ("fastiron", "junos") for node in nodes)


async def run(folder: LabFolder, report: IO[str], log: IO[bytes]) -> int:
    """Run a lab from its spec until it is taken down; one line to `report` when it is up, or why it is not."""
    spec = folder.read_spec() or {}
    started = time.monotonic()
    lab = None
    try:
        lab = Lab(folder, design(spec["hosts"]), [Chosen(**fault) for fault in spec["faults"]], log)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lab.ended.set)
        await lab.start()
    except Exception as error:  # noqa: BLE001 - whoever asked for the lab is told, whatever it is
        explained = isinstance(error, JumboError)
        if not explained:
            _LOG.exception("start")
        if lab:
            await lab.stop()
        _tell(report, {"error": str(error) if explained else f"{error!r}; see {folder.log}", "explained": explained})
        return 1
    lab.events.add("", "up", f"{len(lab.nodes)} nodes in {time.monotonic() - started:.1f} s")
    _tell(report, {"up": True})
    await lab.ended.wait()
    await lab.stop()
    folder.clear()
    return 0


def _tell(report: IO[str], line: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError), report:
        report.write(json.dumps(line) + "\n")


def main() -> int:
    """Run as a program: `supervisor FOLDER REPORT_DESCRIPTOR`. The folder's lock is an inherited descriptor."""
    folder = LabFolder(Path(sys.argv[1]))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    if sys.version_info < (3, 12):  # later releases choose it themselves; the older default is a thread per process
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
    with folder.log.open("ab") as log, os.fdopen(int(sys.argv[2]), "w") as report:
        return asyncio.run(run(folder, report, log))


if __name__ == "__main__":
    sys.exit(main())
