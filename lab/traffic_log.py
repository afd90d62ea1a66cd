"""Starts the production traffic of the hosts and keeps what it reports."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from .addressing import family_of
from .fabric import Fabric, Node
from .inventory import Design
from .namespaces import Namespace

INTERVAL = 0.5
_PROGRAM = Path(__file__).with_name("traffic.py")
_MOST_PEERS = 8
_SUFFIXES = {4: "", 6: "/ipv6"}  # how a peer is named that is meant in this family
_KEPT = 200
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # with its node

Tell = Callable[[str, str, str], None]


class TrafficLog:
    """What all hosts' traffic has done; stalls also go to a file in the lab's folder."""

    def __init__(self, file: Path, tell: Tell, log: IO[bytes]) -> None:
        self._file = file
        self._tell = tell
        self._log = log
        self._reports: dict[str, dict[str, Any]] = {}
        self._ended: dict[str, int] = {}
        self._stalls: list[dict[str, Any]] = []
        self._count = 0

    def summary(self) -> dict[str, Any]:
        """Return {"transfers", "stalls", "stall_count", "largest_segment", "hosts"}."""
        transfers = sum(report.get("transfers", 0) for report in self._reports.values()) + sum(self._ended.values())
        segments = {host: report.get("largest_segment", 0) for host, report in self._reports.items()}
        return {
            "transfers": transfers,
            "stalls": self._stalls[-_KEPT:],
            "stall_count": self._count,
            "largest_segment": max(segments.values(), default=0),
            "largest_segment_of": segments,
        }

    async def follow(self, namespace: Namespace, config: Mapping[str, Any]) -> None:
        """Run a host's traffic until the host goes down."""
        command = [sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(config)]
        process = await namespace.spawn(*command, errors=self._log)
        assert process.stdout is not None  # noqa: S101 - for the type checker: it was asked for
        async for line in process.stdout:
            self._note(json.loads(line))
        done = self._reports.pop(namespace.name, {}).get("transfers", 0)
        self._ended[namespace.name] = self._ended.get(namespace.name, 0) + done
        if await process.wait() not in KILLED:
            self._tell(namespace.name, "traffic", "the traffic program ended by itself; see the lab's log")

    def _note(self, line: dict[str, Any]) -> None:
        stall = line.get("stall")
        if stall is None:
            self._reports[line["host"]] = line
            return
        self._count += 1
        self._stalls = [*self._stalls[-_KEPT:], stall]
        with self._file.open("a") as file:
            file.write(json.dumps(stall) + "\n")
        why = "old sizes pass: a black hole" if stall["old_size_passes"] else "nothing passes"
        self._tell(stall["from"], "stall", f"{stall['kind']} to {stall['to']}, {stall['size']} bytes left; {why}")


def traffic_config(design: Design, node: Node) -> dict[str, Any] | None:
    """Return what a host's traffic program is told; None for a host without a back end, or peers."""
    interval = design.knob(node.name, "traffic", INTERVAL)
    own = _backend_addresses(node)
    if not interval or not own:
        return None
    peers = {
        f"{peer.name}{_SUFFIXES[family]}": address
        for peer in _peers(design, node)
        for family, address in _backend_addresses(peer).items()
        if family in own
    }
    return {"name": node.name, "addresses": list(own.values()), "peers": peers, "interval": interval} if peers else None


def _peers(design: Design, node: Node) -> list[Node]:
    """Return a few other hosts, of the own rack and of others, chosen so that every host is somebody's peer."""
    fabric: Fabric = design.fabric
    hosts = [name for name, other in fabric.nodes.items() if other.is_host and _backend_addresses(other)]
    start = hosts.index(node.name)
    others = hosts[start + 1 :] + hosts[:start]
    rack_of = design.topology.rack_of
    local = [name for name in others if rack_of(name) == rack_of(node.name)]
    remote = [name for name in others if name not in local]
    return [fabric.nodes[name] for name in (local[:2] + remote)[:_MOST_PEERS]]


def _backend_addresses(node: Node) -> dict[int, str]:
    """Return a host's first address of each family in the back end."""
    prefixes = [prefix for interface in node.backend for prefix in node.addresses.get(interface, ())]
    found: dict[int, str] = {}
    for prefix in prefixes:
        found.setdefault(family_of(prefix), prefix.partition("/")[0])
    return found
