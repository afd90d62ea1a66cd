"""Gates: the truth table of the probe triple, missing measurements, pings, counters, and who is to blame."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from unit.mtu.evidence import blamed, flow, lab, leg, leg_pings, probes, read, refused, step_with, triple


@pytest.fixture(scope="module")
def fabric():
    return lab()


PAIRS = (("h1:eth1", "h2:eth1"), ("h2:eth1", "h1:eth1"))


def test_the_good_triple(fabric):
    result = judge(step_with("rack_receive", PAIRS), {"probes": probes(*PAIRS)}, fabric[0])
    assert (result.verdict, result.findings) == ("success", ())
    assert result.expected == ("2 pairs carry 9000 and 1500 bytes, unfragmented, and no sender passes its own link MTU")
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
    assert result.expected.endswith("none of the 42 ports that count sees a frame too long")


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
