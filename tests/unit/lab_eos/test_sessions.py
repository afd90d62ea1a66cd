"""Sessions and the commit timer, on a clock that the test moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.cli import RequestFailed
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

Data = Callable[..., Any]
MTU = ("interface Ethernet1", "mtu 9000", "end")


def fails(device: EosDevice, *commands: str) -> tuple[int, str]:
    with pytest.raises(RequestFailed) as caught:
        device.run(["enable", *commands])
    return caught.value.code, json.loads(caught.value.results[-1])["errors"][0]


def mtu(data: Data, name: str = "Ethernet1") -> int:
    return int(data("show interfaces")["interfaces"][name]["mtu"])


def test_nothing_changes_before_the_commit(data: Data, plane: StaticPlane) -> None:
    data("configure session s", *MTU)
    assert mtu(data) == 1500
    assert plane.mtus["Ethernet1"] == 1500
    data("configure session s commit")
    assert mtu(data) == 9000
    assert plane.mtus["Ethernet1"] == 9000


def test_a_session_goes_on_where_it_was_left(data: Data, text: Callable[..., str]) -> None:
    data("configure session s", *MTU)
    data("configure session s", "interface Ethernet2", "description x", "end")
    diff = text("show session-config named s diffs")
    assert "+   mtu 9000" in diff
    assert "+   description x" in diff


def test_a_diff_without_differences_is_empty(data: Data, text: Callable[..., str]) -> None:
    data("configure session s", "end")
    assert text("show session-config named s diffs") == ""


def test_a_commit_overwrites_what_others_changed_meanwhile(data: Data, device: EosDevice) -> None:
    data("configure session s", *MTU)
    device.edit(["interface Ethernet2", "description by someone"])
    assert data("show interfaces Ethernet2")["interfaces"]["Ethernet2"]["description"] == "by someone"
    data("configure session s commit")
    assert data("show interfaces Ethernet2")["interfaces"]["Ethernet2"]["description"] == ""


def test_the_timer_fires_and_takes_everything_back(
    data: Data, device: EosDevice, clock: Any, plane: StaticPlane
) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    assert plane.mtus["Ethernet1"] == 9000
    device.edit(["interface Ethernet2", "description in the window", "interface Ethernet1", "shutdown"])
    assert "Ethernet1" in plane.down
    clock.advance(119.9)
    device.tick()
    assert mtu(data) == 9000
    clock.advance(0.2)
    device.tick()
    assert plane.mtus["Ethernet1"] == 1500
    assert plane.down == {"Ethernet4"}
    assert data("show interfaces Ethernet2")["interfaces"]["Ethernet2"]["description"] == ""
    assert device.audit()["entries"][-1]["kind"] == "timer-revert"


def test_a_request_after_the_deadline_sees_the_old_state_already(data: Data, clock: Any) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:00:30")
    clock.advance(30)
    assert mtu(data) == 1500


def test_confirmed_in_time_it_stays(data: Data, device: EosDevice, clock: Any) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    clock.advance(100)
    data("configure session s commit")
    assert device.due is None
    clock.advance(1000)
    assert mtu(data) == 9000


def test_too_late_there_is_nothing_to_confirm(data: Data, device: EosDevice, clock: Any) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    clock.advance(121)
    assert fails(device, "configure session s commit") == (1000, "Session s does not exist")


def test_abort_within_the_window_reverts_at_once(data: Data, device: EosDevice, plane: StaticPlane) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    data("configure session s abort")
    assert plane.mtus["Ethernet1"] == 1500
    assert device.due is None
    assert device.audit()["entries"][-1]["kind"] == "revert"


def test_while_a_timer_runs_other_commits_are_refused(data: Data, device: EosDevice) -> None:
    data("configure session s", *MTU)
    data("configure session t", "interface Ethernet2", "description t", "end")
    data("configure session s commit timer 00:02:00")
    refused = (1000, "Session s has a commit timer pending")
    assert fails(device, "configure session t commit") == refused
    assert fails(device, "configure session t commit timer 00:01:00") == refused
    assert fails(device, "configure session s commit timer 00:01:00") == refused
    data("copy running-config flash:here")
    assert fails(device, "configure replace flash:here") == refused
    data("configure session s commit")
    data("configure session t commit")


def test_a_timer_commit_leaves_the_startup_alone_and_a_reboot_boots_it(
    data: Data, device: EosDevice, plane: StaticPlane
) -> None:
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    assert "mtu 9000" not in device.flash.read("startup-config")
    device.reboot()
    assert plane.mtus["Ethernet1"] == 1500
    assert data("show configuration sessions")["sessions"] == {}
    assert device.due is None


def test_saved_it_survives_a_reboot(data: Data, device: EosDevice, text: Callable[..., str]) -> None:
    data("configure session s", *MTU)
    data("configure session s commit")
    assert "+   mtu 9000" in text("show running-config diffs")
    data("write memory")
    assert text("show running-config diffs") == ""
    device.reboot()
    assert mtu(data) == 9000


def test_no_more_than_five_pending_sessions(data: Data, device: EosDevice) -> None:
    for number in range(5):
        data(f"configure session s{number}", "end")
    code, error = fails(device, "configure session s5")
    assert code == 1000
    assert error.startswith("Maximum number of pending sessions")
    data("configure session s0 abort")
    data("configure session s5", "end")


def test_one_completed_session_is_remembered(data: Data) -> None:
    for name in ("a", "b"):
        data(f"configure session {name}", "end")
        data(f"configure session {name} commit")
    assert list(data("show configuration sessions")["sessions"]) == ["b"]


def test_a_pending_session_is_dropped_after_a_day(data: Data, device: EosDevice, clock: Any) -> None:
    data("configure session s", *MTU)
    assert device.due == clock.now + 24 * 3600
    clock.advance(24 * 3600)
    assert data("show configuration sessions")["sessions"] == {}
    assert device.audit()["entries"][-1]["kind"] == "session-timeout"


def test_sessions_until_4_31(make: Callable[..., EosDevice], data: Data, clock: Any) -> None:
    device = make(version="4.31.5M")
    clock.advance(1000)
    data("configure session s", *MTU, of=device)
    assert data("show configuration sessions", of=device)["sessions"]["s"]["state"] == "pending"
    data("configure session s commit timer 00:02:00", of=device)
    model = data("show configuration sessions detail", of=device)
    assert model["sessions"]["s"] == {
        "state": "pendingCommitTimer",
        "completedTime": clock.now,
        "commitBy": 1120.0,
        "commitUser": "admin",
        "description": "",
        "instances": {},
    }
    assert (model["maxSavedSessions"], model["maxOpenSessions"]) == (1, 5)
    assert "commitTimerSessionName" not in model
    data("configure session s commit", of=device)
    assert data("show configuration sessions detail", of=device)["sessions"]["s"]["state"] == "completed"


def test_sessions_from_4_32_on(data: Data, clock: Any) -> None:
    clock.advance(1000)
    data("configure session s", *MTU)
    assert "commitTimerSessionName" not in data("show configuration sessions detail")
    data("configure session s commit timer 00:02:00")
    model = data("show configuration sessions detail")
    assert model["sessions"]["s"]["state"] == "committed"
    assert "commitBy" not in model["sessions"]["s"]
    assert (model["commitTimerSessionName"], model["commitTimerExpireTime"]) == ("s", 1120.0)
    data("configure session s commit")
    assert "commitTimerSessionName" not in data("show configuration sessions detail")


def test_the_expiry_may_count_from_1970(make: Callable[..., EosDevice], data: Data, clock: Any) -> None:
    device = make(version="4.31.5M", commit_clock="epoch")
    data("configure session s", *MTU, of=device)
    data("configure session s commit timer 00:02:00", of=device)
    model = data("show configuration sessions detail", of=device)
    assert model["sessions"]["s"]["commitBy"] == clock.now + 120


@pytest.mark.parametrize("timer", ["00:00:00", "00:61:00", "300", "soon"])
def test_a_timer_is_written_hh_mm_ss(data: Data, device: EosDevice, timer: str) -> None:
    data("configure session s", *MTU)
    code, error = fails(device, f"configure session s commit timer {timer}")
    assert code == 1002
    assert timer in error


def test_sessions_that_are_not_there(device: EosDevice) -> None:
    for command in ("commit", "abort", "commit timer 00:01:00"):
        assert fails(device, f"configure session ghost {command}") == (1000, "Session ghost does not exist")
    assert fails(device, "show session-config named ghost diffs")[0] in {1000, 1003}


def test_somebody_elses_session(data: Data, device: EosDevice) -> None:
    device.foreign_session("cvp", ["interface Ethernet2", "description theirs"])
    assert data("show configuration sessions")["sessions"]["cvp"]["state"] == "pending"
    assert device.audit()["open_sessions"] == ["cvp"]
    assert device.audit()["written"] is False


def test_rollback_clean_config(data: Data, text: Callable[..., str]) -> None:
    data("configure session s", "rollback clean-config", "hostname new", "end")
    candidate = text("show session-config named s")
    assert "hostname new" in candidate
    assert "interface Ethernet1" in candidate
    assert "ip address" not in candidate
    assert "interface Vlan10" not in candidate
