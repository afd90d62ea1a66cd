"""A rack of an MLAG pair: one member after the other, hosts lifted after both, and all the way back."""

import re

import pytest
from lab_inventories import pair_fabric
from rollout_helpers import fabric_of

pytestmark = pytest.mark.lab

PAIR = {"leaf3", "leaf4"}


@pytest.fixture
def lab(tmp_path):
    source = pair_fabric(tmp_path / "inventory", 140, stretched=False, jumbo_lab_traffic=0.1)
    with fabric_of(tmp_path, source) as fabric:
        yield fabric


def test_a_pair_goes_up_one_member_after_the_other_and_all_the_way_back(lab):
    planned = lab.play("rollout", "--check", "--diff")
    assert (planned.status, planned.report["verdict"]) == (0, "planned"), planned.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert not audit["written"], (name, audit["entries"])

    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert {mtu for host in ("h1", "h5", "h6", "h7") for mtu in now[host].values()} == {9000}
    assert {(now[leaf]["Vlan10"], now[leaf]["Vlan4094"]) for leaf in PAIR} == {(9000, 9214)}
    assert lab.lab.ping("h1", lab.lab.address("h5"), 9000).received == 2
    never_both(outcome.journal)
    lifted = [line["seq"] for line in outcome.journal if line["verb"] == "lift" and line["host"] in {"h5", "h6", "h7"}]
    svis = [line["seq"] for line in outcome.journal if is_done(line, "confirm") and line["step"].endswith(".svi")]
    assert max(svis) < min(lifted)

    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert not re.search(r"changed=[1-9]", again.output)

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    never_both(outcome.journal)
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert lab.stalls() == []


def is_done(line, verb):
    return line["verb"] == verb and line["event"] == "done"


def never_both(lines):
    """At no moment is something unconfirmed, or being taken back, at both members of the pair."""
    open_at = {leaf: set() for leaf in PAIR}
    for line in (line for line in lines if line["host"] in PAIR):
        mine, verb, event = open_at[line["host"]], line["verb"], line["event"]
        if (verb, event) in {("apply", "intent"), ("revert", "intent")}:
            mine.add(line["step"])
        elif (verb, event) in {("confirm", "done"), ("revert", "done")}:
            mine.discard(line["step"])
        shared = set.intersection(*open_at.values())  # what joins the two changes at both at once
        assert not all(open_at.values()) or shared, line
