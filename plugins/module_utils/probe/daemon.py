"""A process that outlives the session which started it: own session, no terminal, no open descriptor of the caller.

It survives SIGHUP, the end of the SSH connection and the kill of that connection's process group; a systemd-logind that
has `KillUserProcesses=yes` only in a unit of its own (systemd.py).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from typing import Callable, Iterable

from .errors import ProbeError

START_LIMIT = 10.0
READY = b"ready"
NAME_LENGTH = 15  # TASK_COMM_LEN without its end
Work = Callable[[Callable[[], None]], None]


def detach(work: Work, name: str, keep: Iterable[int] = ()) -> None:
    """Run `work(ready)` in a detached process and return when it has called `ready()`.

    `keep` are the descriptors that it goes on using; all others are closed, the standard ones lead to /dev/null.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _become_daemon(work, name, (*keep, writing), writing)
    os.close(writing)
    try:
        with contextlib.suppress(ChildProcessError):  # the session ignores SIGCHLD
            os.waitpid(child, 0)
        answered = select.select([reading], [], [], START_LIMIT)[0]
        said = os.read(reading, 1024) if answered else b"no answer"
    finally:
        os.close(reading)
    if said != READY:
        message = f"the {name} process did not start: {said.decode('utf-8', 'replace') or 'it ended at once'}"
        raise ProbeError(message, object=name, advice="look at memory and process limits of this host")


def _become_daemon(work: Work, name: str, keep: Iterable[int], writing: int) -> None:
    """Fork once more, let go of everything, work, end. Never returns into the caller's program."""
    status = 1
    told: list[bool] = []
    try:
        os.setsid()
        if os.fork() == 0:
            _let_go(name, keep)

            def ready() -> None:
                os.write(writing, READY)
                os.close(writing)
                told.append(True)

            work(ready)
        status = 0
    except BaseException as error:  # noqa: BLE001
        if not told:
            os.write(writing, f"{type(error).__name__}: {error}".encode()[:1000])
    finally:
        os._exit(status)


def _let_go(name: str, keep: Iterable[int]) -> None:
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    kept = {0, 1, 2, *keep}
    for descriptor in _open_descriptors() - kept:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    tell_kernel("comm", name[:NAME_LENGTH])


def _open_descriptors() -> set[int]:
    try:
        return {int(text) for text in os.listdir("/proc/self/fd")}
    except OSError:
        return set(range(3, os.sysconf("SC_OPEN_MAX")))


def tell_kernel(file: str, text: str) -> None:
    """Write one of this process's own settings below /proc/self, where the kernel lets us."""
    with contextlib.suppress(OSError), open(f"/proc/self/{file}", "w", encoding="ascii") as setting:
        setting.write(text)
