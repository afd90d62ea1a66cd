"""Each fault of the lab ends as its help says, and no production transfer stalls on the way."""

import pytest

pytestmark = pytest.mark.lab

UPLINKS = {"leaf1": ("Ethernet1", "Ethernet2"), "spine1": ("Ethernet1", "Ethernet2", "Ethernet3")}


def findings(outcome):
    return [(finding["host"], finding["interface"]) for finding in outcome.report["findings"]]


def racks_are_proven(fabric):
    now = fabric.ip_mtus()
    return all(now[f"h{n}"]["eth1"] == 9000 for n in range(1, 7)) and all(
        now[f"leaf{n}"]["Vlan10"] == 9000 for n in (1, 2, 3)
    )


def underlay_is_at(fabric, ip_mtu):
    now = fabric.ip_mtus()
    return all(now[host][port] == ip_mtu for host, ports in UPLINKS.items() for port in ports)


def test_a_spine_port_that_lies_is_named_alone_and_its_stage_taken_back(fabric):
    lab = fabric("spine-1500")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    assert findings(outcome) == [("spine1", "Ethernet2")]
    assert outcome.stage("leaf")["verdict"] == "passed"
    assert outcome.stage("fabric")["verdict"] == "reverted"
    assert racks_are_proven(lab)
    assert underlay_is_at(lab, 1500)
    assert lab.stalls() == []


@pytest.mark.long
def test_a_tap_has_no_interface_so_its_link_is_named(fabric):
    lab = fabric("tap-1518")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    assert sorted(findings(outcome)) == [("leaf3", "Ethernet2"), ("spine2", "Ethernet3")]
    assert "leaf3:Ethernet2 - spine2:Ethernet3" in outcome.report["findings"][0]["reason"]
    assert racks_are_proven(lab)
    assert underlay_is_at(lab, 1500)
    assert lab.stalls() == []


@pytest.mark.long
def test_filtered_icmp_is_a_finding_and_no_failure(fabric):
    lab = fabric("icmp-filtered")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert findings(outcome) == [("leaf1", None)]
    assert "fragmentation needed" in outcome.report["findings"][0]["reason"]
    assert '  finding: leaf1: its "fragmentation needed"' in outcome.output
    assert lab.stalls() == []


def test_a_switch_that_can_do_less_clamps_its_links_with_a_sentence(fabric):
    lab = fabric("eos-max-9194")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["spine1"]["Ethernet1"], now["leaf1"]["Ethernet1"]) == (9194, 9194)
    assert (now["spine2"]["Ethernet1"], now["leaf1"]["Ethernet2"]) == (9214, 9214)
    notes = "\n".join(outcome.report["notes"])
    assert "carries 9194, not 9214: spine1:Ethernet1" in notes
    assert lab.stalls() == []


def test_a_size_that_one_end_cannot_do_is_refused_with_the_largest_common_one(fabric):
    lab = fabric("eos-max-9194")
    outcome = lab.play("rollout", "-e", '{"jumbo_ip_mtu": 9200}')
    assert (outcome.status, outcome.report["verdict"]) == (2, "failed"), outcome.output
    assert "9194" in outcome.output
    assert "spine1:Ethernet1" in outcome.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}


def test_a_host_that_is_lost_at_apply_takes_its_wave_back_and_blocks_the_next(fabric):
    lab = fabric("host-unreachable", jumbo_max_wave=1)
    outcome = lab.play("rollout")
    assert outcome.status == 4, outcome.output
    assert outcome.report["verdict"] == "failed"  # h3 cannot be read back
    assert findings(outcome) == [("h3", None)]
    now = lab.ip_mtus()
    assert (now["h1"]["eth1"], now["leaf1"]["Vlan10"]) == (9000, 9000)  # the canary is proven and keeps it
    assert (now["h4"]["eth1"], now["leaf2"]["Vlan10"]) == (1500, 1500)  # its own wave
    assert (now["h5"]["eth1"], now["leaf3"]["Vlan10"]) == (1500, 1500)  # the next one never began
    assert not [line for line in outcome.journal if line["host"] in ("h5", "h6", "leaf3")]
    assert not (lab.evidence / "lock").exists()
    assert lab.stalls() == []
