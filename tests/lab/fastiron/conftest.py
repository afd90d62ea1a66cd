"""A served FastIron box for the clients that people really use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.fastiron.cli import Cli
from ansible_collections.jumbo.fabric.lab.fastiron.device import FastironDevice
from ansible_collections.jumbo.fabric.lab.fastiron.server import Handle, serve
from ansible_collections.jumbo.fabric.lab.plane import Neighbour, PortCounters
from ansible_collections.jumbo.fabric.lab.ssh_key import host_key
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from served_loop import Clock, loop_in_thread

pytest.importorskip("netmiko")

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron import FastironDriver

PASSWORD = "lab-password"
ENABLE = "lab-enable"
PORTS = [f"GigabitEthernet1/1/{number}" for number in range(1, 13)]
# A segment behind a ve, and a routed port.
ROUTED = """
vlan 10 name back by port
 untagged ethe 1/1/2 to 1/1/3
 router-interface ve 10
!
interface ethernet 1/1/1
 ip address 10.0.0.0 255.255.255.254
!
interface ve 10
 ip address 10.1.0.1 255.255.255.0
!
"""
STARTUP = f"""{ROUTED}interface management 1
 ip address 127.0.0.1 255.0.0.0
!
hostname leaf5
lldp run
"""


@dataclass
class Served:
    """A device that listens, with its data plane and the loop it is served in."""

    device: FastironDevice
    plane: StaticPlane
    handle: Handle
    loop: asyncio.AbstractEventLoop
    clock: Clock

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def access(self, **other: Any) -> Access:
        known = {
            "port": self.handle.port,
            "user": "admin",
            "password": PASSWORD,
            "enable_password": ENABLE,
            "validate_certs": False,
            "timeout": 5.0,
            "reload_within": 8.0,
            "allow_reload": True,
        }
        return Access(host="leaf5", platform="fastiron", address="127.0.0.1", **{**known, **other})

    @property
    def driver(self) -> FastironDriver:
        return FastironDriver(self.access())

    def impatient(self, **other: Any) -> FastironDriver:
        return FastironDriver(self.access(timeout=1.0, **other))

    def type(self, *lines: str) -> None:
        """Configure as somebody at the console would."""
        cli = Cli(self.device, "console")
        cli.run("enable"), cli.run(ENABLE)
        for line in ("configure terminal", *lines, "end"):
            assert not cli.run(line), line
        cli.end()

    def save(self) -> None:
        self.device.save()

    def with_jumbo(self) -> Served:
        """Let large frames be active, as if they had been for long."""
        self.type("jumbo")
        self.save()
        self.device.reload()
        self.pass_time(1000)
        self.call(self.handle.set_unreachable(False))  # it listens again when this is done
        return self

    def pass_time(self, seconds: float) -> None:
        self.clock.ahead += seconds
        self.device.tick()

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.device.writes]


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with loop_in_thread() as running:
        yield running


@pytest.fixture(scope="session")
def key() -> Any:
    return host_key()


@pytest.fixture
def start(loop: asyncio.AbstractEventLoop, key: Any) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def run(config: str = STARTUP, **options: Any) -> Served:
        clock = Clock()
        plane = StaticPlane(neighbours={PORTS[0]: Neighbour("spine1", "Ethernet7", 9236)})
        plane.seen[PORTS[0]] = PortCounters(3, 100, 200, 9000, 8000)
        known = {"users": {"admin": PASSWORD, "reader": PASSWORD}, "enable": ENABLE, "reload_seconds": 0.3, **options}
        device = FastironDevice("leaf5", config, PORTS, plane, clock=clock, **known)
        handle = asyncio.run_coroutine_threadsafe(serve(device, "127.0.0.1", 0, key), loop).result(10)
        started.append(Served(device, plane, handle, loop, clock))
        started[-1].pass_time(1000)
        return started[-1]

    yield run
    for served in started:
        served.call(served.handle.close())
