"""Machines that forward: routers in the plan, never pinned, raised after what is behind them; firewalls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import preflight
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Change
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from unit.mtu.fabric import all_changes, changes, inventory, load, planned, states, with_borders


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
