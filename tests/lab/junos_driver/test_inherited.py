"""MTUs that come from groups and interface ranges: read as in force, preceded by our own, and never changed there."""

from __future__ import annotations

from typing import Any

import pytest
from lab.junos_driver.conftest import STARTUP, change

GROUPS = """
set groups sizes interfaces <xe-0/0/0> mtu 4014
set groups sizes interfaces <xe-0/0/0> unit <*> family inet mtu 2000
set apply-groups sizes
set interfaces interface-range more member xe-0/0/9
set interfaces interface-range more mtu 9192
set interfaces xe-0/0/9 unit 0 family inet mtu 1500
set interfaces xe-0/0/9 unit 0 family inet address 10.0.9.0/31
"""


@pytest.fixture
def box(start: Any) -> Any:
    return start(STARTUP + GROUPS)


def test_the_state_says_what_is_in_force_and_where_it_comes_from(box: Any) -> None:
    found = box.driver.read()["interfaces"]
    told = {
        name: (found[name]["ip_mtu"], found[name]["mru"], found[name]["mtu_from"]) for name in ("xe-0/0/0", "xe-0/0/9")
    }
    assert told == {"xe-0/0/0": (2000, 4000, "group sizes"), "xe-0/0/9": (1500, 9178, "interface-range more")}
    assert found["xe-0/0/1"]["mtu_from"] is None


@pytest.mark.parametrize("crashed", [False, True])
def test_an_own_statement_goes_before_a_group_and_is_deleted_on_the_way_back(box: Any, crashed: bool) -> None:
    born = box.lines("")
    handle = box.confirmed(change("xe-0/0/0", 2000))
    assert set(box.lines("")) - set(born) == {
        "set interfaces xe-0/0/0 mtu 9014",
        "set interfaces xe-0/0/0 unit 0 family inet mtu 9000",
    }
    assert box.plane.mtus["xe-0/0/0"] == 9000
    box.driver.revert(box.crashed(*handle["changes"]) if crashed else handle)
    assert (box.lines(""), box.plane.mtus["xe-0/0/0"]) == (born, 2000)


def test_a_range_that_is_large_enough_stays_as_it_is(box: Any) -> None:
    born = box.lines("")
    handle = box.confirmed(change("xe-0/0/9"))
    more, gone = set(box.lines("")) - set(born), set(born) - set(box.lines(""))
    assert more == {"set interfaces xe-0/0/9 unit 0 family inet mtu 9000"}
    assert gone == {"set interfaces xe-0/0/9 unit 0 family inet mtu 1500"}
    box.driver.revert(handle)
    assert box.lines("") == born


def test_a_neighbour_that_a_group_shuts_down_is_not_ours(start: Any) -> None:
    more = """
set groups quiet protocols bgp group up neighbor <*> shutdown
set apply-groups quiet
set protocols bgp group up neighbor 10.0.0.1 peer-as 65000
"""
    box = start(STARTUP + more)
    assert [one["shut"] for one in box.driver.read()["interfaces"]["xe-0/0/0"]["adjacencies"]] == [True]
    drain = {"host": "leaf2", "object": "xe-0/0/0", "field": "drained", "from": False, "to": True}
    assert box.apply(drain)["changed"] is False
