"""A unit of its own for a process that must outlive its session, where systemd is there; nothing needs it elsewhere.

With `KillUserProcesses=yes` (logind.conf(5)) the end of a session ends all that is left in its scope, detached or not.
So the process asks systemd for a transient scope outside the session and is moved there, as `systemd-run --scope` does
it for a program that it starts: this program is no file that could be started.
"""

from __future__ import annotations

import os
import time

from .errors import ProbeError
from .iproute import find_program, run_program

RUNNING = "/run/systemd/system"  # sd_booted(3)
SLICE = "system.slice"
MOVE_LIMIT, POLL = 2.0, 0.02


def move_to_unit(name: str) -> tuple[str | None, str | None]:
    """Move this process to a scope `<name>.scope`; returns (unit, why there is none), both None without systemd."""
    if not os.path.isdir(RUNNING):
        return None, None
    unit = f"{name}.scope"
    program = find_program("busctl")
    if program is None:
        return None, "busctl is not on this host"
    properties = [
        *("Description", "s", "jumbo.fabric: takes this host's MTU back unless it is confirmed"),
        *("PIDs", "au", "1", str(os.getpid())),
        *("Slice", "s", SLICE),
        *("CollectMode", "s", "inactive-or-failed"),
    ]
    manager = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
    call = [program, "--system", "call", *manager, "StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", "4"]
    try:
        status, _output, messages = run_program([*call, *properties, "0"], MOVE_LIMIT)
    except ProbeError as problem:
        return None, str(problem)
    if status != 0:
        return None, f"systemd gave no unit: {messages.strip() or status}"
    end = time.monotonic() + MOVE_LIMIT
    while time.monotonic() < end:  # the call only queues the job
        if unit in _control_group():
            return unit, None
        time.sleep(POLL)
    return None, f"systemd accepted {unit}, but this process is not in it"


def _control_group() -> str:
    try:
        with open("/proc/self/cgroup", encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
