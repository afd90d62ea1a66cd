"""The way back: groups, their order, what several changes of one object come to; drained links go plane by plane."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import lowering_order, way_back
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Change, Plan, Step, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import prove
from unit.mtu.fabric import applied, inventory, load, paired, states

LINKS = ["drain", "link", "undrain"]


def step(step_id, *changes):
    stage, wave, phase = step_id.split(".")
    return Step(step_id, stage, int(wave), phase, changes)


def back(*steps, hosts=None):
    _intent, topology = load(hosts or inventory())
    return [(s.id, [(c.host, c.object, c.before, c.to) for c in s.changes]) for s in way_back(steps, topology)]


def test_each_kind_has_its_place():
    assert back(
        step("canary.1.l2", Change("leaf1", "Ethernet11", "ip_mtu", 1500, 9214)),
        step(
            "canary.1.host_link",
            Change("h1", "eth1", "route_mtu", None, 1500),
            Change("h1", "eth1", "ip_mtu", 1500, 9000, 1500, 9000),
        ),
        step("canary.1.svi", Change("leaf1", "Vlan10", "ip_mtu", 1500, 9000)),
        step("canary.1.lift", Change("h1", "eth1 10.10.1.0/24", "route_mtu", 1500, 9000)),
        step("fabric.1.link", Change("spine1", "Ethernet1", "ip_mtu", 1500, 9214)),
        step("soak.1.persist", Change("h1", "eth1", "persisted", False, True)),
    ) == [
        ("back.pin", [("h1", "eth1 10.10.1.0/24", 9000, 1500)]),
        ("back.unpersist", [("h1", "eth1", True, False)]),
        ("back.svi", [("leaf1", "Vlan10", 9000, 1500)]),
        ("back.link", [("spine1", "Ethernet1", 9214, 1500)]),
        ("back.host_link", [("h1", "eth1", 9000, 1500), ("h1", "eth1", 1500, None)]),
        ("back.l2", [("leaf1", "Ethernet11", 9214, 1500)]),
    ]


def test_several_changes_of_one_object_become_one():
    first, second = (Change("spine1", "Ethernet1", "ip_mtu", *sizes) for sizes in ((1500, 9000), (9000, 9214)))
    found = back(step("fabric.1.link", first), step("fabric.2.link", second))
    assert found == [("back.link", [("spine1", "Ethernet1", 9214, 1500)])]


def test_what_is_back_already_is_left_out():
    up, down = (Change("spine1", "Ethernet1", "ip_mtu", *sizes) for sizes in ((1500, 9214), (9214, 1500)))
    assert back(step("fabric.1.link", up), step("fabric.2.link", down)) == []
    assert back() == []


def test_device_numbers_go_back_too():
    _intent, topology = load(inventory())
    change = Change("spine1", "Ethernet1", "ip_mtu", 1500, 9178, 1514, 9192)
    (found,) = way_back([step("fabric.1.link", change)], topology)
    assert (found.changes[0].from_device_mtu, found.changes[0].to_device_mtu) == (9192, 1514)


def test_each_step_needs_the_one_before():
    _intent, topology = load(inventory())
    pin, link = Change("h1", "eth1", "route_mtu", None, 1500), Change("leaf1", "Ethernet1", "ip_mtu", 1500, 9214)
    found = way_back([step("canary.1.host_link", pin), step("fabric.1.link", link)], topology)
    assert [s.needs for s in found] == [(), ("back.link",)]


def isis(hosts=None):
    hosts = hosts or inventory(spines=3)
    for link in hosts["h1"]["variables"]["jumbo_links"]:
        if isinstance(link, dict):
            link["routing"] = "isis"
    return hosts


def test_drained_links_go_back_plane_by_plane_drained_again():
    intent, topology = load(isis())
    plan = make_plan(intent, topology, states(intent))
    links = [s for s in plan.steps if s.phase in LINKS]
    found = way_back(links, topology)
    assert [s.phase for s in found] == LINKS * 3
    spines = [sorted({c.host for c in s.changes if c.host.startswith("spine")}) for s in found if s.phase == "link"]
    assert spines == [["spine3"], ["spine2"], ["spine1"]]
    assert {(c.before, c.to) for c in found[0].changes} == {(False, True)}
    assert {(c.before, c.to) for c in found[2].changes} == {(True, False)}


@pytest.mark.parametrize("done", ["fabric.2.drain", "fabric.2.link", "fabric.2.undrain"])
def test_the_way_back_from_the_middle_of_a_drain_is_proven(done):
    intent, topology = load(isis())
    found = states(intent)
    plan = make_plan(intent, topology, found)
    steps = plan.steps[: [s.id for s in plan.steps].index(done) + 1]
    back_steps = way_back(steps, topology)
    phases = [s.phase for s in back_steps if s.phase in LINKS]
    assert phases == [*LINKS[2 - LINKS.index(done.split(".")[2]) :], *LINKS]
    after = applied(found, [c.as_dict() for s in steps for c in s.changes])
    prove(Plan(back_steps), intent, topology, after)


def order(*ids, hosts=None, touched=("spine1",)):
    _intent, topology = load(hosts or inventory())
    phases = {step_id: step_id.split(".")[2] for step_id in ids}
    return lowering_order(phases, dict.fromkeys(ids, touched), topology)


def test_links_that_neither_drain_nor_flap_go_back_at_once():
    assert order("fabric.1.link", "fabric.2.link") == [["fabric.2.link", "fabric.1.link"]]


def test_links_that_flap_go_back_one_by_one():
    hosts = inventory()
    hosts["spine1"]["platform"] = "junos"
    assert order("fabric.1.link", "fabric.2.link", hosts=hosts) == [["fabric.2.link"], ["fabric.1.link"]]


def test_what_was_lowered_is_raised_last_and_exactly_backwards():
    assert order("lower.1.lift", "lower.2.svi", "lower.3.host_link", "leaf.1.host_link", "leaf.1.lift") == [
        ["leaf.1.lift"],
        ["leaf.1.host_link"],
        ["lower.3.host_link"],
        ["lower.2.svi"],
        ["lower.1.lift"],
    ]


def test_no_step_back_touches_both_members_of_a_pair():
    intent, topology = load(paired())
    plan = make_plan(intent, topology, states(intent))
    for each in way_back(plan.steps, topology):
        assert each.phase in {"link", "l2"} or not {topology.partner_of(c.host) for c in each.changes} & set(each.hosts)


@pytest.mark.parametrize("done", ["fabric.2.drain", "fabric.2.link", "fabric.2.undrain"])
def test_a_run_that_was_cut_within_a_drain_is_gone_on_with_and_undrains(done):
    intent, topology = load(isis())
    found = states(intent)
    plan = make_plan(intent, topology, found)
    steps = plan.steps[: [s.id for s in plan.steps].index(done) + 1]
    half = applied(found, [c.as_dict() for s in steps for c in s.changes])
    rest = make_plan(intent, topology, half)
    prove(rest, intent, topology, half)
    phases = [s.phase for s in rest.steps if s.phase in LINKS and s.changes]
    assert phases == [*LINKS[1 + LINKS.index(done.split(".")[2]) :], *LINKS]
    after = applied(half, [c.as_dict() for s in rest.steps for c in s.changes])
    assert not [p for state in after.values() for p in state["interfaces"].values() if p.get("drained")]
