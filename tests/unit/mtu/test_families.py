"""A gate measures each IP family in which the ends' segment may send large packets, and none may be missing."""

import copy

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.families import addresses_of
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement
from unit.mtu.evidence import flow, step_with
from unit.mtu.fabric import inventory, load, states

PAIR = ("h1:eth1", "h2:eth1")
V4 = {"h1": "10.10.1.11", "h2": "10.10.1.12"}
V6 = {"h1": "2001:db8:1::11", "h2": "2001:db8:1::12"}


@pytest.fixture
def dual():
    """Return (topology, states) of the sample fabric, whose first rack has both families on its hosts."""
    hosts = inventory()
    shared = hosts["h1"]["variables"]["jumbo_segments"]
    next(one for one in shared if one["name"] == "back1")["subnets"] = ["10.10.1.0/24", "2001:db8:1::/64"]
    intent, topology = load(hosts)
    found = states(intent)
    for host, four in V4.items():
        addresses = ["192.0.2.7/24", f"{four}/24", "fe80::1/64", f"{V6[host]}/64"]
        found[host]["interfaces"]["eth1"]["addresses"] = addresses
    return topology, found


def rows(address, sizes=(9000, 1500), flows=2, lost=0):
    told = [
        flow("h2:eth1", size, received=0 if size > 1500 and n < lost else 1) for size in sizes for n in range(flows)
    ]
    told.append(flow("h2:eth1", 9001, received=0, sent=0, local_error_mtu=9000))
    return [{**row, "dst": address} for row in told]


def verdict(dual, flows):
    topology, found = dual
    evidence = {"probes": {PAIR[0]: {"ok": True, "flows": flows}}, "before": found, "after": copy.deepcopy(found)}
    return judge(step_with("rack_receive", (PAIR,), flows=2), evidence, topology)


def test_addresses_in_the_subnets_of_the_segment_count(dual):
    topology, found = dual
    assert addresses_of("h1:eth1", found, topology) == {4: V4["h1"], 6: V6["h1"]}


def test_both_families_pass(dual):
    assert verdict(dual, [*rows(V4["h2"]), *rows(V6["h2"])]).verdict == "success"


def test_a_family_that_was_not_measured_is_an_error(dual):
    result = verdict(dual, rows(V4["h2"]))
    assert result.verdict == "error"
    assert "in IPv6: 0 of 2 flows were measured" in result.actual


def test_loss_in_one_family_is_a_failure(dual):
    assert verdict(dual, [*rows(V4["h2"]), *rows(V6["h2"], lost=1)]).verdict == "failure"


def test_a_family_whose_probes_prove_nothing_is_a_failure(dual):
    six = rows(V6["h2"])
    six[-1].update(received=1, local_error_mtu=None)
    assert verdict(dual, [*rows(V4["h2"]), *six]).verdict == "failure"


def test_an_address_outside_the_segment_asks_for_nothing(dual):
    topology, found = dual
    for host in V4:
        addresses = found[host]["interfaces"]["eth1"]["addresses"]
        found[host]["interfaces"]["eth1"]["addresses"] = [a for a in addresses if not a.startswith("2001:db8:1:")]
        found[host]["interfaces"]["eth1"]["addresses"].append("2001:db8:f::1/64")
    assert verdict((topology, found), rows(V4["h2"])).verdict == "success"


def test_each_family_is_asked_of_the_program_in_a_request_of_its_own(dual):
    topology, found = dual
    trips = Measurement(topology, found, {}, 0)._trips([PAIR, PAIR[::-1]], (4, 6))
    assert trips == {
        ("h1:eth1", V4["h1"]): [("h2:eth1", V4["h2"])],
        ("h1:eth1", V6["h1"]): [("h2:eth1", V6["h2"])],
        ("h2:eth1", V4["h2"]): [("h1:eth1", V4["h1"])],
        ("h2:eth1", V6["h2"]): [("h1:eth1", V6["h1"])],
    }
