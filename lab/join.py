"""Takes a command into the user namespace of a process, with all capabilities there: `join.py PID COMMAND...`.

nsenter would lose them: a program that a user other than 0 starts has only those that are inherited ("ambient",
capabilities(7)), and the nsenter of util-linux 2.38 cannot set these. Standard library only, as `python -I -S`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_CAPABILITY_VERSION_3 = 0x20080522  # sets of 64 bits, as two words each
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2


def main() -> None:
    """Join, keep the capabilities, become the command."""
    pid, command = sys.argv[1], sys.argv[2:]
    try:
        handle = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        _call("setns", handle, _CLONE_NEWUSER)
        _inherit_all()
        os.execvp(command[0], command)  # noqa: S606 - the command takes this process over
    except OSError as error:
        sys.exit(f"cannot run {command[0]} in the lab: {error.strerror}")


def _inherit_all() -> None:
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    every = (1 << (last + 1)) - 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = every & 0xFFFFFFFF, every >> 32
    _call("capset", header, (ctypes.c_uint32 * 6)(low, low, low, high, high, high))
    for capability in range(last + 1):
        _call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0)


_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
