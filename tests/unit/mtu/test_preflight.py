"""What blocks a roll-out, and what is only worth knowing."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.preflight import check
from unit.mtu.fabric import inventory, load, states


def found(change=None, hosts=None, touchable=None):
    intent, topology = load(hosts or inventory())
    given = states(intent)
    if change:
        change(given)
    return check(intent, topology, given, touchable)


def brief(findings):
    return [(f["host"], f["interface"], f["blocking"]) for f in findings]


def port(states_, device, name):
    return states_[device]["interfaces"][name]


def test_a_healthy_fabric_has_no_findings():
    assert found() == []


CASES = [
    ("gone", lambda s: s.pop("h3"), ("h3", None, True), "state is missing"),
    ("unreachable", lambda s: s.update(h3={"host": "h3", "error": {}}), ("h3", None, True), "state is missing"),
    (
        "foreign",
        lambda s: s["leaf1"].update(pending={"owner": "foreign", "name": "bob", "seconds_left": 60}),
        ("leaf1", None, True),
        "somebody else's change is pending",
    ),
    (
        "ours",
        lambda s: s["leaf1"].update(pending={"owner": "ours", "name": "jumbo-1", "seconds_left": None}),
        ("leaf1", None, True),
        "a change of ours is still pending",
    ),
    (
        "unsaved",
        lambda s: s["leaf1"].update(saved=False, unsaved_diff="+ mtu 9000"),
        ("leaf1", None, True),
        "running and saved configuration differ",
    ),
    ("missing", lambda s: s["spine1"]["interfaces"].pop("Ethernet2"), ("spine1", "Ethernet2", True), "not found"),
    ("no gateway", lambda s: s["leaf1"]["interfaces"].pop("Vlan10"), ("leaf1", "Vlan10", True), "not found"),
    ("no host port", lambda s: s["h1"]["interfaces"].pop("eth1"), ("h1", "eth1", True), "not found"),
    ("down", lambda s: port(s, "leaf1", "Ethernet11").update(oper_up=False), ("leaf1", "Ethernet11", True), "is down"),
    (
        "other neighbour",
        lambda s: port(s, "leaf1", "Ethernet1").update(neighbours=[{"host": "spine2", "interface": "Ethernet1"}]),
        ("leaf1", "Ethernet1", True),
        "the cable ends elsewhere: the inventory says spine1:Ethernet1",
    ),
    (
        "other port",
        lambda s: port(s, "leaf1", "Ethernet1").update(neighbours=[{"host": "spine1", "interface": "Ethernet9"}]),
        ("leaf1", "Ethernet1", True),
        "the cable ends elsewhere",
    ),
    (
        "small",
        lambda s: port(s, "leaf1", "Ethernet1").update(ip_mtu=1400),
        ("leaf1", "Ethernet1", True),
        "less than the baseline of 1500",
    ),
    ("forwarding", lambda s: s["h1"].update(forwarding=True), ("h1", "eth1", True), "forwards packets"),
    ("running only", lambda s: s["h1"].update(persistence=None), ("h1", "eth1", False), "running only"),
    ("dead guard", lambda s: s["h1"].update(guard={"state": "dead", "id": "x"}), ("h1", None, False), "has died"),
    (
        "no dead-man",
        lambda s: port(s, "leaf1", "Vlan10").update(no_dead_man="management crosses it"),
        ("leaf1", "Vlan10", True),
        "nothing would bring management back",
    ),
    (
        "large gateway",
        lambda s: port(s, "leaf1", "Vlan10").update(ip_mtu=9000),
        ("leaf1", "Vlan10", False),
        "sends more than a host receives",
    ),
]


@pytest.mark.parametrize(("change", "where", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_findings(change, where, reason):
    findings = found(change)
    assert brief(findings) == [where]
    assert reason in findings[0]["reason"]
    assert findings[0]["evidence"]


@pytest.mark.parametrize("name", ["spine1", "SPINE1", "spine1.example.net"])
def test_neighbours_by_any_of_their_names(name):
    def tell(states_):
        port(states_, "leaf1", "Ethernet1")["neighbours"] = [
            {"host": name, "interface": "Ethernet1", "max_frame": None}
        ]

    assert found(tell) == []


def test_what_blocks_comes_first():
    def two(states_):
        states_["h1"]["persistence"] = None
        states_["spine2"]["saved"] = False

    assert brief(found(two)) == [("spine2", None, True), ("h1", "eth1", False)]


def test_nobody_waits_for_devices_that_are_not_touched():
    def unsaved(states_):
        states_["leaf1"]["saved"] = False

    assert brief(found(unsaved, touchable={"leaf2"})) == [("leaf1", None, False)]


def test_excluded_interfaces_may_be_down():
    def down(states_):
        port(states_, "leaf1", "Ethernet1")["oper_up"] = False

    assert found(down, inventory(jumbo_excluded_interfaces=["leaf1:Ethernet1"])) == []


def test_a_segment_without_a_gateway():
    hosts = inventory(leafs=1)
    hosts["h1"]["variables"]["jumbo_segments"][0]["members"].remove("leaf1:Vlan10")
    assert [f["reason"] for f in found(hosts=hosts)] == ["the segment has no gateway"]


def call_all(states_, device, name, links):
    """Let every neighbour of a device tell this name of it, with the port that the inventory says."""
    for link in links:
        for end, far in ((link.a, link.b), (link.b, link.a)):
            if far.device == device:
                neighbour = {"host": name, "interface": far.interface, "max_frame": None}
                port(states_, end.device, end.interface)["neighbours"] = [neighbour]


def test_a_device_that_all_its_neighbours_call_otherwise_is_one_finding_with_what_to_do():
    links = load(inventory())[0].links
    findings = found(lambda states_: call_all(states_, "spine1", "core-a.example.net", links))
    assert brief(findings) == [("spine1", None, True)]
    assert "call it core-a.example.net" in findings[0]["reason"]
    assert "rename it in the inventory" in findings[0]["evidence"]


@pytest.mark.parametrize("name", ["spine2", "SPINE2.example.net"])
def test_a_name_that_another_device_has_is_a_matter_of_cables(name):
    links = load(inventory())[0].links
    findings = found(lambda states_: call_all(states_, "spine1", name, links))
    assert {f["interface"] for f in findings} == {"Ethernet1"}
    assert all("cable ends elsewhere" in f["reason"] for f in findings)


def test_other_ports_are_a_matter_of_cables_whatever_the_name():
    def swapped(states_):
        for leaf in ("leaf1", "leaf2", "leaf3"):
            port(states_, leaf, "Ethernet1")["neighbours"] = [{"host": "core-a", "interface": "Ethernet9"}]

    assert len(found(swapped)) == 3
