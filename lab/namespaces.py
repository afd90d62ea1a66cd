"""Namespaces: started as children that die with the supervisor, entered by process id, never registered anywhere."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TypeVar

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .user_namespace import NEW_NAMESPACES, join

# ip, nft, sshd and others are in sbin, which the PATH of ordinary users lacks.
PATH = f"{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/local/sbin:/usr/sbin:/sbin"
ENVIRONMENT: Mapping[str, str] = {**os.environ, "PATH": PATH, "LC_ALL": "C"}
_NODE_SCRIPT = Path(__file__).with_name("node.sh")
_CLONE_NEWNET = 0x40000000
_PARENT_FIELD = 1  # after the command in /proc/PID/stat: state, parent

T = TypeVar("T")


class Namespace:
    """One set of namespaces. `pid` is its process 1, as this machine sees it."""

    def __init__(self, name: str, process: Process, pid: int) -> None:
        self.name = name
        self.pid = pid
        self._process = process

    @classmethod
    async def start(cls, name: str, *arguments: str) -> Namespace:
        """Start node.sh in new namespaces and wait until it is ready."""
        process = await asyncio.create_subprocess_exec(
            *("setpriv", "--pdeathsig", "KILL", "--"),
            *NEW_NAMESPACES,
            *("sh", str(_NODE_SCRIPT), name, *arguments),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=ENVIRONMENT,
        )
        assert process.stdout is not None  # noqa: S101 - for the type checker: it was asked for
        assert process.stderr is not None  # noqa: S101
        if await process.stdout.readline() != b"ready\n":
            said = (await process.stderr.read()).decode().strip().splitlines()
            raise JumboError(f"the node did not start: {said[-1] if said else 'no message'}", host=name)
        return cls(name, process, _child_of(process.pid))

    async def kill(self) -> None:
        """End every process of the namespaces; the kernel then removes what was in them."""
        for pid in (self.pid, self._process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        await self._process.wait()

    async def died(self) -> None:
        """Wait until the node's process 1 has ended."""
        await self._process.wait()

    async def run(self, *command: str, text: str = "", only_net: bool = False) -> str:
        """Run a command inside, with `text` on its standard input; returns its output, raises when it fails."""
        process = await asyncio.create_subprocess_exec(
            *enter(self.pid, only_net=only_net), *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT
        )
        output, errors = await process.communicate(text.encode())
        if process.returncode:
            said = errors.decode().strip() or f"exit status {process.returncode}"
            raise JumboError(f"`{' '.join(command)}` failed: {said}", host=self.name)
        return output.decode()

    async def spawn(self, *command: str, errors: IO[bytes] | int = DEVNULL) -> Process:
        """Start a command inside whose output is read line by line."""
        return await asyncio.create_subprocess_exec(
            *enter(self.pid), *command, stdin=DEVNULL, stdout=PIPE, stderr=errors, env=ENVIRONMENT
        )


def enter(pid: int, *, only_net: bool = False) -> Sequence[str]:
    """Return the words that go before a command to run it inside the namespaces of a process."""
    own = () if only_net else ("--mount", "--uts", "--ipc", "--pid")
    return (*join(pid), "nsenter", "--target", str(pid), "--net", *own, "--")


def call_inside(pid: int, action: Callable[[], T]) -> T:
    """Return what an action returns in the network namespace of a process; sockets that it opens stay there.

    A socket keeps its namespace alive until it is closed. Raises OSError.
    """
    done: list[T] = []
    problems: list[OSError] = []

    def enter_and_act() -> None:  # a thread of its own: a namespace is entered by one thread, not by the process
        try:
            _enter_network(pid)
            done.append(action())
        except OSError as error:
            problems.append(error)

    thread = threading.Thread(target=enter_and_act)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
    return done[0]


async def socket_inside(pid: int, make: Callable[[], socket.socket]) -> socket.socket:
    """Return a socket made in the network namespace of a process. Raises OSError."""
    return await asyncio.to_thread(call_inside, pid, make)


def _enter_network(pid: int) -> None:
    handle = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        libc = ctypes.CDLL(None, use_errno=True)  # os.setns comes with Python 3.12
        if libc.setns(handle, _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(handle)


def _child_of(parent: int) -> int:
    """Return the one child of a process."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[_PARENT_FIELD]) == parent:
                return int(entry.name)
    raise JumboError("a namespace ended while it was starting", advice="See the lab's log")
