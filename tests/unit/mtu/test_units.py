"""MTU arithmetic as tables; figures from the vendors' own rules."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import units
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
