from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.plane import Neighbour
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

STARTUP = """
hostname leaf1
ip routing
!
vlan 10
   name blue
!
interface Ethernet1
   description to spine1
   no switchport
   ip address 10.0.0.0/31
!
interface Ethernet2
   switchport access vlan 10
!
interface Ethernet3
   channel-group 1 mode active
!
interface Ethernet4
   shutdown
!
interface Port-Channel1
   no switchport
   ip address 10.0.1.0/31
!
interface Vlan10
   ip address 10.1.0.1/24
!
interface Loopback0
   ip address 10.255.0.1/32
!
interface Management1
   ip address 192.0.2.1/24
!
interface Vxlan1
   vxlan source-interface Loopback0
!
ip route 10.9.0.0/16 10.0.0.1
end
"""


class Clock:
    """Time that stands still until it is told to move."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def plane() -> StaticPlane:
    return StaticPlane(neighbours={"Ethernet1": Neighbour("spine1", "Ethernet7", 9236)})


@pytest.fixture
def make(clock: Clock, plane: StaticPlane) -> Callable[..., EosDevice]:
    def device(startup: str = STARTUP, **options: Any) -> EosDevice:
        return EosDevice("leaf1", startup, options.pop("plane", plane), clock=clock, **options)

    return device


@pytest.fixture
def device(make: Callable[..., EosDevice]) -> EosDevice:
    return make()


@pytest.fixture
def data(device: EosDevice) -> Callable[..., Any]:
    """Run commands with `enable` before them; return the last one's JSON."""

    def run(*commands: str, of: EosDevice = device) -> Any:
        return json.loads(of.run(["enable", *commands])[-1])

    return run


@pytest.fixture
def text(device: EosDevice) -> Callable[..., str]:
    """Run commands with `enable` before them; return the last one's text."""

    def run(*commands: str, of: EosDevice = device) -> str:
        return str(json.loads(of.run(["enable", *commands], encoding="text")[-1])["output"])

    return run
