"""Proofs: good plans pass, spoilt ones are caught with pair, path, hop and step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import way_back
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Change, Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from unit.mtu.fabric import applied, inventory, load, states


class Fabric:
    """An inventory, its states, and its plan, to be spoilt."""

    def __init__(self, hosts=None, change=None, underlay=1500):
        self.intent, self.topology = load(hosts or inventory())
        self.states = states(self.intent, underlay)
        if change:
            change(self.states)
        self.plan = make_plan(self.intent, self.topology, self.states)

    def prove(self, steps=None, found=None):
        plan = self.plan if steps is None else Plan(tuple(steps))
        return prove(plan, self.intent, self.topology, found or self.states)

    def refused(self, steps):
        with pytest.raises(NotProven) as caught:
            self.prove(steps)
        return caught.value

    def step(self, step_id):
        return self.plan.step(step_id)

    def without(self, wrong):
        """All steps without the changes that `wrong` picks."""
        return [replace(s, changes=tuple(c for c in s.changes if not wrong(s, c))) for s in self.plan.steps]


def in_a_row(steps):
    """Let each step need the one before."""
    linked = []
    for step in steps:
        linked.append(replace(step, needs=(linked[-1].id,) if linked else ()))
    return linked


def swapped(steps, one, other):
    order = list(steps)
    a, b = (next(i for i, s in enumerate(order) if s.id == name) for name in (one, other))
    order[a], order[b] = order[b], order[a]
    return in_a_row(order)


@pytest.fixture
def fabric():
    return Fabric()


def test_a_whole_roll_out_is_proven(fabric):
    proof = fabric.prove()
    assert proof.moments == len(fabric.plan.steps) + 2
    assert proof.pairs > 0
    assert proof.notes == ()


def test_an_empty_plan_is_proven_as_it_is(fabric):
    assert fabric.prove([]).moments == 2


def test_gateway_before_its_hosts(fabric):
    error = fabric.refused(swapped(fabric.plan.steps, "canary.1.host_link", "canary.1.svi"))
    assert (error.verdict, error.step, error.pair) == ("BLACKHOLE", "canary.1.svi", ("leaf1:Vlan10", "h1:eth1"))
    assert error.hop == "leaf1:Vlan10 -> h1:eth1"


def test_lift_before_the_gateway(fabric):
    error = fabric.refused(swapped(fabric.plan.steps, "canary.1.svi", "canary.1.lift"))
    assert (error.step, error.pair[1]) == ("canary.1.lift", "leaf1:Vlan10")


def test_lift_before_the_fabric(fabric):
    error = fabric.refused(swapped(fabric.plan.steps, "fabric.4.lift", "fabric.2.link"))
    assert error.step == "fabric.4.lift"
    early = [fabric.step("fabric.4.lift"), *(s for s in fabric.plan.steps if s.id != "fabric.4.lift")]
    assert fabric.refused(in_a_row(early)).step == "fabric.4.lift"


def test_a_lift_without_a_gate_before_it(fabric):
    steps = in_a_row(step for step in fabric.plan.steps if step.id != "fabric.proof")
    error = fabric.refused(steps)
    assert (error.verdict, error.step) == ("RULE", "fabric.4.lift")
    assert "before it is used" in str(error)


def test_a_gate_that_cannot_pass_yet(fabric):
    error = fabric.refused(swapped(fabric.plan.steps, "fabric.2.link", "fabric.proof"))
    assert (error.verdict, error.step) == ("RULE", "fabric.proof")


def test_one_end_of_a_link_forgotten(fabric):
    steps = fabric.without(lambda _step, change: (change.host, change.object) == ("spine2", "Ethernet1"))
    error = fabric.refused(steps)
    assert "spine2:Ethernet1" in str(error)


def test_a_hop_that_is_lowered_after_its_proof(fabric):
    port = ("spine2", "Ethernet1")
    down = replace(
        fabric.step("fabric.2.link"), id="fabric.down", gate=None, changes=(Change(*port, "ip_mtu", 9214, 1500),)
    )
    order = [s for s in fabric.plan.steps if s.stage != "soak"]
    error = fabric.refused(in_a_row([*order[:-1], down, order[-1]]))
    assert (error.verdict, error.step) == ("BLACKHOLE", "fabric.4.lift")  # what EOS accepts beyond its MTU isn't told
    assert (error.host, error.object) == port
    assert error.hop == "leaf1:Ethernet2 -> spine2:Ethernet1"
    assert error.path[-1] == "spine2:Ethernet2 -> leaf2:Ethernet2"


def test_a_host_left_small(fabric):
    steps = fabric.without(lambda _step, change: (change.host, change.field) == ("h3", "ip_mtu"))
    assert "h3:eth1" in str(fabric.refused(steps))


def test_a_forgotten_pin(fabric):
    error = fabric.refused(fabric.without(lambda _step, change: (change.host, change.before) == ("h1", None)))
    assert (error.verdict, error.step, error.pair) == (
        "BLACKHOLE",
        "canary.1.host_link",
        ("h1:eth1", "everywhere else"),
    )


def test_link_before_pin(fabric):
    first = fabric.step("canary.1.host_link")
    turned = replace(first, changes=tuple(reversed(first.changes)))
    error = fabric.refused([turned, *fabric.plan.steps[1:]])
    assert "everywhere" in str(error)


@pytest.mark.parametrize("prefix", ["default", "0.0.0.0/0"])
def test_the_default_route_is_never_lifted(fabric, prefix):
    lift = fabric.step("canary.1.lift")
    wrong = replace(lift, changes=(*lift.changes, Change("h1", f"eth1 {prefix}", "route_mtu", 1500, 9000)))
    error = fabric.refused([wrong if s.id == lift.id else s for s in fabric.plan.steps])
    assert (error.verdict, error.step) == ("RULE", "canary.1.lift")
    assert "default route is never lifted" in str(error)


@pytest.mark.parametrize(("prefix", "told"), [("10.10.0.0/16", "not the subnet"), ("10.20.1.0/24", "not the subnet")])
def test_only_jumbo_subnets_are_lifted(fabric, prefix, told):
    lift = fabric.step("fabric.4.lift")
    wrong = replace(lift, changes=(Change("h1", f"eth1 {prefix}", "route_mtu", 1500, 9000),))
    assert told in str(fabric.refused([wrong if s.id == lift.id else s for s in fabric.plan.steps]))


def test_unpinning_everything_is_caught(fabric):
    lift = fabric.step("canary.1.lift")
    wrong = replace(lift, changes=(Change("h1", "eth1", "route_mtu", 1500, None),))
    assert fabric.refused([wrong if s.id == lift.id else s for s in fabric.plan.steps]).pair[0] == "h1:eth1"


def test_steps_that_do_not_wait_may_run_together(fabric):
    lift = replace(fabric.step("canary.1.lift"), needs=("canary.1.host_link",))  # its gateway may still be armed
    error = fabric.refused([lift if s.id == lift.id else s for s in fabric.plan.steps])
    assert (error.host, error.object) == ("leaf1", "Vlan10")


def test_racks_may_run_side_by_side():
    fabric = Fabric(inventory(leafs=3, jumbo_max_wave=1, jumbo_stages=["canary", "leaf"]))
    loose = [replace(s, needs=("canary.1.lift",)) if s.id == "leaf.2.host_link" else s for s in fabric.plan.steps]
    fabric.prove(loose)


@pytest.mark.parametrize("needs", [("leaf.1.lift",), ("nowhere",)])
def test_needs_must_come_before(fabric, needs):
    steps = [replace(fabric.plan.steps[0], needs=needs), *fabric.plan.steps[1:]]
    assert "does not come before it" in str(fabric.refused(steps))


def test_ids_are_unique(fabric):
    assert "two steps" in str(fabric.refused([fabric.plan.steps[0], fabric.plan.steps[0]]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (Change("h1", "eth0", "ip_mtu", 1500, 9000), "role is frontend"),
        (Change("leaf1", "Vlan20", "ip_mtu", 1500, 9000), "role is frontend"),
        (Change("leaf1", "Ethernet1", "drained", False, True), "stays drained"),
        (Change("leaf1", "Ethernet1", "colour", 1, 2), "not proven by this version"),
        (Change("leaf1", "Ethernet1", "ip_mtu", 4000, 9214), "the device says 1500"),
        (Change("leaf9", "Ethernet1", "ip_mtu", 1500, 9214), "not read"),
    ],
)
def test_changes_that_no_plan_may_hold(fabric, change, told):
    first = replace(fabric.plan.steps[0], changes=(change,), gate=None)
    assert told in str(fabric.refused([first]))


def test_excluded_interfaces():
    fabric = Fabric(inventory(jumbo_excluded_interfaces=["spine1:Ethernet1"]))
    step = replace(fabric.plan.steps[0], changes=(Change("spine1", "Ethernet1", "ip_mtu", 1500, 9214),), gate=None)
    assert "excluded" in str(fabric.refused([step]))


def test_a_lift_may_not_move_the_way(fabric):
    fabric.states["h1"]["routes"] = [r for r in fabric.states["h1"]["routes"] if r["prefix"] != "10.10.0.0/16"]
    assert "leave by eth0" in str(fabric.refused(fabric.plan.steps))


def test_a_forwarding_host_is_not_pinned(fabric):
    fabric.states["h1"]["forwarding"] = True
    assert "forwards" in str(fabric.refused(fabric.plan.steps))


def test_a_host_that_comes_back_small_after_a_reboot(fabric):
    fabric.states["h3"]["persistence"] = None
    error = fabric.refused(fabric.plan.steps)
    assert "h3:eth1" in str(error)
    assert "after a reboot" in str(error)


def test_that_reboot_may_be_waived():
    def forget(found):
        found["h3"]["persistence"] = None

    waiver = {"kind": "no_dead_man", "object": "h3", "reason": "rebuilt at each boot"}
    fabric = Fabric(inventory(jumbo_waivers=[waiver]), change=forget)
    assert any("h3:eth1 is not covered after a reboot" in note for note in fabric.prove().notes)


def test_a_switch_that_did_not_save_comes_back_small(fabric):
    fabric.states["spine1"]["interfaces"]["Ethernet1"].update(ip_mtu=9214, persisted_mtu=1500)
    steps = fabric.without(lambda _step, change: (change.host, change.object) == ("spine1", "Ethernet1"))
    error = fabric.refused(steps)
    assert "spine1:Ethernet1" in str(error)


def test_speakers_that_are_not_ours():
    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][0]["members"].append({"name": "printer", "managed": False})
    hosts["h1"]["variables"]["jumbo_waivers"] = [{"kind": "unmanaged_member", "object": "printer", "reason": "quiet"}]
    fabric = Fabric(hosts)
    fabric.prove()
    hosts["h1"]["variables"]["jumbo_waivers"] = []
    fabric.intent, fabric.topology = load(hosts)
    assert "printer" in str(fabric.refused(fabric.plan.steps))


def test_ports_that_cannot_be_seen_are_taken_to_be_small(fabric):
    del fabric.states["leaf1"]["interfaces"]["Ethernet11"]
    assert "leaf1:Ethernet11" in str(fabric.refused(fabric.plan.steps))


def test_an_igp_never_sees_unequal_ends():
    hosts = inventory(jumbo_stages=["canary"])
    hosts["h1"]["variables"]["jumbo_links"][0]["routing"] = "isis"
    fabric = Fabric(hosts)
    fabric.prove()
    changes = (Change("leaf1", "Ethernet1", "ip_mtu", 1500, 9214), Change("spine1", "Ethernet1", "ip_mtu", 1500, 9214))
    step = replace(fabric.plan.steps[0], id="fabric.1.link", changes=changes, gate=None, needs=())
    assert "isis" in str(fabric.refused([step]))


def test_igp_links_that_differ_already_are_not_our_doing():
    hosts = inventory(jumbo_stages=["canary"])
    hosts["h1"]["variables"]["jumbo_links"][0]["routing"] = "ospf"

    def differ(found):
        found["leaf1"]["interfaces"]["Ethernet1"].update(ip_mtu=9214, persisted_mtu=9214)

    Fabric(hosts, change=differ).prove()


def test_failover_paths_count():
    hosts = inventory(spines=2, leafs=3)
    links = hosts["h1"]["variables"]["jumbo_links"]
    links[:] = [k for k in links if not (isinstance(k, dict) and k["ends"] == ["leaf2:Ethernet2", "spine2:Ethernet2"])]
    fabric = Fabric(hosts)  # leaf1 to leaf2 by spine1 alone; after a failure by spine2, leaf3 and spine1
    fabric.prove()
    small = [("leaf1", "Ethernet2"), ("spine2", "Ethernet1")]
    steps = fabric.without(lambda _step, change: (change.host, change.object) in small)
    gates = {"fabric.proof": None}  # the gate could not tell: its packets take the short way
    far = [c for s in steps for c in s.changes if c.prefix and {c.host, c.prefix} & {"h5", "h6", "10.10.3.0/24"}]
    steps = [
        replace(s, changes=tuple(c for c in s.changes if c not in far), gate=gates.get(s.id, s.gate)) for s in steps
    ]
    error = fabric.refused([s for s in steps if s.stage != "soak"])
    assert error.verdict in {"PTB", "RULE"}


def test_a_gateway_that_is_too_large_already_is_only_noted():
    def raise_it(found):
        found["leaf2"]["interfaces"]["Vlan10"].update(ip_mtu=9000, persisted_mtu=9000)

    fabric = Fabric(inventory(jumbo_stages=["canary"]), change=raise_it)
    assert any("leaf2:Vlan10 sends up to 9000" in note for note in fabric.prove().notes)


def test_hosts_that_are_large_already_keep_being_answered():
    def raise_them(found):
        for host in ("h1", "h2"):
            found[host]["interfaces"]["eth1"].update(ip_mtu=9000, persisted_mtu=9000)

    fabric = Fabric(change=raise_them)
    assert any("answered" in note for note in fabric.prove().notes)


def test_a_fabric_that_drops_already_is_not_begun():
    def one_only(found):
        found["h1"]["interfaces"]["eth1"].update(ip_mtu=9000, persisted_mtu=9000)

    fabric = Fabric()
    one_only(fabric.states)
    error = fabric.refused([])
    assert (error.step, error.verdict) == ("before the roll-out", "BLACKHOLE")


@pytest.mark.parametrize("done", range(1, 13))
def test_the_way_back_is_proven_from_everywhere(fabric, done):
    changes = [c for step in fabric.plan.as_dict()["steps"][:done] for c in step["changes"]]
    after = applied(fabric.states, changes)
    steps = way_back(fabric.plan.steps[:done], fabric.topology)
    fabric.prove(steps, after)
    back = applied(after, [c.as_dict() for step in steps for c in step.changes])
    assert all(
        back[host]["interfaces"][name]["ip_mtu"] == port["ip_mtu"]
        for host, state in fabric.states.items()
        for name, port in state["interfaces"].items()
    )


def test_the_way_back_in_the_wrong_order_is_caught(fabric):
    changes = [c for step in fabric.plan.as_dict()["steps"] for c in step["changes"]]
    after = applied(fabric.states, changes)
    steps = list(way_back(fabric.plan.steps, fabric.topology))
    names = [step.id for step in steps]
    assert names == ["back.pin", "back.unpersist", "back.svi", "back.link", "back.host_link"]
    for one, other in (
        ("back.pin", "back.svi"),
        ("back.pin", "back.link"),
        ("back.host_link", "back.svi"),
        ("back.unpersist", "back.link"),
    ):
        with pytest.raises(NotProven):
            fabric.prove(swapped(steps, one, other), after)
    turned = [replace(s, changes=s.changes[::-1]) if s.phase == "host_link" else s for s in steps]
    with pytest.raises(NotProven):  # the pins first, while the links are large
        fabric.prove(turned, after)


# ---------------------------------------------------------------------- lost pins, persisting


def small_ports(found):
    for device, state in found.items():
        for name, port in state["interfaces"].items():
            if device.startswith("leaf") and name.startswith("Ethernet1") and len(name) > 9:
                port.update(ip_mtu=1500, persisted_mtu=1500)


def test_a_host_before_its_port_would_lose_packets_if_its_pins_were_lost():
    fabric = Fabric(change=small_ports)
    assert fabric.prove()
    error = fabric.refused(swapped(fabric.plan.steps, "canary.1.l2", "canary.1.host_link"))
    assert (error.step, error.verdict, error.hop) == ("canary.1.host_link", "BLACKHOLE", "leaf1:Ethernet11")
    assert "if h1:eth1 lost its pins, it would send 9000 bytes into leaf1:Ethernet11" in str(error)


def test_what_a_host_would_send_without_its_pins_is_received_in_its_segment_by_the_end_of_the_stage(fabric):
    steps = [s for s in fabric.plan.steps if s.stage == "canary" and s.phase == "host_link"]
    error = fabric.refused(steps)
    assert error.step == "after canary.1.host_link"
    assert "would send 9000 bytes into leaf1:Vlan10" in str(error)


def test_a_segment_that_was_half_raised_before_is_not_our_doing(fabric):
    first = fabric.step("canary.1.host_link")
    after = applied(fabric.states, [change.as_dict() for change in first.changes])
    fabric.prove([], after)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("canary.1.svi", "canary.1.lift"),
        ("canary.1.host_link", "canary.1.svi"),
        ("fabric.2.link", "fabric.4.lift"),
    ],
)
def test_what_is_used_before_it_is_persisted_is_caught(fabric, first, then):
    """Persist after lift: a reboot brings the hop back small while its senders are lifted."""
    one, other = fabric.step(first), fabric.step(then)
    both = replace(one, changes=(*one.changes, *other.changes))
    steps = [both if s.id == first else s for s in fabric.plan.steps if s.id != then]
    moved = [s for s in steps if s.id == "fabric.proof"]
    if then == "fabric.4.lift":  # the probes stay in front, so that only persisting is too late
        steps = [s for s in steps if s.id != "fabric.proof"]
        steps.insert(steps.index(both), replace(moved[0], gate=None))
    assert fabric.refused(in_a_row(steps)).step == first


@pytest.mark.parametrize("host", ["h1", "h4"])
def test_a_host_that_does_not_persist_what_it_receives_is_caught(fabric, host):
    fabric.states[host]["persistence"] = None
    error = fabric.refused(fabric.plan.steps)
    assert (error.verdict, error.host) == ("BLACKHOLE", host)
    assert "after a reboot" in str(error)
