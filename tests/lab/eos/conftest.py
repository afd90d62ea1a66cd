"""A served device and the clients that people really use."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.eos.server import Handle, serve
from ansible_collections.jumbo.fabric.lab.eos.tls import self_signed
from ansible_collections.jumbo.fabric.lab.plane import MacEntry, Neighbour, PortCounters
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from served_loop import loop_in_thread

PASSWORD = "lab-password"
STARTUP = """
hostname leaf1
dns domain lab.example
ip routing
vlan 10
   name blue
interface Ethernet1
   description to spine1
   no switchport
   ip address 10.0.0.0/31
interface Ethernet2
   switchport access vlan 10
interface Ethernet3
   shutdown
interface Vlan10
   ip address 10.1.0.1/24
interface Loopback0
   ip address 10.255.0.1/32
interface Management1
   ip address 192.0.2.1/24
management api http-commands
   no shutdown
"""


@dataclass
class Served:
    """A device that listens, with its data plane and the loop it is served in."""

    device: EosDevice
    plane: StaticPlane
    handle: Handle
    loop: asyncio.AbstractEventLoop

    @property
    def port(self) -> int:
        return self.handle.port

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def mtu(self, interface: str = "Ethernet1") -> int:
        return self.plane.mtus[interface]


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with loop_in_thread() as running:
        yield running


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> SSLContext:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def start(loop: asyncio.AbstractEventLoop, context: SSLContext) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def run(**options: Any) -> Served:
        neighbours = {"Ethernet1": Neighbour("spine1", "Ethernet7", 9236)}
        plane = options.pop("plane", None) or StaticPlane(
            neighbours=neighbours, macs=[MacEntry("02:00:00:00:00:01", 10, "Ethernet2")]
        )
        plane.seen["Ethernet1"] = PortCounters(3, 100, 200, 9000, 8000)
        device = EosDevice("leaf1", STARTUP, plane, users={"admin": PASSWORD}, **options)
        handle = asyncio.run_coroutine_threadsafe(serve(device, "127.0.0.1", 0, context), loop).result(10)
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
    """Return opened napalm drivers; what a test leaves in them is not aborted behind its back."""
    base = pytest.importorskip("napalm")

    def connect(served: Served, password: str = PASSWORD, **optional: Any) -> Any:
        options = {"port": served.port, **optional}
        driver = base.get_network_driver("eos")("127.0.0.1", "admin", password, timeout=10, optional_args=options)
        request.addfinalizer(lambda: setattr(driver, "config_session", None))
        driver.open()
        return driver

    return connect


@pytest.fixture
def pyeapi(served: Served) -> Any:
    client = pytest.importorskip("pyeapi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return client.connect(
            transport="https",
            host="127.0.0.1",
            port=served.port,
            username="admin",
            password=PASSWORD,
            return_node=True,
            timeout=10,
        )
