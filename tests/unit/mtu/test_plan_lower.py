"""What is above its wanted size comes down: in which order, who is pinned, and what keeps it high."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from unit.mtu.fabric import all_changes, applied, changes, inventory, load, planned, states, stretched, with_borders


def raised(hosts=None, change=None, **wanted):
    """A fabric after a roll-out, wanted otherwise since: (intent, topology, states)."""
    hosts = hosts or inventory()
    intent, topology = load(hosts)
    found = states(intent)
    after = applied(found, all_changes(make_plan(intent, topology, found)))
    for state in after.values():
        if state.get("guard"):
            state["guard"] = {"state": "released"}
    hosts["h1"]["variables"].update(wanted)
    if change:
        change(after)
    return (*load(hosts), after)


def lowered(*arguments, touchable=None, **wanted):
    """The proven plan of such a fabric."""
    intent, topology, found = raised(*arguments, **wanted)
    plan = make_plan(intent, topology, found, touchable)
    prove(plan, intent, topology, found)
    return plan


def smaller_segment(hosts, name, size):
    segment = next(s for s in hosts["h1"]["variables"]["jumbo_segments"] if s["name"] == name)
    segment["ip_mtu"] = size


def one_segment(size=4000):
    """Only back1 is wanted smaller."""
    hosts = inventory()
    intent, topology = load(hosts)
    found = states(intent)
    after = applied(found, all_changes(make_plan(intent, topology, found)))
    smaller_segment(hosts, "back1", size)
    intent, topology = load(hosts)
    return intent, topology, after


def test_senders_come_first_then_gateways_then_links_then_hosts():
    plan = lowered(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    lower = [step for step in plan.steps if step.stage == "lower"]
    assert [step.phase for step in lower] == ["lift", "persist", "svi", "link", "link", "host_link"]
    assert {(c.before, c.to) for c in lower[0].changes} == {(9000, 1500)}
    assert len(lower[0].changes) == 18  # six hosts, three prefixes each
    assert {(c.field, c.before, c.to) for c in lower[1].changes} == {("persisted", True, False)}
    assert {(c.object, c.before, c.to) for c in lower[2].changes} == {("Vlan10", 9000, 4000)}
    assert {(c.before, c.to) for step in lower[3:5] for c in step.changes} == {(9214, 4100)}
    assert {(c.field, c.before, c.to) for c in lower[5].changes} == {("route_mtu", 1500, 1500), ("ip_mtu", 9000, 4000)}
    assert [step.gate and step.gate.name for step in lower] == [None, None, "gateway", "leg", "leg", "rack_receive"]


def test_what_was_lowered_is_proven_again_before_it_is_lifted_to_its_new_size():
    plan = lowered(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    lifts = [c for step in plan.steps if step.stage != "lower" for c in step.changes if c.field == "route_mtu"]
    assert {(c.before, c.to) for c in lifts} == {(1500, 4000)}
    assert plan.step("fabric.proof").gate.ip_mtus == (4000, 1500)
    assert plan.steps[-1].id == "soak.persist"


def test_after_it_nothing_is_left_to_do():
    intent, topology, found = raised(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    after = applied(found, all_changes(make_plan(intent, topology, found)))
    assert make_plan(intent, topology, after).steps == ()
    assert after["h1"]["interfaces"]["eth1"]["ip_mtu"] == 4000


@pytest.mark.parametrize("size", [1500, 4000])
def test_hosts_whose_boot_forgot_their_lifts_persist_those_that_go_on(size):
    """Segments at the baseline are not lifted again, and those of others are not touched: still, both shall boot."""
    intent, topology, found = one_segment(size)
    plan = make_plan(intent, topology, found)
    forgot = {c.host for step in plan.steps for c in step.changes if c.field == "persisted" and not c.to}
    persisted = {c.host for step in plan.steps for c in step.changes if c.field == "persisted" and c.to}
    assert {"h3", "h4", "h5", "h6"} <= forgot & persisted
    after = applied(found, all_changes(plan))
    assert make_plan(intent, topology, after).steps == ()


def test_one_segment_comes_down_and_every_sender_towards_it_is_pinned_to_it_alone():
    intent, topology, found = one_segment()
    plan = make_plan(intent, topology, found)
    prove(plan, intent, topology, found)
    pinned = {(c.host, c.prefix) for c in plan.step("lower.1.lift").changes}
    own = {(host, f"10.10.{n}.0/24") for host in ("h1", "h2") for n in (1, 2, 3)}  # whose links come down
    assert pinned == own | {(f"h{n}", "10.10.1.0/24") for n in range(3, 7)}
    assert changes(plan, "lower.2.svi") == [("leaf1", "Vlan10", "ip_mtu", 9000, 4000)]
    assert [(c.host, c.to) for c in plan.step("lower.3.host_link").changes] == [
        ("h1", 1500),
        ("h1", 4000),
        ("h2", 1500),
        ("h2", 4000),
    ]
    again = {(c.host, c.prefix, c.to) for s in plan.steps if s.stage != "lower" for c in s.changes if c.prefix}
    assert ("h3", "10.10.1.0/24", 4000) in again
    assert ("h1", "10.10.2.0/24", 4000) in again
    assert not [each for each in again if each[0] == "h3" and each[1] != "10.10.1.0/24"]


def test_one_segment_comes_down_while_another_goes_up():
    hosts = inventory(leafs=2, hosts=2)
    intent, topology = load(hosts)
    found = states(intent)
    smaller_segment(hosts, "back2", 1500)
    intent, topology = load(hosts)
    first = applied(found, all_changes(make_plan(intent, topology, found)))
    smaller_segment(hosts, "back1", 4000)
    smaller_segment(hosts, "back2", 9000)
    intent, topology = load(hosts)
    plan = make_plan(intent, topology, first)
    prove(plan, intent, topology, first)
    sizes = {(c.host, c.object): (c.before, c.to) for s in plan.steps for c in s.changes if c.field == "ip_mtu"}
    assert sizes["h1", "eth1"] == (9000, 4000)
    assert sizes["h3", "eth1"] == (1500, 9000)
    stages = list(dict.fromkeys(step.stage for step in plan.steps))
    assert stages[0] == "lower"
    assert ("h3", "eth1 10.10.1.0/24", "route_mtu", 1500, 4000) in [
        (c.host, c.object, c.field, c.before, c.to) for s in plan.steps for c in s.changes
    ]


def test_hosts_raised_by_hand_are_pinned_as_a_whole():
    def by_hand(found):
        for state in found.values():
            for name, port in state["interfaces"].items():
                if name not in {"eth0", "Vlan20"}:
                    size = 9000 if name in {"eth1", "Vlan10"} else 9214
                    port.update(ip_mtu=size, device_mtu=size, persisted_mtu=size)

    plan = planned(inventory(jumbo_ip_mtu=4000, jumbo_stages=["lower"]), change=by_hand)
    assert [step.phase for step in plan.steps] == ["lift", "host_link", "persist", "svi", "host_link"]
    assert {(c.object, c.before, c.to) for c in plan.steps[1].changes} == {("eth1", None, 1500)}


def test_a_link_above_its_ceiling_comes_down_without_a_pin_where_nobody_sends_that_much():
    plan = lowered(jumbo_underlay_ip_mtu=9100)
    assert [step.phase for step in plan.steps] == ["link", "link"]
    assert {c.to for step in plan.steps for c in step.changes} == {9100}


def test_igp_links_are_drained_around_it():
    hosts = inventory(spines=2)
    for link in hosts["h1"]["variables"]["jumbo_links"]:
        if isinstance(link, dict):
            link["routing"] = "ospf"
    plan = lowered(hosts, jumbo_underlay_ip_mtu=9100)
    assert [step.phase for step in plan.steps] == ["drain", "link", "undrain"] * 2


def test_both_ends_of_a_link_are_made_equal_where_one_cannot_do_as_much():
    def odd(found):
        found["spine1"]["interfaces"]["Ethernet1"]["max_ip_mtu"] = 9100
        found["spine1"]["interfaces"]["Ethernet1"].update(ip_mtu=9100, persisted_mtu=9100)

    plan = lowered(None, odd)
    assert [(c.host, c.object, c.before, c.to) for s in plan.steps for c in s.changes] == [
        ("leaf1", "Ethernet1", 9214, 9100)
    ]


# ---------------------------------------------------------------------- what keeps it high


def notes_of(plan):
    return " ".join(plan.notes)


def test_a_sender_that_was_not_read_keeps_everything_high_and_is_named():
    def lose(found):
        found["h3"]["interfaces"] = None

    intent, topology, found = raised(None, lose, jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found)
    assert [s for s in plan.steps if s.stage == "lower"] == []
    assert "h3:eth1 may send more than that, and it was not read" in notes_of(plan)
    assert "leaf1:Vlan10" in notes_of(plan)
    assert "leaf1:Ethernet1 - spine1:Ethernet1 stays above its 4100" in notes_of(plan)


def test_a_sender_that_may_not_be_touched_keeps_what_it_can_reach():
    intent, topology, found = raised(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found, frozenset(intent.devices) - {"h5"})
    assert [s for s in plan.steps if s.stage == "lower"] == []
    assert "h5:eth1 may send more than that, and it may not be touched" in notes_of(plan)


def test_a_sender_towards_others_only_does_not_keep_this_one():
    intent, topology, found = one_segment()
    for route in found["h6"]["routes"]:
        if route["prefix"] == "10.10.1.0/24":
            route["mtu"] = 1500
    plan = make_plan(intent, topology, found, frozenset(intent.devices) - {"h6"})
    assert plan.step("lower.1.lift") is not None
    assert "h6" not in {c.host for s in plan.steps for c in s.changes}
    prove(plan, intent, topology, found)


def test_a_gateway_that_stays_keeps_the_links_that_its_stretched_segment_crosses():
    intent, topology, found = raised(stretched(), jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found, frozenset(intent.devices) - {"leaf1"})
    assert not [c for s in plan.steps for c in s.changes if c.host.startswith(("spine", "leaf"))]
    assert "leaf1:Vlan10 stays above that and sends across it to its own segment" in notes_of(plan)
    prove(plan, intent, topology, found)


def test_a_firewall_that_may_send_more_keeps_everything_high_and_is_named():
    intent, topology, found = raised(
        with_borders(inventory(), 1, "opnsense"), jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100
    )
    plan = make_plan(intent, topology, found)
    prove(plan, intent, topology, found)
    assert [s for s in plan.steps if s.stage == "lower"] == []
    assert "border1:" in notes_of(plan)
    assert "reassembles and may send 9000; lower it by hand first" in notes_of(plan)


def test_an_igp_link_whose_other_end_is_still_small_is_made_equal_when_that_one_is_raised():
    hosts = inventory(jumbo_underlay_ip_mtu=9100)
    hosts["h1"]["variables"]["jumbo_links"][0]["routing"] = "isis"

    def differ(found):
        found["leaf1"]["interfaces"]["Ethernet1"].update(ip_mtu=9214, persisted_mtu=9214)

    plan = planned(hosts, change=differ)
    assert not [s for s in plan.steps if s.stage == "lower"]
    link = next(s for s in plan.steps if s.phase == "link" and s.changes)
    sizes = {(c.host, c.object): (c.before, c.to) for c in link.changes if c.object == "Ethernet1"}
    assert sizes["leaf1", "Ethernet1"] == (9214, 9100)
    assert sizes["spine1", "Ethernet1"] == (1500, 9100)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"forwarding": True}, "forwards packets"),
        ({"persistence": None}, "after a reboot"),
    ],
)
def test_hosts_that_cannot_be_pinned_for_good(state, told):
    def spoil(found):
        found["h3"].update(state)

    intent, topology, found = raised(None, spoil, jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found)
    assert [s for s in plan.steps if s.stage == "lower"] == []
    assert told in notes_of(plan)


def test_without_its_stage_nothing_comes_down_and_it_is_told():
    plan = lowered(jumbo_ip_mtu=4000, jumbo_stages=["canary", "leaf", "fabric", "soak"])
    assert not [c for s in plan.steps for c in s.changes if c.field == "ip_mtu"]
    assert "the stage lower is not in jumbo_stages" in notes_of(plan)
    assert "h1:eth1, h2:eth1, leaf1:Vlan10 are at 9000, above the 4000 of back1" in notes_of(plan)


# ---------------------------------------------------------------------- the proof


@pytest.mark.parametrize(
    ("first", "second"), [("lift", "svi"), ("lift", "link"), ("persist", "svi"), ("svi", "host_link")]
)
def test_another_order_is_caught(first, second):
    intent, topology, found = raised(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found)
    steps = [step for step in plan.steps if step.stage == "lower"]
    a, b = (next(n for n, step in enumerate(steps) if step.phase == phase) for phase in (first, second))
    steps[a], steps[b] = steps[b], steps[a]
    row = [replace(step, needs=(steps[n - 1].id,) if n else ()) for n, step in enumerate(steps)]
    with pytest.raises(NotProven):
        prove(Plan(tuple(row)), intent, topology, found)


def test_a_sender_that_is_forgotten_is_caught():
    intent, topology, found = raised(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found)
    pins = plan.steps[0]
    spoilt = replace(pins, changes=tuple(c for c in pins.changes if c.host != "h4"))
    with pytest.raises(NotProven) as caught:
        prove(Plan((spoilt, *plan.steps[1:])), intent, topology, found)
    assert caught.value.pair[0] == "h4:eth1"


def test_a_sender_that_was_not_read_is_caught_by_the_proof_too():
    intent, topology, found = raised(jumbo_ip_mtu=4000, jumbo_underlay_ip_mtu=4100)
    plan = make_plan(intent, topology, found)
    lower = tuple(
        replace(s, changes=tuple(c for c in s.changes if c.host != "h4")) for s in plan.steps if s.stage == "lower"
    )
    with pytest.raises(NotProven) as caught:
        prove(Plan(lower), intent, topology, {**found, "h4": {"error": {"text": "no answer"}}})
    assert "h4:eth1 was not read and may still send large" in str(caught.value)
