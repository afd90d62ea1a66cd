"""Draining a link by shutting its BGP neighbours down: only ours, read back, and never one that is not ours let up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from lab.eos_driver.conftest import NAME, STARTUP, WITHIN

FOUR, SIX, OTHER = "10.0.0.1", "fd00::1", "10.0.0.3"
BGP = """
interface Ethernet1
   ipv6 address fd00::/127
router bgp 65001
   neighbor SPINES peer group
   neighbor SPINES remote-as 65000
   neighbor 10.0.0.1 peer group SPINES
   neighbor 10.0.0.3 peer group SPINES
   neighbor 192.0.2.77 remote-as 65009
   neighbor fd00::1 remote-as 65000
   address-family ipv6
      neighbor fd00::1 activate
"""


def drain(interface: str = "Ethernet1", to: bool = True, **more: Any) -> dict[str, Any]:
    return {"host": "leaf1", "object": interface, "field": "drained", "from": not to, "to": to, **more}


def undrain(handle: dict[str, Any]) -> dict[str, Any]:
    """Return the change that undoes a drain, as the roll-out makes it of the drain's handle."""
    return drain(handle["changes"][0]["object"], to=False, shut=handle["changes"][0]["shut"])


@pytest.fixture
def switch(start: Callable[..., Any]) -> Any:
    return start(STARTUP + BGP)


def bgp_lines(switch: Any) -> list[str]:
    lines = switch.device.running.root.children["router bgp 65001"].lines.values()
    return [line for line in lines if line.endswith("shutdown")]


def test_the_state_tells_the_sessions_of_each_interface(switch: Any) -> None:
    switch.plane.silent.add(SIX)
    found = switch.driver.read()["interfaces"]
    told = [(one["neighbour"], one["state"], one["shut"], one["routes"]) for one in found["Ethernet1"]["adjacencies"]]
    assert told == [(FOUR, "established", False, 1), (SIX, "active", False, 0)]
    assert [one["neighbour"] for one in found["Ethernet2"]["adjacencies"]] == [OTHER]
    assert found["Vlan10"]["adjacencies"] == []


def test_drained_confirmed_and_let_up_again(switch: Any) -> None:
    before = bgp_lines(switch)
    handle = switch.apply(drain())
    assert (switch.plane.peers, switch.timer) == ({OTHER, "192.0.2.77"}, "jumbo-run-canary-0-svi")
    assert bgp_lines(switch) == [f"neighbor {FOUR} shutdown", f"neighbor {SIX} shutdown"]
    assert f"+   neighbor {FOUR} shutdown" in handle["diff"]
    assert switch.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert [one["shut"] for one in switch.driver.read()["interfaces"]["Ethernet1"]["adjacencies"]] == [True, True]
    raised = switch.apply(switch.change("Ethernet1"), name="run-link")
    switch.driver.confirm(raised)
    up = switch.apply(undrain(handle), name="run-undrain")
    assert switch.driver.confirm(up)["confirmed"]
    assert (switch.plane.peers, bgp_lines(switch)) == ({FOUR, SIX, OTHER, "192.0.2.77"}, before)
    assert switch.mtus[0] == 9000


def test_the_way_back_drains_again_and_lets_up_last(switch: Any) -> None:
    down = switch.confirmed(drain())
    up = switch.apply(undrain(down), name="run-undrain")
    switch.driver.confirm(up)
    assert switch.driver.revert(up) == {"reverted": True}
    assert FOUR not in switch.plane.peers
    assert switch.driver.revert(down) == {"reverted": True}
    assert switch.driver.revert(down) == {"reverted": True}, "harmless a second time"
    assert FOUR in switch.plane.peers
    assert (switch.timer, switch.open_sessions, bgp_lines(switch)) == (None, [], [])


def test_a_neighbour_that_somebody_else_has_shut_down_is_never_let_up(switch: Any) -> None:
    switch.edit("router bgp 65001", f"neighbor {FOUR} shutdown", save=True)
    handle = switch.confirmed(drain())
    assert handle["changes"][0]["shut"] == [{"asn": "65001", "address": SIX}]
    up = switch.apply(undrain(handle), name="run-undrain")
    switch.driver.confirm(up)
    assert bgp_lines(switch) == [f"neighbor {FOUR} shutdown"]
    switch.driver.revert(up)
    switch.driver.revert(handle)
    assert bgp_lines(switch) == [f"neighbor {FOUR} shutdown"]


@pytest.mark.parametrize("line", [f"neighbor {OTHER} shutdown", "neighbor SPINES shutdown"])
def test_a_link_that_is_drained_already_is_no_change(switch: Any, line: str) -> None:
    switch.edit("router bgp 65001", line, save=True)
    handle = switch.apply(drain("Ethernet2"))
    assert (handle["changed"], switch.timer, switch.open_sessions) == (False, None, [])
    switch.driver.revert(handle)
    assert bgp_lines(switch) == [line]


def test_a_link_that_somebody_else_lets_up_meanwhile_stays_up(switch: Any) -> None:
    handle = switch.confirmed(drain())
    switch.edit("router bgp 65001", f"no neighbor {FOUR} shutdown", save=True)
    up = switch.apply(undrain(handle), name="run-undrain")
    assert up["changes"][0]["shut"] == [{"asn": "65001", "address": SIX}]


def test_time_runs_out(switch: Any) -> None:
    handle = switch.apply(drain())
    switch.pass_time(WITHIN + 1)
    assert (bgp_lines(switch), switch.plane.peers) == ([], {FOUR, SIX, OTHER, "192.0.2.77"})
    with pytest.raises(JumboError, match="gone back by itself"):
        switch.driver.confirm(handle)


def test_a_dead_controller_left_only_the_plan(switch: Any) -> None:
    switch.edit("router bgp 65001", f"neighbor {SIX} shutdown", save=True)
    switch.apply(drain())
    assert switch.driver.revert(switch.crashed(drain())) == {"reverted": True}
    assert (bgp_lines(switch), switch.timer) == ([f"neighbor {SIX} shutdown"], None)


def test_a_dead_controller_that_had_shut_nothing_down_leaves_nothing_to_do(switch: Any) -> None:
    assert switch.driver.revert(switch.crashed(drain())) == {"reverted": True}
    assert switch.device.audit()["written"] is False


def test_edits_of_others_stay_and_ours_goes(switch: Any) -> None:
    handle = switch.apply(drain())
    switch.edit("interface Ethernet3", "description theirs")
    with pytest.raises(JumboError, match="Ethernet3 > description theirs"):
        switch.driver.confirm(handle)
    assert (bgp_lines(switch), switch.timer) == ([], None)
    assert "description theirs" in switch.lines()


def test_the_difference_of_a_whole_plan_is_what_is_left_of_it(switch: Any) -> None:
    assert "shutdown" in switch.driver.diff([drain()])
    whole = switch.driver.diff([drain(), switch.change("Ethernet1"), drain(to=False)])
    assert ("shutdown" in whole, "mtu 9000" in whole) == (False, True)
    assert (switch.open_sessions, switch.device.audit()["written"]) == ([], False)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drain("Vlan10"), "leaf1:Vlan10: no BGP neighbour of the default VRF is reached over this interface"),
        (drain(to=False), "leaf1:Ethernet1: it is not known which BGP neighbours of it this roll-out has shut down"),
    ],
)
def test_what_cannot_be_drained_or_let_up_is_refused(switch: Any, change: Any, said: str) -> None:
    with pytest.raises(JumboError, match=said):
        switch.driver.apply([change], WITHIN, NAME)
    assert (switch.open_sessions, switch.timer) == ([], None)


def test_a_session_that_stays_up_is_no_drain(switch: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_step.TAKES_EFFECT", 0.5)
    monkeypatch.setattr(switch.plane, "set_peers", lambda _addresses: None)
    monkeypatch.setattr("ansible_collections.jumbo.fabric.lab.eos.show_bgp._state", lambda *_facts: ("Established", ""))
    with pytest.raises(JumboError, match=f"leaf1:Ethernet1: the BGP session with {FOUR} is Established"):
        switch.apply(drain())
    assert (bgp_lines(switch), switch.timer) == ([], None)
