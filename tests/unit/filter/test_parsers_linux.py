"""Linux: ip, ping (all platforms beside each other) and NIC counters."""

from __future__ import annotations

import json

import pytest
from ansible_collections.jumbo.fabric.plugins.filter.parsers import oversize_counters, parse_interfaces, parse_ping
from unit.filter.outputs import by_name, fixture, real

LINK = {
    "ifname": "eth1",
    "flags": ["BROADCAST", "UP", "LOWER_UP"],
    "mtu": 9000,
    "operstate": "UP",
    "link_type": "ether",
    "max_mtu": 9216,
    "stats64": {"rx": {"packets": 7, "errors": 3, "length_errors": 2, "crc_errors": 1}},
    "addr_info": [{"local": "10.0.0.2", "prefixlen": 24}],
}
LINK_TEXT = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0
3: eth1.10@eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 1 minmtu 68 maxmtu 9216
    vlan protocol 802.1Q id 10 <REORDER_HDR>
    inet 10.0.0.2/24 scope global eth1.10
    RX: bytes packets errors dropped  missed   mcast
         5000      40      6       0       0       0
    RX errors:  length    crc   frame    fifo overrun
                     4      1       0       0       0
    TX: bytes packets errors dropped carrier collsns
            0       0      0       0       0       0
"""


def test_linux_json():
    found = by_name([LINK, {"ifname": "eth2", "mtu": 1500, "operstate": "DOWN", "flags": [], "max_mtu": 0}], "linux")
    assert (found["eth1"]["ip_mtu"], found["eth1"]["max_ip_mtu"], found["eth1"]["oper_up"]) == (9000, 9216, True)
    assert found["eth1"]["addresses"] == ["10.0.0.2/24"]
    assert found["eth1"]["counters"] == {
        "oversize": None,
        "runts": None,
        "crc": 1,
        "input_errors": 3,
        "length_errors": 2,
        "input_packets": 7,
    }
    assert (found["eth2"]["max_ip_mtu"], found["eth2"]["oper_up"], found["eth2"]["addresses"]) == (None, False, None)
    assert parse_interfaces(json.dumps([LINK]), "linux") == parse_interfaces([LINK], "linux")


def test_linux_text():
    found = by_name(LINK_TEXT, "linux")
    assert (found["lo"]["kind"], found["lo"]["ip_mtu"], found["lo"]["oper_up"]) == ("loopback", 65536, True)
    vlan = found["eth1.10"]
    assert (vlan["kind"], vlan["parent"], vlan["max_ip_mtu"], vlan["addresses"]) == (
        "vlan",
        "eth1",
        9216,
        ["10.0.0.2/24"],
    )
    assert (vlan["counters"]["input_packets"], vlan["counters"]["input_errors"]) == (40, 6)
    assert (vlan["counters"]["length_errors"], vlan["counters"]["crc"]) == (4, 1)


def ping(sent, received, local, by, mtu):
    return {
        "sent": sent,
        "received": received,
        "loss_percent": None if sent is None else round(100 * (sent - received) / sent, 2),
        "too_big_local": local,
        "too_big_reported_by": by,
        "reported_mtu": mtu,
    }


def total(sent, received, loss, more=""):
    head = "\n--- 10.0.0.1 ping statistics ---\n"
    return head + f"{sent} packets transmitted, {received} received{more}, {loss}% packet loss, time 40ms\n"


LOCAL = "ping: local error: message too long, mtu"
LOST = total(3, 0, 100, ", +3 errors")
PINGS = [
    ("linux", "8980 bytes from 10.0.0.1: icmp_seq=1 ttl=64" + total(3, 3, 0), (3, 3, False, None, None)),
    ("linux", total(3, 0, 100), (3, 0, False, None, None)),
    ("linux", total(3, 2, 33.3333), (3, 2, False, None, None)),
    ("linux", f"{LOCAL}=1500" + LOST, (3, 0, True, None, 1500)),
    ("linux", f"{LOCAL}: 1500" + LOST, (3, 0, True, None, 1500)),
    ("linux", "From 10.0.0.9 icmp_seq=1 Frag needed and DF set (mtu = 1500)" + LOST, (3, 0, False, "10.0.0.9", 1500)),
    ("linux", "From fd01::fe icmp_seq=1 Packet too big: mtu=1500" + LOST, (3, 0, False, "fd01::fe", 1500)),
    ("linux", "ping: unknown host", (None, None, None, None, None)),
    ("eos", {"messages": ["PING 10.0.0.1" + total(5, 5, 0)]}, (5, 5, False, None, None)),
    ("eos", f"{LOCAL}=1500" + LOST, (3, 0, True, None, 1500)),
    ("junos", "5 packets transmitted, 5 packets received, 0% packet loss", (5, 5, False, None, None)),
    ("junos", "ping: sendto: Message too long\n5 packets transmitted, 0 packets received", (5, 0, True, None, None)),
    (
        "junos",
        "36 bytes from 10.136.0.1: frag needed and DF set (MTU 1186)\n1 packets transmitted, 0 packets received",
        (1, 0, False, "10.136.0.1", 1186),
    ),
    ("junos", "<probes-sent>5</probes-sent><responses-received>\n4\n</responses-received>", (5, 4, False, None, None)),
    ("fastiron", "Sending 2, 8972-byte\nSuccess rate is 100 percent (2/2)", (2, 2, None, None, None)),
    ("fastiron", "Sending 2, 8972-byte\nNo reply from remote host.", (2, 0, None, None, None)),
    ("fastiron", "Invalid size - valid range (0-10000)", (None, None, None, None, None)),
]


@pytest.mark.parametrize(("platform", "text", "value"), PINGS)
def test_pings(platform, text, value):
    assert parse_ping(text, platform) == ping(*value)


STATISTICS = """\
NIC statistics:
     rx_packets: 10
     rx_oversize_pkts_phy: 4
     rx_jabbers_phy: 1
     tx_oversize_frames: 9
     rx_frames_too_long             : 7
     rx_long_byte_count: 3
     rx_length_errors: 2
     port.rx_oversize: 5
     frames_oversize: 6
"""


LIKELY = {
    "rx_oversize_pkts_phy": 4,
    "rx_jabbers_phy": 1,
    "rx_frames_too_long": 7,
    "port.rx_oversize": 5,
    "frames_oversize": 6,
}


@pytest.mark.parametrize(
    ("driver", "counters"),
    [
        ("mlx5_core", {"rx_oversize_pkts_phy": 4}),
        ("cxgb4", {"rx_frames_too_long": 7}),
        ("i40e", {"port.rx_oversize": 5}),
        ("mlx4_en", {"rx_length_errors": 2}),
        ("virtio_net", {}),
        ("unheard_of", LIKELY),
        (None, LIKELY),
    ],
)
def test_oversize_counters(driver, counters):
    assert oversize_counters(STATISTICS, driver) == counters


def test_a_name_that_comes_twice_counts_once():
    assert oversize_counters("  rx_jabbers: 2\n  rx_jabbers: 3\n", "tg3") == {"rx_jabbers": 5}


@real
@pytest.mark.parametrize(
    ("driver", "names"),
    [("i40e", 3), ("bnxt_en", 3), ("mlx5_core", 1), ("tg3", 3), ("e1000e", 2), ("ena", 0), ("virtio_net", 0)],
)
def test_real_nics(driver, names):
    assert len(oversize_counters(fixture(f"ethtool/{driver}.txt"), driver)) == names
