"""How a node is managed: a shell of a Linux host, eAPI, NETCONF, or a command line. One small interface."""

from __future__ import annotations

import asyncio
import importlib
import os
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO, Any, Protocol, cast

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from . import eos_config, fastiron_config, junos_config
from .fabric import Node
from .plane import Plane
from .sshd import PORT as SSH_PORT
from .sshd import SshDoor

EAPI_PORT = 8443
NETCONF_PORT = 8830


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


class Device(Protocol):
    """An emulated switch, as far as its front end cares."""

    on_first_write: Callable[[Any], None] | None

    def audit(self) -> dict[str, Any]:
        """Return what was written since the switch booted."""


class Handle(Protocol):
    """A device that is being served."""

    unreachable: bool

    async def set_unreachable(self, cut: bool) -> None:
        """Switch its management off or on."""

    async def close(self) -> None:
        """Stop serving."""


class DeviceFrontEnd:
    """An emulated switch's: the device boots from what was saved on it, else from what the inventory says.

    `boot` makes the device and `serve` lets it listen on the port.
    """

    def __init__(
        self, node: Node, port: int, boot: Callable[[], Device], serve: Callable[[Any], Awaitable[Handle]]
    ) -> None:
        self.port = port
        self._node = node
        self._boot = boot
        self._serve = serve
        self._device: Device | None = None
        self._handle: Handle | None = None
        self.on_first_write: Callable[[], None] | None = None

    @property
    def reachable(self) -> bool:
        """Whether it takes connections."""
        return self._handle is not None and not self._handle.unreachable

    async def open(self) -> None:
        """Boot and listen."""
        try:
            self._device = device = await asyncio.to_thread(self._boot)
        except ValueError as error:
            message = f"the lab's {self._node.platform} cannot be configured so: {error}"
            raise JumboError(message, host=self._node.name, advice="Check the interface names in jumbo_links") from None
        if self.on_first_write:
            device.on_first_write = self._first_write
        try:
            self._handle = await self._serve(device)
        except OSError as error:
            advice = "Another lab is up on these addresses: take it down, or set jumbo_lab_network"
            where = f"{self._node.listen}:{self.port}"
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


def eos_front_end(node: Node, plane: Plane, options: dict[str, Any], context: ssl.SSLContext) -> DeviceFrontEnd:
    """Return an EOS switch's: eAPI."""
    text = eos_config.startup_config(node)
    return DeviceFrontEnd(
        node,
        EAPI_PORT,
        lambda: cast(Device, _part("eos.device").EosDevice(node.name, text, plane, **options)),
        lambda device: cast(Awaitable[Handle], _part("eos.server").serve(device, node.listen, EAPI_PORT, context)),
    )


def junos_front_end(
    node: Node, plane: Plane, options: dict[str, Any], trouble: dict[str, bool], key: Any
) -> DeviceFrontEnd:
    """Return a Junos box's: NETCONF and the command line over SSH. trouble: what goes wrong on purpose."""
    text = junos_config.startup_config(node)

    def boot() -> Device:
        device = _part("junos.device").JunosDevice(node.name, text, plane, **options)
        for name, wanted in trouble.items():
            setattr(device.trouble, name, wanted)
        return cast(Device, device)

    async def serve(device: Any) -> Handle:
        return cast(Handle, await _part("junos.server").serve(device, node.listen, NETCONF_PORT, key))

    return DeviceFrontEnd(node, NETCONF_PORT, boot, serve)


def fastiron_front_end(
    node: Node, plane: Plane, options: dict[str, Any], trouble: dict[str, Any], key: Any, *, in_band: bool = False
) -> DeviceFrontEnd:
    """Return a FastIron box's: the command line over SSH. trouble: what goes wrong on purpose."""

    def boot() -> Device:
        managed_at = None if in_band else node.listen
        text, ports = fastiron_config.startup_config(node, managed_at), [port.interface for port in node.ports]
        device = _part("fastiron.device").FastironDevice(node.name, text, ports, plane, **options)
        for name, wanted in trouble.items():
            setattr(device.trouble, name, wanted)
        return cast(Device, device)

    async def serve(device: Any) -> Handle:
        return cast(Handle, await _part("fastiron.server").serve(device, node.listen, SSH_PORT, key))

    return DeviceFrontEnd(node, SSH_PORT, boot, serve)


def eapi_context(folder: Path) -> ssl.SSLContext:
    """Return the certificate that all EOS switches of a lab show."""
    folder.mkdir(mode=0o700)
    context: ssl.SSLContext = _part("eos.tls").self_signed(folder)
    return context


def device_key(path: Path) -> Any:
    """Return the host key that all devices of a lab show over SSH: the one of the lab's hosts."""
    return _part("ssh_key").host_key(path)


def _part(module: str) -> Any:
    """Import a part of a front end: a lab without such switches needs none of it, nor the libraries it stands on."""
    try:
        return importlib.import_module(f".{module}", __package__)
    except ImportError as error:
        raise JumboError(f"the Python package {error.name} is missing", advice="Run make setup") from None
