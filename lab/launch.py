"""Starting and ending the supervisor from the outside."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .faults import Chosen, Site, choose_faults
from .folder import LabFolder
from .inventory import design, load_hosts
from .namespaces import ENVIRONMENT, PATH
from .sshd import find_sshd
from .user_namespace import check_kernel, own_namespace

_COLLECTIONS = Path(__file__).absolute().parents[3].parent
# Each program the lab runs, and the Debian package that brings it.
_PROGRAMS = {
    "ethtool": "ethtool",
    "hostname": "hostname",
    "ip": "iproute2",
    "mount": "mount",
    "nft": "nftables",
    "nsenter": "util-linux",
    "ping": "iputils-ping",
    "setpriv": "util-linux",
    "ssh-keygen": "openssh-client",
    "unshare": "util-linux",
}
_GOES_DOWN_WITHIN = 15.0
_DIES_WITHIN = 5.0
_STARTS_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Started:
    """What `up` did."""

    nodes: int
    cables: int
    was_running: bool
    faults: list[Chosen] = field(default_factory=list)


def up(folder: LabFolder, sources: Sequence[str], fault_text: str = "") -> Started:
    """Start a lab; one that runs already from the same inventory with the same faults is left as it is."""
    hosts = load_hosts(sources)
    plan = design(hosts)
    faults = choose_faults(fault_text, Site(plan.fabric, plan.topology))
    check_machine(len(plan.fabric.nodes))
    spec = json.loads(json.dumps({"hosts": hosts, "faults": [asdict(fault) for fault in faults]}))
    size = (len(plan.fabric.nodes), len(plan.fabric.cables))
    folder.make()
    lock = folder.lock()
    if lock is None:
        _join_running(folder, spec)
        return Started(*size, was_running=True, faults=faults)
    folder.clear()
    folder.make()
    os.close(lock)
    lock = folder.lock()
    if lock is None:
        raise JumboError(f"another lab is being started in {folder.path}", advice="Run the command again")
    folder.spec_file.write_text(json.dumps(spec))
    try:
        _start_supervisor(folder, lock)
    finally:
        os.close(lock)
    return Started(*size, was_running=False, faults=faults)


def down(folder: LabFolder) -> str:
    """End the lab and remove what it left, also after it was killed; returns what was done."""
    if not (folder.path / "lock").exists():
        return f"no lab in {folder.path}"
    running = folder.lock()
    if running is None:
        _end(folder)
        return "down"
    folder.clear()
    os.close(running)
    return "the lab had ended by itself; its files are removed"


def check_machine(nodes: int) -> None:
    """Raise JumboError with what a lab of so many nodes lacks on this machine, and the line that changes it."""
    missing = {name: package for name, package in _PROGRAMS.items() if not shutil.which(name, path=PATH)}
    if missing:
        packages = " ".join(sorted(set(missing.values())))
        advice = f"Run: sudo apt-get install --no-install-recommends {packages}"
        raise JumboError(f"the lab needs programs that are not here: {', '.join(missing)}", advice=advice)
    find_sshd()
    check_kernel(nodes, ENVIRONMENT)


def _join_running(folder: LabFolder, spec: dict[str, Any]) -> None:
    if folder.read_spec() != spec:
        advice = "Take it down first with `make lab-down`, or choose another folder with --dir"
        raise JumboError(
            f"a lab of another inventory, or with other faults, is running in {folder.path}", advice=advice
        )
    folder.ask("status", _STARTS_WITHIN)


def _start_supervisor(folder: LabFolder, lock: int) -> None:
    reader, writer = os.pipe()
    command = [*own_namespace(), sys.executable, "-m", f"{__package__}.supervisor", str(folder.path), str(writer)]
    search = os.pathsep.join([str(_COLLECTIONS), *filter(None, [os.environ.get("PYTHONPATH")])])
    with folder.log.open("ab") as log, os.fdopen(reader) as report:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**ENVIRONMENT, "PYTHONPATH": search},
            cwd="/",
            start_new_session=True,
            pass_fds=(lock, writer),
        )
        os.close(writer)
        os.pwrite(lock, str(process.pid).encode(), 0)
        line = report.readline()
    answer = json.loads(line) if line else {"error": f"the lab ended while it was starting; see {folder.log}"}
    if answer.get("explained"):
        folder.clear()
    if "error" in answer:
        raise JumboError(answer["error"])


def _end(folder: LabFolder) -> None:
    """End a running lab and empty its folder; one that does not react is killed."""
    with contextlib.suppress(JumboError):
        folder.ask("down", _DIES_WITHIN)
    lock = folder.lock(_GOES_DOWN_WITHIN)
    if lock is None and (pid := folder.owner()):
        os.kill(pid, signal.SIGKILL)
        lock = folder.lock(_DIES_WITHIN)
    if lock is None:
        raise JumboError(f"the lab in {folder.path} does not end", advice="See who holds its lock: fuser lock")
    if folder.is_lock(lock):
        folder.clear()
    os.close(lock)
