"""Plans: what is left out and why, what is refused, and with which value."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from unit.mtu.fabric import all_changes, changes, inventory, load, planned, states

LIMITS = [
    ("h3", "eth1", 4000, "h3", "1280-4000"),
    ("leaf2", "Vlan10", 8000, "leaf2", "1280-8000"),
    ("spine2", "Ethernet1", 8500, "spine2", "1280-8500"),
]


@pytest.mark.parametrize(("device", "name", "limit", "host", "allowed"), LIMITS)
def test_a_size_that_one_end_cannot_do_is_refused_with_the_largest_common_value(device, name, limit, host, allowed):
    def lower(found):
        found[device]["interfaces"][name]["max_ip_mtu"] = limit

    with pytest.raises(InvalidIntent) as caught:
        planned(change=lower)
    problem = caught.value.problems[0]
    assert (problem.host, problem.variable, problem.limit) == (host, "jumbo_ip_mtu", allowed)


def test_the_encapsulation_counts_for_what_a_link_must_carry():
    def lower(found):
        found["spine2"]["interfaces"]["Ethernet1"]["max_ip_mtu"] = 9040

    planned(change=lower)
    with pytest.raises(InvalidIntent) as caught:
        planned(inventory(jumbo_encapsulations=["vxlan"]), change=lower)
    assert caught.value.problems[0].limit == "1280-8990"


def test_a_tap_in_the_cable_clamps_and_refuses():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_links"][0]["through"] = [{"name": "tap1", "kind": "tap", "max_frame": 9100}]
    assert planned(hosts).clamps[0]["limited_by"] == "tap1"
    hosts["h1"]["variables"]["jumbo_links"][0]["through"] = [{"name": "tap1", "kind": "tap", "max_frame": 1518}]
    with pytest.raises(InvalidIntent, match="tap1"):
        planned(hosts)


def test_a_host_outside_the_limit_leaves_its_rack_out():
    intent, _topology = load(inventory())
    plan = planned(touchable=frozenset(intent.devices) - {"h3"})
    touched = {c["host"] for c in all_changes(plan)}
    assert not touched & {"h3", "h4"}
    assert {"h1", "h5", "leaf1", "leaf3"} <= touched
    assert not any("10.10.2.0/24" in c["object"] for c in all_changes(plan))
    assert any("leaf2 is left out" in note and "h3:eth1" in note for note in plan.notes)


def test_a_spine_outside_the_limit_leaves_its_plane_and_the_cross_rack_lifts_out():
    intent, _topology = load(inventory())
    plan = planned(touchable=frozenset(intent.devices) - {"spine2"})
    assert [step.id for step in plan.steps if step.stage == "fabric"] == ["fabric.1.link"]
    assert any("plane of spine2 is left out" in note for note in plan.notes)
    assert any("not lifted towards each other" in note for note in plan.notes)


def test_without_the_canary_the_next_rack_goes_alone():
    intent, _topology = load(inventory(leafs=4))
    plan = planned(inventory(leafs=4), touchable=frozenset(intent.devices) - {"h1"})
    assert [step.hosts for step in plan.steps if step.phase == "svi"] == [("leaf2",), ("leaf3", "leaf4")]
    assert any("first wave of the stage leaf is leaf2 alone" in note for note in plan.notes)


def test_links_that_carry_enough_stay_as_they_are_where_one_end_may_not_be_touched():
    intent, topology = load(inventory())
    found = states(intent, underlay=9100)
    plan = make_plan(intent, topology, found, frozenset(intent.devices) - {"leaf3", "h5", "h6"})
    prove(plan, intent, topology, found)
    raised = {(c.host, c.object) for step in plan.steps if step.phase == "link" for c in step.changes}
    assert raised == {(d, f"Ethernet{n}") for d in ("leaf1", "leaf2", "spine1", "spine2") for n in (1, 2)}
    assert any(c["object"] == "eth1 10.10.2.0/24" and c["host"] == "h1" for c in all_changes(plan))


def test_a_host_that_was_not_read_counts_as_not_ours():
    def lose(found):
        del found["h3"]

    plan = planned(change=lose)
    assert not any(c["host"] in {"h3", "h4"} for c in all_changes(plan))
    assert any("h3:eth1 was not read" in note for note in plan.notes)


def test_a_host_that_could_not_be_read_is_no_state():
    def lose(found):
        found["h3"] = {"host": "h3", "error": {"message": "no route to host"}, "unreachable": True}

    assert any("h3:eth1 was not read" in note for note in planned(change=lose).notes)


def test_speakers_that_are_not_ours_keep_their_rack_small_unless_waived():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][2]["members"].append({"name": "printer", "managed": False})
    plan = planned(hosts)
    assert not any(c["host"] in {"h3", "h4"} for c in all_changes(plan))
    assert any("printer is not managed" in note for note in plan.notes)
    waiver = {"kind": "unmanaged_member", "object": "printer", "reason": "it only speaks to the gateway at 1500"}
    hosts["h1"]["variables"]["jumbo_waivers"] = [waiver]
    assert any(c["host"] == "h3" for c in all_changes(planned(hosts)))


def test_a_host_that_cannot_persist_is_not_lifted_towards_unless_waived():
    def forget(found):
        found["h3"]["persistence"] = None
        found["h3"]["interfaces"]["eth1"]["persisted_mtu"] = None

    plan = planned(change=forget)
    assert not any(c["host"] in {"h3", "h4"} for c in all_changes(plan))
    assert any("h3 cannot persist its MTU" in note for note in plan.notes)
    waived = inventory(jumbo_waivers=[{"kind": "no_dead_man", "object": "h3", "reason": "rebuilt at each boot"}])
    plan = planned(waived, change=forget)
    assert any(c["object"] == "eth1 10.10.2.0/24" for c in all_changes(plan))
    assert ("h3", "eth1", "persisted", False, True) not in changes(plan, "soak.persist")


def test_a_forwarding_host_is_never_pinned():
    def forward(found):
        found["h3"]["forwarding"] = True

    plan = planned(change=forward)
    assert not any(c["host"] == "h3" for c in all_changes(plan))
    assert any("h3 forwards packets" in note for note in plan.notes)


def test_a_prefix_is_not_lifted_where_it_leaves_by_another_interface():
    def reroute(found):
        found["h1"]["routes"] = [route for route in found["h1"]["routes"] if route["prefix"] != "10.10.0.0/16"]

    plan = planned(change=reroute)
    lifted = [c for c in all_changes(plan) if c["host"] == "h1" and " " in c["object"]]
    assert [c["object"] for c in lifted] == ["eth1 10.10.1.0/24"]
    assert any("h1 reaches 10.10.2.0/24 by eth0" in note for note in plan.notes)


def unsupported(hosts):
    intent, topology = load(hosts)
    with pytest.raises(InvalidIntent) as caught:
        refuse_unsupported(planned(hosts), intent, topology)
    return str(caught.value)


def test_drains_are_planned_and_proven_but_not_carried_out():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_links"][0]["routing"] = "ospf"
    assert "leaf1:Ethernet1: this link must be drained" in unsupported(hosts)


def test_what_is_not_carried_out_yet_is_refused():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_pairs"] = [{"name": "p", "devices": ["leaf2", "leaf3"], "peer_link": None}]
    intent, topology = load(hosts)
    refuse_unsupported(Plan(()), intent, topology)
    hosts["leaf3"]["platform"] = "junos"
    intent, topology = load(hosts)
    with pytest.raises(InvalidIntent, match="p: pairs of eos and junos are planned and proven, but not carried out"):
        refuse_unsupported(Plan(()), intent, topology)
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][2]["members"].append("leaf1:Vlan11")
    intent, topology = load(hosts)
    with pytest.raises(InvalidIntent, match="stretched over leaf1, leaf2 without trunks"):
        refuse_unsupported(Plan(()), intent, topology)
    hosts["h1"]["variables"]["jumbo_links"].append(["leaf1:Ethernet30", "leaf2:Ethernet30"])
    intent, topology = load(hosts)
    refuse_unsupported(Plan(()), intent, topology)
