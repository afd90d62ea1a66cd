"""Racks, planes and paths."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import graph
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End
from unit.mtu.fabric import inventory, load


def walk(path):
    return [f"{hop.egress} -> {hop.ingress}" for hop in path]


def test_racks_are_in_natural_order_and_the_canary_is_first():
    hosts = inventory(leafs=11, spines=1, hosts=1)
    hosts["leaf10"]["groups"].append("canary")
    _intent, topology = load(hosts)
    assert list(topology.racks)[:3] == ["leaf10", "leaf1", "leaf2"]
    assert topology.canary == "leaf10"
    assert topology.racks["leaf2"].hosts == ("h2",)


def test_without_a_group_the_smallest_rack_is_the_canary():
    hosts = inventory(leafs=2, hosts=2)
    variables = hosts["h1"]["variables"]
    variables["jumbo_segments"][2]["members"].remove("h3:eth1")
    _intent, topology = load(hosts)
    assert topology.canary == "leaf2"


def test_racks_by_name():
    hosts = inventory(leafs=2)
    hosts["leaf1"]["variables"] = {**hosts["leaf1"]["variables"], "jumbo_rack": "row7"}
    _intent, topology = load(hosts)
    assert topology.racks["row7"].switches == ("leaf1",)
    assert topology.racks["row7"].hosts == ("h1", "h2")


def test_a_leaf_takes_the_rack_its_hosts_agree_on():
    hosts = inventory(leafs=2)
    hosts["h1"]["variables"] = {**hosts["h1"]["variables"], "jumbo_rack": "row7"}
    _intent, topology = load(hosts)
    assert topology.rack_of("leaf1") == topology.rack_of("h2") == "row7"
    assert topology.rack_of("spine1") is None


def test_planes():
    _intent, topology = load(inventory(spines=3, leafs=2))
    assert {spine: len(links) for spine, links in topology.planes().items()} == {"spine1": 2, "spine2": 2, "spine3": 2}
    assert len(topology.uplinks()) == 6


def test_planes_without_groups():
    hosts = inventory()
    for host in hosts.values():
        host["groups"] = []
    _intent, topology = load(hosts)
    assert list(topology.planes()) == ["spine1", "spine2"]


def test_endpoints_leave_out_what_is_excluded_and_other_roles():
    hosts = inventory(leafs=1)
    hosts["h2"]["variables"] = {**hosts["h2"]["variables"], "jumbo_excluded_interfaces": ["eth*"]}
    _intent, topology = load(hosts)
    assert topology.endpoints() == [End("h1", "eth1")]


def test_path_within_a_rack_is_switched():
    _intent, topology = load(inventory())
    (path,) = topology.paths(End("h1", "eth1"), End("h2", "eth1"))
    assert walk(path) == ["h1:eth1 -> leaf1:Ethernet11", "leaf1:Ethernet12 -> h2:eth1"]
    assert [hop.routed for hop in path] == [True, False]


def test_paths_between_racks_use_every_spine():
    _intent, topology = load(inventory())
    found = topology.paths(End("h1", "eth1"), End("h3", "eth1"))
    assert [walk(path) for path in found] == [
        [
            "h1:eth1 -> leaf1:Ethernet11",
            f"leaf1:Ethernet{spine} -> spine{spine}:Ethernet1",
            f"spine{spine}:Ethernet2 -> leaf2:Ethernet{spine}",
            "leaf2:Vlan10 -> h3:eth1",
        ]
        for spine in (1, 2)
    ]
    assert all(hop.routed for path in found for hop in path)
    assert str(found[0][-1].egress_port) == "leaf2:Ethernet11"


def test_paths_from_and_to_a_gateway():
    _intent, topology = load(inventory())
    gateway = End("leaf1", "Vlan10")
    assert [walk(p) for p in topology.paths(gateway, End("h2", "eth1"))] == [["leaf1:Vlan10 -> h2:eth1"]]
    assert [walk(p) for p in topology.paths(End("h2", "eth1"), gateway)] == [["h2:eth1 -> leaf1:Ethernet12"]]
    assert topology.path_count(End("h3", "eth1"), gateway) == 2


def test_parallel_links_are_paths_of_their_own():
    hosts = inventory(spines=1, leafs=2)
    hosts["h1"]["variables"]["jumbo_links"].append(
        {"ends": ["leaf1:Ethernet9", "spine1:Ethernet9"], "routing": "static"}
    )
    _intent, topology = load(hosts)
    assert topology.path_count(End("h1", "eth1"), End("h3", "eth1")) == 2


def test_segments_of_one_rack_are_routed_by_its_leaf():
    hosts = inventory(leafs=1)
    entry = {
        "name": "back1b",
        "vlan": 30,
        "subnets": ["10.11.1.0/24"],
        "role": "jumbo",
        "members": ["leaf1:Vlan30", "h2:eth1.30"],
    }
    hosts["h1"]["variables"]["jumbo_segments"].append(entry)
    _intent, topology = load(hosts)
    (path,) = topology.paths(End("h1", "eth1"), End("h2", "eth1.30"))
    assert walk(path) == ["h1:eth1 -> leaf1:Ethernet11", "leaf1:Vlan30 -> h2:eth1.30"]


def test_lag_members_stand_for_their_lag():
    lags = [{"device": "leaf1", "name": "Port-Channel1", "members": ["Ethernet1"]}]
    _intent, topology = load(inventory(jumbo_lags=lags))
    (first, _second) = topology.paths(End("h1", "eth1"), End("h3", "eth1"))
    assert str(first[1].egress) == "leaf1:Port-Channel1"
    assert str(first[1].egress_port) == "leaf1:Ethernet1"


def test_hosts_without_a_known_cable():
    hosts = inventory(leafs=2)
    links = hosts["h1"]["variables"]["jumbo_links"]
    links[:] = [link for link in links if isinstance(link, dict)]
    _intent, topology = load(hosts)
    assert topology.access_links(End("h1", "eth1")) == []
    assert [walk(p) for p in topology.paths(End("h1", "eth1"), End("h2", "eth1"))] == [["h1:eth1 -> h2:eth1"]]
    assert walk(topology.paths(End("h1", "eth1"), End("h3", "eth1"))[0])[0] == "h1:eth1 -> leaf1:Vlan10"


def test_no_way():
    _intent, topology = load(inventory(spines=1, leafs=2))
    assert topology.paths(End("h1", "eth1"), End("h1", "eth1")) == []
    assert topology.paths(End("h1", "eth9"), End("h2", "eth1")) == []


def test_links_among_switches_are_those_on_any_loop_free_path():
    hosts = inventory(spines=2, leafs=3)
    links = hosts["h1"]["variables"]["jumbo_links"]
    hosts["border1"] = {"platform": "eos", "groups": ["borders"], "variables": hosts["h1"]["variables"]}
    links.append({"ends": ["border1:Ethernet1", "spine1:Ethernet48"], "routing": "static"})  # a dead end
    _intent, topology = load(hosts)
    found = topology.links_among(["leaf1"], ["leaf2"])
    assert len(found) == 6
    assert not any("border1" in str(link) for link in found)
    assert topology.links_among(["leaf1"], ["leaf1"]) == []


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setattr(graph, "networkx", None)
    with pytest.raises(JumboError, match="networkx is missing"):
        graph.RoutedGraph([])
