"""A mixed fabric with an aggregate of two members between a Junos and an EOS box, and a tagged link between others."""

from __future__ import annotations

import contextlib
import signal

import pytest
from lab_inventories import lag_fabric
from rollout_helpers import fabric_of, is_done

pytest.importorskip("jnpr.junos")

pytestmark = [pytest.mark.lab, pytest.mark.long]

UPLINKS = {("leaf2", "ae0"), ("leaf2", "xe-0/0/3"), ("spine1", "Port-Channel2"), ("spine2", "Ethernet2")}


@pytest.fixture
def lagged(tmp_path):
    """Start the fabric, with a fault or not."""
    with contextlib.ExitStack() as labs:

        def start(fault=""):
            source = lag_fabric(tmp_path / "inventory", 152, jumbo_lab_traffic=0.2)
            return labs.enter_context(fabric_of(tmp_path, source, fault))

        yield start


def told(lab):
    """Return what each end of the uplinks says of its size: the IP MTU on EOS, the media MTU on Junos."""
    device = lab.lab.netconf("leaf2")
    found = device.rpc.get_interface_information(normalize=True)
    device.close()
    media = {entry.findtext("name"): entry.findtext("mtu") for entry in found.iter("physical-interface")}
    spines = {
        name: lab.lab.eapi(name, "show interfaces")["result"][0]["interfaces"][interface]["mtu"]
        for name, interface in (("spine1", "Port-Channel2"), ("spine2", "Ethernet2.100"))
    }
    return {"ae0": int(media["ae0"]), "member": int(media["xe-0/0/2"]), "tagged": int(media["xe-0/0/3"]), **spines}


def settled(lab):
    """Fail where a session of BGP is down, or anything is locked, pending, open or not committed."""
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert not audit["open_sessions"], (name, audit)
        assert not audit["commit_timer"], (name, audit)
        assert not audit.get("dirty"), (name, audit)
    for spine in ("spine1", "spine2"):
        peers = lab.lab.eapi(spine, "show ip bgp summary")["result"][0]["vrfs"]["default"]["peers"]
        assert {facts["peerState"] for facts in peers.values()} == {"Established"}, (spine, peers)


def test_an_aggregate_and_a_tagged_link_are_raised_read_back_and_taken_back(lagged):
    lab = lagged()
    before, was = lab.ip_mtus(), told(lab)
    assert was == {"ae0": 1514, "member": 1514, "tagged": 1518, "spine1": 1500, "spine2": 1500}
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert told(lab) == {"ae0": 9216, "member": 9216, "tagged": 9216, "spine1": 9202, "spine2": 9198}
    now = lab.ip_mtus()
    assert (now["leaf2"]["ae0"], now["leaf2"]["xe-0/0/3"], now["h3"]["eth0"]) == (9202, 9198, 9000)
    for field in ("drained", "ip_mtu"):
        changed = {
            (line["host"], change["object"])
            for line in outcome.journal
            if is_done(line, "apply") and line["step"].startswith("fabric.")
            for change in line["data"].get("changes", ())
            if change["field"] == field
        }
        assert {end for end in changed if end[0] != "leaf1"} >= UPLINKS, (field, changed)
        assert not {name for _host, name in changed if name in ("xe-0/0/1", "xe-0/0/2", "Ethernet11", "Ethernet12")}
    settled(lab)
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert (lab.ip_mtus(), told(lab)) == (before, was)
    settled(lab)
    assert lab.stalls() == []


def test_a_member_that_takes_in_1500_only_is_named_and_its_stage_taken_back(lagged):
    lab = lagged("spine-1500@spine1:Ethernet12")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    assert [(f["host"], f["interface"]) for f in outcome.report["findings"]] == [("spine1", "Ethernet12")]
    assert told(lab) == {"ae0": 1514, "member": 1514, "tagged": 1518, "spine1": 1500, "spine2": 1500}
    settled(lab)
    assert lab.stalls() == []


def test_a_rollback_that_is_killed_while_a_link_is_drained_is_gone_on_with(lagged):
    lab = lagged()
    before, was = lab.ip_mtus(), told(lab)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output

    def drained(_line):
        peers = lab.lab.eapi("spine1", "show ip bgp summary")["result"][0]["vrfs"]["default"]["peers"]
        return any(facts.get("peerStateIdleReason") == "Admin" for facts in peers.values())

    died = lab.play_and("rollback", drained, lambda: None, then_kill=signal.SIGKILL)
    assert died.status == -signal.SIGKILL, died.output
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert (lab.ip_mtus(), told(lab)) == (before, was)
    settled(lab)
    assert lab.stalls() == []
