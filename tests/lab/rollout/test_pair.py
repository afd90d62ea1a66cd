"""A rack of an MLAG pair: one member after the other, hosts lifted after both, and all the way back."""

import contextlib
import re

import pytest
from lab_helpers import wait_until
from lab_inventories import pair_fabric
from rollout_helpers import fabric_of, is_done, never_both

pytestmark = pytest.mark.lab

PAIR = {"leaf3", "leaf4"}


@pytest.fixture
def pair(tmp_path):
    """Start the fabric with the pair, with a fault or not."""
    with contextlib.ExitStack() as labs:

        def start(fault="", *, stretched=False):
            source = pair_fabric(tmp_path / "inventory", 140, stretched=stretched, jumbo_lab_traffic=0.1)
            return labs.enter_context(fabric_of(tmp_path, source, fault))

        yield start


@pytest.mark.long  # the bundled fabric has a pair as well, without a host of one uplink
def test_a_pair_goes_up_one_member_after_the_other_and_all_the_way_back(pair):
    lab = pair()
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
    never_both(outcome.journal, PAIR)
    lifted = [line["seq"] for line in outcome.journal if line["verb"] == "lift" and line["host"] in {"h5", "h6", "h7"}]
    svis = [line["seq"] for line in outcome.journal if is_done(line, "confirm") and line["step"].endswith(".svi")]
    assert max(svis) < min(lifted)

    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert not re.search(r"changed=[1-9]", again.output)

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    never_both(outcome.journal, PAIR)
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert lab.stalls() == []


@pytest.mark.parametrize("member", ["leaf3", pytest.param("leaf4", marks=pytest.mark.long)])
def test_a_member_port_that_takes_in_1500_only_is_named_alone_and_its_wave_taken_back(pair, member):
    lab = pair(f"spine-1500@{member}:Ethernet11")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    assert [(f["host"], f["interface"]) for f in outcome.report["findings"]] == [(member, "Ethernet11")]
    failed = next(gate for gate in outcome.stage("leaf")["gates"] if gate["verdict"] == "failure")
    assert "lost in" in failed["actual"]
    assert "of 21 flows" in failed["actual"]
    now = lab.ip_mtus()
    assert {now["h1"]["eth0"], now["leaf1"]["Vlan10"]} == {9000}  # the canary is proven and keeps it
    assert {mtu for host in ("h5", "h6", "h7") for mtu in now[host].values()} == {1500}
    assert {now[leaf]["Vlan10"] for leaf in PAIR} == {1500}
    assert lab.stalls() == []


@pytest.mark.long
@pytest.mark.parametrize(("step", "kept"), [("leaf.1.link", 1500), ("leaf.3.svi", 9000)])
def test_a_member_that_is_lost_before_it_can_confirm_goes_back_by_itself(pair, step, kept):
    """What joins the two goes back at both; of SVIs the first one is confirmed, and proven beside any of the second."""
    lab = pair()

    def applied(line):
        return (line["step"], line["host"]) == (step, "leaf4") and is_done(line, "apply")

    outcome = lab.play_and("rollout", applied, lambda: lab.lab.folder.ask("cut", node="leaf4"))
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert {finding["host"] for finding in outcome.report["findings"]} == {"leaf4"}
    changed = {"leaf.1.link": "Vlan4094", "leaf.3.svi": "Vlan10"}[step]
    wait_until(lambda: lab.ip_mtus()["leaf4"][changed] == 1500, within=150, what="the timer of leaf4 takes it back")
    now = lab.ip_mtus()
    assert now["leaf3"]["Vlan10"] == kept
    assert now["leaf3"]["Vlan4094"] == {"leaf.1.link": 1500, "leaf.3.svi": 9214}[step]
    assert {mtu for host in ("h5", "h6", "h7") for mtu in now[host].values()} == {kept}  # pinned, if they are raised
    pins = lab.lab.run("h5", "ip", "route", "show", "10.3.0.0/24")
    assert ("mtu 1500" in pins) == (kept == 9000)
    lab.lab.folder.ask("mend", node="leaf4")
    again = lab.play("rollout")
    assert again.report["verdict"] in ("passed", "reverted"), again.output
    last = again if again.status == 0 else lab.play("rollout")
    assert (last.status, last.report["verdict"]) == (0, "passed"), last.output
    assert lab.stalls() == []


@pytest.mark.long
def test_a_segment_that_is_stretched_by_a_trunk_follows_the_fabric_with_two_hosts_first(pair):
    lab = pair(stretched=True)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["h2"]["eth0"], now["h3"]["eth0"], now["leaf1"]["Vlan40"]) == (9000, 9000, 9000)
    for source, target in (("h2", "h3"), ("h3", "h2"), ("h3", "h5"), ("h5", "h2")):
        assert lab.lab.ping(source, lab.lab.address(target), 9000).received == 2, (source, target)
    raised = {line["step"]: line["seq"] for line in outcome.journal if is_done(line, "confirm")}
    assert max(raised[f"fabric.{wave}.link"] for wave in (1, 2, 3, 4)) < raised["fabric.5.host_link"]
    lifted = [
        (line["step"], change["object"])
        for line in outcome.journal
        if is_done(line, "lift")
        for change in line["data"]["changes"]
        if line["host"] == "h2"
    ]
    assert lifted[:2] == [("fabric.5.lift", "eth0 10.4.0.3/32"), ("fabric.6.lift", "eth0 10.4.0.0/24")]
    again = lab.play("rollout")
    assert not re.search(r"changed=[1-9]", again.output), again.output
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert "10.4.0.3" not in lab.routes("h2")
    assert lab.stalls() == []
