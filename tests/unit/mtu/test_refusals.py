"""What contradicts itself is refused: the objects by name, what is allowed, and the way out."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from unit.mtu.fabric import inventory, paired, planned


def only_problem(hosts):
    with pytest.raises(InvalidIntent) as caught:
        read_intent(hosts)
    (problem,) = caught.value.problems
    return problem


def refused(hosts, change):
    with pytest.raises(InvalidIntent) as caught:
        planned(hosts, change=change)
    return caught.value.problems[0]


# ---------------------------------------------------------------------- two gateways of one segment


def test_two_gateways_of_which_one_cannot_do_as_much():
    def limit(found):
        found["leaf1b"]["interfaces"]["Vlan10"]["max_ip_mtu"] = 8000

    problem = refused(paired(), limit)
    assert (problem.host, problem.object, problem.limit) == ("leaf1b", "Vlan10", "1280-8000")
    assert "largest common value" in problem.advice


def test_two_gateways_of_which_one_may_not_be_touched_leave_the_segment_out():
    hosts = paired(jumbo_excluded_interfaces=["leaf1b:Vlan10"])
    plan = planned(hosts)
    assert any("back1" in note and "leaf1b:Vlan10 is at 1500 and may not be touched" in note for note in plan.notes)
    assert not [c for step in plan.steps for c in step.changes if c.host == "leaf1a" and c.object == "Vlan10"]


def test_two_gateways_that_differ_are_made_equal_the_larger_one_first_down():
    def differ(found):
        found["leaf1b"]["interfaces"]["Vlan10"].update(ip_mtu=9214, persisted_mtu=9214)

    plan = planned(paired(), change=differ)
    found = [(c.host, c.before, c.to) for step in plan.steps for c in step.changes if c.object == "Vlan10"]
    assert found[0] == ("leaf1b", 9214, 9000)
    assert ("leaf1a", 1500, 9000) in found


# ---------------------------------------------------------------------- ends of an IGP that stay unequal


def test_igp_ends_that_cannot_be_equal():
    hosts = inventory(jumbo_stages=["canary", "leaf", "fabric", "soak"])
    hosts["h1"]["variables"]["jumbo_links"][0]["routing"] = "ospf"

    def differ(found):
        found["leaf1"]["interfaces"]["Ethernet1"].update(ip_mtu=9214, persisted_mtu=9214)
        found["spine1"]["interfaces"]["Ethernet1"]["max_ip_mtu"] = 9100

    problem = refused(hosts, differ)
    assert problem.message == (
        "ospf needs equal ends, and this plan would leave leaf1:Ethernet1 at 9214 and spine1:Ethernet1 at 9100"
    )
    assert (problem.host, problem.object, problem.limit) == ("leaf1", "Ethernet1", 9100)
    assert "stage lower" in problem.advice
    hosts["h1"]["variables"]["jumbo_stages"] = ["lower", "canary", "leaf", "fabric", "soak"]
    plan = planned(hosts, change=differ)  # drained, the large end comes down, then both are equal
    ends = [(c.host, c.object, c.to) for step in plan.steps for c in step.changes if c.object == "Ethernet1"]
    assert ("leaf1", "Ethernet1", 9100) in ends


# ---------------------------------------------------------------------- contradictions in the inventory


def test_a_segment_below_what_all_of_the_fabric_carries():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][0]["ip_mtu"] = 1400
    problem = only_problem(hosts)
    assert (problem.object, problem.variable, problem.wish, problem.limit) == (
        "back1",
        "jumbo_segments",
        1400,
        "1500-9000",
    )
    assert "jumbo_baseline_ip_mtu" in problem.advice


def test_an_interface_in_two_segments():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][2]["members"].append("h1:eth1")
    problem = only_problem(hosts)
    assert "h1:eth1 is a member twice, in back1 and back2" in problem.message


def lag(name, *members, device="leaf1"):
    return {"device": device, "name": name, "members": list(members)}


@pytest.mark.parametrize(
    ("lags", "told", "advice"),
    [
        ([lag("Po1", "Ethernet1"), lag("Po2", "Ethernet1")], "leaf1:Ethernet1 is in two LAGs", "out of one"),
        ([lag("Po1", "Ethernet1"), lag("Po1", "Ethernet2")], "two LAGs of this device have this name", "one entry"),
        ([lag("Po1", "Ethernet1"), lag("Po2", "Po1")], "is a member of a LAG", "ports themselves"),
        ([lag("Po1", "Po1", "Ethernet1")], "is a member of a LAG", "ports themselves"),
    ],
)
def test_lags_that_contradict_each_other(lags, told, advice):
    problem = only_problem(inventory(jumbo_lags=lags))
    assert problem.variable == "jumbo_lags"
    assert told in problem.message
    assert advice in problem.advice


def test_a_link_with_one_end():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_links"].append(["leaf1:Ethernet9"])
    problem = only_problem(hosts)
    assert "this link has 1 end, not two" in problem.message
    assert problem.advice == "Name both ends"


def test_a_host_in_two_racks_is_told_its_links_and_the_ways_out():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_links"].append(["h1:eth2", "leaf2:Ethernet40"])
    problem = only_problem(hosts)
    assert "h1:eth1 to leaf1, h1:eth2 to leaf2" in problem.message
    assert (problem.host, "jumbo_pairs" in problem.advice, "exclude" in problem.advice) == ("h1", True, True)


def test_an_encapsulation_that_leaves_less_than_ipv6_needs():
    problem = only_problem(inventory(jumbo_ip_mtu=1500, jumbo_underlay_ip_mtu=1320, jumbo_encapsulations=["vxlan"]))
    assert problem.variable == "jumbo_underlay_ip_mtu"
    assert "1280" in problem.message or "1330" in str(problem.limit)


def test_interfaces_of_a_host_that_stand_on_each_other():
    def ring(found):
        ports = found["h1"]["interfaces"]
        ports["eth1"].update(kind="vlan", parent="eth9")
        ports["eth9"] = {**ports["eth1"], "name": "eth9", "parent": "eth1"}

    with pytest.raises(JumboError) as caught:
        planned(change=ring)
    assert (caught.value.host, caught.value.object) == ("h1", "eth1")
    assert "eth1 on eth9 on eth1" in str(caught.value)
    assert "Correct the parent" in str(caught.value)
