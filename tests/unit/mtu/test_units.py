"""MTU arithmetic as tables; figures from the vendors' own rules."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import units
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation import NAMES, encapsulation_overhead
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError


@pytest.mark.parametrize(
    ("ip_mtu", "family", "payload"),
    [(9000, 4, 8972), (9000, 6, 8952), (1500, "ipv4", 1472), (1500, "ipv6", 1452), (1280, "6", 1232), (28, 4, 0)],
)
def test_ping_payload(ip_mtu, family, payload):
    assert units.ping_payload(ip_mtu, family) == payload


@pytest.mark.parametrize(
    ("ip_mtu", "family", "timestamps", "mss"),
    [
        (9000, 4, False, 8960),
        (9000, 4, True, 8948),
        (1500, 4, True, 1448),
        (1500, 6, True, 1428),
        (1500, 6, False, 1440),
    ],
)
def test_tcp_mss(ip_mtu, family, timestamps, mss):
    assert units.tcp_mss(ip_mtu, family, timestamps) == mss


@pytest.mark.parametrize(
    ("platform", "tagging", "number"),
    [
        ("eos", "untagged", 9000),
        ("eos", "tagged", 9000),
        ("junos", "untagged", 9014),
        ("junos", "tagged", 9018),
        ("junos", "vlan-tagging", 9018),
        ("junos", "flexible", 9022),
        ("junos", "flexible-vlan-tagging", 9022),
        ("fastiron", "tagged", 9000),
        ("opnsense", "untagged", 9000),
        ("linux", "tagged", 9000),
    ],
)
def test_device_mtu_and_back(platform, tagging, number):
    assert units.device_mtu(9000, platform, tagging) == number
    assert units.ip_mtu(number, platform, tagging) == 9000


@pytest.mark.parametrize(
    ("number", "platform", "tagging", "ip_mtu"),
    [
        (9192, "junos", "untagged", 9178),
        (9192, "junos", "tagged", 9174),
        (9192, "junos", "flexible", 9170),
        (1514, "junos", "untagged", 1500),
    ],
)
def test_ip_mtu_of_known_boxes(number, platform, tagging, ip_mtu):
    assert units.ip_mtu(number, platform, tagging) == ip_mtu


@pytest.mark.parametrize(
    ("frame", "tagging", "ip_mtu"), [(9216, "untagged", 9202), (9216, "tagged", 9198), (1518, "untagged", 1504)]
)
def test_frame_to_ip_mtu(frame, tagging, ip_mtu):
    assert units.frame_to_ip_mtu(frame, tagging) == ip_mtu


@pytest.mark.parametrize(("width", "flows"), [(1, 1), (2, 21), (4, 53), (8, 120)])
def test_flows_needed(width, flows):
    assert units.flows_needed(width) == flows


@pytest.mark.parametrize(
    "call",
    [
        lambda: units.ping_payload("9000 "),
        lambda: units.ping_payload(True),
        lambda: units.ping_payload(27),
        lambda: units.ping_payload(65536),
        lambda: units.ping_payload(9000, 5),
        lambda: units.ping_payload(9000, True),
        lambda: units.tcp_mss(0),
        lambda: units.device_mtu(9000, "nxos"),
        lambda: units.device_mtu(9000, "junos", "q-in-q"),
        lambda: units.ip_mtu(80, "junos"),
        lambda: units.ip_mtu("Unlimited", "junos"),
    ],
)
def test_bad_values_are_told(call):
    with pytest.raises(JumboError) as caught:
        call()
    assert caught.value.limit is not None


@pytest.mark.parametrize(
    ("given", "overhead"),
    [
        (["vxlan"], 50),
        (["vxlan6"], 70),
        ([{"type": "vxlan", "options": {"inner_tagged": True}}], 54),
        ([{"type": "geneve", "options": {"option_bytes": 8}}], 58),
        (["gre"], 24),
        ([{"type": "gre", "options": {"key": True}}], 28),
        (["nvgre"], 42),
        (["ipip"], 20),
        (["wireguard"], 60),
        (["wireguard6"], 80),
        (["gtpu"], 36),
        ([{"type": "mpls", "options": {"labels": 3}}], 12),
        (["qinq"], 4),
        # AES-GCM in a tunnel: 20 + 8 + 8 + 2 + 16 and up to 3 of padding.
        (["ipsec_esp"], 57),
        ([{"type": "ipsec_esp", "options": {"mode": "transport", "nat_t": True}}], 45),
        (["vxlan", "mpls"], 54),
        ("vxlan", 50),
        ([], 0),
    ],
)
def test_encapsulation_overhead(given, overhead):
    assert encapsulation_overhead(given) == overhead


def test_every_name_has_an_overhead():
    assert all(encapsulation_overhead([name]) > 0 for name in NAMES)


@pytest.mark.parametrize(
    "given",
    [
        ["vxlna"],
        [5],
        [{"type": "gre", "options": {"keys": 1}}],
        [{"type": "mpls", "options": {"labels": "2"}}],
        [{"name": "gre"}],
        [{"type": "ipsec_esp", "options": {"cipher": "rot13"}}],
        [{"type": "ipsec_esp", "options": {"mode": "x"}}],
        [{"type": "gre", "options": 3}],
    ],
)
def test_bad_encapsulations_are_told(given):
    with pytest.raises(JumboError):
        encapsulation_overhead(given)
