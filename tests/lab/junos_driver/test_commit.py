"""A step on a box: both sizes in one commit, confirmed, taken back, and what others do meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.junos.device import read
from ansible_collections.jumbo.fabric.lab.junos.load import set_edits
from ansible_collections.jumbo.fabric.lab.junos.text import set_lines
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import junos_step
from lab.junos_driver.conftest import CHANGES, NAME, STARTUP, change

BORN = [line for line in set_lines(read(STARTUP)) if line.startswith("set interfaces")]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([change("xe-0/0/0")], ["xe-0/0/0 mtu 9014"]),
        ([change("xe-0/0/1", 4000)], ["xe-0/0/1 mtu 9014", "xe-0/0/1 unit 0 family inet mtu 9000"]),
        ([change("xe-0/0/2")], ["xe-0/0/2 mtu 9014"]),
        ([change("ae0")], ["ae0 mtu 9014"]),
        ([change("xe-0/0/4")], ["xe-0/0/4 mtu 9018"]),
        ([change("xe-0/0/5")], ["xe-0/0/5 mtu 9022"]),
        (
            [change("xe-0/0/2"), change("irb.10")],
            ["xe-0/0/2 mtu 9014", "irb mtu 9014", "irb unit 10 family inet mtu 9000"],
        ),
    ],
    ids=["untagged", "own family", "switched", "aggregate", "tagged", "flexible", "irb"],
)
def test_raised_confirmed_and_taken_back_to_the_letter(box: Any, objects: Any, expected: list[str]) -> None:
    handle = box.apply(*objects)
    new = set(box.lines()) - set(BORN)
    assert new == {f"set interfaces {line}" for line in expected}
    found = box.driver.read(only_interfaces=True)["interfaces"]
    assert {one["object"]: found[one["object"]]["ip_mtu"] for one in objects} == dict.fromkeys(
        [one["object"] for one in objects], 9000
    )
    assert box.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert box.device.due is None
    assert box.is_clean
    assert box.driver.revert(handle) == {"reverted": True}
    assert box.lines() == BORN
    assert box.is_clean


def test_a_media_mtu_that_is_larger_stays(start: Any) -> None:
    box = start(STARTUP + "set interfaces xe-0/0/0 mtu 9192\nset interfaces xe-0/0/0 unit 0 family inet mtu 1500\n")
    handle = box.confirmed(change("xe-0/0/0"))
    assert "set interfaces xe-0/0/0 mtu 9192" in box.lines()
    assert "set interfaces xe-0/0/0 unit 0 family inet mtu 9000" in box.lines()
    box.driver.revert(handle)
    assert "set interfaces xe-0/0/0 unit 0 family inet mtu 1500" in box.lines()


def test_both_families_of_a_unit(start: Any) -> None:
    box = start(STARTUP + "set interfaces irb unit 10 family inet6 address 2001:db8::1/64\n")
    box.apply(change("xe-0/0/2"), change("irb.10"))
    assert {
        "set interfaces irb unit 10 family inet6 mtu 9000",
        "set interfaces irb unit 10 family inet mtu 9000",
    } <= set(box.lines())


@pytest.mark.parametrize("crashed", [True, False])
def test_other_units_of_irb_do_not_follow(start: Any, crashed: bool) -> None:
    more = "set interfaces irb unit 20 family inet address 10.2.0.1/24"
    box = start(f"{STARTUP}{more}\n")
    born = box.lines()
    handle = box.confirmed(change("xe-0/0/2"), change("irb.10"))
    found = box.driver.read(only_interfaces=True)["interfaces"]
    assert (found["irb.10"]["ip_mtu"], found["irb.20"]["ip_mtu"]) == (9000, 1500)
    assert "set interfaces irb unit 20 family inet mtu 1500" in box.lines()
    box.driver.revert(box.crashed(*handle["changes"]) if crashed else handle)
    assert box.lines() == born


def test_nothing_to_do_writes_nothing(box: Any) -> None:
    handle = box.apply(change("xe-0/0/1", 1500, 4000))
    assert handle["changed"] is False
    assert box.device.audit()["written"] is False
    assert box.is_clean
    box.driver.confirm(handle)
    box.driver.revert(handle)
    assert box.device.audit()["written"] is False


def test_the_difference_is_junoss_own_and_leaves_nothing(box: Any) -> None:
    difference = box.driver.diff(CHANGES)
    assert "[edit interfaces xe-0/0/0]\n+   mtu 9014;" in difference
    assert "-   mtu 4000;" in difference
    assert box.device.audit()["written"] is False
    assert box.is_clean


def test_seconds_become_whole_minutes_rounded_up(box: Any) -> None:
    handle = box.apply(within=121)
    assert handle["minutes"] == 3
    assert box.device.database.pending.minutes == 3


def test_time_runs_out(box: Any) -> None:
    handle = box.apply()
    box.pass_time(121)
    assert box.mtus == (1500, 4000)
    with pytest.raises(JumboError, match="gone back by itself"):
        box.driver.confirm(handle)
    assert box.driver.revert(handle) == {"reverted": True}
    assert box.lines() == BORN


def test_a_revert_within_the_time_ends_it(box: Any) -> None:
    handle = box.apply()
    assert box.driver.revert(handle) == {"reverted": True}
    assert box.lines() == BORN
    assert box.is_clean
    assert box.driver.revert(handle) == {"reverted": True}


def test_confirming_twice_is_harmless(box: Any) -> None:
    handle = box.confirmed()
    commits = len(box.device.database.history)
    assert box.driver.confirm(handle)["confirmed"] is True
    assert len(box.device.database.history) == commits


def test_a_check_of_somebody_else_confirmed_it(box: Any) -> None:
    handle = box.apply()
    box.device.database.check(box.device.foreign_session("bob"))
    assert box.driver.confirm(handle)["confirmed"] is True
    assert box.mtus == (9000, 9000)


def test_never_a_check_within_the_time(box: Any) -> None:
    handle = box.apply()
    box.driver.read()
    box.driver.pending()
    with pytest.raises(JumboError, match=r"a confirmed commit waits \(ours\)"):
        box.driver.diff([change("xe-0/0/2")])
    assert box.device.database.pending is not None
    assert "commit-check" not in box.kinds()
    box.driver.confirm(handle)


# -- a controller that died --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confirmed", [True, False])
def test_what_a_dead_controller_left_is_taken_back_to_the_letter(box: Any, confirmed: bool) -> None:
    handle = box.apply()
    if confirmed:
        box.driver.confirm(handle)
    assert box.driver.revert(box.crashed()) == {"reverted": True}
    assert box.lines() == BORN
    assert box.is_clean


def test_what_was_never_committed_needs_no_taking_back(box: Any) -> None:
    assert box.driver.revert(box.crashed()) == {"reverted": True}
    assert box.device.audit()["written"] is False


def test_what_no_commit_of_ours_has_raised_stays_and_is_named(box: Any) -> None:
    box.device.edit(["set interfaces xe-0/0/0 mtu 9014"])
    (note,) = box.driver.revert(box.crashed(change("xe-0/0/0")))["notes"]
    assert note.startswith("xe-0/0/0 has IP MTU 9000, and no commit of this step is in the history")
    assert box.plane.mtus["xe-0/0/0"] == 9000


def test_old_statements_that_no_box_remembers(box: Any, monkeypatch: Any) -> None:
    """A full history may have lost our commit: then what has our value counts as ours."""
    monkeypatch.setattr(junos_step, "REMEMBERED", 1)
    box.device.edit(["set interfaces xe-0/0/0 mtu 9014"])
    assert box.driver.revert(box.crashed(change("xe-0/0/0"))) == {"reverted": True}
    assert box.plane.mtus["xe-0/0/0"] == 1500


def test_an_apply_that_was_refused_leaves_nothing_to_take_back(box: Any) -> None:
    box.device.edit(["set interfaces xe-0/0/0 mtu 9014"])
    box.device.database.take_lock(box.device.foreign_session("bob"))
    with pytest.raises(JumboError) as caught:
        box.apply()
    assert caught.value.handle["changed"] is False
    assert box.driver.revert(caught.value.handle) == {"reverted": True}
    assert box.plane.mtus["xe-0/0/0"] == 9000


# -- what others do ----------------------------------------------------------------------------------------------------


def test_a_foreign_lock(box: Any) -> None:
    box.device.database.take_lock(box.device.foreign_session("bob"))
    for act in (box.apply, lambda: box.driver.diff(CHANGES)):
        with pytest.raises(JumboError, match=r"leaf2: .*locked by bob since 20\d\d-.*\(pid \d+\)"):
            act()
    assert box.device.audit()["written"] is False


def test_a_foreign_candidate(box: Any) -> None:
    box.device.database.load(box.device.foreign_session("bob"), set_edits("set interfaces xe-0/0/0 mtu 2000"))
    with pytest.raises(JumboError, match="leaf2: the candidate configuration has changes of somebody else"):
        box.apply()
    assert box.device.audit()["dirty"] is True, "what is not ours stays"


def test_a_foreign_commit_that_waits(box: Any) -> None:
    box.device.edit(["set interfaces xe-0/0/2 description x"], user="bob", minutes=5)
    with pytest.raises(JumboError, match=r"a confirmed commit waits \(foreign\): .*bob via cli at 20"):
        box.apply()
    assert box.device.database.pending.user == "bob"


def test_somebody_commits_within_our_time(box: Any) -> None:
    handle = box.apply()
    box.device.edit(["set interfaces xe-0/0/2 description x"], user="bob")
    with pytest.raises(JumboError, match="somebody else committed within this step.*bob via cli"):
        box.driver.confirm(handle)
    assert set(box.lines()) == {*BORN, "set interfaces xe-0/0/2 description x"}
    assert box.is_clean


def test_a_revert_keeps_what_others_committed_and_says_so(box: Any) -> None:
    handle = box.apply()
    box.device.edit(["set interfaces xe-0/0/2 description x"], user="bob")
    (note,) = box.driver.revert(handle)["notes"]
    assert "bob via cli" in note
    assert set(box.lines()) == {*BORN, "set interfaces xe-0/0/2 description x"}


def test_a_size_that_somebody_changed_is_left_as_it_is(box: Any) -> None:
    handle = box.confirmed()
    box.device.edit(["set interfaces xe-0/0/0 mtu 8014"], user="bob")
    with pytest.raises(JumboError, match="leaf2:xe-0/0/0: the interface has IP MTU 8000 now, not the 9000"):
        box.driver.revert(handle)
    assert box.mtus == (8000, 4000)


def test_a_foreign_candidate_keeps_us_from_confirming_and_the_time_runs_out(box: Any) -> None:
    handle = box.apply()
    box.device.database.load(box.device.foreign_session("bob"), set_edits("set interfaces xe-0/0/2 mtu 2000"))
    with pytest.raises(JumboError, match="changes of somebody else"):
        box.driver.confirm(handle)
    with pytest.raises(JumboError, match="Junos goes back by itself in"):
        box.driver.revert(handle)
    box.pass_time(121)
    assert box.mtus == (1500, 4000)


# -- answers that do not come ------------------------------------------------------------------------------------------


def test_a_commit_that_was_made_and_not_answered(box: Any) -> None:
    box.device.trouble.lose_commit_reply = True
    handle = box.impatient().apply(CHANGES, 120, NAME)
    assert handle["changed"] is True
    assert box.kinds().count("commit-timer") == 1
    box.driver.confirm(handle)
    assert box.mtus == (9000, 9000)
    assert box.is_clean


def test_a_commit_that_takes_longer_than_we_wait(start: Any) -> None:
    box = start(commit_seconds=2.5)
    handle = box.impatient().apply(CHANGES, 120, NAME)
    assert handle["changed"] is True
    assert box.kinds().count("commit-timer") == 1


def test_a_confirmation_that_never_arrives(box: Any) -> None:
    handle = box.apply()
    box.device.trouble.lose_confirms = True
    with pytest.raises(JumboError, match="not answered, and the history of commits says that it was not made"):
        box.impatient().confirm(handle)
    assert box.device.database.pending is not None
    assert box.driver.revert(handle) == {"reverted": True}
    assert box.lines() == BORN
    assert box.is_clean
