"""Pairs, stretched segments, links with an IGP, both families: the order of their plans, and what the proof refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.coverage import Coverage
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.crossed import ports_to_cross
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.live import Live
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from unit.mtu.fabric import (
    all_changes,
    applied,
    changes,
    inventory,
    load,
    paired,
    planned,
    states,
    stretched,
    with_ipv6,
)


def igp(hosts, routing="ospf"):
    for link in hosts["spine1"]["variables"]["jumbo_links"]:
        if isinstance(link, dict):
            link["routing"] = routing
    return hosts


def refused(hosts, spoil):
    """Plan, spoil the steps, let each need the one before, and return what the proof says."""
    intent, topology = load(hosts)
    found = states(intent)
    steps = []
    for step in spoil(list(make_plan(intent, topology, found).steps)):
        steps.append(replace(step, needs=(steps[-1].id,) if steps else ()))
    with pytest.raises(NotProven) as caught:
        prove(Plan(tuple(steps)), intent, topology, found)
    return caught.value


def together(steps, one, other):
    """Put the changes of a later step into an earlier one."""
    moved = next(step for step in steps if step.id == other)
    return [replace(s, changes=(*s.changes, *moved.changes)) if s.id == one else s for s in steps if s is not moved]


# ---------------------------------------------------------------------- pairs


def test_members_of_a_pair_change_one_after_the_other_and_hosts_are_lifted_after_both():
    plan = planned(paired(pairs=1))
    assert [(step.id, step.hosts) for step in plan.steps[:4]] == [
        ("canary.1.host_link", ("h1", "h2")),
        ("canary.1.svi", ("leaf1a",)),
        ("canary.2.svi", ("leaf1b",)),
        ("canary.2.lift", ("h1", "h2")),
    ]
    links = [step.hosts for step in plan.steps if step.phase == "link" and step.changes]
    assert all(len({"leaf1a", "leaf1b"} & set(hosts)) == 1 for hosts in links)


def test_a_pair_counts_as_one_switch_of_a_wave():
    plan = planned(paired(pairs=3, hosts=1, jumbo_max_wave=2))
    assert [s.hosts for s in plan.steps if s.stage == "leaf" and s.phase == "svi"] == [
        ("leaf2a", "leaf3a"),
        ("leaf2b", "leaf3b"),
    ]


def test_both_members_at_once_are_refused():
    error = refused(paired(), lambda steps: together(steps, "canary.1.svi", "canary.2.svi"))
    assert (error.verdict, error.step) == ("RULE", "canary.1.svi")
    assert "both members of the pair pair1" in str(error)


def test_a_small_peer_link_comes_first_at_both_ends_and_counts_for_hosts_on_one_leaf():
    def small(found):
        for leaf in ("leaf1a", "leaf1b"):
            found[leaf]["interfaces"]["Ethernet48"].update(ip_mtu=1500, device_mtu=1500, persisted_mtu=1500)

    plan = planned(paired(single=1), change=small)
    assert (plan.steps[0].id, plan.steps[0].hosts, plan.steps[0].atomic) == ("canary.1.l2", ("leaf1a", "leaf1b"), True)
    intent, topology = load(paired(single=1))
    found = states(intent)
    small(found)
    steps = [replace(s, needs=() if i == 1 else s.needs) for i, s in enumerate(plan.steps) if i]
    with pytest.raises(NotProven, match="Ethernet48"):
        prove(Plan(tuple(steps)), intent, topology, found)


def with_peering(**more):
    return paired(pairs=1, peering="Vlan4094", **more)


def test_both_ends_of_a_peering_change_in_one_step_and_prove_the_peer_link_before_hosts_are_lifted():
    plan = planned(with_peering())
    first = plan.steps[0]
    assert (first.id, first.hosts, first.atomic) == ("canary.1.link", ("leaf1a", "leaf1b"), True)
    assert {(change.object, change.to) for change in first.changes} == {("Vlan4094", 9214)}
    ends = ("leaf1a:Vlan4094", "leaf1b:Vlan4094")
    assert (first.gate.name, first.gate.pairs, first.gate.ip_mtus) == ("leg", (ends, ends[::-1]), (9214, 1500))


def test_a_peering_that_is_large_already_still_proves_the_peer_link_and_one_at_its_target_is_left_alone():
    def large(found):
        for leaf in ("leaf1a", "leaf1b"):
            found[leaf]["interfaces"]["Vlan4094"].update(ip_mtu=9000, device_mtu=9000, persisted_mtu=9000)

    first = planned(with_peering(), change=large).steps[0]
    assert (first.id, first.changes, first.gate.ip_mtus) == ("canary.1.link", (), (9000, 1500))
    intent, topology = load(with_peering())
    before = states(intent)
    done = applied(before, all_changes(make_plan(intent, topology, before)))
    assert make_plan(intent, topology, done).steps == ()


def test_nobody_is_lifted_behind_a_pair_before_its_peer_link_is_proven():
    error = refused(with_peering(), lambda steps: [step for step in steps if step.id != "canary.1.link"])
    assert error.step == "canary.3.lift"
    assert "the peer link under leaf1a:Vlan4094 - leaf1b:Vlan4094 from leaf1a" in str(error)


def test_a_peering_is_never_larger_than_its_peer_link():
    hosts = with_peering()
    intent, topology = load(hosts)
    found = states(intent)
    for leaf in ("leaf1a", "leaf1b"):
        found[leaf]["interfaces"]["Ethernet48"].update(ip_mtu=1500, device_mtu=1500, persisted_mtu=1500)
    steps = list(make_plan(intent, topology, found).steps)
    assert [step.id for step in steps[:2]] == ["canary.1.l2", "canary.1.link"]
    wrong = [replace(steps[1], needs=()), replace(steps[0], needs=(steps[1].id,))]
    with pytest.raises(NotProven, match="Vlan4094 may send 9214 bytes to the other member of pair1") as caught:
        prove(Plan(tuple(wrong)), intent, topology, found)
    assert (caught.value.verdict, caught.value.step) == ("BLACKHOLE", "canary.1.link")


def test_a_peering_that_has_no_mtu_to_set_is_left_alone_and_said():
    plan = planned(with_peering(jumbo_excluded_interfaces=["leaf1b:Vlan4094"]))
    assert not any(change["object"] == "Vlan4094" for change in all_changes(plan))
    assert "The peer link of pair1 is not probed on its own" in " ".join(plan.notes)
    assert any(step.phase == "lift" for step in plan.steps)


def test_probes_within_a_pair_prove_no_leg_of_the_fabric():
    intent, topology = load(paired(single=1))
    found = states(intent)
    gate = make_plan(intent, topology, found).step("canary.1.host_link").gate
    assert {"h1:bond0", "h3:eth1"} <= {end for pair in gate.pairs for end in pair}
    coverage = Coverage(Live(intent, topology, found))
    coverage.add(gate)
    assert coverage.links == {}


def test_hosts_of_a_pair_have_paths_by_both_members():
    _intent, topology = load(paired())
    paths = topology.paths(End("h1", "bond0"), End("h3", "bond0"))
    assert len(paths) == topology.path_count(End("h1", "bond0"), End("h3", "bond0")) == 2 * 2 * 2
    assert {path[0].ingress.device for path in paths} == {"leaf1a", "leaf1b"}


# ---------------------------------------------------------------------- stretched segments


def test_a_stretched_segment_follows_its_underlay_with_a_pair_of_hosts_as_canary():
    hosts = stretched()

    def address(found):
        for number in range(1, 7):
            found[f"h{number}"]["interfaces"]["eth1"]["addresses"] = [f"10.10.1.{number}/24"]

    plan = planned(hosts, change=address)
    assert [step.id for step in plan.steps[:6]] == [
        "fabric.1.link",
        "fabric.2.link",
        "fabric.3.host_link",
        "fabric.3.svi",
        "fabric.3.lift",
        "fabric.4.lift",
    ]
    assert changes(plan, "fabric.3.lift") == [
        ("h1", "eth1 10.10.1.3/32", "route_mtu", 1500, 9000),
        ("h3", "eth1 10.10.1.1/32", "route_mtu", 1500, 9000),
    ]
    assert plan.step("fabric.3.svi").hosts == ("leaf1", "leaf2", "leaf3")


@pytest.mark.parametrize("encapsulations", [[], ["vxlan"]])
def test_a_stretched_segment_before_its_underlay_is_a_black_hole(encapsulations):
    hosts = stretched(jumbo_encapsulations=encapsulations)
    error = refused(hosts, lambda steps: [*steps[2:5], *steps[:2], *steps[5:]])
    assert "its gate cannot pass" in str(error) or error.verdict == "BLACKHOLE"


def test_an_underlay_that_is_too_small_leaves_the_segment_out():
    hosts = stretched(jumbo_stages=["canary", "leaf"])
    assert planned(hosts).steps == ()
    intent, _topology = load(stretched())
    plan = planned(stretched(), touchable=frozenset(intent.devices) - {"spine2"})
    assert any("stretched segment back is left out" in note for note in plan.notes)


TRUNK = ["leaf1:Ethernet30", "leaf2:Ethernet30"]


def trunked(**shared):
    """One jumbo segment over two racks, carried by a trunk between their leafs beside the routed fabric."""
    hosts = stretched(leafs=2, **shared)
    hosts["h1"]["variables"]["jumbo_links"].append(TRUNK)
    return hosts


def test_a_trunk_switches_and_is_no_way_for_what_is_routed():
    _intent, topology = load(trunked())
    (segment,) = topology.jumbo_segments()
    assert [str(link) for link in topology.domains.trunks_in(segment)] == [" - ".join(TRUNK)]
    assert topology.domains.is_switched(segment)
    assert all(link.routing != "none" for link in topology.uplinks())
    (path,) = topology.paths(End("h1", "eth1"), End("h3", "eth1"))
    assert [str(hop.egress) for hop in path] == ["h1:eth1", "leaf1:Ethernet30", "leaf2:Ethernet11"]
    _intent, underlay = load(stretched(leafs=2))
    assert {hop.ingress.device for path in underlay.paths(End("h1", "eth1"), End("h3", "eth1")) for hop in path} == {
        *("leaf1", "spine1", "spine2", "leaf2", "h3")
    }
    assert not underlay.domains.is_switched(segment)


def small_trunk(found):
    for leaf in ("leaf1", "leaf2"):
        found[leaf]["interfaces"]["Ethernet30"].update(ip_mtu=1500, device_mtu=1500, persisted_mtu=1500)


def test_a_small_trunk_comes_first_and_a_probe_has_to_cross_it():
    plan = planned(trunked(), change=small_trunk)
    first = next(step for step in plan.steps if any(change.object == "Ethernet30" for change in step.changes))
    assert (first.phase, first.hosts) == ("l2", ("leaf1", "leaf2"))
    gate = next(step.gate for step in plan.steps if step.gate and step.gate.name == "rack_receive")
    _intent, topology = load(trunked())
    assert set(TRUNK) <= set(ports_to_cross(gate.as_dict(), topology))


def test_a_trunk_that_stays_small_or_that_no_probe_crosses_is_not_proven():
    hosts = trunked()
    intent, topology = load(hosts)
    found = states(intent)
    small_trunk(found)
    steps = [s for s in make_plan(intent, topology, found).steps if s.phase != "l2"]
    steps = [replace(s, needs=(steps[n - 1].id,) if n else ()) for n, s in enumerate(steps)]
    with pytest.raises(NotProven, match="Ethernet30"):
        prove(Plan(tuple(steps)), intent, topology, found)

    def beside(steps):
        near = (("h1:eth1", "h2:eth1"), ("h2:eth1", "h1:eth1"), ("h3:eth1", "h4:eth1"), ("h4:eth1", "h3:eth1"))
        return [replace(s, gate=replace(s.gate, pairs=near)) if s.phase == "host_link" else s for s in steps]

    assert "leaf1:Ethernet30 - leaf2:Ethernet30 from leaf1" in str(refused(trunked(), beside))


def test_what_two_segments_of_a_pair_share_is_raised_and_proven_once():
    hosts = with_peering(single=1)
    variables = hosts["h1"]["variables"]
    members = ["leaf1a:Vlan11", "leaf1b:Vlan11", "h3:eth1"]
    variables["jumbo_segments"][0]["members"].remove("h3:eth1")
    second = {"name": "second", "vlan": 11, "subnets": ["10.11.1.0/24"], "role": "jumbo", "members": members}
    variables["jumbo_segments"].append({**second, "ip_mtu": 8000})
    intent, topology = load(hosts)
    plan = make_plan(intent, topology, states(intent))
    assert [step.id for step in plan.steps if step.gate and step.gate.name == "leg" and step.stage == "canary"] == [
        "canary.1.link"
    ]


# ---------------------------------------------------------------------- OSPF and IS-IS


@pytest.mark.parametrize("routing", ["ospf", "isis"])
def test_links_with_an_igp_are_drained_around_their_change(routing):
    plan = planned(igp(inventory(), routing))
    assert [step.id for step in plan.steps if step.stage == "fabric"][:6] == [
        "fabric.1.drain",
        "fabric.1.link",
        "fabric.1.undrain",
        "fabric.2.drain",
        "fabric.2.link",
        "fabric.2.undrain",
    ]
    drain = plan.step("fabric.1.drain")
    assert (drain.gate.name, drain.gate.ip_mtus) == ("cross_rack", (1500,))
    assert ("spine1", "Ethernet1", "drained", False, True) in changes(plan, "fabric.1.drain")


@pytest.mark.parametrize("phase", ["drain", "undrain"])
def test_a_link_that_is_not_drained_while_its_ends_differ_is_refused(phase):
    def spoil(steps):
        return (
            [s for s in steps if s.id != "fabric.1.drain"]
            if phase == "drain"
            else together(steps, "fabric.1.link", "fabric.1.undrain")
        )

    assert "ospf" in str(refused(igp(inventory()), spoil))


def test_one_end_drained_is_not_enough():
    def half(steps):
        return [
            replace(s, changes=tuple(c for c in s.changes if c.host != "leaf1")) if s.id == "fabric.1.drain" else s
            for s in steps
        ]

    assert "the ends of leaf1:Ethernet1 - spine1:Ethernet1 may differ" in str(refused(igp(inventory()), half))


def test_two_planes_drained_at_once_leave_no_way():
    error = refused(igp(inventory()), lambda steps: together(steps, "fabric.1.drain", "fabric.2.drain"))
    assert "no way left between leaf1 and leaf2" in str(error)


def test_the_only_path_is_not_drained_unless_waived():
    with pytest.raises(InvalidIntent, match="no other way"):
        planned(igp(inventory(spines=1)))
    waivers = [{"kind": "only_path", "object": name, "reason": "a window"} for name in ("leaf1", "leaf2", "leaf3")]
    assert planned(igp(inventory(spines=1, jumbo_waivers=waivers))).step("fabric.1.drain")


def test_a_platform_that_re_adds_its_interface_is_drained_and_its_outage_declared():
    hosts = inventory()
    hosts["spine1"]["platform"] = "junos"
    plan = planned(hosts)
    assert plan.step("fabric.1.drain")
    assert plan.step("fabric.1.link").outage[0].link == "leaf1:Ethernet1 - spine1:Ethernet1"
    assert plan.step("fabric.2.drain") is None


def test_a_short_loss_that_is_accepted_needs_no_drain_and_is_declared_all_the_same():
    waivers = [{"kind": "outage", "object": "spine1", "reason": "seconds are fine"}]
    hosts = inventory(jumbo_waivers=waivers)
    hosts["spine1"]["platform"] = "junos"
    plan = planned(hosts)
    assert plan.step("fabric.1.drain") is None
    assert plan.step("fabric.1.link").outage[0].link == "leaf1:Ethernet1 - spine1:Ethernet1"


def test_a_short_loss_that_is_accepted_may_not_be_that_of_the_only_way():
    waivers = [{"kind": "outage", "object": "spine1", "reason": "seconds are fine"}]
    hosts = inventory(spines=1, jumbo_waivers=waivers)
    hosts["spine1"]["platform"] = "junos"
    with pytest.raises(InvalidIntent, match="no other way"):
        planned(hosts)


# ---------------------------------------------------------------------- both families, host stacks


def test_both_families_are_pinned_and_lifted():
    plan = planned(with_ipv6(inventory()))
    objects = {c["object"] for c in all_changes(plan) if c["host"] == "h1" and c["field"] == "route_mtu"}
    assert {"eth1", "eth1 10.10.1.0/24", "eth1 fd00:10:1::/64", "eth1 fd00:10:2::/64"} <= objects


def test_a_lifted_ipv6_default_is_refused():
    def spoil(steps):
        lift = next(step for step in steps if step.id == "canary.1.lift")
        wrong = replace(lift.changes[0], object="eth1 ::/0")
        return [replace(s, changes=(*s.changes, wrong)) if s is lift else s for s in steps]

    assert "default route is never lifted" in str(refused(with_ipv6(inventory()), spoil))


def test_many_prefixes_that_tile_are_lifted_as_one():
    hosts = inventory(leafs=20, hosts=1)
    segments = [s for s in hosts["h1"]["variables"]["jumbo_segments"] if s["role"] == "jumbo"]
    for number, segment in enumerate(segments):
        segment["subnets"] = [f"10.10.{number}.0/24"]
    lifted = {c["object"] for c in all_changes(planned(hosts)) if c["host"] == "h1" and " " in c["object"]}
    assert lifted == {"eth1 10.10.0.0/24", "eth1 10.10.0.0/20", "eth1 10.10.16.0/22"}


def test_bridges_stand_on_their_ports_and_guests_keep_a_segment_small():
    def bridge(found):
        ports = found["h1"]["interfaces"]
        ports["eth1"].update(kind="bridge", members=["eth5", "tap0"])
        ports["eth5"] = dict(ports["eth1"], name="eth5", kind="ethernet", members=None)
        ports["tap0"] = dict(ports["eth1"], name="tap0", kind="tap", members=None)

    assert any("guests are bridged to h1:eth1 by h1:tap0" in note for note in planned(change=bridge).notes)
    waived = inventory(jumbo_waivers=[{"kind": "unmanaged_member", "object": "h1", "reason": "they stay at 1500"}])
    assert changes(planned(waived, change=bridge), "canary.1.host_link")[:3] == [
        ("h1", "eth1", "route_mtu", None, 1500),
        ("h1", "eth5", "ip_mtu", 1500, 9000),
        ("h1", "eth1", "ip_mtu", 1500, 9000),
    ]


def test_a_ring_of_interfaces_is_named():
    intent, topology = load(inventory())
    found = states(intent)
    found["h1"]["interfaces"]["eth1"]["parent"] = "eth0"
    found["h1"]["interfaces"]["eth0"]["parent"] = "eth1"
    with pytest.raises(JumboError, match="eth1 on eth0 on eth1"):
        Live(intent, topology, found).stack(End("h1", "eth1"))
