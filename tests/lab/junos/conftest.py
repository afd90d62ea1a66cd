"""A served box and the clients that people really use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.junos.device import JunosDevice
from ansible_collections.jumbo.fabric.lab.junos.server import Handle, serve
from ansible_collections.jumbo.fabric.lab.plane import MacEntry, Neighbour, PortCounters
from ansible_collections.jumbo.fabric.lab.ssh_key import host_key
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from served_loop import loop_in_thread, quick_netconf

PASSWORD = "lab-password"
STARTUP = """
set system host-name leaf2
set system domain-name lab.example
set interfaces xe-0/0/0 description "to spine1"
set interfaces xe-0/0/0 unit 0 family inet address 10.0.0.0/31
set interfaces xe-0/0/1 unit 0 family ethernet-switching vlan members blue
set interfaces xe-0/0/2 disable
set interfaces xe-0/0/3 gigether-options 802.3ad ae0
set interfaces ae0 aggregated-ether-options lacp active
set interfaces ae0 unit 0 family inet address 10.0.2.0/31
set interfaces xe-0/0/4 flexible-vlan-tagging
set interfaces xe-0/0/4 unit 7 vlan-id 7
set interfaces xe-0/0/4 unit 7 family inet address 10.0.7.0/31
set interfaces irb unit 10 family inet address 10.1.0.1/24
set interfaces lo0 unit 0 family inet address 10.255.0.2/32
set vlans blue vlan-id 10
set vlans blue l3-interface irb.10
"""


@dataclass
class Served:
    """A device that listens, with its data plane and the loop it is served in."""

    device: JunosDevice
    plane: StaticPlane
    handle: Handle
    loop: asyncio.AbstractEventLoop

    @property
    def port(self) -> int:
        return self.handle.port

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def mtu(self, interface: str = "xe-0/0/0") -> int:
        return self.plane.mtus[interface]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.device.writes]


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with quick_netconf(), loop_in_thread() as running:
        yield running


@pytest.fixture(scope="session")
def key() -> Any:
    return host_key()


@pytest.fixture
def start(loop: asyncio.AbstractEventLoop, key: Any) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def run(**options: Any) -> Served:
        neighbours = {"xe-0/0/0": Neighbour("spine1", "Ethernet7", 9236)}
        plane = StaticPlane(neighbours=neighbours, macs=[MacEntry("02:00:00:00:00:01", 10, "xe-0/0/1")])
        plane.seen["xe-0/0/0"] = PortCounters(3, 100, 200, 9000, 8000)
        plane.seen["xe-0/0/3"] = PortCounters(5, 50, 60, 700, 800)
        known = {"users": {"admin": PASSWORD}, "readd_seconds": 0.0, **options}
        device = JunosDevice("leaf2", STARTUP, plane, **known)
        handle = asyncio.run_coroutine_threadsafe(serve(device, "127.0.0.1", 0, key), loop).result(10)
        started.append(Served(device, plane, handle, loop))
        return started[-1]

    yield run
    for served in started:
        served.call(served.handle.close())


@pytest.fixture
def served(start: Callable[..., Served]) -> Served:
    return start()


@pytest.fixture
def napalm(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return opened napalm drivers; they are closed when the test is over."""
    base = pytest.importorskip("napalm")

    def connect(served: Served, password: str = PASSWORD, timeout: int = 10, **optional: Any) -> Any:
        options = {"port": served.port, **optional}
        driver = base.get_network_driver("junos")(
            "127.0.0.1", "admin", password, timeout=timeout, optional_args=options
        )
        driver.open()
        request.addfinalizer(driver.close)
        return driver

    return connect


@pytest.fixture
def pyez(request: pytest.FixtureRequest) -> Callable[..., Any]:
    junos = pytest.importorskip("jnpr.junos")

    def connect(served: Served, **options: Any) -> Any:
        device = junos.Device("127.0.0.1", user="admin", passwd=PASSWORD, port=served.port, **options)
        device.open()
        request.addfinalizer(device.close)
        return device

    return connect
