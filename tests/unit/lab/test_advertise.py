"""Router advertisements as hosts read them (RFC 4861), and which switches send any."""

from __future__ import annotations

import ipaddress
import struct

import pytest
from ansible_collections.jumbo.fabric.lab.advertise import advertisement
from ansible_collections.jumbo.fabric.lab.inventory import advertise_config, design


def options(message: bytes) -> dict[int, bytes]:
    found, rest = {}, message[16:]
    while rest:
        kind, length = rest[0], rest[1] * 8
        assert length, "an option of no length would never end"
        found[kind] = rest[:length]
        rest = rest[length:]
    return found


@pytest.mark.parametrize("ip_mtu", [None, 1500, 9000])
def test_an_advertisement_tells_its_prefix_and_a_size_where_it_shall(ip_mtu: int | None) -> None:
    message = advertisement(["fd00:1::/64"], ip_mtu)
    assert message[0] == 134
    assert struct.unpack_from("!H", message, 6) == (0,), "it is nobody's default router"
    found = options(message)
    assert (5 in found) is (ip_mtu is not None)
    if ip_mtu is not None:
        assert struct.unpack_from("!I", found[5], 4) == (ip_mtu,)
    assert found[3][2:4] == bytes([64, 0x80]), "on-link, and no addresses are given out"
    assert ipaddress.IPv6Address(found[3][16:32]) == ipaddress.IPv6Address("fd00:1::")


@pytest.mark.parametrize(("wish", "told"), [("mtu", True), ("plain", False), (None, None), ("none", None)])
def test_switches_with_an_ipv6_gateway_advertise_where_it_is_wished(wish: str | None, told: bool | None) -> None:
    subnets = {"l1": ["10.1.0.0/24", "fd00:1::/64"], "l2": ["10.2.0.0/24"]}
    shared = {
        "jumbo_links": [
            {"ends": [f"{leaf}:Ethernet1", f"s1:Ethernet{n}"], "routing": "static"} for n, leaf in enumerate(subnets, 1)
        ],
        "jumbo_segments": [
            {"name": leaf, "vlan": 10, "subnets": networks, "role": "jumbo", "members": [f"{leaf}:Vlan10"]}
            for leaf, networks in subnets.items()
        ],
        "jumbo_lab_advertise": wish,
    }
    groups = {"s1": "spines", "l1": "leafs", "l2": "leafs"}
    built = design({n: {"platform": "eos", "groups": [g], "variables": shared} for n, g in groups.items()})
    configs = {name: advertise_config(built, node) for name, node in built.fabric.nodes.items()}
    if told is None:
        assert set(configs.values()) == {None}
    else:
        assert configs["l1"] is not None
        assert (configs["l1"]["interfaces"], configs["l1"]["mtu"]) == ({"Vlan10": ["fd00:1::/64"]}, told)
        assert (configs["s1"], configs["l2"]) == (None, None)
    assert built.fabric.nodes["l1"].addresses["Ethernet1"] == ("10.255.0.0/31", "fd00:10:255::/127")
    assert [route.prefix for route in built.fabric.nodes["l2"].routes] == ["10.1.0.0/24", "fd00:1::/64"]
