"""The command line over SSH: interactive shells only, one listener per device, any number in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncssh

from ..serving import Listener, ServedDevice, threads
from .cli import Cli
from .device import FastironDevice
from .words import PAGE_END

_CHUNK = 65536
_PAGE = 23
_ERASE, _CLEAR, _INTERRUPT = (0x08, 0x7F), 0x15, 0x03
_Result = TypeVar("_Result")


class _Login(asyncssh.SSHServer):
    """One SSH connection: who may come in."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._handle.connections.add(conn)
        if self._handle.silent:  # its handshake was under way when management was cut
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as the library has it
        if self._connection:
            self._handle.connections.discard(self._connection)

    def session_requested(self) -> asyncssh.SSHServerProcess[bytes]:
        return asyncssh.SSHServerProcess(self._handle.serve_process, None, 3, False)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - as the library has it
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        device = self._handle.device
        return device.users.get(username) == password and not device.lacks("users")


class Handle(ServedDevice):
    """A device that is being served: it listens while it is on, and reloads by itself as long as the handle is open."""

    def __init__(self, device: FastironDevice, key: asyncssh.SSHKey) -> None:
        super().__init__(device)
        self.device = device
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._key = key
        self._switching = asyncio.Lock()
        device.on_power = self._power

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

    @property
    def silent(self) -> bool:
        """Whether nobody gets in: management is cut off, or the device is down."""
        return self._cut or not self.device.is_on

    async def set_unreachable(self, cut: bool) -> None:
        """Switch management, and return when the change is in force; a device that is down listens when it is back."""
        self._cut = cut
        async with self._switching:  # a box may be down for shorter than it takes to listen
            self._stop_listening()
            if not self.silent and self.port:
                await self.listen(self.address, self.port)

    def _power(self, _on: bool) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._switch)

    async def close(self) -> None:
        """Stop serving; the device stays as it is."""
        self.device.on_power = None
        await super().close()

    # -- sessions ------------------------------------------------------------------------------------------------------

    async def serve_process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Serve a channel: a terminal; a command that is given with it gets no answer, as on the box."""
        with contextlib.suppress(asyncssh.Error, OSError, asyncio.IncompleteReadError):
            if process.command is None and process.subsystem is None:
                await self._terminal(process)
            process.exit(0)

    async def _terminal(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        cli = Cli(self.device, str(process.get_extra_info("username")))
        try:
            await Terminal(cli, process, self._in_thread).run()
        finally:
            await self._in_thread(cli.end)

    async def _in_thread(self, act: Callable[..., _Result], *arguments: object) -> _Result:
        return await self._loop.run_in_executor(threads(), act, *arguments)


class Terminal:
    """What is typed comes back, except passwords; long answers stop at each page until a key is pressed."""

    def __init__(
        self, cli: Cli, process: asyncssh.SSHServerProcess[bytes], in_thread: Callable[..., Awaitable[str]]
    ) -> None:
        self._cli = cli
        self._process = process
        self._in_thread = in_thread
        self._line = b""
        self._typed = b""

    async def run(self) -> None:
        """Serve until the session is left."""
        self._say(self._cli.prompt)
        while not self._cli.done and (key := await self._key()) is not None:
            await self._press(key)

    async def _key(self) -> int | None:
        """Return the next key, None at the end; carriage return and line feed together are one Enter."""
        while not self._typed:
            self._typed = (await self._process.stdin.read(_CHUNK)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if not self._typed:
                return None
        key, self._typed = self._typed[0], self._typed[1:]
        return key

    async def _press(self, key: int) -> None:
        if key == ord("\n"):
            self._say("\n")
            await self._enter()
        elif self._cli.key:
            self._say(chr(key))
            self._line = bytes([key])
            self._say("\n")
            await self._enter()
        elif key in _ERASE:
            self._line = self._line[:-1]
        elif key in (_CLEAR, _INTERRUPT):
            self._line = b""
            self._say(f"\n{self._cli.prompt}")
        elif key == ord("?") and not self._cli.silent:
            self._say("?\n" + await self._in_thread(self._cli.run, f"{self._line.decode(errors='replace')}?") + "\n")
            self._say(self._cli.prompt + self._line.decode(errors="replace"))
        else:
            self._line += bytes([key])
            self._say("" if self._cli.silent else chr(key))

    async def _enter(self) -> None:
        text, self._line = self._line.decode(errors="replace"), b""
        said = await self._in_thread(self._cli.run, text)
        if said:
            await self._show(said)
        if not self._cli.done:
            self._say(self._cli.prompt)

    async def _show(self, text: str) -> None:
        lines = text.split("\n")
        size = _PAGE if self._cli.paged else len(lines)
        while lines:
            page, lines = lines[:size], lines[size:]
            self._say("\n".join(page) + "\n")
            if not lines:
                return
            self._say(PAGE_END)
            key = await self._key()
            self._say("\r" + " " * len(PAGE_END) + "\r")
            if key in (None, _INTERRUPT):
                return
            size = 1 if key == ord("\n") else _PAGE

    def _say(self, text: str) -> None:
        self._process.stdout.write(text.replace("\n", "\r\n").encode())


async def serve(device: FastironDevice, address: str, port: int, key: asyncssh.SSHKey) -> Handle:
    """Serve a device and return its handle."""
    handle = Handle(device, key)
    await handle.listen(address, port)
    return handle
