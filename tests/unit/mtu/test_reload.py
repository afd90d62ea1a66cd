"""Boxes with one frame size for all ports: when they are reloaded, who may be cut off, and what the proof refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import boxes, preflight
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import lowering_order, way_back
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.platform_table import PLATFORMS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Change, Step
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.window import is_open
from unit.mtu.fabric import all_changes, inventory, large, load, paired, planned, states, with_boxes


def reloads(plan):
    return [(step.id, step.hosts) for step in plan.steps if step.phase == "reload"]


def refused(hosts, spoil, change=None):
    """Plan, spoil the steps, and return what the proof says of them in a row."""
    intent, topology = load(hosts)
    found = states(intent)
    if change:
        change(found)
    steps = []
    for step in spoil(list(make_plan(intent, topology, found).steps)):
        steps.append(replace(step, needs=(steps[-1].id,) if steps else ()))
    with pytest.raises(NotProven) as caught:
        prove(Plan(tuple(steps)), intent, topology, found)
    return caught.value


def jumbo(**words):
    told = {"configured": False, "saved": False, "active": False, **words}
    return lambda found: found["leaf2"].update(jumbo=told)


# ---------------------------------------------------------------------- the plan


def test_a_box_is_reloaded_alone_before_its_rack_with_every_cable_declared():
    plan = planned(with_boxes(inventory(), "leaf2"))
    assert [step.id for step in plan.steps if step.stage == "leaf"][:2] == ["leaf.1.reload", "leaf.2.host_link"]
    step = plan.step("leaf.1.reload")
    assert [change.as_dict() for change in step.changes] == [
        {
            "host": "leaf2",
            "object": "jumbo",
            "field": "jumbo",
            "from": False,
            "to": True,
            "from_device_mtu": 1500,
            "to_device_mtu": 10200,
        }
    ]
    cables = [(str(link), 600) for link in load(inventory())[0].links if "leaf2" in (link.a.device, link.b.device)]
    assert len(cables) == 6
    assert [(outage.link, outage.seconds) for outage in step.outage] == cables
    assert (step.dead_man, step.gate.name, step.gate.ip_mtus) == (None, "cross_rack", (1500,))
    assert {"h3:eth1", "h4:eth1"} < {end for pair in step.gate.pairs for end in pair}


def test_nothing_but_a_reload_takes_sizes_of_a_box_back_and_the_plan_says_of_which():
    plan = planned(with_boxes(inventory(), "leaf2"))
    kinds = {step.phase: step.dead_man for step in plan.steps if "leaf2" in step.hosts and step.dead_man}
    assert (kinds["svi"].kind, kinds["svi"].others) == ("reload_timer", (("leaf3", "commit_timer"),))
    assert (kinds["link"].kind, kinds["link"].others) == ("commit_timer", (("leaf2", "reload_timer"),))
    for step in plan.steps:
        assert Step.from_dict(step.as_dict()).dead_man == step.dead_man


def test_boxes_of_a_stage_go_one_after_the_other_and_the_canary_first():
    plan = planned(with_boxes(inventory(spines=3), "leaf1", "leaf2", "leaf3", "spine2"))
    assert reloads(plan) == [
        ("canary.1.reload", ("leaf1",)),
        ("leaf.1.reload", ("leaf2",)),
        ("leaf.2.reload", ("leaf3",)),
        ("fabric.1.reload", ("spine2",)),
    ]


def test_switched_ports_need_no_size_and_routed_ones_keep_theirs_until_their_step():
    objects = [
        (c["object"], c["to"]) for c in all_changes(planned(with_boxes(inventory(), "leaf2"))) if c["host"] == "leaf2"
    ]
    assert objects == [("jumbo", True), ("Vlan10", 9000), ("Ethernet1", 9214), ("Ethernet2", 9214)]


def test_other_segments_of_the_box_are_named():
    notes = planned(with_boxes(inventory(), "leaf2")).notes
    assert any("leaf2 accepts larger frames on leaf2:Ethernet21, leaf2:Ethernet22 as well" in note for note in notes)


def test_without_leave_to_reload_what_needs_it_is_left_out():
    plan = planned(with_boxes(inventory(), "leaf2", jumbo_allow_reload=False))
    assert reloads(plan) == []
    assert "leaf2 takes 1500 until it is reloaded with large frames" in " ".join(plan.notes)
    assert not {"leaf2", "h3", "h4"} & {change["host"] for change in all_changes(plan)}


def test_a_box_outside_the_limit_is_not_reloaded():
    intent, _topology = load(with_boxes(inventory(), "leaf2"))
    plan = planned(with_boxes(inventory(), "leaf2"), touchable=frozenset(intent.devices) - {"leaf2"})
    assert reloads(plan) == []
    assert "it may not be touched" in " ".join(plan.notes)


@pytest.mark.parametrize(
    ("told", "stage", "steps"),
    [
        ({}, "absent", 1),
        ({"configured": True}, "configured", 1),
        ({"configured": True, "saved": True}, "saved", 1),
        ({"configured": True, "saved": True, "active": None}, "saved", 1),
        ({"configured": True, "saved": True, "active": True}, "active", 0),
        ({"active": True}, "active", 1),  # somebody has taken it out: a restart would end it
    ],
)
def test_only_what_is_active_and_saved_needs_no_reload(told, stage, steps):
    found = {}

    def change(states):
        jumbo(**told)(states)
        found.update(states)

    plan = planned(with_boxes(inventory(), "leaf2"), change=change)
    assert (boxes.stage_of(found["leaf2"]), len(reloads(plan))) == (stage, steps)


def test_no_large_frames_are_told_as_such():
    assert boxes.stage_of({}) == boxes.stage_of({"jumbo": None}) == "absent"
    assert (boxes.receives({}), boxes.receives({"jumbo": {"active": True}})) == (1500, 10178)


# ---------------------------------------------------------------------- the only way


def test_a_rack_of_a_single_box_needs_a_waiver_that_names_box_or_rack():
    with pytest.raises(InvalidIntent, match="h3:eth1, h3:eth0, h4:eth1, h4:eth0 have no other way"):
        planned(with_boxes(inventory(), "leaf2", waived=False))
    hosts = with_boxes(inventory(), "leaf2", waived=False)
    hosts["leaf2"]["variables"]["jumbo_waivers"] = [{"kind": "only_path", "object": "row2", "reason": "a window"}]
    hosts["leaf2"]["variables"] = {**hosts["leaf2"]["variables"], "jumbo_rack": "row2"}
    assert reloads(planned(hosts))


def test_hosts_on_both_members_of_a_pair_keep_their_way():
    plan = planned(with_boxes(paired(), "leaf1a", "leaf1b", waived=False))
    assert [hosts for _step, hosts in reloads(plan)] == [("leaf1a",), ("leaf1b",)]


def test_a_spine_needs_a_waiver_only_where_it_is_alone():
    assert reloads(planned(with_boxes(inventory(spines=2), "spine1", waived=False)))
    with pytest.raises(InvalidIntent, match="leaf2, leaf3 have no other way"):
        planned(with_boxes(inventory(spines=1), "spine1", waived=False))


# ---------------------------------------------------------------------- the proof


def without(steps, gone):
    return [step for step in steps if step.id != gone]


def test_hosts_before_the_reload_are_refused():
    def late(steps):
        reload = next(step for step in steps if step.phase == "reload")
        rest = without(steps, reload.id)
        return [*rest[:5], reload, *rest[5:]]

    assert "leaf2" in str(refused(with_boxes(inventory(), "leaf2"), late))


def test_a_size_above_what_the_box_takes_is_refused():
    def spoil(steps):
        return [step for step in without(steps, "leaf.1.reload") if step.phase == "svi"]

    assert "9000 is above the 1500 that the box is sure to take" in str(
        refused(with_boxes(inventory(), "leaf2"), spoil)
    )


def test_a_size_below_what_the_model_takes_is_refused():
    small = replace(planned(with_boxes(inventory(), "leaf2")).step("leaf.2.svi"), gate=None)
    changes = (Change("leaf2", "Vlan10", "ip_mtu", 1500, 1200),)
    error = refused(with_boxes(inventory(), "leaf2"), lambda _steps: [replace(small, changes=changes)], model)
    assert "1200 is below the 1280" in str(error)


def model(found):
    found["leaf2"]["model"] = "ICX7150-24P"


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"outage": ()}, "carries nothing while leaf2 reloads"),
        ({"changes": (Change("leaf2", "jumbo", "jumbo", True, False),)}, "taken away from a whole box"),
        ({"changes": (Change("leaf1", "jumbo", "jumbo", False, True),)}, "sizes of their own"),
        (
            {
                "changes": (
                    Change("leaf2", "jumbo", "jumbo", False, True),
                    Change("leaf3", "jumbo", "jumbo", False, True),
                )
            },
            "alone in its step",
        ),
    ],
)
def test_a_reload_that_is_not_as_it_must_be_is_refused(more, text):
    def spoil(steps):
        return [replace(step, **more) if step.phase == "reload" else step for step in steps]

    assert text in str(refused(with_boxes(inventory(), "leaf2"), spoil))


def test_a_reload_beside_another_step_is_refused():
    intent, topology = load(with_boxes(inventory(), "leaf2"))
    found = states(intent)
    steps = [replace(s, needs=()) if s.phase == "reload" else s for s in make_plan(intent, topology, found).steps]
    with pytest.raises(NotProven, match="may run while this box is down"):
        prove(Plan(tuple(steps)), intent, topology, found)


@pytest.mark.parametrize(("waived", "allowed", "text"), [(False, True, "no other way"), (True, False, "allow_reload")])
def test_a_reload_without_leave_is_refused_whoever_planned_it(waived, allowed, text):
    intent, topology = load(with_boxes(inventory(), "leaf2"))
    found = states(intent)
    plan = make_plan(intent, topology, found)
    strict, topology = load(with_boxes(inventory(), "leaf2", waived=waived, jumbo_allow_reload=allowed))
    with pytest.raises(NotProven, match=text):
        prove(plan, strict, topology, found)


def test_a_gateway_that_waits_for_large_frames_would_send_at_once():
    """`ip mtu` 9000 on a box without active large frames: the reload would let it send 9000 to hosts at 1500."""

    def gateway(found):
        found["leaf2"]["interfaces"]["Vlan10"].update(ip_mtu=9000, device_mtu=9000, persisted_mtu=9000)

    error = refused(with_boxes(inventory(), "leaf2"), lambda steps: steps, gateway)
    assert (error.verdict, error.step) == ("BLACKHOLE", "leaf.1.reload")
    assert "leaf2:Vlan10" in str(error)


# ---------------------------------------------------------------------- the way back, preflight, execution


def test_the_way_back_leaves_large_frames_on():
    _intent, topology = load(with_boxes(inventory(), "leaf2"))
    steps = planned(with_boxes(inventory(), "leaf2")).steps
    assert not [change for step in way_back(steps, topology) for change in step.changes if change.field == "jumbo"]
    phases, hosts = {step.id: step.phase for step in steps}, {step.id: step.hosts for step in steps}
    last = lowering_order(phases, hosts, topology)[-1]
    assert [phases[step] for step in last] == ["reload"]  # its driver is asked, and says that it stays


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({}, None),
        ({"configured": True}, "large frames are configured, not active: a reload is pending"),
        ({"configured": True, "saved": True}, "large frames are saved, not active: a reload is pending"),
        ({"configured": True, "saved": True, "active": True}, None),
        ({"active": True}, "large frames are active, but not saved"),
    ],
)
def test_preflight_tells_what_a_restart_would_change(told, reason):
    intent, topology = load(with_boxes(inventory(), "leaf2"))
    found = states(intent)
    jumbo(**told)(found)
    told_of = [f["reason"] for f in preflight.check(intent, topology, found) if f["host"] == "leaf2"]
    assert told_of == ([reason] if reason else [])


def test_a_box_that_takes_large_frames_after_its_reload_needs_no_second_one():
    intent, topology = load(with_boxes(inventory(), "leaf2"))
    found = states(intent)
    large(found["leaf2"])
    assert reloads(make_plan(intent, topology, found)) == []


def test_what_no_driver_does_is_refused_by_name(monkeypatch):
    monkeypatch.setitem(PLATFORMS, "fastiron", replace(PLATFORMS["fastiron"], fields=frozenset({"ip_mtu"})))
    intent, topology = load(with_boxes(inventory(), "leaf2"))
    with pytest.raises(InvalidIntent, match=r"leaf2:jumbo: .*only with a reload, which no driver of fastiron does"):
        refuse_unsupported(planned(with_boxes(inventory(), "leaf2")), intent, topology)


@pytest.mark.parametrize(
    ("window", "now", "is_in"),
    [
        ("always", (13, 0), True),
        ("02:00-04:00", (2, 0), True),
        ("02:00-04:00", (4, 0), False),
        ("02:00-04:00", (1, 59), False),
        ("22:00-04:00", (23, 30), True),
        ("22:00-04:00", (3, 59), True),
        ("22:00-04:00", (12, 0), False),
    ],
)
def test_windows(window, now, is_in):
    assert is_open(window, *now) is is_in
