"""The texts that the lab hands to ip, nft and the switches, and what it reads back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab.build import build_fabric
from ansible_collections.jumbo.fabric.lab.eos.config import render
from ansible_collections.jumbo.fabric.lab.eos.editor import load
from ansible_collections.jumbo.fabric.lab.eos.hardware import Hardware
from ansible_collections.jumbo.fabric.lab.eos_config import startup_config
from ansible_collections.jumbo.fabric.lab.fabric import Fabric
from ansible_collections.jumbo.fabric.lab.hosts import private_tmp, read_persisted
from ansible_collections.jumbo.fabric.lab.inventory import design
from ansible_collections.jumbo.fabric.lab.limits import follow_link, node_rules, plant_rules
from ansible_collections.jumbo.fabric.lab.names import kernel_name
from ansible_collections.jumbo.fabric.lab.show import events_text, status_text
from ansible_collections.jumbo.fabric.lab.watch import Change, read_line
from ansible_collections.jumbo.fabric.lab.wiring import (
    boot_commands,
    carrier_commands,
    persisted_commands,
    port_commands,
    route_commands,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from lab_helpers import small_inventory


@pytest.fixture
def fabric(tmp_path: Path) -> Fabric:
    inventory = json.loads(Path(small_inventory(tmp_path / "small.json")).read_text())["all"]
    shared = inventory["vars"]
    hosts = {
        name: {"platform": "linux" if group == "servers" else "eos", "groups": [group], "variables": shared}
        for group, entry in inventory["children"].items()
        for name in entry["hosts"]
    }
    return design(hosts).fabric


@pytest.mark.parametrize("plain", ["eth1", "Ethernet1", "Vlan10", "Port-Channel12", "ens3f0np0.10"])
def test_plain_names_stay(plain: str) -> None:
    assert kernel_name(plain) == plain


@pytest.mark.parametrize(
    "odd", ["Ethernet49/1", "Ethernet49/1/1", "xe-0/0/0", "Port-Channel12345", "1/1/1", "///", "ü"]
)
def test_odd_names_are_mapped_within_the_kernels_limit(odd: str) -> None:
    name = kernel_name(odd)
    assert len(name) <= 15
    assert name.isascii()
    assert name[0].isalpha() or name[0].isdigit()
    assert "/" not in name
    assert name == kernel_name(odd)


def test_mapped_names_stay_apart() -> None:
    names = [f"Ethernet{slot}/{port}" for slot in range(1, 65) for port in range(1, 9)] + ["Ethernet1_1"]
    assert len(set(map(kernel_name, names))) == len(names)


def test_a_switch_is_born_with_a_config_its_own_parser_takes(fabric: Fabric) -> None:
    text = startup_config(fabric.nodes["tor-a"])
    config, errors = load(text, Hardware(), None)
    assert errors == []
    for line in (
        "no switchport",
        "switchport access vlan 300",
        "ip address 172.20.0.1/26",
        "ip route 172.20.1.0/26 10.255.0.1",
    ):
        assert line in text
        assert line in "\n".join(render(config))
    assert "mtu" not in text


def test_a_switch_boots_bridges_before_ports_and_routes_last(fabric: Fabric) -> None:
    lines = boot_commands(fabric.nodes["tor-a"]).splitlines()
    port = kernel_name("Ethernet49/1")
    order = [
        next(number for number, line in enumerate(lines) if line.startswith(start))
        for start in (
            "link add Vlan300",
            "link set Ethernet5 master Vlan300",
            "link set Vlan300 mtu 1500",
            f"link set {port} up",
        )
    ]
    assert order == sorted(order)
    assert lines[-1] == f"route replace 172.20.1.0/26 via 10.255.0.1 dev {port}"


def test_ports_send_what_their_platform_sends_before_anybody_configures_it(fabric: Fabric) -> None:
    commands = port_commands(fabric.nodes["tor-a"], 4711).splitlines()
    assert commands[0].startswith(f"link add link c0a name {kernel_name('Ethernet49/1')} netns 4711 mtu 1500 ")
    assert " name Ethernet5 netns 4711 mtu 9214 " in commands[1]


def test_routes_leave_out_interfaces_that_are_off(tmp_path: Path) -> None:
    from_bundled = json.loads(json.dumps(_two_spines()))
    topology = Topology(read_intent(from_bundled))
    node = build_fabric(topology.intent, topology, dict.fromkeys(from_bundled, "127.0.0.1")).nodes["l1"]
    both = list(route_commands(node))
    assert both == [
        "route replace 10.2.0.0/24 nexthop via 10.255.0.1 dev Ethernet1 nexthop via 10.255.0.3 dev Ethernet2"
    ]
    one = list(route_commands(node, lambda interface: interface != "Ethernet1"))
    assert one == ["route replace 10.2.0.0/24 via 10.255.0.3 dev Ethernet2"]
    assert list(route_commands(node, lambda _interface: False)) == []


def _two_spines() -> dict[str, object]:
    shared = {
        "jumbo_links": [
            {"ends": [f"l{leaf}:Ethernet{spine}", f"s{spine}:Ethernet{leaf}"], "routing": "static"}
            for leaf in (1, 2)
            for spine in (1, 2)
        ],
        "jumbo_segments": [
            {"name": f"b{n}", "vlan": 10, "subnet": f"10.{n}.0.0/24", "role": "jumbo", "members": [f"l{n}:Vlan10"]}
            for n in (1, 2)
        ],
    }
    groups = {"s1": "spines", "s2": "spines", "l1": "leafs", "l2": "leafs"}
    return {name: {"platform": "eos", "groups": [group], "variables": shared} for name, group in groups.items()}


def test_limits_are_the_platforms_unless_a_fault_says_otherwise(fabric: Fabric) -> None:
    switch = node_rules(fabric.nodes["agg"], {"Ethernet2/1": 1500})
    ports = [kernel_name(f"Ethernet{number}/1") for number in (1, 2)]
    assert f"meta length > 9214 fib saddr type != local counter name giants_{ports[0]} " in switch
    assert f"meta length > 1500 fib saddr type != local counter name giants_{ports[1]} " in switch
    assert "meta length > 1500 fib saddr type != local counter name giants_ens3f0np0 " in node_rules(
        fabric.nodes["db-a"], {}
    )


def test_a_hosts_limit_is_changed_in_one_transaction(fabric: Fabric) -> None:
    assert follow_link(fabric.nodes["db-a"], "ens3f0np0", 9000) == (
        "flush chain netdev jumbo_lab in_ens3f0np0\n"
        "add rule netdev jumbo_lab in_ens3f0np0 meta length > 9000 fib saddr type != local "
        "counter name giants_ens3f0np0 "
        'log prefix "refused ens3f0np0 9000" group 93 drop\n'
    )


def test_what_a_switch_does_not_take_in_stays_when_its_links_change(fabric: Fabric) -> None:
    leaf = fabric.nodes["tor-a"]
    assert "in_" not in follow_link(leaf, "Ethernet5", 1500) + follow_link(leaf, "Vlan300", 1500)
    assert "flush chain bridge jumbo_lab out_Ethernet5\n" in follow_link(leaf, "Ethernet5", 1500)
    assert "flush chain inet jumbo_lab out_Vlan300\n" in follow_link(leaf, "Vlan300", 1500)


def test_the_smallest_box_in_a_cable_decides(fabric: Fabric) -> None:
    cable = fabric.cables[0]
    assert "c0b" not in plant_rules(fabric, {(cable, "a"): 1500})
    assert 'device "c0a"' in plant_rules(fabric, {(cable, "a"): 1500})


def test_a_persisted_file_is_applied_routes_first_and_lines_only() -> None:
    content = {
        "links": {"eth1": 9000},
        "routes": [
            "unicast fd00::/64 dev eth1 mtu 1500",
            "10.0.0.0/24 dev eth1 mtu 1500",
            "10.1.0.0/24 via inet6 fe80::1 dev eth1",
            "a\nlink del eth1",
            7,
        ],
        "rules": ["pref 9"],
    }
    assert [" ".join(command) for command in persisted_commands(content)] == [
        "ip route replace 10.0.0.0/24 dev eth1 mtu 1500",
        "ip route replace 10.1.0.0/24 via inet6 fe80::1 dev eth1",
        "ip rule add pref 9",
        "ip link set eth1 mtu 9000",
    ]
    assert carrier_commands(content) == {}
    later = {**content, "ipv6": {"eth1": {"mtu": 1500, "accept_ra_mtu": 0}, "eth2": 7}}
    assert ("ip", "link", "set", "eth1", "mtu", "9000") not in list(persisted_commands(later))
    assert [" ".join(command) for command in carrier_commands(later)["eth1"]] == [
        "sysctl -q -w net/ipv6/conf/eth1/accept_ra_mtu=0",
        "sysctl -q -w net/ipv6/conf/eth1/mtu=1280",
        "ip link set eth1 mtu 9000",
        "sysctl -q -w net/ipv6/conf/eth1/mtu=1500",
        "ip -6 route replace unicast fd00::/64 dev eth1 mtu 1500",
    ]
    assert list(persisted_commands({"links": [], "routes": None})) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_an_unusable_persisted_file_is_empty_and_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "jumbo-lab.json").write_text(text)
    content, problem = read_persisted(tmp_path)
    assert content == {"links": {}, "routes": []}
    assert problem.startswith("/etc/jumbo-lab.json")


def test_hosts_share_tmp_only_where_the_checkout_is_in_it() -> None:
    assert private_tmp([Path("/usr/sbin/sshd"), Path("/opt/jumbo")]) == "yes"
    assert private_tmp([Path("/usr/sbin/sshd"), Path("/tmp/clone/lab")]) == "no"  # noqa: S108


LINK = (
    "2: eth1@if17: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {} qdisc noqueue state UP group default \\    link/ether 02:4a"
)


def test_a_new_mtu_is_a_change_and_the_same_is_none() -> None:
    known: dict[str, int] = {}
    assert read_line(LINK.format(1500), known) is None
    assert known == {"eth1": 1500}
    assert read_line(LINK.format(1500), known) is None
    assert read_line(LINK.format(9000), known) == Change("eth1", 9000, "eth1: 1500 -> 9000")


def test_a_route_of_an_interface_is_a_change_but_not_what_comes_with_an_address() -> None:
    route = "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.2 mtu 1500 \n"
    assert read_line(route, {}) == Change("eth1", None, route.strip())
    assert read_line(f"Deleted {route}", {}) is not None
    assert read_line("local 10.10.1.2 dev eth1 table local proto kernel scope host src 10.10.1.2", {}) is None
    assert read_line("Deleted broadcast 10.10.1.255 dev eth1 table local", {}) is None


def test_status_groups_interfaces_by_size() -> None:
    interfaces = {
        "Ethernet1": {"ip_mtu": 1500, "up": True},
        "Vlan10": {"ip_mtu": 9000, "up": True},
        "Ethernet2": {"ip_mtu": 9214, "up": False},
    }
    node = {"platform": "eos", "address": "127.77.0.1", "port": 8443, "reachable": False, "interfaces": interfaces}
    traffic = {"transfers": 7, "stall_count": 1, "largest_segment": 1448}
    violation = {
        "time": 1.0,
        "until": 1.5,
        "packets": 4,
        "from": "h1",
        "to": "h3",
        "link": "leaf2:Ethernet13 -> h3:eth1",
    }
    violation |= {"size": 9000, "limit": 1500, "protocol": "tcp", "reason": "h3:eth1 takes in 1500"}
    text = status_text(
        {
            "nodes": {"spine1": node},
            "faults": ["spine-1500@spine1:Ethernet2"],
            "traffic": traffic,
            "violations": [violation],
        }
    )
    assert "1500: Ethernet1  9000: Vlan10  down: Ethernet2" in text
    assert "127.77.0.1:8443 (refused)" in text
    assert "fault: spine-1500@spine1:Ethernet2" in text
    assert "7 transfers, 1 stalls" in text
    assert text.splitlines()[-1].split()[1:7] == ["4", "h1", "->", "h3", "tcp", "9000"]
    assert events_text([]) == ""
