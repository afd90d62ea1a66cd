"""Whole roll-outs in a lab of their own: real playbooks, real sshd and eAPI, real packets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import BUNDLED, ROOT, RunningLab, environment, lab_cli, network, overlay

LIMIT = 300.0


@dataclass
class Outcome:
    """How a playbook ended, and what it left behind."""

    status: int
    output: str
    evidence: Path

    @property
    def report(self) -> dict[str, Any]:
        newest = max(path for path in self.evidence.glob("*/report.json") if not path.parent.is_symlink())
        return json.loads(newest.read_text())

    @property
    def journal(self) -> list[dict[str, Any]]:
        newest = max(path for path in self.evidence.glob("*/journal.jsonl") if not path.parent.is_symlink())
        return [json.loads(line) for line in newest.read_text().splitlines()]

    def stage(self, name: str) -> dict[str, Any]:
        return next(stage for stage in self.report["stages"] if stage["name"] == name)


class Fabric:
    """A lab with one fault or none, and the playbooks run against it."""

    def __init__(self, folder: Path, sources: list[str], evidence: Path) -> None:
        self.folder = folder
        self.sources = sources
        self.evidence = evidence

    @property
    def lab(self) -> RunningLab:
        return RunningLab(self.folder, self.sources)

    def command(self, playbook: str, *arguments: str) -> list[str]:
        tool = str(Path(sys.executable).with_name("ansible-playbook"))
        inventories = [part for source in self.sources for part in ("-i", source)]
        extra = ["-e", f"jumbo_evidence_dir={self.evidence}"]
        return [tool, *inventories, f"playbooks/{playbook}.yml", *extra, *arguments]

    def play(self, playbook: str, *arguments: str) -> Outcome:
        done = subprocess.run(
            self.command(playbook, *arguments),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**environment(self.folder), "HOME": os.environ.get("HOME", "/root")},
            timeout=LIMIT,
            check=False,
        )
        return Outcome(done.returncode, done.stdout + done.stderr, self.evidence)

    def ip_mtus(self) -> dict[str, dict[str, int]]:
        """Return the running IP MTU of each jumbo interface, read inside the nodes."""
        lab = self.lab
        return {
            name: {interface: lab.plane(name).ip_mtu(interface) for interface in lab.jumbo_interfaces(name)}
            for name in lab.nodes
        }

    def stalls(self) -> list[Any]:
        return list(self.lab.status()["traffic"]["stalls"])

    def routes(self, host: str) -> str:
        return self.lab.run(host, "ip", "-4", "route", "show", "table", "all")


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Callable[..., Fabric]]:
    """Start the bundled fabric on addresses of its own, with a fault or not; it is taken down afterwards."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root here")
    folder = tmp_path / "lab"

    def start(fault: str = "", **variables: Any) -> Fabric:
        extra = overlay(tmp_path / "overlay", jumbo_lab_network=network(77), jumbo_soak="2s", **variables)
        sources = [str(BUNDLED), extra]
        done = lab_cli(folder, "up", "-i", sources[0], "-i", sources[1], "--fault", fault)
        assert done.returncode == 0, done.stderr
        return Fabric(folder, sources, tmp_path / "evidence")

    yield start
    lab_cli(folder, "down")
