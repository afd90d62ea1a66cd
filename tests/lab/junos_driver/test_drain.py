"""Draining a link by shutting its BGP neighbours down: for a time, read back, and only what is ours is let up."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from lab.junos_driver.conftest import NAME, STARTUP, WITHIN, change

FOUR, SIX, OTHER = "10.0.0.1", "fd00::1", "10.0.0.3"
BGP = """
set interfaces xe-0/0/0 unit 0 family inet6 address fd00::/127
set protocols bgp group up-links type external
set protocols bgp group up-links neighbor 10.0.0.1 peer-as 65000
set protocols bgp group up-links neighbor 10.0.0.3 peer-as 65000
set protocols bgp group six neighbor fd00::1 peer-as 65000
set protocols bgp group far neighbor 192.0.2.77 peer-as 65009
"""
ALL = {FOUR, SIX, OTHER, "192.0.2.77"}


def shut(address: str, group: str = "up-links") -> str:
    return f"set protocols bgp group {group} neighbor {address} shutdown"


def drain(interface: str = "xe-0/0/0", to: bool = True, **more: Any) -> dict[str, Any]:
    return {"host": "leaf2", "object": interface, "field": "drained", "from": not to, "to": to, **more}


def undrain(handle: dict[str, Any]) -> dict[str, Any]:
    """Return the change that undoes a drain, as the roll-out makes it of the drain's handle."""
    return drain(handle["changes"][0]["object"], to=False, shut=handle["changes"][0]["shut"])


@pytest.fixture
def box(start: Any) -> Any:
    return start(STARTUP + BGP)


def shutdowns(box: Any) -> list[str]:
    return [line for line in box.lines("protocols bgp") if line.endswith("shutdown")]


def test_the_state_tells_the_sessions_of_each_interface(box: Any) -> None:
    box.plane.silent.add(SIX)
    found = box.driver.read()["interfaces"]
    told = [(one["neighbour"], one["state"], one["shut"], one["routes"]) for one in found["xe-0/0/0"]["adjacencies"]]
    assert told == [(FOUR, "established", False, 1), (SIX, "active", False, 0)]
    assert [one["neighbour"] for one in found["xe-0/0/1"]["adjacencies"]] == [OTHER]
    assert found["irb.10"]["adjacencies"] == []


def test_drained_confirmed_raised_and_let_up_again(box: Any) -> None:
    handle = box.apply(drain())
    assert box.plane.peers == ALL - {FOUR, SIX}
    assert set(shutdowns(box)) == {shut(FOUR), shut(SIX, "six")}
    assert "neighbor 10.0.0.1]\n+   shutdown;" in handle["diff"]
    assert box.device.database.pending.minutes == 2
    assert box.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert [one["shut"] for one in box.driver.read()["interfaces"]["xe-0/0/0"]["adjacencies"]] == [True, True]
    box.driver.confirm(box.apply(change("xe-0/0/0"), name="run-link"))
    up = box.apply(undrain(handle), name="run-undrain")
    assert box.driver.confirm(up)["confirmed"]
    assert (box.plane.peers, shutdowns(box), box.mtus[0]) == (ALL, [], 9000)
    assert box.is_clean


def test_the_way_back_drains_again_and_lets_up_last(box: Any) -> None:
    down = box.confirmed(drain())
    up = box.apply(undrain(down), name="run-undrain")
    box.driver.confirm(up)
    assert box.driver.revert(up) == {"reverted": True}
    assert set(shutdowns(box)) == {shut(FOUR), shut(SIX, "six")}
    assert box.driver.revert(down) == {"reverted": True}
    assert box.driver.revert(down) == {"reverted": True}, "harmless a second time"
    assert (shutdowns(box), box.is_clean) == ([], True)


def test_a_neighbour_that_somebody_else_has_shut_down_is_never_let_up(box: Any) -> None:
    box.device.edit([shut(FOUR)])
    handle = box.confirmed(drain())
    assert handle["changes"][0]["shut"] == [{"group": "six", "address": SIX}]
    up = box.apply(undrain(handle), name="run-undrain")
    box.driver.confirm(up)
    assert shutdowns(box) == [shut(FOUR)]
    box.driver.revert(up)
    box.driver.revert(handle)
    assert shutdowns(box) == [shut(FOUR)]


@pytest.mark.parametrize("line", [shut(OTHER), "set protocols bgp group up-links shutdown"])
def test_a_link_that_is_drained_already_is_no_change(box: Any, line: str) -> None:
    box.device.edit([line])
    handle = box.apply(drain("xe-0/0/1"))
    assert (handle["changed"], box.is_clean) == (False, True)
    box.driver.revert(handle)
    assert shutdowns(box) == [line]


def test_time_runs_out(box: Any) -> None:
    handle = box.apply(drain())
    box.pass_time(WITHIN + 1)
    assert (shutdowns(box), box.plane.peers) == ([], ALL)
    with pytest.raises(JumboError, match="gone back by itself"):
        box.driver.confirm(handle)


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_dead_controller_left_only_the_plan(box: Any, confirmed: bool) -> None:
    box.device.edit([shut(SIX, "six")])
    handle = box.apply(drain())
    if confirmed:
        box.driver.confirm(handle)
    assert box.driver.revert(box.crashed(drain())) == {"reverted": True}
    assert (shutdowns(box), box.is_clean) == ([shut(SIX, "six")], True)


def test_a_dead_controller_that_had_shut_nothing_down_leaves_nothing_to_do(box: Any) -> None:
    assert box.driver.revert(box.crashed(drain())) == {"reverted": True}
    assert box.device.audit()["written"] is False


def test_a_commit_that_was_made_and_not_answered(box: Any) -> None:
    box.device.trouble.lose_commit_reply = True
    handle = box.impatient().apply([drain()], WITHIN, NAME)
    assert (handle["changed"], box.kinds().count("commit-timer")) == (True, 1)
    assert len(shutdowns(box)) == 2


def test_the_difference_of_a_whole_plan_is_what_is_left_of_it(box: Any) -> None:
    assert "shutdown" in box.driver.diff([drain()])
    whole = box.driver.diff([drain(), change("xe-0/0/0"), drain(to=False)])
    assert ("shutdown" in whole, "mtu 9014" in whole) == (False, True)
    assert (box.is_clean, box.device.audit()["written"]) == (True, False)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (drain("xe-0/0/2"), "leaf2:xe-0/0/2: no BGP neighbour of the main instance is reached over this interface"),
        (drain(to=False), "leaf2:xe-0/0/0: it is not known which BGP neighbours of it this roll-out has shut down"),
        ({**drain(), "field": "route_mtu"}, "leaf2:xe-0/0/0: Junos has no route_mtu"),
    ],
)
def test_what_cannot_be_drained_or_let_up_is_refused(box: Any, wish: Any, said: str) -> None:
    with pytest.raises(JumboError, match=said):
        box.driver.apply([wish], WITHIN, NAME)
    assert (box.is_clean, box.device.audit()["written"]) == (True, False)


def test_a_session_that_stays_up_is_no_drain(box: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_step.TAKES_EFFECT", 0.5)
    monkeypatch.setattr("ansible_collections.jumbo.fabric.lab.junos.show_bgp._state", lambda *_facts: "Established")
    with pytest.raises(JumboError, match=f"leaf2:xe-0/0/0: the BGP session with {FOUR} is Established"):
        box.apply(drain())
    assert (shutdowns(box), box.is_clean) == ([], True)
