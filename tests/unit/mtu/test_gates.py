"""Gates: the truth table of the probe triple, missing measurements, pings, counters, and who is to blame."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Gate, Step
from unit.mtu.fabric import inventory, load, states


@pytest.fixture(scope="module")
def fabric():
    intent, topology = load(inventory())
    found = states(intent)
    addresses = {"spine1:Ethernet1": "10.255.0.1", "spine2:Ethernet1": "10.255.0.3"}
    for end, address in addresses.items():
        device, name = end.split(":")
        found[device]["interfaces"][name]["addresses"] = [f"{address}/31"]
    return topology, found, make_plan(intent, topology, found)


def step_with(name, pairs, sizes=(9000, 1500), flows=1, changes=()):
    return Step("x", "canary", 1, "host_link", tuple(changes), gate=Gate(name, tuple(pairs), sizes, flows))


def flow(target, size, received=1, sent=1, **more):
    return {
        "dst": "10.0.0.1",
        "host": target,
        "ip_mtu": size,
        "port": 40000,
        "sent": sent,
        "received": received,
        "reported": [size] if received else [],
        "reassembled": False if received else None,
        "local_error_mtu": None,
        "too_big": [],
        **more,
    }


def refused(target, size=9001, mtu=9000):
    return flow(target, size, received=0, sent=0, local_error_mtu=mtu)


def triple(target, large=1, small=1, flows=1, lost=0, **more):
    """Probes to one target: flows at both sizes, `lost` of the large ones, and the refusal."""
    rows = [flow(target, 9000, received=large if index >= lost else 0, **more) for index in range(flows)]
    return [*rows, *(flow(target, 1500, received=small) for _ in range(flows)), refused(target)]


def probes(*pairs, **options):
    replies = {}
    for source, target in pairs:
        replies.setdefault(source, {"ok": True, "flows": []})["flows"] += triple(target, **options)
    return replies


PAIRS = (("h1:eth1", "h2:eth1"), ("h2:eth1", "h1:eth1"))


def test_the_good_triple(fabric):
    result = judge(step_with("rack_receive", PAIRS), {"probes": probes(*PAIRS)}, fabric[0])
    assert (result.verdict, result.findings) == ("success", ())
    assert result.expected == (
        "2 pairs carry 9000 and 1500 bytes, unfragmented, and no sender passes its own link MTU,"
        " no port counts a frame as too long"
    )
    assert result.actual == "2 of 2 pairs do"
    assert set(result.as_dict()) == {"name", "verdict", "expected", "actual", "findings"}


def one(rows):
    """Evidence of the first pair's rows, the second being good."""
    return {"probes": {"h1:eth1": {"ok": True, "flows": rows}, "h2:eth1": {"ok": True, "flows": triple("h1:eth1")}}}


H2 = "h2:eth1"
TABLE = [
    ("N lost, old size passes", triple(H2, large=0), "failure", "9000 bytes lost in 1 of 1 flows"),
    ("nothing passes", triple(H2, large=0, small=0), "failure", "not even 1500 bytes pass"),
    ("N + 1 passes", [*triple(H2)[:2], flow(H2, 9001)], "failure", "a packet of 9001 bytes passed"),
    ("N + 1 not refused", [*triple(H2)[:2], flow(H2, 9001, received=0)], "failure", "did not refuse 9001"),
    ("link smaller than N", [*triple(H2)[:2], refused(H2, 9001, 8999)], "failure", "link MTU is 8999"),
    (
        "the sender refuses N",
        [flow(H2, 9000, 0, 0, local_error_mtu=1500), *triple(H2)[1:]],
        "failure",
        "refuses 9000 bytes (1500)",
    ),
    ("fragments", triple(H2, reassembled=True), "failure", "arrived in fragments"),
    ("cut short", triple(H2, reported=[1500]), "failure", "9000 bytes were sent, 1500 arrived"),
    ("no refusal tried", triple(H2)[:2], "error", "no packet above the sender's link MTU was tried"),
    ("no old size", [triple(H2)[0], triple(H2)[2]], "error", "at 1500: 0 of 1 flows were measured"),
    ("no rows", [], "error", "0 of 1 flows were measured"),
    ("not told whether in fragments", triple(H2, reassembled=None), "error", "did not tell how"),
    ("no length told", triple(H2, reported=[]), "error", "did not tell how"),
    ("not sent", [flow(H2, 9000, 0, 0), *triple(H2)[1:]], "error", "a flow was not sent"),
    ("other hosts' rows", triple("h3:eth1"), "error", "0 of 1 flows were measured"),
]


@pytest.mark.parametrize(("rows", "verdict", "told"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_truth_table_of_the_triple(fabric, rows, verdict, told):
    result = judge(step_with("rack_receive", PAIRS), one(rows), fabric[0])
    assert result.verdict == verdict
    assert told in result.actual
    assert bool(result.findings) == (verdict == "failure")


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ({}, "h1:eth1 was not asked"),
        ({"h1": {"error": "ssh: no route to host"}, "h2": {"error": "x"}}, "no route to host"),
        ({"h1:eth1": {"ok": False, "error": {"message": "port taken"}}, "h2:eth1": {"ok": False}}, "port taken"),
    ],
)
def test_a_silent_host_is_an_error_not_a_pass(fabric, replies, told):
    result = judge(step_with("rack_receive", PAIRS), {"probes": replies}, fabric[0])
    assert result.verdict == "error"
    assert told in result.actual
    assert result.findings == ()


def test_too_few_flows_are_an_error(fabric):
    result = judge(step_with("cross_rack", PAIRS, flows=21), {"probes": probes(*PAIRS, flows=20)}, fabric[0])
    assert result.verdict == "error"
    assert "20 of 21 flows" in result.actual


def test_some_lost_flows_of_the_old_size_are_no_matter_of_mtu(fabric):
    rows = [flow(H2, 9000, 0), flow(H2, 9000), flow(H2, 1500, 0), flow(H2, 1500), refused(H2)]
    result = judge(step_with("cross_rack", PAIRS[:1], flows=2), one(rows), fabric[0])
    assert result.verdict == "failure"
    assert "no matter of MTU" in result.findings[0]["reason"]


def test_no_pairs_is_skipped(fabric):
    assert judge(step_with("rack_receive", ()), {}, fabric[0]).verdict == "skipped"
    assert judge({"gate": None}, {}, fabric[0]).verdict == "skipped"


def test_a_silent_host_blames_itself_once(fabric):
    pairs = (("h1:eth1", "h2:eth1"), ("h3:eth1", "h2:eth1"))
    result = judge(step_with("cross_rack", pairs), {"probes": probes(*pairs, large=0, small=0)}, fabric[0])
    assert [(f["host"], f["interface"]) for f in result.findings] == [("h2", "eth1")]


# ---------------------------------------------------------------------- pings


def echo(target, size, received=3, **more):
    row = {"dst": "10.0.0.1", "host": target, "ip_mtu": size, "sent": 3, "received": received, "local": False}
    return {**row, "too_big_by": None, "reported_mtu": None, "error": None, **more}


def pings(rows_of_first):
    return {
        "pings": {
            "h1:eth1": {"pings": rows_of_first},
            "h2:eth1": {"pings": [echo("h1:eth1", 9000), echo("h1:eth1", 1500)]},
        }
    }


@pytest.mark.parametrize(
    ("rows", "verdict", "told"),
    [
        ([echo(H2, 9000), echo(H2, 1500)], "success", "2 of 2"),
        ([echo(H2, 9000, 1), echo(H2, 1500)], "success", "2 of 2"),
        ([echo(H2, 9000, 0), echo(H2, 1500)], "failure", "9000 bytes lost"),
        ([echo(H2, 9000, 0, local=True, reported_mtu=1500), echo(H2, 1500)], "failure", "refuses 9000 bytes (1500)"),
        ([echo(H2, 9000, 0), echo(H2, 1500, 0)], "failure", "not even 1500"),
        ([echo(H2, 9000, 0, sent=0), echo(H2, 1500)], "error", "nothing was sent"),
        ([echo(H2, 9000, 0, error="ping: unknown option"), echo(H2, 1500)], "error", "unknown option"),
        ([echo(H2, 9000)], "error", "at 1500 was not measured"),
    ],
)
def test_pings_after_the_lift(fabric, rows, verdict, told):
    result = judge(step_with("lifted", PAIRS), pings(rows), fabric[0])
    assert result.verdict == verdict
    assert told in result.actual


def device_ping(source, target, size, received=3, **more):
    host, name = source.split(":")
    row = {"host": host, "interface": name, "peer": target, "target": "10.0.0.1", "ip_mtu": size, "sent": 3}
    return {**row, "received": received, **more}


LEG = (("leaf2:Ethernet1", "spine1:Ethernet2"), ("spine1:Ethernet2", "leaf2:Ethernet1"))
CLEAN_LEG = (("leaf1:Ethernet1", "spine1:Ethernet1"), ("spine1:Ethernet1", "leaf1:Ethernet1"))


def leg_pings(received, **more):
    rows = [device_ping(a, b, 9214, received, **more) for a, b in LEG] + [device_ping(a, b, 1500) for a, b in LEG]
    return rows + [device_ping(a, b, size) for a, b in CLEAN_LEG for size in (9214, 1500)]


def leg(received=3, **evidence):
    step = step_with("leg", (*LEG, *CLEAN_LEG), (9214, 1500))
    return step, {"device_pings": leg_pings(received), **evidence}


def test_legs_that_carry(fabric):
    assert judge(*leg(), fabric[0]).verdict == "success"


@pytest.mark.parametrize(
    ("more", "verdict", "told"),
    [
        ({"error": "eAPI does not answer"}, "error", "eAPI does not answer"),
        ({"sent": None}, "error", "nothing was sent"),
        ({"local_error_mtu": 1500}, "failure", "refuses 9214 bytes (1500)"),
        ({"too_big_local": True, "reported_mtu": 1500}, "failure", "refuses 9214 bytes (1500)"),
    ],
)
def test_what_devices_say_of_their_pings(fabric, more, verdict, told):
    step, evidence = leg()
    evidence["device_pings"] = leg_pings(0, **more)
    result = judge(step, evidence, fabric[0])
    assert result.verdict == verdict
    assert told in result.actual


# ---------------------------------------------------------------------- blame


def read(found, size=9214, giants=None):
    """States before and after a probe, ports at a size, some having counted giants."""
    before = copy.deepcopy(found)
    for state in before.values():
        for port in state["interfaces"].values():
            port["ip_mtu"] = max(port["ip_mtu"], size)
            port["counters"] = {"oversize": 4, "length_errors": None, "input_packets": 10}
    after = copy.deepcopy(before)
    for end, count in (giants or {}).items():
        device, name = end.split(":")
        after[device]["interfaces"][name]["counters"]["oversize"] += count
    return {"before": before, "after": after}


def blamed(result):
    return [(finding["host"], finding["interface"]) for finding in result.findings]


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
    evidence["after"]["spine1"]["interfaces"]["Ethernet3"]["ip_mtu"] = 1500
    result = judge(step.as_dict(), evidence, fabric[0])
    assert (result.verdict, blamed(result)) == ("failure", [("spine1", "Ethernet3")])


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


# ---------------------------------------------------------------------- soak


def soak(fabric, giants=None, rows=None, **evidence):
    return judge(
        step_with("soak", PAIRS),
        {**pings(rows or [echo(H2, 9000), echo(H2, 1500)]), **read(fabric[1], giants=giants), **evidence},
        fabric[0],
    )


def test_a_quiet_soak(fabric):
    result = soak(fabric)
    assert result.verdict == "success"
    assert result.expected.endswith("no port counts a frame as too long")


def test_a_soak_with_giants(fabric):
    result = soak(fabric, giants={"leaf3:Ethernet21": 1})
    assert (result.verdict, blamed(result)) == ("failure", [("leaf3", "Ethernet21")])


def test_a_soak_without_large_frames_proves_nothing(fabric):
    assert soak(fabric, rows=[echo(H2, 9000, 0, sent=0), echo(H2, 1500)]).verdict == "error"
    assert soak(fabric, rows=[echo(H2, 9000, 0), echo(H2, 1500)]).verdict == "failure"


def test_a_soak_without_counters_proves_nothing(fabric):
    assert "no device counts" in soak(fabric, before={}, after={}).actual


def test_counters_that_were_cleared_prove_nothing(fabric):
    evidence = read(fabric[1])
    evidence["after"]["leaf1"]["interfaces"]["Ethernet1"]["counters"]["oversize"] = 0
    result = soak(fabric, **evidence)
    assert (result.verdict, "were cleared" in result.actual) == ("error", True)


def test_a_device_that_could_not_be_read_again(fabric):
    evidence = read(fabric[1])
    evidence["after"]["leaf1"] = {"host": "leaf1", "error": {"text": "gone"}}
    assert "leaf1 was read only once" in soak(fabric, **evidence).actual
