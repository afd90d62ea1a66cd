"""Confirming: only what was looked at is saved, and what others did within the window stays theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

BOTH_SHAPES = ["4.31.5M", "4.32.2F"]


def test_nothing_changed_is_confirmed_without_a_login(switch: Any) -> None:
    handle = {**switch.crashed(), "changed": False}
    switch.call(switch.handle.set_unreachable(True))
    assert switch.driver.confirm(handle) == {"confirmed": True, "persisted": True}


@pytest.mark.parametrize("version", BOTH_SHAPES)
def test_a_timer_that_is_over_is_told_with_advice(start: Callable[..., Any], version: str) -> None:
    switch = start(version=version)
    handle = switch.apply()
    switch.pass_time(121)
    assert switch.mtus == (1500, 4000)
    with pytest.raises(
        JumboError, match=r"leaf1:jumbo-run-canary-0-svi: the commit timer .* no longer running"
    ) as caught:
        switch.driver.confirm(handle)
    assert "jumbo_confirm_within" in str(caught.value.advice)
    assert (switch.driver.pending()["owner"], switch.mtus, switch.saves()) == ("none", (1500, 4000), 0)
    assert switch.driver.revert(handle) == {"reverted": True}


def test_a_timer_that_ends_while_we_confirm_is_told_the_same(switch: Any) -> None:
    handle = switch.apply()
    switch.before("configure session", lambda: switch.pass_time(121))
    with pytest.raises(JumboError, match="no longer running"):
        switch.driver.confirm(handle)
    assert (switch.mtus, switch.saves()) == ((1500, 4000), 0)


def test_a_confirmation_whose_answer_was_lost_is_no_error_the_second_time(switch: Any) -> None:
    handle = switch.confirmed()
    assert switch.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert switch.saves() == 1


def test_somebody_who_saves_within_the_window_is_no_trouble(switch: Any) -> None:
    handle = switch.apply()
    switch.device.save("bob")
    switch.driver.confirm(handle)
    assert (switch.mtus, switch.mtu_after_reboot()) == ((9000, 9000), "9000")


# -- edits of others within the window ---------------------------------------------------------------------------------


def test_an_edit_within_the_window_is_kept_and_ours_is_taken_back(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet3", "description theirs", "snmp-server community their-secret ro")
    with pytest.raises(JumboError, match=r"leaf1: somebody else changed the configuration") as caught:
        switch.driver.confirm(handle)
    assert "+ interface Ethernet3 > description theirs" in str(caught.value)
    assert "+ snmp-server community <removed>" in str(caught.value)
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)
    switch.edit("interface Ethernet3", "no description", "no snmp-server community their-secret")
    assert switch.driver.revert(handle) == {"reverted": True}


def test_an_edit_of_our_own_line_is_theirs_and_is_not_saved(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet1", "mtu 8000")
    with pytest.raises(JumboError, match=r"\+ interface Ethernet1 > mtu 8000"):
        switch.driver.confirm(handle)
    assert (switch.mtus, switch.timer, switch.saves()) == ((8000, 4000), None, 0)
    assert (switch.mtu_after_reboot(), switch.mtu_after_reboot("Ethernet2")) == ("1500", "4000")


def test_our_line_taken_out_by_somebody_is_not_confirmed(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet1", "no mtu")
    with pytest.raises(JumboError, match=r"leaf1:Ethernet1: EOS reports MTU 1500"):
        switch.driver.confirm(handle)
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)


def test_an_edit_that_is_saved_within_the_window_is_noticed_and_kept(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet3", "description theirs", save=True)
    with pytest.raises(JumboError, match=r"saved already, startup-config last modified at .* by bob"):
        switch.driver.confirm(handle)
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer) == ((1500, 4000), None)
    assert (switch.mtu_after_reboot(), switch.mtu_after_reboot("Ethernet2")) == ("1500", "4000")
    assert "description theirs" in str(switch.device.flash.read("startup-config"))


def test_an_edit_while_we_confirm_is_not_saved(switch: Any) -> None:
    handle = switch.apply()
    switch.before("configure session", lambda: switch.edit("interface Ethernet3", "description theirs"))
    with pytest.raises(JumboError, match="description theirs"):
        switch.driver.confirm(handle)
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.saves()) == ((1500, 4000), 0)


def test_an_edit_while_we_save_is_told(switch: Any) -> None:
    handle = switch.apply()
    switch.before("write memory", lambda: switch.edit("interface Ethernet3", "description theirs"))
    with pytest.raises(JumboError, match=r"that is saved too:\n\+ interface Ethernet3 > description theirs"):
        switch.driver.confirm(handle)
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot()) == ((1500, 4000), "1500")
    assert "description theirs" in switch.lines()


# -- what cannot be saved ----------------------------------------------------------------------------------------------


def test_a_full_flash_is_told_and_a_revert_cleans_up(switch: Any) -> None:
    handle = switch.apply()
    switch.device.flash.full = True
    with pytest.raises(JumboError, match=r"leaf1: running-config could not be saved: .*No space left") as caught:
        switch.driver.confirm(handle)
    assert "flash:" in str(caught.value.advice)
    assert (switch.mtus, switch.timer, switch.mtu_after_reboot()) == ((9000, 9000), None, "1500")
    with pytest.raises(JumboError, match="our values are in force without being saved"):
        switch.driver.confirm(handle)
    assert switch.driver.revert(handle) == {"reverted": True}  # startup-config never held them
    assert (switch.mtus, switch.mtu_after_reboot()) == ((1500, 4000), "1500")


def test_a_save_that_says_nothing_and_does_nothing_is_noticed(switch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = switch.apply()
    monkeypatch.setattr(switch.device, "save", lambda _user: None)
    with pytest.raises(JumboError, match=r"differs from running-config after `write memory`:\n.*Ethernet2 > mtu 4000"):
        switch.driver.confirm(handle)
    assert switch.driver.revert(handle) == {"reverted": True}
    assert switch.mtus == (1500, 4000)
