"""The way back: groups, their order, and what several changes of one object come to."""

from __future__ import annotations

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import lowering_plan
from unit.mtu.fabric import inventory, load


def change(host, name, before, to, field="ip_mtu"):
    numbers = {"from_device_mtu": before, "to_device_mtu": to} if field == "ip_mtu" else {}
    return {"host": host, "object": name, "field": field, "from": before, "to": to, **numbers}


def groups(*changes):
    _intent, topology = load(inventory())
    return [(g.name, [(c.host, c.object, c.before, c.to) for c in g.changes]) for g in lowering_plan(changes, topology)]


def test_each_kind_has_its_group():
    assert groups(
        change("leaf1", "Ethernet11", 1500, 9214),
        change("h1", "eth1", None, 1500, "route_mtu"),
        change("h1", "eth1", 1500, 9000),
        change("leaf1", "Vlan10", 1500, 9000),
        change("h1", "eth1 10.10.1.0/24", 1500, 9000, "route_mtu"),
        change("spine1", "Ethernet1", 1500, 9214),
        change("h1", "eth1", False, True, "persisted"),
        change("leaf2", "Vlan10", 9214, 9000),
    ) == [
        ("pin", [("h1", "eth1 10.10.1.0/24", 9000, 1500)]),
        ("unpersist", [("h1", "eth1", True, False)]),
        ("svi", [("leaf1", "Vlan10", 9000, 1500)]),
        ("link", [("spine1", "Ethernet1", 9214, 1500)]),
        ("host_link", [("h1", "eth1", 9000, 1500)]),
        ("l2", [("leaf1", "Ethernet11", 9214, 1500)]),
        ("restore", [("leaf2", "Vlan10", 9000, 9214)]),
        ("unpin", [("h1", "eth1", 1500, None)]),
    ]


def test_several_changes_of_one_object_become_one():
    first, second = change("spine1", "Ethernet1", 1500, 9000), change("spine1", "Ethernet1", 9000, 9214)
    assert groups(first, second) == [("link", [("spine1", "Ethernet1", 9214, 1500)])]


def test_what_is_back_already_is_left_out():
    assert groups(change("spine1", "Ethernet1", 1500, 9214), change("spine1", "Ethernet1", 9214, 1500)) == []
    assert groups() == []


def test_the_last_group_is_not_waited_for():
    _intent, topology = load(inventory())
    found = lowering_plan([change("h1", "eth1", None, 1500, "route_mtu"), change("h1", "eth1", 1500, 9000)], topology)
    assert [(group.name, group.wait) for group in found] == [("host_link", True), ("unpin", False)]
    data = found[0].as_dict()
    assert (data["name"], data["phase"], data["changes"][0]["to_device_mtu"]) == ("host_link", "host_link", 1500)
