"""Machines that forward: routers in the plan, never pinned, raised after what is behind them; firewalls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import preflight
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Change
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from unit.mtu.fabric import (
    all_changes,
    changes,
    inventory,
    load,
    on_laggs,
    planned,
    states,
    with_borders,
    with_firewalls,
)


def border(**told):
    return lambda found: found["border1"].update(told)


# ---------------------------------------------------------------------- routers that are Linux machines


def test_a_border_comes_after_all_planes_link_by_link_and_unpinned():
    plan = planned(with_borders(inventory()))
    fabric = [step for step in plan.steps if step.stage == "fabric" and step.phase == "link" and step.changes]
    assert [set(step.hosts) & {"border1", "leaf1"} for step in fabric] == [
        {"leaf1"},
        {"leaf1"},
        {"border1"},
        {"border1"},
    ]
    assert changes(plan, fabric[2].id) == [
        ("border1", "eth1", "ip_mtu", 1500, 9214),
        ("spine1", "Ethernet41", "ip_mtu", 1500, 9214),
    ]
    assert (fabric[2].atomic, fabric[2].dead_man.kind) == (True, "guard")
    assert {c["field"] for c in all_changes(plan) if c["host"] == "border1"} == {"ip_mtu"}


def test_what_leads_out_of_the_fabric_stays_as_it_is():
    objects = {c["object"] for c in all_changes(planned(with_borders(inventory()))) if c["host"] == "border1"}
    assert objects == {"eth1", "eth2"}


def test_its_driver_carries_that_out():
    intent, topology = load(with_borders(inventory()))
    refuse_unsupported(planned(with_borders(inventory())), intent, topology)


def test_a_pinned_router_is_refused():
    intent, topology = load(with_borders(inventory()))
    found = states(intent)
    steps = list(make_plan(intent, topology, found).steps)
    at = next(n for n, step in enumerate(steps) if "border1" in step.hosts)
    pin = Change("border1", "eth1", "route_mtu", None, 1500)
    steps[at] = replace(steps[at], changes=(pin, *steps[at].changes))
    with pytest.raises(NotProven, match="pinned, it would answer transit packets"):
        prove(Plan(tuple(steps)), intent, topology, found)


def test_one_that_forgets_its_size_is_left_out_with_what_may_cross_it():
    plan = planned(with_borders(inventory()), change=border(persistence=None))
    assert "border1" not in {c["host"] for c in all_changes(plan)}
    assert "border1 cannot persist its MTU (waiver: no_dead_man)" in " ".join(plan.notes)
    assert "are not lifted towards each other: a path carries 1500" in " ".join(plan.notes)


def test_one_that_forgets_its_size_is_raised_where_that_is_accepted():
    waivers = [{"kind": "no_dead_man", "object": "border1", "reason": "its image is being rebuilt"}]
    hosts = with_borders(inventory(jumbo_waivers=waivers))
    assert any(c["host"] == "border1" for c in all_changes(planned(hosts, change=border(persistence=None))))


def test_its_reboot_is_proven_where_nothing_is_accepted():
    intent, topology = load(with_borders(inventory()))
    found = states(intent)
    plan = make_plan(intent, topology, found)
    border(persistence=None)(found)
    found["border1"]["interfaces"]["eth1"]["persisted_mtu"] = None
    with pytest.raises(NotProven, match="border1"):
        prove(plan, intent, topology, found)


@pytest.mark.parametrize(
    ("told", "reason", "blocking"),
    [
        ({"forwarding": False}, "it forwards nothing, so its routes would have to be pinned", True),
        ({"link_readers": {"kubelet": "Kubernetes"}}, "kubelet (Kubernetes) reads link MTUs on this host", True),
        ({"persistence": None}, "running only", False),
    ],
)
def test_preflight_looks_at_machines_that_route(told, reason, blocking):
    intent, topology = load(with_borders(inventory()))
    found = states(intent)
    border(**told)(found)
    told_of = [f for f in preflight.check(intent, topology, found) if f["host"] == "border1"]
    assert [(f["interface"], f["blocking"]) for f in told_of] == [("eth1", blocking), ("eth2", blocking)]
    assert all(f["reason"].startswith(reason) for f in told_of)


def test_a_machine_that_routes_as_it_should_is_not_mentioned():
    intent, topology = load(with_borders(inventory()))
    assert not [f for f in preflight.check(intent, topology, states(intent)) if f["host"] == "border1"]


# ---------------------------------------------------------------------- firewalls


def test_a_firewall_is_raised_last_link_by_link_after_what_it_sends_into():
    plan = planned(with_borders(inventory(), 1, "opnsense"))
    links = [step for step in plan.steps if step.phase == "link" and step.changes]
    assert [(step.id, step.hosts) for step in links[2:]] == [
        ("fabric.3.link", ("spine1",)),
        ("fabric.4.link", ("border1",)),
        ("fabric.5.link", ("spine2",)),
        ("fabric.6.link", ("border1",)),
    ]
    assert (links[2].gate.ip_mtus, links[3].gate.ip_mtus) == ((1500,), (9000, 1500))
    assert links[3].dead_man.kind == "at_job"


def test_a_firewall_gets_no_more_than_what_is_behind_it_receives():
    """It reassembles: at 9214 it would send packets of 9214 to hosts at 9000."""
    plan = planned(with_borders(inventory(), 1, "opnsense"))
    sizes = {(c["host"], c["object"]): c["to"] for c in all_changes(plan)}
    ends = [("border1", "eth1"), ("border1", "eth2"), ("spine1", "Ethernet41"), ("spine1", "Ethernet1")]
    assert [sizes[end] for end in ends] == [9000, 9000, 9000, 9214]


def test_segments_that_stay_small_behind_a_firewall_are_listed_as_exposed():
    found = planned(with_borders(inventory(), 1, "opnsense")).exposures
    told = [(e["segment"], e["ip_mtu"], e["from_step"]) for e in found if e["class"] == "reassembled"]
    assert told == [
        ("front1", 9000, "fabric.4.link"),
        ("front2", 9000, "fabric.4.link"),
        ("front3", 9000, "fabric.4.link"),
    ]


def test_a_firewall_stays_small_while_something_behind_it_does():
    plan = planned(with_borders(inventory(jumbo_stages=["canary", "fabric"]), 1, "opnsense"))
    assert not [c for c in all_changes(plan) if c["host"] == "border1"]
    assert "The plane of border1:eth1 is left out: back2, back3 behind it stays small." in plan.notes


def test_a_firewall_before_what_is_behind_it_is_refused():
    intent, topology = load(with_borders(inventory(), 1, "opnsense"))
    found = states(intent)
    steps = list(make_plan(intent, topology, found).steps)
    early = [step for step in steps if step.id in ("fabric.3.link", "fabric.4.link")]
    order = [*early, *(step for step in steps if step not in early)]
    linked = [replace(step, needs=(order[n - 1].id,) if n else ()) for n, step in enumerate(order)]
    with pytest.raises(NotProven, match="border1 reassembles and would send up to 9000 by eth1"):
        prove(Plan(tuple(linked)), intent, topology, found)


def test_parents_come_before_children_and_the_backup_before_the_master():
    plan = planned(with_firewalls(inventory()), change=on_laggs)
    steps = [step for step in plan.steps if {"fw1", "fw2"} & set(step.hosts)]
    assert [(step.phase, [(c.host, c.object, c.before, c.to) for c in step.changes]) for step in steps] == [
        (
            "svi",
            [
                ("leaf1", "Vlan99", 1500, 9000),
                ("fw2", "lagg0", 1500, 9000),
                ("fw2", "lagg0_vlan99", 1500, 9000),
            ],
        ),
        ("svi", [("fw1", "lagg0", 1500, 9000), ("fw1", "lagg0_vlan99", 1500, 9000)]),
    ]
    after = [step.id for step in plan.steps].index(steps[0].id)
    assert all(step.phase in ("host_link", "svi", "lift", "link") for step in plan.steps[:after])
    assert {c.host for step in plan.steps[:after] for c in step.changes} >= {"h1", "h6", "leaf3", "spine2"}


def test_a_port_in_front_of_a_firewall_is_raised_as_one_in_front_of_a_host():
    def small(found):
        on_laggs(found)
        found["leaf1"]["interfaces"]["Ethernet34"].update(ip_mtu=1500, device_mtu=1500, persisted_mtu=1500)

    plan = planned(with_firewalls(inventory()), change=small)
    assert ("leaf1", "Ethernet34", "ip_mtu", 1500, 9214) in [
        change for step in plan.steps if step.phase == "l2" for change in changes(plan, step.id)
    ]


def test_the_segment_of_a_firewall_waits_for_what_it_leads_to():
    plan = planned(with_firewalls(inventory(jumbo_stages=["canary", "fabric"])), change=on_laggs)
    assert "dmz is left out: back2, back3 behind its firewall stays small." in plan.notes


def test_a_firewall_is_planned_but_not_carried_out():
    intent, topology = load(with_borders(inventory(), 1, "opnsense"))
    with pytest.raises(InvalidIntent, match=r"border1:eth1: .*which no driver of opnsense does in this version"):
        refuse_unsupported(planned(with_borders(inventory(), 1, "opnsense")), intent, topology)
