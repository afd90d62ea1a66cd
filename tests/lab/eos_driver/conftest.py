"""A served switch, and the driver that a roll-out would use on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.cli import RequestFailed
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.eos.server import Handle, serve
from ansible_collections.jumbo.fabric.lab.eos.tls import self_signed
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access

pytest.importorskip("napalm")

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos import EosDriver
from served_loop import Clock, loop_in_thread

PASSWORD = "Zk9-not-to-be-told"
WITHIN = 120
NOT_NOW = '{"errors": ["not now"]}'
NAME = "run-canary.0.svi"
STARTUP = """
hostname leaf1
snmp-server community hidden-community ro
ip routing
vlan 10
interface Ethernet1
   no switchport
   ip address 10.0.0.0/31
interface Ethernet2
   no switchport
   ip address 10.0.0.2/31
   mtu 4000
interface Ethernet3
   switchport access vlan 10
interface Vlan10
   ip address 10.1.0.1/24
interface Management1
   ip address 192.0.2.1/24
management api http-commands
   no shutdown
"""


def change(interface: str, old: int = 1500, new: int = 9000) -> dict[str, Any]:
    return {"host": "leaf1", "object": interface, "field": "ip_mtu", "from": old, "to": new}


CHANGES = [change("Ethernet1"), change("Ethernet2", 4000)]


@dataclass
class Switch:
    """A device that listens, seen from both sides: `driver` over HTTPS, the rest directly."""

    device: EosDevice
    plane: StaticPlane
    handle: Handle
    loop: asyncio.AbstractEventLoop
    clock: Clock
    _hooks: list[tuple[str, str, Callable[[], object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._run = self.device.run
        self.device.run = self._hooked  # type: ignore[method-assign]

    def access(self, **other: Any) -> Access:
        known = {"port": self.handle.port, "user": "admin", "password": PASSWORD, "validate_certs": False}
        return Access(host="leaf1", platform="eos", address="127.0.0.1", **{**known, "timeout": 10.0, **other})

    @property
    def driver(self) -> EosDriver:
        return EosDriver(self.access())

    @staticmethod
    def change(interface: str, old: int = 1500, new: int = 9000) -> dict[str, Any]:
        return change(interface, old, new)

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def apply(self, *changes: Any, name: str = NAME, within: int = WITHIN) -> Any:
        """Apply these changes, or raise Ethernet1 from 1500 and Ethernet2 from 4000 to 9000."""
        return self.driver.apply(changes or CHANGES, within, name)

    def confirmed(self, *changes: Any) -> Any:
        handle = self.apply(*changes)
        self.driver.confirm(handle)
        return handle

    def crashed(self, *changes: Any, name: str = NAME) -> Any:
        """Return the handle that a journal has of an apply whose end was never written."""
        return {"name": name, "within": WITHIN, "changes": list(changes or CHANGES)}

    def pass_time(self, seconds: float) -> None:
        self.clock.ahead += seconds
        self.device.tick()

    # -- what others do --------------------------------------------------------------------------------------------

    def edit(self, *lines: str, save: bool = False) -> None:
        self.device.edit(lines)
        if save:
            self.device.save("bob")

    def before(self, command: str, act: Callable[[], object]) -> None:
        """Do something once, before the first request that has a command which begins like this."""
        self._hooks.append(("before", command, act))

    def after(self, command: str, act: Callable[[], object]) -> None:
        """The same, once it is done and before its answer is sent."""
        self._hooks.append(("after", command, act))

    def fail(self, command: str) -> None:
        """Let the next request with such a command fail before it does anything."""

        def refuse() -> None:
            raise RequestFailed(1000, f"CLI command 1 of 1 '{command}' failed: could not run command", [NOT_NOW])

        self.before(command, refuse)

    def _due(self, when: str, commands: Any) -> Iterator[Callable[[], object]]:
        texts = [item if isinstance(item, str) else item["cmd"] for item in commands]
        for hook in [h for h in self._hooks if h[0] == when and any(text.startswith(h[1]) for text in texts)]:
            self._hooks.remove(hook)
            yield hook[2]

    def _hooked(self, commands: Any, user: str = "admin", encoding: str = "json") -> list[str]:
        for act in self._due("before", commands):
            act()
        try:
            return self._run(commands, user, encoding)
        finally:
            for act in self._due("after", commands):
                act()

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def mtus(self) -> tuple[int, int]:
        return self.plane.mtus["Ethernet1"], self.plane.mtus["Ethernet2"]

    def mtu_after_reboot(self, interface: str = "Ethernet1") -> str:
        block = self.device.startup().root.children[f"interface {interface}"]
        return block.value("mtu") or "1500"

    def lines(self, interface: str = "Ethernet3") -> list[str]:
        """Return the interface's lines in the running-config."""
        return list(self.device.running.root.children[f"interface {interface}"].lines.values())

    @property
    def open_sessions(self) -> list[str]:
        return list(self.device.audit()["open_sessions"])

    @property
    def timer(self) -> str | None:
        found: str | None = self.device.audit()["commit_timer"]
        return found

    def kinds(self, since: int = 0) -> list[str]:
        return [entry.kind for entry in self.device.writes[since:]]

    def saves(self) -> int:
        return self.kinds().count("write-startup")


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with loop_in_thread() as running:
        yield running


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> SSLContext:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def start(loop: asyncio.AbstractEventLoop, context: SSLContext) -> Iterator[Callable[..., Switch]]:
    started: list[Switch] = []

    def run(config: str = STARTUP, **options: Any) -> Switch:
        clock, plane = Clock(), StaticPlane()
        device = EosDevice("leaf1", config, plane, users={"admin": PASSWORD}, clock=clock, **options)
        handle = asyncio.run_coroutine_threadsafe(serve(device, "127.0.0.1", 0, context), loop).result(10)
        started.append(Switch(device, plane, handle, loop, clock))
        return started[-1]

    yield run
    for switch in started:
        switch.call(switch.handle.close())


@pytest.fixture
def switch(start: Callable[..., Switch]) -> Switch:
    return start()
