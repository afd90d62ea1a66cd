"""Two operators with an evidence directory each meet on the devices: whose change it is, and whether it blocks."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.elsewhere import other_rollouts

THEIRS, OURS = "20260101T000000Z-aaaa", "20260102T000000Z-bbbb"


def guard(rollout, verdict, by="alice@ops1"):
    return {"id": f"{rollout}-leaf.1.host_link", "verdict": verdict, "by": by, "interfaces": {"eth1": {}}}


def found(state, take_over=False):
    return other_rollouts({"h1": state}, {OURS}, take_over=take_over)


def test_their_guard_is_named_with_roll_out_and_operator():
    [finding] = found({"guards": [guard(THEIRS, "confirmed")]})
    assert (finding["host"], finding["interface"], finding["blocking"]) == ("h1", "eth1", True)
    assert f"held by roll-out {THEIRS} of alice@ops1" in finding["reason"]
    assert "jumbo_resume: new if it is lost" in finding["evidence"]


@pytest.mark.parametrize(
    ("verdict", "take_over", "blocking"),
    [("confirmed", False, [True]), ("confirmed", True, [False]), ("armed", True, [True]), ("released", False, [])],
)
def test_taking_over_is_for_what_is_confirmed_only(verdict, take_over, blocking):
    assert [one["blocking"] for one in found({"guards": [guard(THEIRS, verdict)]}, take_over)] == blocking


def test_ours_and_what_no_roll_out_made_are_not_told():
    adhoc = {**guard("adhoc", "confirmed"), "id": "adhoc-123"}
    assert found({"guards": [guard(OURS, "armed"), adhoc]}) == []
    assert found({"pending": {"owner": "ours", "name": f"jumbo-{OURS}-leaf-1-svi"}}) == []
    assert found({"pending": {"owner": "foreign", "name": "cvp-7"}}) == []


def test_a_switch_tells_their_roll_out_by_its_session():
    [finding] = found({"pending": {"owner": "ours", "name": f"jumbo-{THEIRS}-leaf-1-svi"}}, take_over=True)
    assert finding["blocking"]
    assert f"pending for roll-out {THEIRS}" in finding["reason"]
