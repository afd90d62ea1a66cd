"""A box without a network: commits for a time, locks, what reaches the data plane, and the record of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.junos.device import JunosDevice
from ansible_collections.jumbo.fabric.lab.junos.errors import Refused
from ansible_collections.jumbo.fabric.lab.junos.load import set_edits
from ansible_collections.jumbo.fabric.lab.junos.operations import by_command, by_rpc
from ansible_collections.jumbo.fabric.lab.junos.session import Login, NoReply
from ansible_collections.jumbo.fabric.lab.junos.xml import parse
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

STARTUP = """
set system host-name leaf2
set interfaces xe-0/0/0 unit 0 family inet address 10.0.0.0/31
set interfaces xe-0/0/1 unit 0 family ethernet-switching vlan members blue
set interfaces irb unit 10 family inet address 10.1.0.1/24
set vlans blue vlan-id 10
set vlans blue l3-interface irb.10
"""
RAISED = ["set interfaces xe-0/0/0 mtu 9014", "set interfaces xe-0/0/0 unit 0 family inet mtu 9000"]


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def plane() -> StaticPlane:
    return StaticPlane()


@pytest.fixture
def make(clock: Clock, plane: StaticPlane) -> Callable[..., JunosDevice]:
    def device(**options: Any) -> JunosDevice:
        return JunosDevice("leaf2", STARTUP, plane, **{"clock": clock, "readd_seconds": 0.0, **options})

    return device


@pytest.fixture
def device(make: Callable[..., JunosDevice]) -> JunosDevice:
    return make()


def raise_port(
    device: JunosDevice, *lines: str, user: str = "admin", minutes: int | None = None, log: str = ""
) -> Login:
    login = Login(device, user, "netconf")
    login.load(list(set_edits("\n".join(lines or RAISED))), "load set")
    login.commit(minutes=minutes, log=log)
    return login


def test_boot_sizes(plane: StaticPlane, device: JunosDevice) -> None:
    assert plane.mtus == {"xe-0/0/0": 1500, "xe-0/0/1": 1500, "irb.10": 1500}
    assert plane.receives == {"xe-0/0/0": 1500, "xe-0/0/1": 1500}
    assert device.audit()["written"] is False


def test_a_port_takes_in_what_its_media_mtu_says_and_sends_what_its_family_says(
    plane: Any, device: JunosDevice
) -> None:
    raise_port(device, "set interfaces xe-0/0/0 mtu 9192", "set interfaces xe-0/0/0 unit 0 family inet mtu 9000")
    assert (plane.mtus["xe-0/0/0"], plane.receives["xe-0/0/0"]) == (9000, 9178)


def test_an_interface_is_gone_while_its_size_changes(plane: Any, make: Callable[..., JunosDevice]) -> None:
    device = make(readd_seconds=0.001)
    plane.calls.clear()
    raise_port(device)
    assert plane.calls == [
        ("up", "xe-0/0/0", False),
        ("mtu", "xe-0/0/0", 9000),
        ("receives", "xe-0/0/0", 9000),
        ("up", "xe-0/0/0", True),
    ]


def test_time_runs_out(plane: Any, device: JunosDevice, clock: Clock) -> None:
    raise_port(device, minutes=2)
    assert device.due == clock.now + 120
    clock.now += 120
    device.tick()
    assert plane.mtus["xe-0/0/0"] == 1500
    assert device.due is None
    assert [entry.kind for entry in device.writes][-2:] == ["commit-timer", "timer-revert"]
    newest = device.database.history[0]
    assert (newest.user, newest.client, newest.comment) == ("root", "other", "")


def test_said_again_it_takes_longer_and_goes_back_as_far(plane: Any, device: JunosDevice, clock: Clock) -> None:
    login = raise_port(device, minutes=2)
    clock.now += 60
    login.commit(minutes=2)
    clock.now += 90
    device.tick()
    assert plane.mtus["xe-0/0/0"] == 9000
    clock.now += 30
    device.tick()
    assert plane.mtus["xe-0/0/0"] == 1500


def test_a_second_change_is_the_only_one_taken_back(plane: Any, device: JunosDevice, clock: Clock) -> None:
    raise_port(device, minutes=2)
    raise_port(device, "set interfaces xe-0/0/1 mtu 9192", minutes=2)
    clock.now += 200
    device.tick()
    assert (plane.mtus["xe-0/0/0"], plane.mtus["xe-0/0/1"]) == (9000, 1500)


def test_anybodys_commit_confirms(plane: Any, device: JunosDevice, clock: Clock) -> None:
    raise_port(device, minutes=2)
    device.edit(["set interfaces xe-0/0/1 description x"])
    clock.now += 200
    device.tick()
    assert plane.mtus["xe-0/0/0"] == 9000
    assert device.database.pending is None


def test_a_confirmation_is_a_commit_of_its_own(device: JunosDevice) -> None:
    login = raise_port(device, minutes=2)
    login.commit()
    history = device.database.history
    assert history[0].config == history[1].config != history[2].config  # rollback 1 brings nothing back


def test_a_reboot_keeps_what_was_committed_for_a_time(plane: Any, device: JunosDevice, clock: Clock) -> None:
    raise_port(device, minutes=2)
    device.reboot()
    clock.now += 200
    device.tick()
    assert plane.mtus["xe-0/0/0"] == 9000


def test_a_box_boots_what_it_stored(make: Callable[..., JunosDevice], tmp_path: Path, plane: Any) -> None:
    raise_port(make(state_dir=tmp_path), log="kept")
    plane.mtus.clear()
    again = make(state_dir=tmp_path)
    assert plane.mtus["xe-0/0/0"] == 9000
    assert again.database.history[0].log == "kept"


def test_a_lock_keeps_others_out_and_ends_with_its_session(device: JunosDevice) -> None:
    mine, other = Login(device, "admin", "netconf"), Login(device, "bob", "cli")
    mine.take_lock()
    for act in (other.take_lock, other.commit, lambda: other.load([], "load")):
        with pytest.raises(Refused, match="configuration database locked by"):
            act()
    mine.load(list(set_edits(RAISED[0])), "load set")
    mine.leave()
    other.take_lock()
    assert device.audit()["dirty"] is False


def test_what_is_left_in_the_candidate_blocks_the_next(device: JunosDevice) -> None:
    Login(device, "bob", "cli").load(list(set_edits(RAISED[0])), "load set")
    with pytest.raises(Refused, match="configuration database modified"):
        Login(device, "admin", "netconf").take_lock()
    assert device.audit() == {**device.audit(), "dirty": True, "written": False}


def test_a_lost_confirmation_confirms_nothing(device: JunosDevice) -> None:
    login = raise_port(device, minutes=2)
    device.trouble.lose_confirms = True
    with pytest.raises(NoReply):
        login.commit()
    assert device.database.pending is not None


def test_a_lost_answer_is_lost_once(device: JunosDevice, plane: Any) -> None:
    device.trouble.lose_commit_reply = True
    with pytest.raises(NoReply):
        raise_port(device, minutes=2)
    assert plane.mtus["xe-0/0/0"] == 9000
    raise_port(device, "set interfaces xe-0/0/1 mtu 9192", minutes=2)


def test_the_first_write_is_told_once(device: JunosDevice) -> None:
    seen: list[str] = []
    device.on_first_write = lambda entry: seen.append(entry.kind)
    raise_port(device, minutes=2)
    raise_port(device, "set interfaces xe-0/0/1 mtu 9192")
    assert seen == ["commit-timer"]


def test_a_startup_that_is_wrong_names_the_word(plane: StaticPlane) -> None:
    with pytest.raises(ValueError, match="mtoo"):
        JunosDevice("leaf2", "set interfaces xe-0/0/0 mtoo 1", plane)


BGP = """
set protocols bgp group up type external
set protocols bgp group up neighbor 10.0.0.1 peer-as 65000
set protocols bgp group up neighbor fd00::1 peer-as 65000
set protocols bgp group down neighbor 10.0.0.9 peer-as 65009
set protocols bgp group down shutdown
"""


def states(device: JunosDevice) -> dict[str, tuple[str, str | None]]:
    answer = by_rpc(Login(device, "admin", "netconf"), parse("<get-bgp-summary-information/>")).xml()
    found = parse(answer.replace("junos:", ""))
    return {
        peer.findtext("peer-address"): (peer.findtext("peer-state"), peer.findtext("bgp-rib/active-prefix-count"))
        for peer in found.iter("bgp-peer")
    }


def test_a_neighbour_may_be_shut_down_by_itself_or_with_its_group(plane: StaticPlane) -> None:
    device = JunosDevice("leaf2", STARTUP + BGP, plane, readd_seconds=0.0)
    assert states(device) == {
        "10.0.0.1": ("Established", "1"),
        "fd00::1": ("Established", "1"),
        "10.0.0.9": ("Idle", None),
    }
    plane.silent.add("fd00::1")
    raise_port(device, "set protocols bgp group up neighbor 10.0.0.1 shutdown")
    assert plane.peers == {"fd00::1"}
    assert states(device) == {"10.0.0.1": ("Idle", None), "fd00::1": ("Active", None), "10.0.0.9": ("Idle", None)}
    assert "set protocols bgp group up neighbor 10.0.0.1 shutdown" in device.set_lines("protocols")


def test_a_box_without_bgp_says_so(device: JunosDevice) -> None:
    assert by_command(Login(device, "admin", "cli"), "show bgp summary").text() == "BGP is not running"
