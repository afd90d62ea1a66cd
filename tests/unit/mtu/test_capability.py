"""What interfaces can do: tables of models, what devices tell, both ends of a link, what stands on what."""

from __future__ import annotations

import re

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import capability
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.capability_table import CARDS, FAMILIES
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.platform_table import PLATFORMS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.preflight import check
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.stacked import (
    child_allows,
    parent_needs,
)
from unit.mtu.fabric import all_changes, inventory, load, planned, states

MODELS = [
    ("eos", "DCS-7280R3-48YC8-F", "EOS", 9214),
    ("eos", "CCS-720DP-48S-2F", "EOS without an MTU per interface", 9214),
    ("eos", "CCS-720DP-48ZS-2F", "EOS", 9214),  # this one of the family has it
    ("eos", "CCS-722XPM-48Y4-F", "EOS without an MTU per interface", 9214),
    ("eos", "vEOS-lab", "virtual EOS", 9214),
    ("eos", None, "EOS", 9214),
    ("junos", "ex4300-48t", "Junos EX", 9202),
    ("junos", "vqfx-10000", "Junos QFX", 9202),
    ("junos", "ptx10001-36mr", "Junos PTX", 9486),
    ("junos", "mx204", "Junos", 9178),
    ("junos", None, "Junos", 9178),
    ("fastiron", "ICX7150-24P", "ICX", 10178),
    ("fastiron", "ICX8100-24", "ICX8100", 1500),
    ("opnsense", None, "OPNsense", 65535),
]


@pytest.mark.parametrize(("platform", "model", "family", "most"), MODELS)
def test_models_and_their_limits(platform, model, family, most):
    assert capability.family_of(platform, model).name == family
    assert capability.limit_of(platform, model, "port1").ip_mtu == most


def test_every_platform_has_a_last_row_for_every_model_and_every_row_a_source():
    for platform in PLATFORMS:
        assert not [row for row in FAMILIES if row.platform == platform][-1].pattern
    for row in (*FAMILIES, *CARDS):
        assert row.source
        assert re.compile(row.pattern)
    with pytest.raises(JumboError, match="eos, fastiron, junos"):
        capability.family_of("nxos")


@pytest.mark.parametrize(("tagging", "most"), [("untagged", 9202), ("tagged", 9198), ("flexible", 9194)])
def test_tags_take_from_a_limit_that_counts_frames(tagging, most):
    found = capability.limit_of("junos", "qfx5120-48y", "xe-0/0/0", tagging)
    assert (found.ip_mtu, found.device_mtu) == (most, 9216)


def test_what_the_device_tells_goes_before_the_table():
    found = capability.limit_of("eos", "vEOS-lab", "Ethernet4", told=9194)
    assert (found.ip_mtu, found.source) == (9194, "told by the device")
    assert capability.limit_of("junos", "mx204", "et-0/0/0", told=9486).device_mtu == 9500
    assert capability.limit_of("linux", None, "wg0", told=2147483552).ip_mtu == 65535  # what wireguard says


@pytest.mark.parametrize(
    ("interface", "told", "most"),
    [("ax0", None, 4082), ("ax1_vlan20", 9000, 4082), ("aq0", 65535, 2030), ("ix0", 9706, 9706)],
)
def test_a_card_that_carries_less_than_it_accepts_is_not_believed(interface, told, most):
    assert capability.limit_of("opnsense", None, interface, told=told).ip_mtu == most


@pytest.mark.parametrize(
    ("platform", "number", "more", "sends", "accepts"),
    [
        ("eos", 9214, {}, 9214, None),
        ("junos", 9192, {}, 9178, 9178),
        ("junos", 9192, {"protocol_mtu": 9000}, 9000, 9178),
        ("junos", 9192, {"tagging": "flexible"}, 9170, 9170),
        ("fastiron", 9000, {}, 9000, None),
        ("fastiron", 9000, {"box_jumbo": True}, 9000, 10178),
        ("fastiron", 1500, {"box_jumbo": False}, 1500, 1500),
        ("linux", 9000, {}, 9000, 9000),
        ("opnsense", 9000, {"tagging": "tagged"}, 9000, 9000),
    ],
)
def test_what_an_interface_sends_and_accepts(platform, number, more, sends, accepts):
    assert capability.capability_of(platform, number, **more) == capability.Capability(sends, accepts)


@pytest.mark.parametrize(
    ("number", "sends", "accepts"), [(9192, 9178, 9178), (9192, 9000, 9170), (9192, None, None), (None, 9000, None)]
)
def test_what_a_port_accepts_is_not_overstated_where_its_tags_are_not_told(number, sends, accepts):
    assert capability.accepted_at_least(number, sends) == accepts


def test_a_protocol_has_to_fit_in_its_device():
    with pytest.raises(JumboError) as caught:
        capability.check_protocol(9192, 1514, "junos")
    assert caught.value.limit == "68-1500"
    assert "14 of it are headers" in str(caught.value)
    assert "9206 in the same step" in str(caught.value)


@pytest.mark.parametrize(
    ("size", "model", "allowed"),
    [(9214, "qfx5120-48y", "242-9202"), (9214, None, "242-9178"), (1200, "ICX7150-24P", "1280-10178")],
)
def test_a_number_that_a_family_does_not_take_is_told_with_what_it_takes(size, model, allowed):
    platform = "fastiron" if model and model.startswith("ICX") else "junos"
    with pytest.raises(JumboError) as caught:
        capability.check_number(size, platform, "untagged", model)
    assert caught.value.limit == allowed
    capability.check_number(9000, platform, "untagged", model)


@pytest.mark.parametrize(
    ("platform", "kind", "own", "child", "needs"),
    [
        ("linux", "vlan", True, 9000, 9000),
        ("linux", "vlan", False, 9000, 9000),
        ("opnsense", "vlan", True, 9000, 9000),
        ("opnsense", "vlan", False, 9000, 9004),
        ("linux", "vxlan", True, 8950, 9000),
        ("linux", "vxlan6", True, 8930, 9000),
        ("linux", "macsec", True, 8968, 9000),
        ("linux", "macvlan", True, 9000, 9000),
    ],
)
def test_what_stands_on_what(platform, kind, own, child, needs):
    assert parent_needs(platform, kind, child, own_number=own) == needs
    assert child_allows(kind, needs) >= child


# --------------------------------------------------------------------------- in plans


def junos(device, model=None):
    hosts = inventory()
    hosts[device]["platform"] = "junos"

    def told(found):
        found[device]["model"] = model

    return hosts, told


@pytest.mark.parametrize(
    ("model", "own", "size"), [("mx204", 9192, 9178), ("qfx5120-48y", 9216, 9202), (None, 9192, 9178)]
)
def test_a_link_between_platforms_ends_at_what_both_can_do(model, own, size):
    hosts, told = junos("spine1", model)
    plan = planned(hosts, change=told)
    assert {clamp["ip_mtu"] for clamp in plan.clamps} == {size}
    sentence = plan.clamps[0]["sentence"]
    assert f"leaf1:Ethernet1 - spine1:Ethernet1 carries {size}, not 9214: spine1:Ethernet1 can do no more" in sentence
    assert (
        f"that is {size} on leaf1:Ethernet1 (eos) and {own} on spine1:Ethernet1 (junos, 14 of it headers)" in sentence
    )
    numbers = {
        (c["host"], c["to_device_mtu"]) for c in all_changes(plan) if c["object"] == "Ethernet1" and c["to"] == size
    }
    assert {("leaf1", size), ("spine1", own)} <= numbers


def test_two_boxes_of_9216_end_at_9202():
    hosts = inventory()

    def told(found):
        for state in found.values():
            state["model"] = "qfx5120-48y" if state["platform"] == "junos" else None

    for name in [name for name in hosts if not name.startswith("h")]:
        hosts[name]["platform"] = "junos"
    assert {clamp["ip_mtu"] for clamp in planned(hosts, change=told).clamps} == {9202}


def test_a_size_beyond_a_family_is_refused_with_the_largest_common_one():
    hosts, told = junos("leaf2", "mx204")
    for name in hosts:
        hosts[name]["variables"] = {**hosts[name]["variables"], "jumbo_ip_mtu": 9190}
    with pytest.raises(InvalidIntent) as caught:
        planned(hosts, change=told)
    assert "1280-9178" in str(caught.value)
    assert "256-9192" in str(caught.value)  # who says so


def test_a_waiver_says_that_a_table_is_wrong():
    hosts, told = junos("spine1", "mx204")
    waiver = {"kind": "known_limit", "object": "spine1", "reason": "this line card takes 9500"}
    hosts["h1"]["variables"]["jumbo_waivers"] = [waiver]
    assert not planned(hosts, change=told).clamps


def test_interfaces_without_an_mtu_of_their_own_are_left_out_and_told():
    def told(found):
        found["leaf3"]["model"] = "CCS-720DP-48S-2F"

    plan = planned(change=told)
    assert not [c for c in all_changes(plan) if c["host"] in {"leaf3", "h5", "h6"}]
    assert [c for c in all_changes(plan) if c["host"] == "leaf2"]
    intent, topology = load(inventory())
    found = states(intent)
    told(found)
    findings = [f for f in check(intent, topology, found) if "no MTU of its own" in f["reason"]]
    assert {f["host"] for f in findings} == {"leaf3"}
    assert "interface defaults" in findings[0]["evidence"]
    assert not any(f["blocking"] for f in findings)


def test_a_weak_card_is_told_before_anything_happens():
    hosts = inventory()
    hosts["spine1"]["platform"] = "opnsense"
    for link in hosts["h1"]["variables"]["jumbo_links"]:
        if isinstance(link, dict):
            link["ends"] = [end.replace("spine1:Ethernet", "spine1:ax") for end in link["ends"]]
    intent, topology = load(hosts)
    (first, *_others) = [f for f in check(intent, topology, states(intent)) if "this card carries" in f["reason"]]
    assert (first["host"], first["interface"]) == ("spine1", "ax1")
    assert "4082" in first["reason"]
    assert "issue 251" in first["evidence"]


def on_vlan(limit):
    """The host h1 speaks by a VLAN of eth1, whose device can do `limit`."""

    def change(found):
        ports = found["h1"]["interfaces"]
        ports["eth1.10"] = dict(ports["eth1"], name="eth1.10", kind="vlan", parent="eth1")
        ports["eth1"]["max_ip_mtu"] = limit
        for route in found["h1"]["routes"]:
            if route["interface"] == "eth1":
                route["interface"] = "eth1.10"

    hosts = inventory()
    members = hosts["h1"]["variables"]["jumbo_segments"][0]["members"]
    members[members.index("h1:eth1")] = "h1:eth1.10"
    return hosts, change


def test_a_child_above_what_its_parent_can_do_is_refused_with_the_parent_and_the_largest_value():
    hosts, change = on_vlan(4000)
    with pytest.raises(InvalidIntent) as caught:
        planned(hosts, change=change)
    problem = caught.value.problems[0]
    assert (problem.host, problem.object, problem.limit) == ("h1", "eth1", "1280-4000")


def test_a_parent_is_raised_before_its_child():
    hosts, change = on_vlan(9600)
    raised = [
        c["object"] for c in all_changes(planned(hosts, change=change)) if c["host"] == "h1" and c["field"] == "ip_mtu"
    ]
    assert raised == ["eth1", "eth1.10"]


# --------------------------------------------------------------------------- what is refused


def test_an_encapsulation_that_leaves_too_little_is_refused_with_its_names_and_the_way_out():
    shared = {"jumbo_underlay_ip_mtu": 1320, "jumbo_ip_mtu": 1280, "jumbo_baseline_ip_mtu": 1280}
    with pytest.raises(InvalidIntent) as caught:
        load(inventory(jumbo_encapsulations=["ipsec_esp", "vxlan"], **shared))
    (problem,) = caught.value.problems
    assert problem.variable == "jumbo_underlay_ip_mtu"
    assert "ipsec_esp over vxlan" in str(problem)
    assert "less than 1280" in str(problem)
    assert "1387-9214" in str(problem)
    assert "jumbo_encapsulations" in str(problem)


def test_a_link_that_leaves_too_little_is_refused_by_name():
    def lower(found):
        found["spine2"]["interfaces"]["Ethernet1"]["max_ip_mtu"] = 1300

    with pytest.raises(InvalidIntent) as caught:
        planned(inventory(jumbo_encapsulations=["vxlan"]), change=lower)
    told = str(caught.value)
    assert "spine2:Ethernet1" in told
    assert "nothing: 1250 would be left, less than 1280" in told
    assert "shorten jumbo_encapsulations" in told


def test_a_stack_that_contradicts_itself_is_refused_once():
    stack = [{"type": "ipsec_esp", "options": {"mode": "transport"}}, "vxlan6"]
    with pytest.raises(InvalidIntent) as caught:
        load(inventory(jumbo_encapsulations=stack))
    (problem,) = caught.value.problems
    assert problem.variable == "jumbo_encapsulations"
    assert "makes an IPv6 packet" in str(problem)


def test_padding_counts_as_exactly_as_it_is():
    load(inventory(jumbo_ip_mtu=9002, jumbo_underlay_ip_mtu=9056, jumbo_encapsulations=["ipsec_esp"]))
    with pytest.raises(InvalidIntent, match="9060-9214"):
        load(inventory(jumbo_ip_mtu=9003, jumbo_underlay_ip_mtu=9056, jumbo_encapsulations=["ipsec_esp"]))
