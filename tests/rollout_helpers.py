"""What tests of whole roll-outs share: a fabric, the playbooks run against it, and how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.lab.show import violations_text
from lab_helpers import BUNDLED, ROOT, RunningLab, environment, lab_cli, need_namespaces, network, wait_until
from lab_inventories import rack_fabric, rack_variables, variant

LIMIT = 300.0


@dataclass
class Outcome:
    """How a playbook ended; `run` is the evidence of that very run."""

    status: int
    output: str
    run: Path | None

    @property
    def report(self) -> dict[str, Any]:
        assert self.run is not None, self.output
        return json.loads((self.run / "report.json").read_text())

    @property
    def journal(self) -> list[dict[str, Any]]:
        assert self.run is not None, self.output
        return [json.loads(line) for line in (self.run / "journal.jsonl").read_text().splitlines()]

    def stage(self, name: str) -> dict[str, Any]:
        return next(stage for stage in self.report["stages"] if stage["name"] == name)


class Fabric:
    """A lab with one fault or none, and the playbooks run against it."""

    # Why the sentinel must have seen production lost by the end of a test; empty: it must have seen none.
    expects_violations = ""

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
            env=self.environment(),
            timeout=LIMIT,
            check=False,
        )
        return Outcome(done.returncode, done.stdout + done.stderr, self.newest())

    def play_and(
        self,
        playbook: str,
        when: Callable[[dict[str, Any]], bool],
        then: Callable[[], Any],
        then_kill: int | None = None,
    ) -> Outcome:
        """Run a playbook and act once, at the moment the journal has a line that fits; or kill it with its workers."""
        process = subprocess.Popen(
            self.command(playbook),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env=self.environment(),
            start_new_session=True,
        )
        try:
            wait_until(lambda: any(when(line) for line in self.lines()) or process.poll() is not None, LIMIT)
            then()
            if then_kill is not None:
                os.killpg(process.pid, then_kill)
            output, _errors = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
        return Outcome(process.returncode, output, self.newest())

    def newest(self) -> Path | None:
        """Return the folder of the newest run."""
        runs = [path.parent for path in self.evidence.glob("*/journal.jsonl") if not path.parent.is_symlink()]
        return max(runs, default=None)

    def lines(self) -> list[dict[str, Any]]:
        """Return the whole lines of the newest journal."""
        newest = self.newest()
        text = (newest / "journal.jsonl").read_text() if newest else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def environment(self) -> dict[str, str]:
        return {**environment(self.folder), "HOME": os.environ.get("HOME", "/root")}

    def variables(self) -> dict[str, Any]:
        """Return the cables and segments of the fabric of three racks."""
        return rack_variables()

    def check_violations(self) -> None:
        """Fail unless production was lost for its size exactly where a test says that it must have been."""
        found = self.lab.violations()
        told = violations_text(found)
        assert bool(found) == bool(self.expects_violations), self.expects_violations or told

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


def is_done(line: dict[str, Any], verb: str) -> bool:
    """Tell whether a journal line says that an act has ended."""
    return line["verb"] == verb and line["event"] == "done"


def never_both(lines: Sequence[dict[str, Any]], members: Collection[str]) -> None:
    """Fail where something is unconfirmed, or being taken back, at both members of a pair at the same moment."""
    open_at: dict[str, set[str]] = {member: set() for member in members}
    for line in (line for line in lines if line["host"] in open_at):
        mine = open_at[line["host"]]
        if (line["verb"], line["event"]) in {("apply", "intent"), ("revert", "intent")}:
            mine.add(line["step"])
        elif is_done(line, "confirm") or is_done(line, "revert"):
            mine.discard(line["step"])
        shared = set.intersection(*open_at.values())  # what joins the two changes at both at once
        assert not all(open_at.values()) or shared, line


@contextlib.contextmanager
def fabric_of(path: Path, source: str, fault: str = "") -> Iterator[Fabric]:
    """Raise a lab of another inventory than the bundled one, in a folder of its own; it is taken down afterwards."""
    need_namespaces()
    done = lab_cli(path / "lab", "up", "-i", source, "--fault", fault)
    assert done.returncode == 0, done.stderr
    fabric = Fabric(path / "lab", [source], path / "evidence")
    try:
        yield fabric
        fabric.check_violations()
    finally:
        lab_cli(path / "lab", "down")


def fabrics(folder: Path) -> Iterator[Callable[..., Fabric]]:
    """Yield what starts the fabric of three racks, or the bundled one, with a fault or not; taken down afterwards.

    A test fails where the sentinel has seen production lost for its size, unless it says `expects_violations`.
    """
    need_namespaces()

    def start(
        fault: str = "", junos: Sequence[str] = (), routing: str = "static", *, bundled: bool = False, **variables: Any
    ) -> Fabric:
        known = {"jumbo_lab_network": network(77), "jumbo_soak": "2s", **variables}
        extra = variant(folder / "overlay", junos, routing, **known)
        sources = [str(BUNDLED) if bundled else rack_fabric(folder / "inventory", 77), extra]
        done = lab_cli(folder / "lab", "up", "-i", sources[0], "-i", sources[1], "--fault", fault)
        assert done.returncode == 0, done.stderr
        started.append(Fabric(folder / "lab", sources, folder / "evidence"))
        return started[-1]

    started: list[Fabric] = []
    try:
        yield start
        for fabric in started:
            fabric.check_violations()
    finally:
        lab_cli(folder / "lab", "down")
