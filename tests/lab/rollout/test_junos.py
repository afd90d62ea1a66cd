"""Roll-outs over a mixed fabric: one spine and one leaf are Junos boxes, whose commits may be slow or get no answer."""

from __future__ import annotations

import pytest

pytest.importorskip("jnpr.junos")

pytestmark = pytest.mark.lab

MIXED = ("spine2", "leaf2")
BGP = {"junos": MIXED, "routing": "bgp"}
ACCEPTED = [{"kind": "outage", "object": name, "reason": "their interfaces are added anew"} for name in MIXED]


def left_open(lab):
    """Return the boxes with anything that is locked, pending or changed and not committed."""
    audits = lab.lab.folder.ask("audit")["audit"]
    return [
        name for name in MIXED if audits[name]["open_sessions"] or audits[name]["dirty"] or audits[name]["commit_timer"]
    ]


def test_a_mixed_fabric_is_raised_and_taken_back(fabric):
    lab = fabric(**BGP)
    before = lab.ip_mtus()
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert {size for name in now if name.startswith("h") for size in now[name].values()} == {9000}
    assert now["leaf2"] == {"irb.10": 9000, "xe-0/0/1": 9202, "xe-0/0/2": 9202}, "9216 bytes of Ethernet carry 9202"
    assert now["spine1"]["Ethernet2"] == 9202, "the far end is clamped to what both can do"
    assert lab.stalls() == []
    back = lab.play("rollback")
    assert back.status == 0, back.output
    assert lab.ip_mtus() == before
    assert left_open(lab) == []


@pytest.mark.long
def test_slow_commits_and_one_without_an_answer_are_waited_for(fabric):
    faults, stages = "commit-slow@leaf2,commit-lost-reply@leaf2", ["canary", "leaf"]
    lab = fabric(faults, junos=MIXED, ansible_command_timeout=6, jumbo_stages=stages)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert lab.ip_mtus()["leaf2"]["irb.10"] == 9000
    assert left_open(lab) == []


@pytest.mark.long
def test_a_confirmation_that_is_lost_takes_its_stage_back(fabric):
    lab = fabric("confirm-lost@leaf2", junos=MIXED, jumbo_waivers=ACCEPTED, ansible_command_timeout=3)
    before = lab.ip_mtus()
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    said = [line["data"]["error"]["text"] for line in outcome.journal if line["data"].get("error")]
    assert ["leaf2:" in text and "was not answered" in text for text in said] == [True]
    assert lab.ip_mtus()["leaf2"] == before["leaf2"]
    assert left_open(lab) == []
