"""Who is to blame: one interface where that can be told, both ends of a link where it can't."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from unit.mtu.evidence import LEG, blamed, device_ping, lab, leg, probes, read, step_with, triple
from unit.mtu.fabric import interface, inventory, load, paired, states


@pytest.fixture(scope="module")
def fabric():
    return lab()


def test_a_spine_port_that_counts_is_the_only_one_named(fabric):
    """Fault spine-1500: spine1's port to leaf2 says the new size and drops; what it drops on ingress it counts."""
    step, evidence = leg(0, **read(fabric[1], giants={"spine1:Ethernet2": 9}))
    result = judge(step, evidence, fabric[0])
    assert result.verdict == "failure"
    assert blamed(result) == [("spine1", "Ethernet2")]
    assert "9 frames" in result.findings[0]["evidence"]


def test_a_tap_in_the_cable_names_the_link_and_both_ends(fabric):
    result = judge(*leg(0, **read(fabric[1])), fabric[0])
    assert sorted(blamed(result)) == [("leaf2", "Ethernet1"), ("spine1", "Ethernet2")]
    assert all("leaf2:Ethernet1 - spine1:Ethernet2" in finding["reason"] for finding in result.findings)


def test_a_size_that_reads_back_too_low_is_named(fabric):
    evidence = read(fabric[1])
    evidence["after"]["leaf2"]["interfaces"]["Ethernet1"]["ip_mtu"] = 1500
    result = judge(*leg(0, **evidence), fabric[0])
    assert blamed(result) == [("leaf2", "Ethernet1")]
    assert "reads back an IP MTU of 1500" in result.findings[0]["reason"]


def test_what_was_planned_must_read_back_even_if_all_packets_pass(fabric):
    step = fabric[2].step("fabric.1.link")
    rows = [device_ping(a, b, size) for a, b in step.gate.pairs for size in step.gate.ip_mtus]
    evidence = {"device_pings": rows, **read(fabric[1])}
    assert judge(step, evidence, fabric[0]).verdict == "success"
    port = evidence["after"]["spine1"]["interfaces"]["Ethernet3"]
    for size in (1500, 9500):
        port["ip_mtu"] = size
        result = judge(step.as_dict(), evidence, fabric[0])
        assert (result.verdict, blamed(result)) == ("failure", [("spine1", "Ethernet3")]), size
    port["ip_mtu"] = None
    result = judge(step.as_dict(), evidence, fabric[0])
    assert result.verdict == "error"
    assert "spine1:Ethernet3 does not tell its IP MTU, 9214 was planned" in str(result.actual)


def cross(fabric, bad, **evidence):
    """The cross-rack proof where pairs that `bad` picks lose 10 of 21 flows."""
    step = fabric[2].step("fabric.proof")
    replies = {}
    for pair in step.gate.pairs:
        rows = triple(pair[1], flows=21, lost=10 if bad(*pair) else 0)
        replies.setdefault(pair[0], {"ok": True, "flows": []})["flows"] += rows
    return step, {"probes": replies, **evidence}


def touches_rack2(source, target):
    return bool({source, target} & {"h3:eth1", "h4:eth1"})


def test_cross_rack_with_a_counting_port(fabric):
    evidence = read(fabric[1], giants={"spine1:Ethernet2": 40})
    result = judge(*cross(fabric, touches_rack2, **evidence), fabric[0])
    assert blamed(result) == [("spine1", "Ethernet2")]
    assert "16 pairs lose packets" in result.findings[0]["evidence"]


def test_a_member_of_a_lag_that_counts_is_named_and_not_the_lag_that_sums_up():
    intent, topology = load(
        paired(
            jumbo_lags=[
                *paired()["h1"]["variables"]["jumbo_lags"],
                {"device": "leaf1a", "name": "Port-Channel11", "members": ["Ethernet11"]},
            ]
        )
    )
    found = states(intent)
    found["leaf1a"]["interfaces"]["Port-Channel11"] = interface("Port-Channel11", 9214)
    couple = (("h1:bond0", "h2:bond0"),)
    counted = read(found, 9000, {"leaf1a:Ethernet11": 11, "leaf1a:Port-Channel11": 11})
    evidence = {"probes": probes(*couple, flows=21, lost=11), **counted}
    assert blamed(judge(step_with("rack_receive", couple, flows=21), evidence, topology)) == [("leaf1a", "Ethernet11")]


@pytest.mark.parametrize(
    ("giants", "wanted", "said"),
    [
        ({"spine1:Ethernet12": 2}, [("spine1", "Ethernet12")], "it drops frames as too long"),
        ({}, [("leaf2", "Port-Channel1"), ("spine1", "Port-Channel2")], "or one of 1 others drops large packets"),
    ],
    ids=["the second member counts", "nobody counts"],
)
def test_a_ping_over_an_aggregate_may_have_taken_any_of_its_cables(giants, wanted, said):
    lags = [
        {"device": "leaf2", "name": "Port-Channel1", "members": ["Ethernet1", "Ethernet31"]},
        {"device": "spine1", "name": "Port-Channel2", "members": ["Ethernet2", "Ethernet12"]},
    ]
    hosts = inventory(jumbo_lags=lags)
    second = {"ends": ["leaf2:Ethernet31", "spine1:Ethernet12"], "routing": "static"}
    hosts["h1"]["variables"]["jumbo_links"].append(second)
    intent, topology = load(hosts)
    found = states(intent)
    pair = ("leaf2:Port-Channel1", "spine1:Port-Channel2")
    rows = [device_ping(*pair, 9214, 0), device_ping(*pair, 1500)]
    evidence = {"device_pings": rows, **read(found, giants=giants)}
    result = judge(step_with("leg", [pair], (9214, 1500)), evidence, topology)
    assert sorted(blamed(result)) == wanted
    assert all(said in finding["reason"] for finding in result.findings)


def test_giants_elsewhere_are_told_but_explain_no_pair(fabric):
    evidence = read(fabric[1], giants={"spine1:Ethernet2": 40, "leaf3:Ethernet21": 7})
    result = judge(*cross(fabric, touches_rack2, **evidence), fabric[0])
    assert [(f["host"], f["reason"]) for f in result.findings] == [
        ("spine1", "it drops frames as too long"),
        ("leaf3", "it counts frames as too long"),
    ]


def test_giants_fail_a_gate_whose_packets_all_pass(fabric):
    result = judge(*leg(3, **read(fabric[1], giants={"leaf2:Ethernet1": 1})), fabric[0])
    assert (result.verdict, blamed(result)) == ("failure", [("leaf2", "Ethernet1")])


def test_two_faults_are_both_named(fabric):
    evidence = read(fabric[1], giants={"spine1:Ethernet2": 40, "spine2:Ethernet3": 20})
    result = judge(*cross(fabric, lambda _a, _b: True, **evidence), fabric[0])
    assert sorted(blamed(result)) == [("spine1", "Ethernet2"), ("spine2", "Ethernet3")]


def test_cross_rack_without_counters_names_the_links_it_cannot_tell_apart(fabric):
    result = judge(*cross(fabric, touches_rack2, **read(fabric[1])), fabric[0])
    assert {host for host, _name in blamed(result)} == {"leaf2", "spine1", "spine2"}
    assert all("or one of 1 others" in finding["reason"] for finding in result.findings)


def test_pings_over_the_legs_tell_them_apart(fabric):
    step, evidence = cross(fabric, touches_rack2, **read(fabric[1]))
    rows = [device_ping(a, b, 9000, 0) for a, b in LEG] + [device_ping(a, b, 1500) for a, b in LEG]
    other = [device_ping("leaf2:Ethernet2", "spine2:Ethernet2", size) for size in (9000, 1500)]
    result = judge(step, {**evidence, "device_pings": rows + other}, fabric[0])
    assert sorted(blamed(result)) == [("leaf2", "Ethernet1"), ("spine1", "Ethernet2")]


def test_one_direction_only(fabric):
    """Everything towards rack 2 that goes by spine1 is lost, what comes from it arrives."""
    result = judge(*cross(fabric, lambda _a, b: b in ("h3:eth1", "h4:eth1"), **read(fabric[1])), fabric[0])
    assert ("leaf2", "Ethernet1") in blamed(result)
    assert ("leaf1", "Ethernet1") not in blamed(result)


def test_a_host_that_receives_nothing_large(fabric):
    step = fabric[2].step("fabric.proof")
    replies = {}
    for source, target in step.gate.pairs:
        rows = triple(target, flows=21, lost=21 if target == "h3:eth1" else 0)
        replies.setdefault(source, {"ok": True, "flows": []})["flows"] += rows
    result = judge(step, {"probes": replies, **read(fabric[1])}, fabric[0])
    assert sorted(blamed(result)) == [("h3", "eth1"), ("leaf2", "Ethernet11")]


def test_a_router_that_answers_is_named(fabric):
    step, evidence = cross(fabric, touches_rack2, **read(fabric[1]))
    for reply in evidence["probes"].values():
        for row in reply["flows"]:
            if row["ip_mtu"] == 9000 and not row["received"]:
                row["too_big"] = [{"from": "10.255.0.1", "mtu": 1500}]
    result = judge(step, evidence, fabric[0])
    assert ("spine1", "Ethernet2") in blamed(result)
    assert {host for host, _name in blamed(result)} == {"spine1"}


def test_a_gateway_that_cannot_reach_a_host(fabric):
    pairs = (("leaf1:Vlan10", "h1:eth1"), ("leaf1:Vlan10", "h2:eth1"))
    rows = [device_ping("leaf1:Vlan10", "h1:eth1", 9000, 0), device_ping("leaf1:Vlan10", "h1:eth1", 1500)]
    rows += [device_ping("leaf1:Vlan10", "h2:eth1", size) for size in (9000, 1500)]
    result = judge(step_with("gateway", pairs), {"device_pings": rows, **read(fabric[1])}, fabric[0])
    assert sorted(blamed(result)) == [("h1", "eth1"), ("leaf1", "Ethernet11")]
