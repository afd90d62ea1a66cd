"""Runs the production traffic of the hosts and keeps what it reports."""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from .namespaces import Namespace

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
        self._unbound: dict[str, dict[str, int]] = {}

    def summary(self) -> dict[str, Any]:
        """Return {"transfers", "stalls", "stall_count", "largest_segment", "largest_segment_of", "unbound"}.

        unbound: how many datagrams of each kind all hosts have heard since they booted; see unbound.py.
        """
        transfers = sum(report.get("transfers", 0) for report in self._reports.values()) + sum(self._ended.values())
        segments = {host: report.get("largest_segment", 0) for host, report in self._reports.items()}
        return {
            "transfers": transfers,
            "stalls": self._stalls[-_KEPT:],
            "stall_count": self._count,
            "largest_segment": max(segments.values(), default=0),
            "largest_segment_of": segments,
            "unbound": dict(sum(map(Counter, self._unbound.values()), Counter())),
        }

    async def follow(self, namespace: Namespace, program: Path, config: Mapping[str, Any]) -> None:
        """Run one of a host's traffic programs until the host goes down."""
        command = [sys.executable, "-I", "-S", str(program), json.dumps(config)]
        process = await namespace.spawn(*command, errors=self._log)
        assert process.stdout is not None  # noqa: S101 - for the type checker: it was asked for
        async for line in process.stdout:
            self._note(json.loads(line))
        done = self._reports.pop(namespace.name, {}).get("transfers", 0)
        self._ended[namespace.name] = self._ended.get(namespace.name, 0) + done
        if await process.wait() not in KILLED:
            self._tell(namespace.name, "traffic", f"{program.name} ended by itself; see the lab's log")

    def _note(self, line: dict[str, Any]) -> None:
        if "unbound" in line:
            self._unbound[line["host"]] = line["unbound"]
            return
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
