"""Routes after something is gone: BGP finds another way, static routes stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab.addressing import LINK_POOLS
from ansible_collections.jumbo.fabric.lab.bgp import routed_links
from ansible_collections.jumbo.fabric.lab.inventory import Design, design, load_hosts
from ansible_collections.jumbo.fabric.lab.routing import Router
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End

BUNDLED = Path(__file__).resolve().parents[3] / "inventory/lab"
BACKEND2, BACKEND4 = "10.10.2.0/24", "10.10.4.0/24"


@pytest.fixture(scope="module")
def bundled() -> Design:
    return design(load_hosts([str(BUNDLED)]))


def ways(bundled: Design, device: str, prefix: str, *gone: str) -> set[str]:
    """Return the neighbours that a device sends a prefix to, once these links are gone."""
    nodes = bundled.fabric.nodes.values()
    addresses = {End(node.name, name): prefixes for node in nodes for name, prefixes in node.addresses.items()}
    links = routed_links(bundled.topology)
    left = [link for link in links if str(link) not in gone]
    born = Router(bundled.topology, dict.fromkeys(LINK_POOLS, links), addresses)
    router = Router(bundled.topology, dict.fromkeys(LINK_POOLS, left), addresses, born)
    far = {end: link.other(end).device for link in links for end in link.ends}
    hops = [hop for route in router.routes_of(device) if route.prefix == prefix for hop in route.hops]
    return {far[End(device, interface)] for _gateway, interface in hops}


def test_a_detour_goes_through_nobody_who_announces_nothing(bundled: Design) -> None:
    lost = "leaf2:xe-0/0/1 - spine1:Ethernet2"
    assert ways(bundled, "spine1", BACKEND2) == {"leaf2"}
    assert ways(bundled, "spine1", BACKEND2, lost) == {"leaf1", "leaf3", "leaf4"}  # neither leaf5 nor border1


def test_what_is_behind_a_static_link_is_announced_while_it_is_on(bundled: Design) -> None:
    assert ways(bundled, "leaf1", BACKEND4) == {"spine1", "spine2"}
    assert ways(bundled, "leaf1", BACKEND4, "leaf5:10GigabitEthernet1/2/2 - spine2:xe-0/0/5") == {"spine1"}
