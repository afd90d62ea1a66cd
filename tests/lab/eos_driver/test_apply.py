"""Committing on trial: what is refused, what is looked at, what is left when it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

SHAPES = [
    {"version": "4.31.5M", "commit_clock": "uptime"},
    {"version": "4.31.5M", "commit_clock": "epoch"},
    {"version": "4.32.2F", "commit_clock": "uptime"},
    {"version": "4.32.2F", "commit_clock": "epoch"},
]


@pytest.mark.parametrize("options", SHAPES)
def test_a_step_is_applied_on_trial_and_confirmed_from_a_new_login(start: Callable[..., Any], options: Any) -> None:
    switch = start(**options)
    handle = switch.apply()
    assert (handle["changed"], switch.mtus, switch.timer) == (True, (9000, 9000), "jumbo-run-canary-0-svi")
    pending = switch.driver.pending()
    assert (pending["owner"], pending["kind"], pending["name"]) == ("ours", "timer", switch.timer)
    assert 110 <= pending["seconds_left"] <= 120
    assert switch.mtu_after_reboot() == "1500"
    assert switch.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert (switch.mtus, switch.timer, switch.mtu_after_reboot()) == ((9000, 9000), None, "9000")
    assert switch.driver.pending()["owner"] == "none"


@pytest.mark.parametrize("options", SHAPES)
def test_a_step_on_trial_is_taken_back_at_once(start: Callable[..., Any], options: Any) -> None:
    switch = start(**options)
    handle = switch.apply()
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)
    assert switch.driver.revert(handle) == {"reverted": True}  # harmless a second time
    assert switch.kinds()[-1] == "revert"


def test_a_handle_holds_no_configuration(switch: Any) -> None:
    switch.edit("interface Ethernet1", "description x", "snmp-server community between-our-lines ro", save=True)
    handle = switch.apply()
    assert "community" not in str(handle)
    assert "+   mtu 9000" in handle["diff"]


def test_what_is_so_already_is_no_change(switch: Any) -> None:
    switch.edit("interface Ethernet1", "mtu 9000", save=True)
    handle = switch.apply(switch.change("Ethernet1"))
    assert (handle["changed"], switch.timer, switch.open_sessions) == (False, None, [])


def test_an_unsaved_configuration_is_refused(switch: Any) -> None:
    switch.edit("interface Ethernet3", "description never saved", "snmp-server community another-secret ro")
    with pytest.raises(JumboError, match=r"leaf1: running-config and startup-config differ") as caught:
        switch.apply()
    assert "+ interface Ethernet3 > description never saved" in str(caught.value)
    assert "another-secret" not in str(caught.value)
    assert "another-secret" not in switch.driver.read()["unsaved_diff"]
    assert (switch.mtus, switch.open_sessions, "session-open" in switch.kinds()) == ((1500, 4000), [], False)


@pytest.mark.parametrize("name", ["bob", "jumbo-run-old-0-svi"])
def test_an_open_session_is_refused_with_advice(switch: Any, name: str) -> None:
    switch.device.foreign_session(name, ["interface Ethernet3", "description half done"])
    with pytest.raises(JumboError, match=rf"leaf1:{name}: a configuration session is open .*session {name} abort"):
        switch.apply()
    assert (switch.mtus, switch.open_sessions) == ((1500, 4000), [name])


def test_another_commit_on_trial_is_refused(switch: Any) -> None:
    switch.device.run(["enable", "configure session bob", "end", "configure session bob commit timer 00:05:00"])
    with pytest.raises(JumboError, match=r"leaf1:bob: a commit timer is running .foreign."):
        switch.apply()
    assert switch.timer == "bob"


@pytest.mark.parametrize(
    ("interface", "field", "reason"),
    [
        ("Ethernet2", "ip_mtu", "the interface has MTU 4000, not the 1500 that the change begins with"),
        ("Vlan99", "ip_mtu", "the interface has MTU None"),
        ("Ethernet1", "route_mtu", "EOS has no route_mtu"),
    ],
)
def test_what_could_not_be_taken_back_is_refused(switch: Any, interface: str, field: str, reason: str) -> None:
    with pytest.raises(JumboError, match=f"leaf1:{interface}: {reason}"):
        switch.apply({**switch.change(interface), "field": field})
    assert (switch.mtus, switch.kinds()) == ((1500, 4000), [])


# -- somebody edits between our snapshot and our commit ----------------------------------------------------------------


def test_an_edit_after_our_snapshot_stops_the_commit(switch: Any) -> None:
    switch.after("configure session jumbo-", lambda: switch.edit("interface Ethernet3", "description theirs"))
    with pytest.raises(JumboError, match="Ethernet3 > description theirs"):
        switch.apply()
    assert switch.lines() == ["switchport access vlan 10", "description theirs"]
    assert (switch.mtus, switch.timer, switch.open_sessions, switch.saves()) == ((1500, 4000), None, [], 0)


def test_an_edit_after_our_snapshot_that_is_saved_stops_the_commit_too(switch: Any) -> None:
    switch.after(
        "configure session jumbo-", lambda: switch.edit("interface Ethernet3", "description theirs", save=True)
    )
    with pytest.raises(JumboError, match=r"since it was opened:\n-   description theirs"):
        switch.apply()
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer, switch.open_sessions) == ((1500, 4000), None, [])


@pytest.mark.parametrize("save", [False, True])
def test_an_edit_right_before_our_commit_is_brought_back(switch: Any, save: bool) -> None:
    switch.before(
        "configure session jumbo-run-canary-0-svi commit",
        lambda: switch.edit("interface Ethernet3", "description theirs", save=save),
    )
    with pytest.raises(
        JumboError, match=r"right before our commit, which is taken back:\n\+ interface Ethernet3 > description theirs"
    ):
        switch.apply()
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)


def test_an_edit_right_after_our_commit_is_kept(switch: Any) -> None:
    commit = switch.device.sessions.commit

    def commit_and_edit(*arguments: Any) -> str:
        switch.device.sessions.commit = commit
        kind: str = commit(*arguments)
        switch.edit("interface Ethernet3", "description theirs")
        return kind

    switch.device.sessions.commit = commit_and_edit
    with pytest.raises(JumboError, match=r"\+ interface Ethernet3 > description theirs"):
        switch.apply()
    assert "description theirs" in switch.lines()
    assert (switch.mtus, switch.timer, switch.saves()) == ((1500, 4000), None, 0)


# -- what EOS refuses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["apply", "diff"])
def test_a_refused_size_is_told_with_wish_and_limit(start: Callable[..., Any], verb: str) -> None:
    switch = start(max_mtu=9194)
    changes = [switch.change("Ethernet1", new=9000), switch.change("Ethernet2", 4000, 9214)]
    with pytest.raises(JumboError) as caught:
        switch.apply(*changes) if verb == "apply" else switch.driver.diff(changes)
    error = caught.value
    assert (error.host, error.object, error.wish, error.limit) == ("leaf1", "Ethernet2", 9214, 9194)
    assert error.advice
    assert (switch.device.audit()["written"], switch.open_sessions) == (False, [])


@pytest.mark.parametrize("verb", ["apply", "diff"])
def test_a_model_without_the_command_is_told_with_advice(start: Callable[..., Any], verb: str) -> None:
    switch = start(per_interface_mtu="rejected")
    changes = [switch.change("Ethernet1")]
    with pytest.raises(JumboError, match=r"leaf1: this EOS model has no per-interface MTU.*interface defaults"):
        switch.apply(*changes) if verb == "apply" else switch.driver.diff(changes)
    assert (switch.device.audit()["written"], switch.open_sessions) == (False, [])


def test_a_model_that_ignores_the_command_is_taken_back_at_once(start: Callable[..., Any]) -> None:
    switch = start(per_interface_mtu="ignored")
    with pytest.raises(JumboError, match=r"leaf1:Ethernet1: EOS reports MTU 1500 .*wished: 9000"):
        switch.apply(switch.change("Ethernet1"))
    assert (switch.timer, switch.lines("Ethernet1")) == (None, ["no switchport", "ip address 10.0.0.0/31"])


def test_an_old_release_is_refused(start: Callable[..., Any]) -> None:
    with pytest.raises(JumboError, match=r"leaf1: this release of EOS is older than 4\.23"):
        start(version="4.22.1F").apply()


# -- diff --------------------------------------------------------------------------------------------------------------


def test_diff_leaves_nothing(switch: Any) -> None:
    assert "+   mtu 9000" in switch.driver.diff([switch.change("Ethernet1")])
    assert (switch.device.audit()["written"], switch.open_sessions) == (False, [])


def test_diff_leaves_no_session_when_comparing_fails(switch: Any) -> None:
    switch.fail("show session-config named")
    with pytest.raises(JumboError, match=r"leaf1: EOS refused a command.*not now"):
        switch.driver.diff([switch.change("Ethernet1")])
    assert switch.open_sessions == []


def test_diff_tells_no_secrets(switch: Any) -> None:
    switch.edit("interface Ethernet1", "ip ospf message-digest-key 1 md5 7 not-to-be-told", save=True)
    difference = switch.driver.diff([switch.change("Ethernet1")])
    assert "message-digest-key <removed>" in difference
    assert "not-to-be-told" not in difference


def test_a_commit_that_fails_leaves_no_session(switch: Any) -> None:
    switch.fail("configure session jumbo-run-canary-0-svi commit")
    with pytest.raises(JumboError, match=r"leaf1: EOS refused a command.*not now"):
        switch.apply()
    assert (switch.mtus, switch.timer, switch.open_sessions) == ((1500, 4000), None, [])
