"""Plans: their order, their waves, what comes out the same."""

from __future__ import annotations

import json

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import prove
from unit.mtu.fabric import all_changes, applied, changes, inventory, load, planned, states


def test_the_order_of_a_whole_roll_out():
    assert [step.id for step in planned().steps] == [
        "canary.1.host_link",
        "canary.1.svi",
        "canary.1.lift",
        "leaf.1.host_link",
        "leaf.1.svi",
        "leaf.1.lift",
        "fabric.1.link",
        "fabric.2.link",
        "fabric.proof",
        "fabric.4.lift",
        "soak.gate",
        "soak.persist",
    ]


def test_hosts_are_pinned_before_their_link_is_raised():
    assert changes(planned(), "canary.1.host_link")[:2] == [
        ("h1", "eth1", "route_mtu", None, 1500),
        ("h1", "eth1", "ip_mtu", 1500, 9000),
    ]


def test_each_step_needs_the_one_before_and_can_be_undone():
    plan = planned()
    for before, step in zip(plan.steps, plan.steps[1:], strict=False):
        assert step.needs == (before.id,)
    undo = plan.step("canary.1.host_link").undo
    assert [(c.host, c.field, c.before, c.to) for c in undo][:2] == [
        ("h2", "ip_mtu", 9000, 1500),
        ("h2", "route_mtu", 1500, None),
    ]


def test_gates_and_dead_men():
    plan = planned()
    gates = {
        step.id: (step.gate.name, len(step.gate.pairs), step.gate.ip_mtus, step.gate.flows)
        for step in plan.steps
        if step.gate
    }
    assert gates == {
        "canary.1.host_link": ("rack_receive", 2, (9000, 1500), 1),
        "canary.1.svi": ("gateway", 2, (9000, 1500), 1),
        "canary.1.lift": ("lifted", 2, (9000, 1500), 1),
        "leaf.1.host_link": ("rack_receive", 4, (9000, 1500), 1),
        "leaf.1.svi": ("gateway", 4, (9000, 1500), 1),
        "leaf.1.lift": ("lifted", 4, (9000, 1500), 1),
        "fabric.1.link": ("leg", 6, (9214, 1500), 1),
        "fabric.2.link": ("leg", 6, (9214, 1500), 1),
        "fabric.proof": ("cross_rack", 24, (9000, 1500), 21),
        "fabric.4.lift": ("lifted", 24, (9000, 1500), 1),
        "soak.gate": ("soak", 30, (9000, 1500), 1),
    }
    kinds = {step.id: step.dead_man.kind if step.dead_man else None for step in plan.steps}
    assert kinds["canary.1.host_link"] == "guard"
    assert kinds["fabric.1.link"] == "commit_timer"
    assert kinds["fabric.4.lift"] is None
    assert plan.step("fabric.1.link").atomic


def test_lifts_are_explicit_prefixes():
    plan = planned()
    assert changes(plan, "canary.1.lift") == [
        ("h1", "eth1 10.10.1.0/24", "route_mtu", 1500, 9000),
        ("h2", "eth1 10.10.1.0/24", "route_mtu", 1500, 9000),
    ]
    assert ("h1", "eth1 10.10.3.0/24", "route_mtu", 1500, 9000) in changes(plan, "fabric.4.lift")


def test_front_end_and_excluded_interfaces_are_never_touched():
    objects = {(c["host"], c["object"].split()[0]) for c in all_changes(planned())}
    assert not any(name in {"eth0", "Vlan20"} for _host, name in objects)
    hosts = inventory(jumbo_excluded_interfaces=["leaf3:Ethernet*"])
    plan = planned(hosts)
    assert not any(c["host"] == "leaf3" and c["object"].startswith("Ethernet") for c in all_changes(plan))
    assert any("plane of spine1 is left out" in note for note in plan.notes)


def test_the_second_run_changes_nothing():
    intent, topology = load(inventory())
    before = states(intent)
    after = applied(before, all_changes(make_plan(intent, topology, before)))
    plan = make_plan(intent, topology, after)
    assert plan.steps == ()
    prove(plan, intent, topology, after)


@pytest.mark.parametrize("done", range(1, 12))
def test_a_run_that_stopped_is_picked_up_where_it_was(done):
    intent, topology = load(inventory())
    before = states(intent)
    steps = make_plan(intent, topology, before).as_dict()["steps"]
    half = applied(before, [change for step in steps[:done] for change in step["changes"]])
    rest = make_plan(intent, topology, half)
    prove(rest, intent, topology, half)
    whole = applied(half, all_changes(rest))
    assert make_plan(intent, topology, whole).steps == ()
    assert whole["h6"]["routes"] == applied(before, [c for s in steps for c in s["changes"]])["h6"]["routes"]


def test_plans_are_the_same_byte_for_byte_and_survive_json():
    first, second = (json.dumps(planned().as_dict()) for _turn in range(2))
    assert first == second
    assert Plan.from_dict(json.loads(first)).as_dict() == json.loads(first)


def test_the_order_of_states_does_not_matter():
    intent, topology = load(inventory())
    found = states(intent)
    turned = dict(reversed(found.items()))
    assert make_plan(intent, topology, found) == make_plan(intent, topology, turned)


def test_waves_hold_at_most_so_many_switches():
    plan = planned(inventory(leafs=6, hosts=1, jumbo_max_wave=2))
    svi = [step for step in plan.steps if step.phase == "svi" and step.stage == "leaf"]
    assert [step.hosts for step in svi] == [("leaf2", "leaf3"), ("leaf4", "leaf5"), ("leaf6",)]
    links = [step for step in plan.steps if step.phase == "link" and step.changes]
    assert all(len(step.hosts) == 2 for step in links)
    assert len(links) == 12


def test_a_plane_is_split_by_leafs():
    plan = planned(inventory(leafs=6, hosts=1, jumbo_max_wave=4))
    links = [step.hosts for step in plan.steps if step.phase == "link" and step.changes]
    assert [set(hosts) for hosts in links[:2]] == [
        {"spine1", "leaf1", "leaf2", "leaf3"},
        {"spine1", "leaf4", "leaf5", "leaf6"},
    ]


@pytest.mark.parametrize(
    ("stages", "ids"),
    [
        (["canary"], ["canary.1.host_link", "canary.1.svi", "canary.1.lift"]),
        (["fabric"], ["fabric.1.link", "fabric.2.link"]),
        (["soak"], []),
        (["canary", "soak"], ["canary.1.host_link", "canary.1.svi", "canary.1.lift", "soak.gate", "soak.persist"]),
    ],
)
def test_only_chosen_stages(stages, ids):
    assert [step.id for step in planned(inventory(jumbo_stages=stages)).steps] == ids


def test_an_underlay_that_is_large_already_is_left_alone():
    intent, topology = load(inventory())
    found = states(intent, underlay=9214)
    plan = make_plan(intent, topology, found)
    prove(plan, intent, topology, found)
    assert [step.id for step in plan.steps if step.stage == "fabric"] == ["fabric.proof", "fabric.2.lift"]


def test_links_are_clamped_with_a_sentence():
    def limit(found):
        found["spine1"]["interfaces"]["Ethernet2"]["max_ip_mtu"] = 9194

    plan = planned(change=limit)
    (clamp,) = plan.clamps
    assert clamp["link"] == "leaf2:Ethernet1 - spine1:Ethernet2"
    assert (clamp["ip_mtu"], clamp["limited_by"]) == (9194, "spine1:Ethernet2")
    assert (
        clamp["sentence"]
        == "leaf2:Ethernet1 - spine1:Ethernet2 carries 9194, not 9214: spine1:Ethernet2 can do no more "
        "(told by the device); that is 9194 on leaf2:Ethernet1 (eos) and 9194 on spine1:Ethernet2 (eos)"
    )
    assert ("leaf2", "Ethernet1", "ip_mtu", 1500, 9194) in changes(plan, "fabric.1.link")
    assert plan.step("fabric.1.link").gate.ip_mtus == (9194, 1500)
    assert plan.step("fabric.2.link").gate.ip_mtus == (9214, 1500)


def test_small_switched_ports_come_first():
    def shrink(found):
        found["leaf1"]["interfaces"]["Ethernet11"].update(ip_mtu=1500, device_mtu=1500, persisted_mtu=1500)

    plan = planned(change=shrink)
    assert plan.steps[0].id == "canary.1.l2"
    assert changes(plan, "canary.1.l2") == [("leaf1", "Ethernet11", "ip_mtu", 1500, 9214)]


def test_the_parent_is_raised_before_its_child():
    hosts = inventory(leafs=1, hosts=1)
    members = hosts["h1"]["variables"]["jumbo_segments"][0]["members"]
    members[members.index("h1:eth1")] = "h1:eth1.10"

    def stack(found):
        found["h1"]["interfaces"]["eth1.10"]["parent"] = "eth1"

    assert changes(planned(hosts, change=stack), "canary.1.host_link") == [
        ("h1", "eth1.10", "route_mtu", None, 1500),
        ("h1", "eth1", "ip_mtu", 1500, 9000),
        ("h1", "eth1.10", "ip_mtu", 1500, 9000),
    ]


def test_a_fabric_that_was_raised_by_hand_is_pinned_and_lifted_by_prefix():
    """Everything at 9000, no pins: each host's default route comes down, its jumbo prefixes go up again."""

    def by_hand(found):
        for state in found.values():
            for name, port in state["interfaces"].items():
                if name not in {"eth0", "Vlan20"}:
                    size = 9000 if name in {"eth1", "Vlan10"} else 9214
                    port.update(ip_mtu=size, device_mtu=size, persisted_mtu=size)

    plan = planned(change=by_hand)
    fields = {(c["field"], c["to"]) for c in all_changes(plan)}
    assert fields == {("route_mtu", 1500), ("route_mtu", 9000), ("persisted", True)}
    assert len([c for c in all_changes(plan) if " " in c["object"]]) == 18


def test_routes_that_are_smaller_already_count_as_pinned():
    def pin(found):
        for route in found["h1"]["routes"]:
            route["mtu"] = 1400

    assert ("h1", "eth1", "route_mtu", None, 1500) not in changes(planned(change=pin), "canary.1.host_link")


def test_a_gateway_above_its_segment_comes_down():
    def raise_it(found):
        found["leaf1"]["interfaces"]["Vlan10"].update(ip_mtu=9214, device_mtu=9214, persisted_mtu=9214)

    plan = planned(change=raise_it)
    assert changes(plan, "lower.1.svi") == [("leaf1", "Vlan10", "ip_mtu", 9214, 9000)]


def second_segment(hosts, end, size=4000):
    """Add a storage segment to rack 1, on an interface or VLAN of its hosts."""
    variables = hosts["h1"]["variables"]
    members = ["leaf1:Vlan30", f"h1:{end}", f"h2:{end}"]
    entry = {
        "name": "store1",
        "vlan": 30,
        "subnets": ["10.11.1.0/24"],
        "role": "jumbo",
        "ip_mtu": size,
        "members": members,
    }
    variables["jumbo_segments"].append(entry)
    if "." not in end:
        variables["jumbo_links"] += [[f"h1:{end}", "leaf1:Ethernet31"], [f"h2:{end}", "leaf1:Ethernet32"]]
    return hosts


def test_segments_of_different_sizes_have_waves_of_their_own():
    plan = planned(second_segment(inventory(leafs=1), "eth2"))
    sizes = [(step.id, step.gate.ip_mtus) for step in plan.steps if step.phase == "host_link"]
    assert sizes == [("canary.1.host_link", (9000, 1500)), ("canary.2.host_link", (4000, 1500))]


def test_lifts_between_segments_of_one_rack_follow_their_proof():
    def one_way(found):  # both hosts reach the other segment by the interface of the first
        for host in ("h1", "h2"):
            found[host]["routes"] = [r for r in found[host]["routes"] if r["interface"] != "eth2"]
            found[host]["routes"] += [
                {"prefix": "10.11.1.0/24", "gateway": "10.10.1.1", "interface": "eth1", "mtu": None}
            ]

    plan = planned(second_segment(inventory(leafs=1), "eth2"), change=one_way)
    proof, lift = plan.step("canary.3.host_link"), plan.step("canary.3.lift")
    assert proof.changes == ()
    assert (proof.gate.name, proof.gate.ip_mtus) == ("rack_receive", (4000, 1500))
    assert ("h1", "eth1 10.11.1.0/24", "route_mtu", 1500, 4000) in changes(plan, lift.id)


def test_exposures_name_class_segment_and_window():
    first = planned().exposures[0]
    assert (first["class"], first["segment"], first["ip_mtu"]) == ("multicast", "back1", 9000)
    assert (first["from_step"], first["to_step"]) == ("canary.1.host_link", "canary.1.lift")


def test_device_numbers_stand_beside():
    hosts = inventory()
    hosts["spine1"]["platform"] = "junos"

    def number(found):
        for port in found["spine1"]["interfaces"].values():
            port["device_mtu"] = 1514

    change = next(c for c in planned(hosts, change=number).step("fabric.1.link").changes if c.host == "spine1")
    assert (change.before, change.to, change.from_device_mtu, change.to_device_mtu) == (1500, 9178, 1514, 9192)


def test_a_lag_is_raised_once_by_its_name():
    lags = [{"device": "leaf1", "name": "Port-Channel1", "members": ["Ethernet1", "Ethernet9"]}]
    lags.append({"device": "spine1", "name": "Port-Channel1", "members": ["Ethernet1", "Ethernet9"]})
    hosts = inventory(jumbo_lags=lags)
    hosts["h1"]["variables"]["jumbo_links"].append(
        {"ends": ["leaf1:Ethernet9", "spine1:Ethernet9"], "routing": "static"}
    )

    def bundle(found):
        for device in ("leaf1", "spine1"):
            port = dict(found[device]["interfaces"]["Ethernet1"], name="Port-Channel1")
            found[device]["interfaces"]["Port-Channel1"] = port

    plan = planned(hosts, change=bundle)
    objects = [(c.host, c.object) for c in plan.step("fabric.1.link").changes]
    assert objects.count(("leaf1", "Port-Channel1")) == 1
    assert ("leaf1", "Ethernet1") not in objects
    assert plan.step("fabric.1.link").gate.pairs[0] == ("leaf1:Port-Channel1", "spine1:Port-Channel1")


def test_the_canary_rack_is_the_first_to_be_lifted_across():
    hosts = inventory(leafs=3, jumbo_max_wave=1)
    hosts["leaf3"]["groups"].append("canary")
    plan = planned(hosts)
    lifts = [step for step in plan.steps if step.stage == "fabric" and step.phase == "lift"]
    assert lifts[0].hosts == ("h5", "h6")
    assert plan.steps[0].changes[0].host == "h5"


def test_endpoints_of_the_proof_cover_both_directions():
    pairs = planned().step("fabric.proof").gate.pairs
    assert {(b, a) for a, b in pairs} == set(pairs)
    assert ("h1:eth1", "h6:eth1") in pairs
    assert (str(End("h1", "eth1")), "h2:eth1") not in pairs
