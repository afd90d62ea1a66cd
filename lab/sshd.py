"""Real SSH into lab hosts: one key for all, and an sshd per connection inside the host's namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
from asyncio.subprocess import Process
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .namespaces import ENVIRONMENT, PATH, enter

PORT = 2222
_BACKLOG = 64
_CONFIG = """\
HostKey /etc/jumbo-lab/host_key
AuthorizedKeysFile /etc/jumbo-lab/authorized_keys
AuthenticationMethods publickey
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
PrintLastLog no
PidFile none
MaxSessions 100
Subsystem sftp internal-sftp
SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"""


@dataclass(frozen=True, slots=True)
class SshFiles:
    """The keys of one lab, in its folder."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, places: Iterable[tuple[str, int]]) -> SshFiles:
        """Make the user's key, the hosts' key and a known_hosts file for these addresses and ports."""
        folder.mkdir(mode=0o700)
        for name in ("id_ed25519", "host_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "jumbo-lab", "-f", str(folder / name)]
            subprocess.run(command, check=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
        key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text("".join(f"[{address}]:{port} {key}" for address, port in places))
        return cls(folder)

    def install(self, target: Path) -> None:
        """Put what sshd needs into a host."""
        shutil.copy(self.folder / "host_key", target)
        shutil.copy(self.folder / "id_ed25519.pub", target / "authorized_keys")
        (target / "sshd_config").write_text(_CONFIG + "".join(f"{line}\n" for line in _helpers(find_sshd())))


def find_sshd() -> Path:
    """Return the sshd to use: the machine's own, else the one that `make setup` unpacked."""
    installed = shutil.which("sshd", path=PATH)
    root = Path(__file__).resolve().parent.parent
    for candidate in (
        Path(installed) if installed else None,
        *(r / ".cache/sshd/usr/sbin/sshd" for r in (root, Path.cwd())),
    ):
        if candidate and candidate.exists():
            return candidate.absolute()
    raise JumboError("sshd is missing", advice="Run make setup, or install your system's OpenSSH server package")


def _helpers(sshd: Path) -> Iterable[str]:
    """Yield settings that newer releases of an unpacked sshd need to find their helper programs."""
    folder = sshd.parent.parent / "lib/openssh"
    for setting, program in (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")):
        if (folder / program).exists():
            yield f"{setting} {folder / program}"


class SshDoor:
    """Listens for one host. Each connection gets an sshd of its own; closing the door cuts them all."""

    def __init__(self, address: str, pid_of: Callable[[], int], log: IO[bytes]) -> None:
        self.address = address
        self._pid_of = pid_of
        self._log = log
        self._program = str(find_sshd())
        self._listener: socket.socket | None = None
        self._open: dict[asyncio.Task[None], socket.socket] = {}

    @property
    def is_open(self) -> bool:
        """Whether connections are taken."""
        return self._listener is not None

    async def open(self) -> None:
        """Start to listen."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        try:
            listener.bind((self.address, PORT))
        except OSError as error:
            listener.close()
            advice = "Another lab is up on these addresses: take it down, or set jumbo_lab_network"
            raise JumboError(f"cannot listen on {self.address}:{PORT}: {error.strerror}", advice=advice) from None
        listener.listen(_BACKLOG)
        self._listener = listener
        asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    async def close(self) -> None:
        """Refuse new connections and cut the open ones. What runs in the host goes on."""
        if self._listener:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        for connection in self._open.values():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            connection, _address = listener.accept()
            connection.setblocking(True)
            task = asyncio.get_running_loop().create_task(self._serve(connection))
            self._open[task] = connection
            task.add_done_callback(self._forget)

    async def _serve(self, connection: socket.socket) -> None:
        command = [*enter(self._pid_of()), self._program, "-i", "-e", "-f", "/etc/jumbo-lab/sshd_config"]
        process: Process = await asyncio.create_subprocess_exec(
            *command, stdin=connection.fileno(), stdout=connection.fileno(), stderr=self._log, env=ENVIRONMENT
        )
        await process.wait()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._open.pop(task).close()
        if not task.cancelled() and (error := task.exception()):
            self._log.write(f"ssh to {self.address}: {error}\n".encode())
            self._log.flush()
