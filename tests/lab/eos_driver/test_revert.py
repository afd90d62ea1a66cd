"""Taking back: running- and startup-config, whatever happened since, and only what is ours."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

STEP = "jumbo-run-canary-0-svi"


def clean(switch: Any) -> bool:
    """Tell whether nothing of the step is left anywhere."""
    saved = (switch.mtu_after_reboot("Ethernet1"), switch.mtu_after_reboot("Ethernet2"))
    return (switch.mtus, saved, switch.timer, switch.open_sessions) == ((1500, 4000), ("1500", "4000"), None, [])


def test_a_confirmed_step_is_lowered_and_saved(switch: Any) -> None:
    handle = switch.confirmed()
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)
    saves = switch.saves()
    assert switch.driver.revert(handle) == {"reverted": True}
    assert switch.saves() == saves


def test_name_and_changes_are_enough(switch: Any) -> None:
    switch.apply()
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert clean(switch)
    switch.confirmed(switch.change("Ethernet1"))
    switch.driver.revert(switch.crashed(switch.change("Ethernet1")))
    assert clean(switch)


# -- startup-config ----------------------------------------------------------------------------------------------------


def test_a_save_that_failed_is_done_by_the_next_revert(switch: Any) -> None:
    handle = switch.confirmed()
    switch.device.flash.full = True
    with pytest.raises(JumboError, match=r"could not be saved.*No space left"):
        switch.driver.revert(handle)
    assert (switch.mtus, switch.mtu_after_reboot()) == ((1500, 4000), "9000")
    with pytest.raises(JumboError, match="could not be saved"):
        switch.driver.revert(handle)
    switch.device.flash.full = False
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_foreign_lines_keep_startup_from_being_saved_until_they_are_gone(switch: Any) -> None:
    handle = switch.confirmed()
    switch.edit("interface Ethernet3", "description theirs", "snmp-server community their-secret ro")
    saves = switch.saves()
    for _turn in range(2):
        with pytest.raises(
            JumboError, match=r"startup-config still holds our change of Ethernet1, Ethernet2"
        ) as caught:
            switch.driver.revert(handle)
        assert "+ interface Ethernet3 > description theirs" in str(caught.value)
        assert "their-secret" not in str(caught.value)
    assert (switch.mtus, switch.saves(), switch.mtu_after_reboot()) == ((1500, 4000), saves, "9000")
    switch.edit("interface Ethernet3", "no description", "no snmp-server community their-secret")
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_a_save_of_somebody_within_the_window_is_taken_back_too(switch: Any) -> None:
    handle = switch.apply()
    switch.device.save("bob")
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_a_save_of_somebody_is_taken_back_after_the_timer_as_well(switch: Any) -> None:
    handle = switch.apply()
    switch.device.save("bob")
    switch.pass_time(121)
    assert (switch.mtus, switch.mtu_after_reboot()) == ((1500, 4000), "9000")
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


# -- what is not ours --------------------------------------------------------------------------------------------------


def test_what_was_so_before_us_is_left_alone(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    handle = switch.apply(switch.change("Ethernet1"))
    count = len(switch.device.writes)
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus[0], switch.mtu_after_reboot(), len(switch.device.writes)) == (9000, "9000", count)


def test_the_part_that_was_so_before_us_is_left_alone(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    handle = switch.confirmed()
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot()) == ((9000, 4000), "9000")


def refused(switch: Any, *changes: Any) -> Any:
    """Return the handle that an apply leaves which does not come to its end."""
    with pytest.raises(JumboError) as caught:
        switch.apply(*changes)
    return caught.value.handle


def test_an_apply_that_was_refused_leaves_nothing_to_take_back(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    switch.device.foreign_session("bob", ["interface Ethernet3", "description half done"])
    handle = refused(switch)
    switch.edit("interface Ethernet2", "mtu 9000", save=True)
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot()) == ((9000, 9000), "9000")


def test_an_apply_that_lost_its_switch_before_the_commit_leaves_no_session(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    switch.fail("show running-config")
    assert refused(switch)["changed"] is False
    assert switch.open_sessions == []


def test_what_was_so_before_a_commit_that_failed_stays(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    switch.fail(f"configure session {STEP} commit timer")
    handle = refused(switch)
    assert "changed" not in handle
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot()) == ((9000, 4000), "9000")


def test_without_a_handle_and_a_trace_of_ours_a_value_stays_and_is_named(switch: Any) -> None:
    """A controller died between its intent and the commit, on a port that had the value from somebody else."""
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    with pytest.raises(JumboError, match="leaf1:Ethernet1: it has MTU 9000, and nothing on the box shows") as caught:
        switch.driver.revert(switch.crashed())
    assert "take it back again" in str(caught.value)
    assert (switch.mtus, switch.mtu_after_reboot()) == ((9000, 4000), "9000")


def test_without_a_handle_what_startup_does_not_have_is_ours(switch: Any) -> None:
    """EOS remembers few completed sessions: ours may be gone from its list when somebody confirmed our timer."""
    switch.edit("interface Ethernet1", "mtu 9000")
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert clean(switch)


@pytest.mark.parametrize("save", [False, True])
def test_a_value_that_somebody_set_since_is_named_and_kept(switch: Any, save: bool) -> None:
    handle = switch.confirmed(switch.change("Ethernet1"))
    saves = switch.saves()
    switch.edit("interface Ethernet1", "mtu 8000")
    if save:
        switch.device.save("bob")
    with pytest.raises(JumboError, match=r"(?s)leaf1: .*Ethernet1.* 8000"):
        switch.driver.revert(handle)
    assert (switch.mtus[0], switch.saves()) == (8000, saves)
    assert switch.mtu_after_reboot() == ("8000" if save else "9000")


def test_what_is_still_ours_beside_it_is_taken_back(switch: Any) -> None:
    handle = switch.confirmed()
    switch.edit("interface Ethernet1", "mtu 8000", save=True)
    with pytest.raises(JumboError, match="interface Ethernet1 has MTU 8000, neither our 9000 nor the 1500 of before"):
        switch.driver.revert(handle)
    assert switch.mtus == (8000, 4000)
    assert (switch.mtu_after_reboot("Ethernet1"), switch.mtu_after_reboot("Ethernet2")) == ("8000", "4000")


def test_an_interface_that_is_gone_is_not_made_again(switch: Any) -> None:
    handle = switch.confirmed(switch.change("Vlan10"))
    switch.edit("no interface Vlan10", save=True)
    with pytest.raises(JumboError, match="interface Vlan10 has MTU None"):
        switch.driver.revert(handle)
    assert "interface Vlan10" not in switch.device.running.root.children


# -- edits of others within the window ---------------------------------------------------------------------------------


def test_an_edit_within_the_window_is_kept(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet3", "description theirs")
    with pytest.raises(JumboError, match=r"\+ interface Ethernet3 > description theirs"):
        switch.driver.revert(handle)
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)


def test_an_edit_of_our_own_line_within_the_window_is_kept(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet1", "mtu 8000")
    with pytest.raises(JumboError, match=r"\+ interface Ethernet1 > mtu 8000"):
        switch.driver.revert(handle)
    assert (switch.mtus, switch.timer, switch.saves()) == ((8000, 4000), None, 0)


def test_a_value_that_somebody_lowered_already_is_no_trouble(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet1", "no mtu")
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_an_edit_that_is_saved_within_the_window_is_kept(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet3", "description theirs", save=True)
    with pytest.raises(JumboError, match="by bob"):
        switch.driver.revert(handle)
    assert "description theirs" in switch.lines()
    assert clean(switch)
    assert switch.driver.revert(handle) == {"reverted": True}


def test_an_edit_at_the_last_moment_is_named(switch: Any) -> None:
    handle = switch.apply()
    switch.before(f"configure session {STEP} abort", lambda: switch.edit("interface Ethernet3", "description theirs"))
    with pytest.raises(JumboError, match=r"description theirs .made at the last moment: EOS took it back with ours"):
        switch.driver.revert(handle)
    assert clean(switch)


def test_a_timer_that_ends_meanwhile_has_done_the_same(switch: Any) -> None:
    handle = switch.apply()
    switch.before(f"configure session {STEP} abort", lambda: switch.pass_time(121))
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_a_timer_that_takes_an_edit_along_is_told(switch: Any) -> None:
    handle = switch.apply()
    switch.edit("interface Ethernet3", "description theirs")
    switch.before(f"configure session {STEP} commit", lambda: switch.pass_time(121))
    with pytest.raises(JumboError, match=r"went with it:\n\+ interface Ethernet3 > description theirs"):
        switch.driver.revert(handle)
    assert clean(switch)


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_an_open_session_of_ours_is_removed_and_never_committed(switch: Any) -> None:
    """A controller that died between loading and committing leaves it; its content may be anything by now."""
    switch.device.foreign_session(STEP, ["interface Ethernet1", "mtu 9000"])
    switch.device.foreign_session("jumbo-another-step", ["interface Ethernet1", "mtu 9000"])
    switch.edit("interface Ethernet3", "description theirs")
    pending = switch.driver.pending()
    assert (pending["owner"], pending["kind"], pending["seconds_left"]) == ("ours", "session", None)
    assert f"configure session {STEP} abort" in pending["advice"]
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert switch.open_sessions == ["jumbo-another-step"]
    assert (switch.mtus, "description theirs" in switch.lines(), switch.saves()) == ((1500, 4000), True, 0)


def test_a_session_that_was_to_take_back_is_removed_as_well(switch: Any) -> None:
    switch.device.foreign_session(f"{STEP}-u12345", ["interface Ethernet1", "mtu 1500"])
    switch.driver.revert(switch.crashed())
    assert switch.open_sessions == []


def test_what_pending_names_can_be_removed_without_knowing_its_changes(switch: Any) -> None:
    switch.device.foreign_session("jumbo-check-123456789", ["interface Ethernet1", "mtu 9000"])
    name = switch.driver.pending()["name"]
    assert switch.driver.revert({"name": name, "changes": []}) == {"reverted": True}
    assert (switch.open_sessions, switch.device.audit()["written"]) == ([], False)


def test_a_commit_on_trial_needs_its_changes(switch: Any) -> None:
    switch.apply()
    with pytest.raises(JumboError, match=f"leaf1:{STEP}: its commit timer is running"):
        switch.driver.revert({"name": STEP, "changes": []})
    assert (switch.mtus, switch.timer) == ((9000, 9000), STEP)


def test_an_idle_session_of_somebody_else_does_not_keep_us_high(switch: Any) -> None:
    handle = switch.confirmed()
    switch.device.foreign_session("bob", ["interface Ethernet3", "description half done"])
    began = time.monotonic()
    found = switch.driver.revert(handle)
    assert time.monotonic() - began < 5  # napalm's lock would wait for ten seconds
    assert "session bob of somebody else is open" in found["notes"][0]
    assert (switch.mtus, switch.mtu_after_reboot(), switch.open_sessions) == ((1500, 4000), "1500", ["bob"])


def test_a_running_timer_of_somebody_else_does(switch: Any) -> None:
    handle = switch.confirmed()
    switch.device.run(["enable", "configure session bob", "end", "configure session bob commit timer 00:05:00"])
    with pytest.raises(JumboError, match=r"leaf1:bob: a commit that is not of this step waits .*session bob abort"):
        switch.driver.revert(handle)
    assert (switch.mtus, switch.timer, switch.open_sessions) == ((9000, 9000), "bob", [])
    switch.device.run(["enable", "configure session bob abort"])
    assert switch.driver.revert(handle) == {"reverted": True}
    assert clean(switch)


def test_a_line_that_eos_refuses_leaves_no_session(switch: Any) -> None:
    handle = switch.confirmed()
    handle["changes"] = [{**change, "from": 70000} for change in handle["changes"]]
    with pytest.raises(JumboError, match="leaf1: EOS refused a command"):
        switch.driver.revert(handle)
    assert (switch.mtus, switch.open_sessions) == ((9000, 9000), [])
