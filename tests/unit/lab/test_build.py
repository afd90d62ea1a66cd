"""From an inventory's variables to nodes, addresses and routes; what cannot be built is refused with a sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.inventory import Design, design
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

SHARED: dict[str, Any] = {
    "jumbo_links": [
        {"ends": ["l1:Ethernet1", "s1:Ethernet1"], "routing": "static"},
        {"ends": ["l1:Ethernet2", "s2:Ethernet1"], "routing": "static"},
        {"ends": ["l2:Ethernet1", "s1:Ethernet2"], "routing": "static"},
        {"ends": ["l2:Ethernet2", "s2:Ethernet2"], "routing": "static"},
        ["a:eth0", "l1:Ethernet3"],
        ["a:eth1", "l1:Ethernet4"],
        ["b:eth1", "l2:Ethernet4"],
    ],
    "jumbo_segments": [
        {"name": "back1", "vlan": 10, "subnet": "10.1.0.0/24", "role": "jumbo", "members": ["l1:Vlan10", "a:eth1"]},
        {"name": "back2", "vlan": 10, "subnet": "10.2.0.0/24", "role": "jumbo", "members": ["l2:Vlan10", "b:eth1"]},
        {"name": "front1", "vlan": 20, "subnet": "10.3.0.0/24", "role": "frontend", "members": ["l1:Vlan20", "a:eth0"]},
    ],
}
GROUPS = {"s1": "spines", "s2": "spines", "l1": "leafs", "l2": "leafs", "a": "servers", "b": "servers"}


def hosts(own: dict[str, dict[str, Any]] | None = None, **changes: Any) -> dict[str, dict[str, Any]]:
    shared = {**copy.deepcopy(SHARED), **changes}
    return {
        name: {
            "platform": "linux" if group == "servers" else "eos",
            "groups": [group],
            "variables": {**shared, **(own or {}).get(name, {})},
        }
        for name, group in GROUPS.items()
    }


@pytest.fixture
def plan() -> Design:
    return design(hosts())


def test_members_get_addresses_in_order_and_links_a_31_each(plan: Design) -> None:
    nodes = plan.fabric.nodes
    assert nodes["l1"].addresses["Vlan10"] == ("10.1.0.1/24",)
    assert nodes["a"].addresses == {"eth1": ("10.1.0.2/24",), "eth0": ("10.3.0.2/24",)}
    assert nodes["l1"].addresses["Ethernet2"] == ("10.255.0.2/31",)
    assert nodes["s2"].addresses["Ethernet1"] == ("10.255.0.3/31",)


def test_own_addresses_of_the_inventory_win() -> None:
    own = {"a": {"jumbo_addresses": {"eth1": ["10.1.0.77/24"]}}}
    nodes = design(hosts(own)).fabric.nodes
    assert nodes["a"].addresses["eth1"] == ("10.1.0.77/24",)
    assert nodes["l1"].addresses["Vlan10"] == ("10.1.0.1/24",)


def test_leafs_route_over_both_spines_and_spines_straight_down(plan: Design) -> None:
    leaf = {route.prefix: route.hops for route in plan.fabric.nodes["l1"].routes}
    assert leaf == {"10.2.0.0/24": (("10.255.0.1", "Ethernet1"), ("10.255.0.3", "Ethernet2"))}
    spine = {route.prefix: route.hops for route in plan.fabric.nodes["s2"].routes}
    assert spine["10.1.0.0/24"] == (("10.255.0.2", "Ethernet1"),)
    assert spine["10.2.0.0/24"] == (("10.255.0.6", "Ethernet2"),)


def test_hosts_reach_other_back_ends_by_their_own_and_the_rest_by_the_frontend(plan: Design) -> None:
    routes = {route.prefix: route.hops for route in plan.fabric.nodes["a"].routes}
    assert routes == {"10.2.0.0/24": (("10.1.0.1", "eth1"),), "default": (("10.3.0.1", "eth0"),)}
    without_frontend = {route.prefix: route.hops for route in plan.fabric.nodes["b"].routes}
    assert without_frontend["default"] == (("10.2.0.1", "eth1"),)


def test_access_ports_are_in_the_vlan_of_their_host(plan: Design) -> None:
    leaf = plan.fabric.nodes["l1"]
    assert [(port.interface, port.bridge) for port in leaf.ports] == [
        ("Ethernet1", None),
        ("Ethernet2", None),
        ("Ethernet3", "Vlan20"),
        ("Ethernet4", "Vlan10"),
    ]
    assert [(bridge.kernel, bridge.vlan, bridge.interface) for bridge in leaf.bridges] == [
        ("Vlan10", 10, "Vlan10"),
        ("Vlan20", 20, "Vlan20"),
    ]


def test_management_addresses_are_numbers_in_the_labs_network() -> None:
    own = {"s1": {"jumbo_lab_number": 2}, "b": {"jumbo_lab_number": 200}}
    nodes = design(hosts(own, jumbo_lab_network="127.9.9")).fabric.nodes
    assert {name: node.listen for name, node in nodes.items()} == {
        "a": "127.9.9.1",
        "b": "127.9.9.200",
        "l1": "127.9.9.3",
        "l2": "127.9.9.4",
        "s1": "127.9.9.2",
        "s2": "127.9.9.5",
    }


def test_boxes_in_cables_come_from_the_inventory() -> None:
    links = copy.deepcopy(SHARED["jumbo_links"])
    links[0]["through"] = [{"name": "tap7", "kind": "tap", "max_frame": 1514}]
    assert design(hosts(jumbo_links=links)).fabric.cables[0].through[0].max_frame == 1514


def _links(index: int, entry: Any) -> dict[str, Any]:
    links = copy.deepcopy(SHARED["jumbo_links"])
    links[index : index + 1] = [entry]
    return {"jumbo_links": links}


@pytest.mark.parametrize(
    ("changes", "own", "words"),
    [
        ({"jumbo_lab_network": "192.0.2"}, {}, ("jumbo_lab_network", "192.0.2.1", "127.x.y")),
        ({"jumbo_lab_network": "127.9"}, {}, ("jumbo_lab_network",)),
        ({}, {"a": {"jumbo_lab_number": 9}, "b": {"jumbo_lab_number": 9}}, ("b", "jumbo_lab_number", "9")),
        ({"jumbo_lab_management": "sideways"}, {}, ("jumbo_lab_management", "oob, inband")),
        ({"jumbo_lab_management": "inband"}, {}, ("jumbo_lab_station", "not set")),
        ({"jumbo_lab_management": "inband", "jumbo_lab_station": "leaf1"}, {}, ("jumbo_lab_station", "'leaf1'")),
        ({}, {"a": {"jumbo_lab_number": "9"}}, ("a", "jumbo_lab_number is '9'", "1-254")),
        ({"jumbo_lab_traffic": "often"}, {}, ("jumbo_lab_traffic", "often", "0 for none")),
        ({"jumbo_links": "{{ links }}"}, {}, ("template", "jumbo_links")),
        (
            {"jumbo_lags": [{"device": "l1", "name": "Port-Channel1", "members": ["Ethernet1"]}]},
            {},
            ("l1", "end at one aggregate", "s1:Ethernet1"),
        ),
        (_links(0, ["l1:Ethernet1", "s1:Ethernet1"]), {}, ("l1", "switched link", "routing")),
        (
            _links(6, {"ends": ["b:eth1", "l2:Ethernet9"], "tagging": "tagged"}),
            {},
            ("tagged", "eos, junos"),
        ),
        (_links(5, ["a:eth1", "b:eth2"]), {}, ("between two hosts",)),
        (_links(7, ["b:a-name-16-bytes-", "l2:Ethernet9"]), {}, ("b:a-name-16-bytes-", "15")),
        ({}, {"l1": {"jumbo_addresses": {"Ethernet1": ["10.9.0.0/31"]}}}, ("l1", "the other has none", "s1:Ethernet1")),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(
    changes: dict[str, Any], own: dict[str, dict[str, Any]], words: tuple[str, ...]
) -> None:
    with pytest.raises(JumboError) as refused:
        design(hosts(own, **changes))
    for word in words:
        assert word in str(refused.value)


def test_platforms_that_have_no_front_end_yet_are_refused() -> None:
    inventory = hosts()
    inventory["s1"]["platform"] = "opnsense"
    with pytest.raises(JumboError, match=r"s1: the lab cannot play this platform yet.*eos, fastiron, junos, linux"):
        design(inventory)


def test_a_subnet_too_small_for_its_members_is_refused() -> None:
    segments = copy.deepcopy(SHARED["jumbo_segments"])
    segments[0]["subnet"] = "10.1.0.0/32"
    with pytest.raises(JumboError, match=r"back1.*fewer addresses"):
        design(hosts(jumbo_segments=segments))
