"""NETCONF and the command line over SSH: one listener per device, any number of devices in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

import asyncssh

from ..serving import Listener, ServedDevice, threads
from .cli import Cli
from .device import JunosDevice
from .netconf import END, Netconf

XML_MODE = "xml-mode netconf"
_CHUNK = 65536
_Result = TypeVar("_Result")
_LARGEST = 64 * 1024 * 1024


class _Login(asyncssh.SSHServer):
    """One SSH connection: who may come in."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._handle.connections.add(conn)
        if self._handle.unreachable:  # its handshake was under way when management was cut
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as the library has it
        if self._connection:
            self._handle.connections.discard(self._connection)

    def session_requested(self) -> _Process:
        return _Process(self._handle)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - as the library has it
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return self._handle.device.users.get(username) == password

    def public_key_auth_supported(self) -> bool:
        return bool(self._handle.device.authorized_keys)

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        known = self._handle.device.authorized_keys.split()
        return username in self._handle.device.users and key.export_public_key().decode().split()[1] in known


class _Process(asyncssh.SSHServerProcess[bytes]):
    """A channel of a connection; a box of the older kind refuses the subsystem, and clients fall back on XML_MODE."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle.serve_process, None, 3, False)
        self._takes_subsystem = handle.device.hardware.netconf == "subsystem"

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "netconf" and self._takes_subsystem


class Handle(ServedDevice):
    """A device that is being served. A confirmed commit is taken back by itself as long as the handle is open."""

    def __init__(self, device: JunosDevice, key: asyncssh.SSHKey) -> None:
        super().__init__(device)
        self.device = device
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._key = key

    async def _start(self, address: str, port: int) -> Listener:
        return await asyncssh.create_server(
            lambda: _Login(self),
            address,
            port,
            server_host_keys=[self._key],
            encoding=None,
            reuse_address=True,
            line_editor=False,
            login_timeout=20,
        )

    def _drop_connections(self) -> None:
        for connection in list(self.connections):
            connection.abort()

    # -- sessions ------------------------------------------------------------------------------------------------------

    async def serve_process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Serve a channel: NETCONF, a command, or a terminal."""
        with contextlib.suppress(asyncssh.Error, OSError, asyncio.IncompleteReadError):
            process.exit(await self._dispatch(process))

    async def _dispatch(self, process: asyncssh.SSHServerProcess[bytes]) -> int:
        user = str(process.get_extra_info("username"))
        command = process.command or ""
        if process.subsystem or command.startswith(XML_MODE):
            await self._netconf(process, user)
            return 0
        cli = Cli(self.device, user)
        try:
            if command:
                process.stdout.write((await self._in_thread(cli.run, command) + "\n").encode())
            else:
                await self._terminal(process, cli)
        finally:
            await self._in_thread(cli.end)
        return 0

    async def _in_thread(self, act: Callable[..., _Result], *arguments: object) -> _Result:
        return await self._loop.run_in_executor(threads(), act, *arguments)

    async def _netconf(self, process: asyncssh.SSHServerProcess[bytes], user: str) -> None:
        session = Netconf(self.device, user)
        try:
            process.stdout.write(session.hello() + b"\n" + END + b"\n")
            messages = _Messages(process.stdin)
            while not session.closed and (request := await messages.next()) is not None:
                reply = await self._in_thread(session.handle, request)
                if reply is not None and not self._cut:
                    process.stdout.write(reply + END + b"\n")
                    await process.stdout.drain()
        finally:
            await self._in_thread(session.end)

    async def _terminal(self, process: asyncssh.SSHServerProcess[bytes], cli: Cli) -> None:
        """Read lines as a terminal does: what is typed comes back."""
        echo = process.get_terminal_type() is not None
        process.stdout.write(_crlf(f"--- JUNOS {self.device.hardware.version}{cli.prompt}"))
        line = b""
        while not cli.done and (typed := await process.stdin.read(_CHUNK)):
            for byte in typed.replace(b"\r\n", b"\n").replace(b"\r", b"\n"):
                if byte != ord("\n"):
                    line += bytes([byte])
                    continue
                if echo:
                    process.stdout.write(line + b"\r\n")
                text, line = line.decode(errors="replace"), b""
                said = await self._in_thread(cli.run, text)
                process.stdout.write(_crlf((f"{said}\n" if said else "") + ("" if cli.done else cli.prompt)))
                if cli.done:
                    return


def _crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


class _Messages:
    """The messages of a NETCONF client, cut at their end marks."""

    def __init__(self, stream: asyncssh.SSHReader[bytes]) -> None:
        self._stream = stream
        self._rest = b""

    async def next(self) -> bytes | None:
        """Return the next message, None at the end of the stream."""
        while END not in self._rest:
            data = await self._stream.read(_CHUNK)
            if not data or len(self._rest) > _LARGEST:
                return None
            self._rest += data
        message, _end, self._rest = self._rest.partition(END)
        return message


async def serve(device: JunosDevice, address: str, port: int, key: asyncssh.SSHKey) -> Handle:
    """Serve a device and return its handle."""
    handle = Handle(device, key)
    await handle.listen(address, port)
    return handle
