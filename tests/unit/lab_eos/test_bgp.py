"""Lines below `router bgp`, what they let the data plane have, and how sessions are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

BGP = """
hostname leaf1
interface Ethernet1
   no switchport
   ip address 10.0.0.1/31
interface Loopback0
   ip address 10.255.0.9/32
router bgp 65001
   neighbor SPINES peer group
   neighbor SPINES remote-as 65000
   neighbor 10.0.0.0 peer group SPINES
   neighbor 10.0.0.0 description spine1
   neighbor 10.0.0.2 remote-as 65007
   neighbor fd00::1 remote-as 65000
   address-family ipv6
      neighbor fd00::1 activate
"""


@pytest.fixture
def plane() -> StaticPlane:
    return StaticPlane()


@pytest.fixture
def device(plane: StaticPlane) -> EosDevice:
    return EosDevice("leaf1", BGP, plane)


def peers(device: EosDevice, word: str = "ip") -> dict[str, Any]:
    shown = json.loads(device.run([f"show {word} bgp summary vrf all"])[0])["vrfs"]["default"]
    assert (shown["asn"], shown["routerId"]) == ("65001", "10.255.0.9")
    found: dict[str, Any] = shown["peers"]
    return found


def test_each_family_has_its_summary(device: EosDevice, plane: StaticPlane) -> None:
    assert plane.peers == {"10.0.0.0", "10.0.0.2", "fd00::1"}
    assert {address: peer["asn"] for address, peer in peers(device).items()} == {
        "10.0.0.0": "65000",
        "10.0.0.2": "65007",
    }
    assert peers(device, "ipv6")["fd00::1"]["peerState"] == "Established"
    assert peers(device)["10.0.0.0"]["prefixAccepted"] == 1


@pytest.mark.parametrize(
    ("line", "gone"),
    [("neighbor 10.0.0.2 shutdown", {"10.0.0.2"}), ("neighbor SPINES shutdown", {"10.0.0.0"})],
    ids=["own", "of its group"],
)
def test_a_shutdown_is_taken_and_taken_back(device: EosDevice, plane: StaticPlane, line: str, gone: set[str]) -> None:
    device.edit(["router bgp 65001", line])
    assert plane.peers == {"10.0.0.0", "10.0.0.2", "fd00::1"} - gone
    found = peers(device)[gone.copy().pop()]
    assert (found["peerState"], found["peerStateIdleReason"], found["prefixReceived"]) == ("Idle", "Admin", 0)
    device.edit(["router bgp 65001", f"no {line}"])
    assert plane.peers == {"10.0.0.0", "10.0.0.2", "fd00::1"}


def test_a_session_that_is_not_answered_is_not_idle(device: EosDevice, plane: StaticPlane) -> None:
    plane.silent.add("10.0.0.0")
    assert peers(device)["10.0.0.0"]["peerState"] == "Active"


def test_the_lines_of_a_neighbour_stay_together(device: EosDevice) -> None:
    device.edit(["router bgp 65001", "neighbor 10.0.0.0 shutdown"])
    lines = json.loads(device.run(["enable", "show running-config section router bgp"], encoding="text")[1])["output"]
    block = [line.strip() for line in lines.splitlines()]
    position = block.index("neighbor 10.0.0.0 shutdown")
    assert block[position - 1] == "neighbor 10.0.0.0 description spine1"


def test_without_bgp(plane: StaticPlane) -> None:
    device = EosDevice("leaf1", "hostname leaf1", plane)
    assert json.loads(device.run(["show ip bgp summary"])[0]) == {"vrfs": {}}
    assert plane.peers == frozenset()
