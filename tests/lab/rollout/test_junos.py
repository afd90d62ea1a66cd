"""Roll-outs over a mixed fabric: one spine and one leaf are Junos boxes, whose commits may be slow or get no answer."""

from __future__ import annotations

import signal

import pytest
from lab_helpers import wait_until

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


def peers_that_are_not_up(lab):
    """Return the BGP neighbours without a session, by what their switch says; one that was let up may take a moment."""

    def found():
        down = []
        for name in lab.lab.design.topology.intent.devices:
            node = lab.lab.nodes[name]
            if node.platform == "eos":
                for word in ("ip", "ipv6"):
                    peers = lab.lab.eapi(name, f"show {word} bgp summary")["result"][0]["vrfs"]["default"]["peers"]
                    down += [f"{name} {peer}" for peer, facts in peers.items() if facts["peerState"] != "Established"]
            if node.platform == "junos":
                device = lab.lab.netconf(name)
                peers = device.rpc.get_bgp_summary_information(normalize=True).iter("bgp-peer")
                down += [
                    f"{name} {peer.findtext('peer-address')}"
                    for peer in peers
                    if peer.findtext("peer-state") != "Established"
                ]
                device.close()
        return down

    wait_until(lambda: found() == [], what="every session is up")
    return found()


@pytest.mark.long  # the bundled fabric is mixed as well
def test_a_mixed_fabric_is_raised_and_taken_back(fabric):
    lab = fabric(**BGP)
    before = lab.ip_mtus()
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert peers_that_are_not_up(lab) == []
    now = lab.ip_mtus()
    assert {size for name in now if name.startswith("h") for size in now[name].values()} == {9000}
    assert now["leaf2"] == {"irb.10": 9000, "xe-0/0/1": 9202, "xe-0/0/2": 9202}, "9216 bytes of Ethernet carry 9202"
    assert now["spine1"]["Ethernet2"] == 9202, "the far end is clamped to what both can do"
    assert lab.stalls() == []
    back = lab.play("rollback")
    assert back.status == 0, back.output
    assert lab.ip_mtus() == before
    assert left_open(lab) == []
    assert peers_that_are_not_up(lab) == []
    assert lab.stalls() == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("step", "verb"), [("fabric.2.drain", "confirm"), ("fabric.2.link", "apply"), ("fabric.2.undrain", "apply")]
)
def test_killed_in_the_middle_of_a_drained_state_nothing_stays_drained(fabric, step, verb):
    lab = fabric(**BGP)

    def done(line):
        return (line["step"], line["verb"], line["event"]) == (step, verb, "done")

    died = lab.play_and("rollout", done, lambda: None, then_kill=signal.SIGKILL)
    assert died.status == -signal.SIGKILL
    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert "was interrupted in" in again.output
    assert peers_that_are_not_up(lab) == []
    assert left_open(lab) == []
    assert lab.stalls() == []


@pytest.mark.long
def test_slow_commits_and_one_without_an_answer_around_a_drain(fabric):
    lab = fabric("commit-slow@spine2,commit-lost-reply@spine2", **BGP, ansible_command_timeout=6)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert peers_that_are_not_up(lab) == []
    assert left_open(lab) == []


@pytest.mark.long
def test_a_confirmation_of_a_drain_that_is_lost_takes_the_fabric_back(fabric):
    lab = fabric("confirm-lost@spine2", **BGP, ansible_command_timeout=3)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    said = [line["data"]["error"]["text"] for line in outcome.journal if line["data"].get("error")]
    assert ["spine2:" in text and "was not answered" in text for text in said] == [True]
    now = lab.ip_mtus()
    assert (now["leaf2"]["irb.10"], now["leaf2"]["xe-0/0/1"], now["spine1"]["Ethernet2"]) == (9000, 1500, 1500)
    assert peers_that_are_not_up(lab) == []
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
