"""Routed sub-interfaces: the port under them is what is changed, drained and read back, with what is on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from lab.eos_driver.conftest import STARTUP

TAGGED = """
interface Ethernet4
   no switchport
interface Ethernet4.100
   encapsulation dot1q vlan 100
   ip address 10.0.0.4/31
interface Ethernet4.200
   encapsulation dot1q vlan 200
   ip address 10.0.0.6/31
router bgp 65001
   neighbor 10.0.0.5 remote-as 65000
   neighbor 10.0.0.7 remote-as 65000
"""
OWN = ("interface Ethernet4.200", "mtu 1500")
DRAIN = {"host": "leaf1", "object": "Ethernet4", "field": "drained", "from": False, "to": True}


@pytest.fixture
def switch(start: Callable[..., Any]) -> Any:
    return start(STARTUP + TAGGED, subinterface_mtu=True)


def test_a_port_has_the_addresses_and_sessions_of_its_subinterfaces(switch: Any) -> None:
    port = switch.driver.read()["interfaces"]["Ethernet4"]
    assert (port["ip_mtu"], port["persisted_mtu"], port["addresses"]) == (1500, 1500, ["10.0.0.4/31", "10.0.0.6/31"])
    assert [one["neighbour"] for one in port["adjacencies"]] == ["10.0.0.5", "10.0.0.7"]


def test_raised_and_drained_by_the_name_of_the_port(switch: Any) -> None:
    switch.confirmed(DRAIN, switch.change("Ethernet4"))
    assert (switch.plane.mtus["Ethernet4"], switch.plane.peers) == (9000, frozenset())
    found = switch.driver.read()["interfaces"]
    assert (found["Ethernet4"]["ip_mtu"], found["Ethernet4"]["persisted_mtu"]) == (9000, 9000)
    assert (found["Ethernet4.100"]["ip_mtu"], found["Ethernet4.100"]["persisted_mtu"]) == (9000, 9000)


def test_one_with_an_mtu_of_its_own_is_named_before_anything_is_changed(switch: Any) -> None:
    switch.edit("interface Ethernet4.200", "mtu 2000", save=True)
    switch.edit("interface Ethernet4", "mtu 4000", save=True)
    port = switch.driver.read()["interfaces"]["Ethernet4"]
    assert (port["ip_mtu"], port["persisted_mtu"]) == (2000, 2000)
    changes = [switch.change("Ethernet4", 2000)]
    for act in (lambda: switch.apply(*changes), lambda: switch.driver.diff(changes)):
        with pytest.raises(JumboError, match=r"leaf1:Ethernet4: its sub-interface Ethernet4.200 .*, 2000"):
            act()
    assert (switch.kinds().count("session-open"), switch.timer) == (0, None)


def test_one_that_does_not_follow_takes_the_change_back(switch: Any) -> None:
    switch.after("configure session jumbo-run-canary-0-svi commit", lambda: switch.edit(*OWN))
    with pytest.raises(JumboError):
        switch.apply(switch.change("Ethernet4"))
    assert (switch.plane.mtus["Ethernet4"], switch.timer, switch.open_sessions) == (1500, None, [])
