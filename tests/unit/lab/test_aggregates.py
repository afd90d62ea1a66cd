"""One of several: what trunks carry, what paired switches know of each other, where a host's packets go."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab import aggregates
from ansible_collections.jumbo.fabric.lab.eos_config import startup_config
from ansible_collections.jumbo.fabric.lab.fabric import Fabric
from ansible_collections.jumbo.fabric.lab.inventory import Hosts, design, load_hosts
from ansible_collections.jumbo.fabric.lab.wiring import bridge_mac
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from lab_inventories import border_fabric, pair_fabric

# The cables of h5 in the bundled order of links: to leaf3, to leaf4.
TO_LEAF3, TO_LEAF4 = "c11", "c12"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Hosts:
    return load_hosts([pair_fabric(tmp_path_factory.mktemp("pair") / "inventory", 91)])


@pytest.fixture
def fabric(hosts: Hosts) -> Fabric:
    return design(hosts).fabric


def everything(fabric: Fabric) -> frozenset[str]:
    return frozenset(name for cable in fabric.cables for wire in cable.wires() for name in wire)


def known(fabric: Fabric, device: str, up: frozenset[str]) -> dict[str, str]:
    """Return {address: port} that a switch of the pair is told."""
    (pair,) = fabric.pairs
    here = next(end for end in pair.ends if end.device == device)
    lines = [line.split() for line in aggregates.table_commands(fabric, pair, here, up)]
    return {words[2]: words[4] for words in lines if words[0] == "fdb"}


def test_a_trunk_carries_what_both_ends_are_in(fabric: Fabric) -> None:
    vlans = {(cable.a.device, cable.b.device): cable.vlans for cable in fabric.cables if cable.vlans}
    assert vlans == {("leaf3", "leaf4"): (10, 4094), ("leaf1", "leaf3"): (40,)}
    lanes = {port.interface: port.bridge for port in fabric.nodes["leaf3"].ports if port.trunk}
    assert lanes == {"Ethernet20.10": "Vlan10", "Ethernet20.4094": "Vlan4094", "Ethernet21.40": "br-wide"}


def test_a_host_shows_one_interface_and_its_uplinks_go_with_it(fabric: Fabric) -> None:
    (port,) = fabric.nodes["h5"].ports
    assert (port.interface, port.members, fabric.nodes["h5"].kernel("eth2")) == ("bond0", ("eth1", "eth2"), "bond0")
    assert port.beside == (f"{TO_LEAF3}a", f"{TO_LEAF4}a")


def test_packets_go_to_the_members_that_are_up(fabric: Fabric) -> None:
    bundle = fabric.bundles[0]
    both = aggregates.choose_rules([bundle], everything(fabric))
    assert f'map {{ 0 : "{TO_LEAF3}a", 1 : "{TO_LEAF4}a" }}' in both
    one = aggregates.choose_rules([bundle], everything(fabric) - {f"{TO_LEAF3}a"})
    assert f'fwd to "{TO_LEAF4}a"' in one
    assert TO_LEAF3 not in one
    assert aggregates.choose_rules([bundle], frozenset()).rstrip().endswith("drop")


def test_a_host_is_behind_the_own_port_or_if_that_is_down_behind_the_other_switch(fabric: Fabric) -> None:
    up = everything(fabric)
    h5, h7 = aggregates.bundle_mac(fabric.bundles[0]), "02:4a:00:0f:00:01"
    assert known(fabric, "leaf3", up)[h5] == "Ethernet11"
    assert known(fabric, "leaf3", up)[h7] == "Ethernet20.10"
    assert known(fabric, "leaf4", up)[h7] == "Ethernet14"
    assert known(fabric, "leaf3", up - {f"{TO_LEAF3}b"})[h5] == "Ethernet20.10"


def test_what_comes_by_the_peer_link_goes_to_no_host_that_has_it_already(fabric: Fabric) -> None:
    (pair,) = fabric.pairs
    both = aggregates.shield_rules(fabric, pair, pair.ends[0], everything(fabric))
    assert 'oifname { "Ethernet11", "Ethernet12" } drop' in both
    one = aggregates.shield_rules(fabric, pair, pair.ends[0], everything(fabric) - {f"{TO_LEAF4}b"})
    assert 'oifname { "Ethernet12" } drop' in one


def test_either_switch_routes_what_hosts_send_to_the_other_and_passes_on_what_is_for_itself(fabric: Fabric) -> None:
    (pair,) = fabric.pairs
    leaf3, leaf4 = (fabric.nodes[end.device] for end in pair.ends)
    text = aggregates.shield_rules(fabric, pair, pair.ends[1], everything(fabric))
    macs = [bridge_mac(node, next(b for b in node.bridges if b.name == "back3")) for node in (leaf3, leaf4)]
    assert (
        f"ether daddr {macs[0]} ip daddr != {{ 10.3.0.0/24 }} ether daddr set {macs[1]} meta pkttype set host" in text
    )
    assert text.count("pkttype") == 1


def test_the_configuration_says_so(fabric: Fabric) -> None:
    text = startup_config(fabric.nodes["leaf3"])
    assert "interface Ethernet11\n   description h5:eth1\n   channel-group 11 mode active" in text
    assert "interface Port-Channel11\n   description h5\n   switchport access vlan 10\n   mlag 11" in text
    assert "   switchport mode trunk\n   switchport trunk allowed vlan 10,4094" in text
    assert "mlag configuration\n   domain-id pair1\n   local-interface Vlan4094\n   peer-address 10.254.0.1" in text
    assert "   peer-link Port-Channel1000" in text
    assert "Ethernet20.10" not in text


def changed(hosts: Hosts, **variables: Any) -> Hosts:
    found = copy.deepcopy(hosts)
    for entry in found.values():
        entry["variables"].update(variables)
    return found


def shared(hosts: Hosts, name: str) -> list[Any]:
    return list(copy.deepcopy(next(iter(hosts.values()))["variables"][name]))


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [
        ("jumbo_links", ["leaf1:Ethernet22", "leaf3:Ethernet22"], ("leaf1", "closes a loop in wide")),
        ("jumbo_links", ["spine1:Ethernet22", "spine2:Ethernet22"], ("spine1", "no segment is at both")),
        ("jumbo_links", ["leaf3:Ethernet22", "leaf4:Ethernet22"], ("pair1", "2 switched links", "jumbo_pairs")),
        (
            "jumbo_lags",
            {"device": "leaf1", "name": "Port-Channel5", "members": ["Ethernet11", "Ethernet12"]},
            ("leaf1", "Port-Channel5", "several members only"),
        ),
        (
            "jumbo_lags",
            {"device": "leaf1", "name": "Port-Channel5", "members": ["Ethernet1"]},
            ("end at one aggregate",),
        ),
        ("jumbo_lags", {"device": "leaf1", "name": "uplink", "members": ["Ethernet11"]}, ("such as Port-Channel7",)),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(hosts: Hosts, name: str, entry: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(JumboError) as refused:
        design(changed(hosts, **{name: [*shared(hosts, name), entry]}))
    for word in words:
        assert word in str(refused.value)


def test_a_machine_that_routes_has_ports_of_its_own_and_routes_of_a_switch(tmp_path: Path) -> None:
    nodes = design(load_hosts([border_fabric(tmp_path / "inventory", 91)])).fabric.nodes
    border = nodes["border1"]
    assert (border.is_host, border.is_linux, border.bridges) == (False, True, ())
    assert [(port.interface, port.bridge) for port in border.ports] == [("eth1", None), ("eth2", None), ("eth3", None)]
    assert {route.prefix: len(route.hops) for route in border.routes} == {"10.1.0.0/24": 2, "10.2.0.0/24": 2}
    assert "198.51.100.0/24" in {route.prefix for route in nodes["leaf1"].routes}
    assert {route.prefix: route.hops for route in nodes["h1"].routes}["default"] == (("10.1.0.1", "eth0"),)
