"""Whoever speaks in a jumbo segment is its member, or preflight refuses: it would lose what it is sent."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.preflight import check
from unit.mtu.fabric import interface, inventory, load, states

NUMBERS = {10: "10.10", 20: "10.20"}


def told(intent):
    """Return what devices tell where they tell all: addresses in their subnets, VLANs of ports, ARP tables."""
    found = states(intent)
    known = {}
    for segment in intent.segments:
        for number, member in enumerate((m for m in segment.members if m.end), start=1):
            address = f"{NUMBERS[segment.vlan]}.{segment.name[-1]}.{number}"
            found[member.device]["interfaces"][member.interface]["addresses"] = [f"{address}/24"]
            known.setdefault(segment.name, []).append((member, address))
    for entries in known.values():
        for member, _address in entries:
            if intent.devices[member.device].is_host:
                others = [address for other, address in entries if other != member]
                arp = found[member.device].setdefault("arp", [])
                arp += [{"address": address, "interface": member.interface} for address in others]
    for link in intent.links:
        for end in link.ends:
            if not intent.devices[end.device].is_host:
                vlan = 20 if end.interface.startswith("Ethernet2") and len(end.interface) > len("Ethernet2") else 10
                is_access = any(intent.devices[other.device].is_host for other in link.ends)
                found[end.device]["interfaces"][end.interface]["vlans"] = [[vlan, vlan]] if is_access else []
    return found


def found_in(hosts, before=None, change=None, touchable=None):
    """Check `hosts` against what the fabric `before` tells, edited by `change`."""
    given = told(load(before or inventory())[0])
    if change:
        change(given)
    intent, topology = load(hosts)
    return check(intent, topology, given, touchable)


def blocking(findings):
    return [(f["host"], f["interface"]) for f in findings if f["blocking"]]


def without(*members, segment="back3", **shared):
    hosts = inventory(**shared)
    for entry in hosts["h1"]["variables"]["jumbo_segments"]:
        if entry["name"] == segment:
            entry["members"] = [member for member in entry["members"] if member not in members]
    return hosts


def waiver(name):
    return {"jumbo_waivers": [{"kind": "unmanaged_member", "object": name, "reason": "it sends nothing"}]}


def test_a_fabric_that_tells_everything_has_no_strangers():
    assert found_in(inventory()) == []


def test_a_member_that_is_missing_blocks_by_its_address_its_cable_and_by_who_knows_it():
    findings = found_in(without("h6:eth1"))
    assert set(blocking(findings)) == {("h6", "eth1")}
    assert {f["reason"] for f in findings} == {
        "it speaks in back3 and is not its member",
        "its cable ends in back3 and it is not its member",
    }
    assert "10.10.3.3/24" in findings[0]["evidence"] + findings[1]["evidence"]
    assert "waive unmanaged_member of h6:eth1" in findings[0]["evidence"]


def test_a_gateway_that_is_missing_blocks():
    assert ("leaf3", "Vlan10") in blocking(found_in(without("leaf3:Vlan10")))


def test_a_member_of_the_wrong_segment_blocks():
    hosts = without("h6:eth1")
    front = next(s for s in hosts["h1"]["variables"]["jumbo_segments"] if s["name"] == "front3")
    front["members"].append("h6:eth1")
    assert set(blocking(found_in(hosts))) == {("h6", "eth1")}


def test_an_excluded_interface_is_no_member_for_that():
    hosts = without("h6:eth1", jumbo_excluded_interfaces=["h6:eth1"])
    assert ("h6", "eth1") in blocking(found_in(hosts))


@pytest.mark.parametrize("name", ["h6", "h6:eth1"])
def test_a_waiver_by_name_lets_it_pass_and_is_told(name):
    findings = found_in(without("h6:eth1", **waiver(name)))
    assert blocking(findings) == []
    assert all("waived: it sends nothing" in f["evidence"] for f in findings)
    assert len(findings) == 2


@pytest.mark.parametrize("name", ["back3", "h5", "h6:eth0"])
def test_a_waiver_of_something_else_does_not(name):
    assert ("h6", "eth1") in blocking(found_in(without("h6:eth1", **waiver(name))))


def test_a_member_that_is_not_ours_is_no_stranger():
    hosts = without("h6:eth1")
    back = next(s for s in hosts["h1"]["variables"]["jumbo_segments"] if s["name"] == "back3")
    back["members"].append({"name": "h6:eth1", "managed": False, "ip_mtu": 9000})
    assert found_in(hosts) == []


def test_who_touches_nothing_of_a_segment_is_not_held_up_by_it():
    findings = found_in(without("h6:eth1"), touchable={"leaf1", "h1", "h2"})
    assert findings
    assert blocking(findings) == []


def second_address(given):
    given["h6"]["interfaces"]["eth0"]["addresses"].append("10.10.1.200/24")


def secondary_gateway(given):
    given["spine1"]["interfaces"]["Vlan300"] = interface("Vlan300", 1500, addresses=["10.10.2.254/24"])


def loopback_elsewhere(given):
    given["spine1"]["interfaces"]["lo"] = interface("lo", 65536, kind="loopback", addresses=["10.10.2.250/32"])


def macvlan(given):
    given["h1"]["interfaces"]["mv0"] = interface("mv0", 1500, parent="eth1", addresses=["10.10.1.100/24"])


def port_without_a_cable(given):
    given["leaf2"]["interfaces"]["Ethernet30"] = interface("Ethernet30", 9214, vlans=[[10, 10]], addresses=[])


def trunk_without_a_cable(given):
    given["leaf2"]["interfaces"]["Ethernet30"] = interface("Ethernet30", 9214, vlans=[[1, 4094]], addresses=[])


def trunk_to_a_spine(given):
    given["leaf2"]["interfaces"]["Ethernet1"]["vlans"] = [[1, 9], [10, 20]]
    given["spine1"]["interfaces"]["Ethernet2"]["vlans"] = None


def front_end_port_in_the_wrong_vlan(given):
    given["leaf1"]["interfaces"]["Ethernet21"]["vlans"] = [[10, 10]]


def unknown_neighbour(given):
    given["h1"]["arp"].append({"address": "10.10.1.77", "interface": "eth1"})


STRANGERS = [
    (second_address, ("h6", "eth0")),
    (secondary_gateway, ("spine1", "Vlan300")),
    (loopback_elsewhere, ("spine1", "lo")),
    (macvlan, ("h1", "mv0")),
    (port_without_a_cable, ("leaf2", "Ethernet30")),
    (trunk_without_a_cable, ("leaf2", "Ethernet30")),
    (trunk_to_a_spine, ("leaf2", "Ethernet1")),
    (front_end_port_in_the_wrong_vlan, ("h1", "eth0")),
    (unknown_neighbour, ("h1", "eth1")),
]


@pytest.mark.parametrize(("change", "where"), STRANGERS, ids=[change.__name__ for change, _where in STRANGERS])
def test_every_way_to_be_seen(change, where):
    assert blocking(found_in(inventory(), change=change)) == [where]


def loopback_of_a_member(given):
    given["h1"]["interfaces"]["lo"] = interface("lo", 65536, kind="loopback", addresses=["10.10.1.250/32"])


def port_that_is_down(given):
    port_without_a_cable(given)
    given["leaf2"]["interfaces"]["Ethernet30"]["oper_up"] = False


def virtual_gateway(given):
    given["h1"]["arp"].append({"address": "10.10.1.254", "interface": "eth1"})
    given["h1"]["routes"][-1]["gateway"] = "10.10.1.254"


def neighbour_outside(given):
    given["h1"]["arp"].append({"address": "192.0.2.7", "interface": "eth0"})


def pruned_trunk(given):
    given["leaf2"]["interfaces"]["Ethernet1"]["vlans"] = [[1, 4094]]
    given["spine1"]["interfaces"]["Ethernet2"]["vlans"] = []


def bridge_on_the_port(given):
    eth1 = given["h1"]["interfaces"]["eth1"]
    eth1["members"] = ["ens1"]


def trunk_to_a_host(given):
    given["leaf1"]["interfaces"]["Ethernet21"]["vlans"] = [[1, 4094]]


HARMLESS = [
    loopback_of_a_member,
    port_that_is_down,
    virtual_gateway,
    neighbour_outside,
    pruned_trunk,
    bridge_on_the_port,
    trunk_to_a_host,
]


@pytest.mark.parametrize("change", HARMLESS)
def test_what_is_no_stranger(change):
    assert blocking(found_in(inventory(), change=change)) == []


@pytest.mark.parametrize(("change", "name"), [(port_without_a_cable, "nas"), (unknown_neighbour, "10.10.1.77")])
def test_a_member_that_is_not_ours_has_a_port_and_an_address(change, name):
    hosts = inventory()
    number = 2 if change is port_without_a_cable else 1
    segment = hosts["h1"]["variables"]["jumbo_segments"][2 * (number - 1)]
    segment["members"].append({"name": name, "managed": False, "ip_mtu": 9000})
    assert found_in(hosts, change=change) == []


def test_two_ports_without_a_cable_are_more_than_one_member():
    def two(given):
        port_without_a_cable(given)
        given["leaf2"]["interfaces"]["Ethernet31"] = interface("Ethernet31", 9214, vlans=[[10, 10]], addresses=[])

    hosts = inventory()
    hosts["h1"]["variables"]["jumbo_segments"][2]["members"].append({"name": "nas", "managed": False, "ip_mtu": 9000})
    assert blocking(found_in(hosts, change=two)) == [("leaf2", "Ethernet30"), ("leaf2", "Ethernet31")]
    hosts = inventory(**waiver("leaf2:Ethernet31"))
    hosts["h1"]["variables"]["jumbo_segments"][2]["members"].append({"name": "nas", "managed": False, "ip_mtu": 9000})
    assert found_in(hosts, change=two) == []


def test_the_vlan_is_that_of_the_members_ports_where_the_inventory_names_none():
    hosts = without("h6:eth1")
    for segment in hosts["h1"]["variables"]["jumbo_segments"]:
        del segment["vlan"]

    def no_address(given):
        given["h6"]["interfaces"]["eth1"]["addresses"] = []
        del given["h5"]["arp"]

    assert blocking(found_in(hosts, change=no_address)) == [("h6", "eth1")]


def test_where_a_switch_tells_no_vlans_a_port_in_no_segment_is_said():
    def silent(given):
        given["h6"]["interfaces"]["eth1"]["addresses"] = []
        del given["h5"]["arp"]
        given["leaf3"]["interfaces"]["Ethernet12"]["vlans"] = None

    findings = found_in(without("h6:eth1"), change=silent)
    assert [(f["host"], f["interface"], f["blocking"]) for f in findings] == [("h6", "eth1", False)]
    assert "does not tell the VLAN" in findings[0]["reason"]


def test_an_interface_with_addresses_of_both_families_is_one_finding_with_both():
    hosts = without("h6:eth1")
    for segment in hosts["h1"]["variables"]["jumbo_segments"]:
        if segment["name"] == "back3":
            segment["subnets"].append("fd00:10:3::/64")

    def both(given):
        given["h6"]["interfaces"]["eth1"]["addresses"] = ["10.10.3.3/24", "fd00:10:3::3/64", "fe80::1/64"]

    (evidence,) = [f["evidence"] for f in found_in(hosts, change=both) if "speaks in" in f["reason"]]
    assert evidence.startswith("it has 10.10.3.3/24 and fd00:10:3::3/64;")
