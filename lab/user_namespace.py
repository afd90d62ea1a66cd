"""What a lab needs of the kernel. Whoever may not make namespaces becomes able to in a user namespace of the lab's own.

As root nothing of this is needed. For anybody else the supervisor is started in one user namespace, as the user it is,
with all capabilities in it, which what it starts inherits. Everything below is the same code then. Commands from
outside, such as `lab exec`, come in through join.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

# What makes a node; the trial asks for just that.
NEW_NAMESPACES = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
_JOIN = Path(__file__).with_name("join.py")
_SYSCTL = Path("/proc/sys")
_SELF = Path("/proc/self")
_KINDS = ("net", "mnt", "uts", "ipc", "pid")
_ENOUGH = 10_000  # well below what kernels allow by default
_NET_ADMIN, _SYS_ADMIN = 1 << 12, 1 << 21
_ORDINARY = 1000
# Switches of Debian and Ubuntu that forbid it: {name: (value that forbids, value that allows)}.
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
}


def own_namespace() -> Sequence[str]:
    """Return the words that go before the supervisor's command; none where this process may make namespaces itself.

    Inside, the user stays who it is and is never user 0: sshd would then want to change groups, which a user namespace
    without help of root forbids. So root of a user namespace gets one within its own.
    """
    if _may_administer():
        return ()
    user, group = (number or _ORDINARY for number in (os.geteuid(), os.getegid()))
    return ("unshare", "--user", f"--map-user={user}", f"--map-group={group}", "--keep-caps", "--")


def join(pid: int) -> Sequence[str]:
    """Return the words that take a command into the user namespace of a process; none where it is this one."""
    try:
        if os.stat(f"/proc/{pid}/ns/user").st_ino == os.stat("/proc/self/ns/user").st_ino:
            return ()
    except OSError:  # it has ended, or is somebody else's: nsenter says so
        return ()
    return (sys.executable, "-I", "-S", str(_JOIN), str(pid))


def check_kernel(nodes: int, environment: Mapping[str, str]) -> None:
    """Try what a lab of so many nodes does; raises JumboError with the reason and the line to type."""
    words = own_namespace()
    _check_limits(("user", *_KINDS) if words else _KINDS, nodes + 2)
    trial = [*words, *NEW_NAMESPACES, "sh", "-c", "mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run"]
    done = subprocess.run(trial, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return
    if words:
        _check_switches()
    said = done.stderr.strip().splitlines()
    raise JumboError(
        f"this system does not let the lab make namespaces ({said[-1] if said else 'no message'})",
        advice="Containers often forbid it: use a real or a virtual machine, or try it as root: sudo make demo",
    )


def _may_administer() -> bool:
    status = dict(line.split(":", 1) for line in (_SELF / "status").read_text().splitlines())
    able = int(status["CapEff"], 16)
    wanted = _NET_ADMIN | _SYS_ADMIN
    return able & wanted == wanted and (os.geteuid() != 0 or _may_change_groups())


def _may_change_groups() -> bool:
    try:
        return (_SELF / "setgroups").read_text().strip() != "deny"
    except OSError:
        return True


def _check_limits(kinds: Sequence[str], needed: int) -> None:
    for kind in kinds:
        name = f"user.max_{kind}_namespaces"
        allowed = _sysctl(name)
        if allowed is not None and int(allowed) < needed:
            raise JumboError(
                f"the kernel allows {allowed} namespaces of the kind {kind}, and the lab needs {needed}",
                advice=f"Run: sudo sysctl -w {name}={_ENOUGH}",
            )


def _check_switches() -> None:
    for name, (forbids, allows) in _SWITCHES.items():
        if _sysctl(name) == forbids:
            raise JumboError(
                "this system lets only root make user namespaces, which the lab needs where it does not run as root",
                advice=f"Run: sudo sysctl -w {name}={allows}",
            )


def _sysctl(name: str) -> str | None:
    try:
        return (_SYSCTL / name.replace(".", "/")).read_text().strip()
    except OSError:
        return None
