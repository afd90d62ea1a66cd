"""A served box, and the driver that a roll-out would use on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.junos.device import JunosDevice
from ansible_collections.jumbo.fabric.lab.junos.server import Handle, serve
from ansible_collections.jumbo.fabric.lab.plane import Neighbour, PortCounters
from ansible_collections.jumbo.fabric.lab.ssh_key import host_key
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from served_loop import Clock, loop_in_thread, quick_netconf

pytest.importorskip("napalm")

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos import JunosDriver

PASSWORD = "Zk9-not-to-be-told"
WITHIN = 120
NAME = "run-canary.0.svi"
STARTUP = """
set system host-name leaf2
set interfaces xe-0/0/0 unit 0 family inet address 10.0.0.0/31
set interfaces xe-0/0/1 mtu 4014
set interfaces xe-0/0/1 unit 0 family inet mtu 4000
set interfaces xe-0/0/1 unit 0 family inet address 10.0.0.2/31
set interfaces xe-0/0/2 unit 0 family ethernet-switching vlan members blue
set interfaces xe-0/0/3 gigether-options 802.3ad ae0
set interfaces ae0 unit 0 family inet address 10.0.2.0/31
set interfaces xe-0/0/4 vlan-tagging
set interfaces xe-0/0/4 unit 7 vlan-id 7
set interfaces xe-0/0/4 unit 7 family inet address 10.0.7.0/31
set interfaces xe-0/0/5 flexible-vlan-tagging
set interfaces xe-0/0/5 unit 8 vlan-id 8
set interfaces xe-0/0/5 unit 8 family inet address 10.0.8.0/31
set interfaces irb unit 10 family inet address 10.1.0.1/24
set interfaces lo0 unit 0 family inet address 10.255.0.2/32
set vlans blue vlan-id 10
set vlans blue l3-interface irb.10
"""


def change(interface: str, old: int = 1500, new: int = 9000) -> dict[str, Any]:
    return {"host": "leaf2", "object": interface, "field": "ip_mtu", "from": old, "to": new}


CHANGES = [change("xe-0/0/0"), change("xe-0/0/1", 4000)]


@dataclass
class Box:
    """A device that listens, seen from both sides: `driver` over NETCONF, the rest directly."""

    device: JunosDevice
    plane: StaticPlane
    handle: Handle
    loop: asyncio.AbstractEventLoop
    clock: Clock

    def access(self, **other: Any) -> Access:
        known = {
            "port": self.handle.port,
            "user": "admin",
            "password": PASSWORD,
            "validate_certs": False,
            "timeout": 5.0,
        }
        return Access(host="leaf2", platform="junos", address="127.0.0.1", **{**known, **other})

    @property
    def driver(self) -> JunosDriver:
        return JunosDriver(self.access())

    def impatient(self) -> JunosDriver:
        return JunosDriver(self.access(timeout=1.0))

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def apply(self, *changes: Any, name: str = NAME, within: int = WITHIN) -> Any:
        """Apply these changes, or raise xe-0/0/0 from 1500 and xe-0/0/1 from 4000 to 9000."""
        return self.driver.apply(changes or CHANGES, within, name)

    def confirmed(self, *changes: Any) -> Any:
        handle = self.apply(*changes)
        self.driver.confirm(handle)
        return handle

    @staticmethod
    def crashed(*changes: Any) -> Any:
        """Return the handle that a journal has of an apply whose end was never written."""
        return {"name": NAME, "within": WITHIN, "changes": list(changes or CHANGES)}

    def pass_time(self, seconds: float) -> None:
        self.clock.ahead += seconds
        self.device.tick()

    @property
    def mtus(self) -> tuple[int, int]:
        return self.plane.mtus["xe-0/0/0"], self.plane.mtus["xe-0/0/1"]

    def lines(self, word: str = "interfaces") -> list[str]:
        return self.device.set_lines(word)

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.device.writes]

    @property
    def is_clean(self) -> bool:
        """Nothing locked, nothing pending, nothing in the candidate."""
        audit = self.device.audit()
        return not (audit["open_sessions"] or audit["commit_timer"] or audit["dirty"])


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with quick_netconf(), loop_in_thread() as running:
        yield running


@pytest.fixture(scope="session")
def key() -> Any:
    return host_key()


@pytest.fixture
def start(loop: asyncio.AbstractEventLoop, key: Any) -> Iterator[Callable[..., Box]]:
    started: list[Box] = []

    def run(config: str = STARTUP, **options: Any) -> Box:
        clock = Clock()
        plane = StaticPlane(neighbours={"xe-0/0/0": Neighbour("spine1", "Ethernet7", 9236)})
        plane.seen["xe-0/0/0"] = PortCounters(3, 100, 200, 9000, 8000)
        plane.seen["xe-0/0/3"] = PortCounters(5, 50, 60, 700, 800)
        known = {"users": {"admin": PASSWORD}, "readd_seconds": 0.0, "clock": clock, **options}
        device = JunosDevice("leaf2", config, plane, **known)
        handle = asyncio.run_coroutine_threadsafe(serve(device, "127.0.0.1", 0, key), loop).result(10)
        started.append(Box(device, plane, handle, loop, clock))
        return started[-1]

    yield run
    for box in started:
        box.call(box.handle.close())


@pytest.fixture
def box(start: Callable[..., Box]) -> Box:
    return start()
