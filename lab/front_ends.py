"""How a node is managed: SSH into a Linux host, eAPI into an EOS switch. One small interface for both."""

from __future__ import annotations

import asyncio
import importlib
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .eos_config import startup_config
from .fabric import Node
from .plane import Plane
from .sshd import PORT as SSH_PORT
from .sshd import SshDoor

if TYPE_CHECKING:
    from .eos.device import EosDevice
    from .eos.server import Handle

EAPI_PORT = 8443


class FrontEnd(Protocol):
    """The management side of a node."""

    port: int

    @property
    def reachable(self) -> bool:
        """Whether it takes connections."""

    async def open(self) -> None:
        """Boot and listen."""

    async def lose(self) -> None:
        """Refuse from now on, and cut what is open; the device itself goes on."""

    async def mend(self) -> None:
        """Take connections again."""

    async def close(self) -> None:
        """Stop."""

    def audit(self) -> dict[str, Any] | None:
        """Return what was written through it, None where nobody keeps a record."""


class SshFrontEnd:
    """A Linux host's."""

    port = SSH_PORT

    def __init__(self, node: Node, pid_of: Callable[[], int], log: IO[bytes]) -> None:
        self._door = SshDoor(node.listen, pid_of, log)

    @property
    def reachable(self) -> bool:
        """Whether it takes connections."""
        return self._door.is_open

    async def open(self) -> None:
        """Listen."""
        await self._door.open()

    async def lose(self) -> None:
        """Refuse from now on, and cut what is open."""
        await self._door.close()

    async def mend(self) -> None:
        """Take connections again."""
        if not self._door.is_open:
            await self._door.open()

    async def close(self) -> None:
        """Stop."""
        await self._door.close()

    def audit(self) -> None:
        """Nobody keeps a record of what is done over SSH."""
        return


class EosFrontEnd:
    """An EOS switch's: the device boots from what was saved on it, else from what the inventory says."""

    port = EAPI_PORT

    def __init__(self, node: Node, plane: Plane, options: dict[str, Any], context: ssl.SSLContext) -> None:
        self._node = node
        self._plane = plane
        self._options = options
        self._context = context
        self._device: EosDevice | None = None
        self._handle: Handle | None = None
        self.on_first_write: Callable[[], None] | None = None

    @property
    def reachable(self) -> bool:
        """Whether it takes connections."""
        return self._handle is not None and not self._handle.unreachable

    async def open(self) -> None:
        """Boot and listen."""
        text = startup_config(self._node)
        boot = _front_end("device").EosDevice
        self._device = device = await asyncio.to_thread(boot, self._node.name, text, self._plane, **self._options)
        if self.on_first_write:
            device.on_first_write = self._first_write
        try:
            self._handle = await _front_end("server").serve(device, self._node.listen, EAPI_PORT, self._context)
        except OSError as error:
            advice = "Another lab is up on these addresses: take it down, or set jumbo_lab_network"
            where = f"{self._node.listen}:{EAPI_PORT}"
            why = os.strerror(error.errno or 0)
            raise JumboError(f"cannot listen on {where}: {why}", advice=advice) from None

    async def lose(self) -> None:
        """Refuse from now on, and cut what is open."""
        if self._handle:
            await self._handle.set_unreachable(True)

    async def mend(self) -> None:
        """Take connections again."""
        if self._handle:
            await self._handle.set_unreachable(False)

    async def close(self) -> None:
        """Stop."""
        if self._handle:
            await self._handle.close()
            self._handle = None

    def audit(self) -> dict[str, Any] | None:
        """Return what was written since the switch booted."""
        return self._device.audit() if self._device else None

    def _first_write(self, _entry: object) -> None:
        """Cut management off, in the thread that changed something: its client gets no answer any more."""
        if self._handle and self.on_first_write:
            self._handle.unreachable = True
            self.on_first_write()


def eapi_context(folder: Path) -> ssl.SSLContext:
    """Return the certificate that all EOS switches of a lab show."""
    folder.mkdir(mode=0o700)
    context: ssl.SSLContext = _front_end("tls").self_signed(folder)
    return context


def _front_end(module: str) -> Any:
    """Import a part of the EOS front end: a lab without switches needs none of it, nor aiohttp."""
    try:
        return importlib.import_module(f".eos.{module}", __package__)
    except ImportError as error:
        raise JumboError(f"the Python package {error.name} is missing", advice="Run make setup") from None
