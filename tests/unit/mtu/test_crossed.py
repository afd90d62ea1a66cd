"""Which ports a gate's probes must arrive at, and what a port that stays idle does to its verdict."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.crossed import drained_by, not_crossed, ports_to_cross
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from unit.mtu.evidence import device_ping, probes, step_with
from unit.mtu.fabric import load, paired

FAR = ("h1:bond0", "h3:bond0")


@pytest.fixture(scope="module")
def topology():
    _intent, topology = load(paired())
    return topology


def test_members_of_a_lag_and_every_leg_between_pairs_have_to_be_crossed(topology):
    ports = ports_to_cross({"name": "cross_rack", "pairs": [FAR]}, topology)
    assert ports[:2] == ["leaf1a:Ethernet11", "leaf1b:Ethernet11"]
    assert sorted(ports[2:]) == [
        "leaf2a:Ethernet1",
        "leaf2a:Ethernet2",
        "leaf2b:Ethernet1",
        "leaf2b:Ethernet2",
        *(f"spine{spine}:Ethernet{leaf}" for spine in (1, 2) for leaf in (1, 2)),
    ]


def test_within_a_rack_only_the_members_count_and_pings_of_devices_need_none(topology):
    gate = {"name": "rack_receive", "pairs": [("h1:bond0", "h2:bond0")]}
    assert ports_to_cross(gate, topology) == ["leaf1a:Ethernet11", "leaf1b:Ethernet11"]
    assert ports_to_cross({**gate, "name": "lifted"}, topology) == []
    _intent, beside = load(paired(single=1))
    assert ports_to_cross({**gate, "pairs": [("h1:bond0", "h3:eth1")]}, beside) == [
        "leaf1a:Ethernet11",
        "leaf1b:Ethernet11",
    ]


def judged(topology, counted):
    """The gate within a rack, all of whose probes arrive; `counted`: packets of the two members meanwhile."""
    couple = (("h1:bond0", "h2:bond0"),)
    after = {}
    for leaf, count in counted.items():
        port = {"ip_mtu": 9214, "counters": {"input_packets": None if count is None else 100 + count}}
        after[leaf] = {"interfaces": {"Ethernet11": port}}
    before = {leaf: {"interfaces": {"Ethernet11": {"counters": {"input_packets": 100}}}} for leaf in counted}
    evidence = {"probes": probes(*couple, flows=21), "before": before, "after": after}
    return judge(step_with("rack_receive", couple, flows=21), evidence, topology)


def test_a_member_that_no_probe_took_is_named_and_nothing_is_proven(topology):
    result = judged(topology, {"leaf1a": 40, "leaf1b": 0})
    assert result.verdict == "error"
    assert "leaf1b:Ethernet11 has received nothing meanwhile" in result.actual
    assert [(f["host"], f["interface"]) for f in result.findings] == [("leaf1b", "Ethernet11")]


@pytest.mark.parametrize("other", [3, None])
def test_members_that_received_something_or_do_not_count_are_no_trouble(topology, other):
    result = judged(topology, {"leaf1a": 40, "leaf1b": other})
    assert result.verdict == "success", result.actual
    assert f"all {2 if other else 1} ports on their ways receive packets" in result.expected


def test_a_leg_that_only_its_own_ping_took_is_judged_by_that_ping(topology):
    leg = ("spine1:Ethernet3", "leaf2a:Ethernet1")
    rows = [device_ping(*ends, size, int(size == 1500)) for ends in (leg, leg[::-1]) for size in (9000, 1500)]
    evidence = {"probes": probes(FAR, flows=53), "device_pings": rows}
    result = judge(step_with("cross_rack", (FAR,), flows=53), evidence, topology)
    assert result.verdict == "failure"
    assert "spine1:Ethernet3 to leaf2a:Ethernet1: 9000 bytes are lost over this link" in result.actual
    assert [(f["host"], f["interface"]) for f in result.findings] == [("leaf2a", "Ethernet1"), ("spine1", "Ethernet3")]


def test_what_a_step_drains_is_not_crossed_by_its_probes(topology):
    both = ("leaf1a:Ethernet1", "spine1:Ethernet1")
    changes = [{"host": end[:-10], "object": end[-9:], "field": "drained", "from": False, "to": True} for end in both]
    assert drained_by({"changes": changes}) == list(both)
    assert drained_by({"changes": [{**change, "to": False} for change in changes]}) == []
    gate = {"name": "cross_rack", "pairs": [FAR]}
    gone = set(ports_to_cross(gate, topology)) - set(ports_to_cross(gate, topology, both))
    assert gone == {"spine1:Ethernet1"}
    assert not_crossed(gate, topology, dict.fromkeys(both, 0), both) == []
