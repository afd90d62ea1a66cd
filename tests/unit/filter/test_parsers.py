"""Parsers: own small samples in the vendors' formats, and real outputs where JUMBO_FIXTURES names a folder of them."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
from ansible_collections.jumbo.fabric.plugins.filter.parsers import oversize_counters, parse_interfaces, parse_ping
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_eos

FIXTURES = pathlib.Path(os.environ.get("JUMBO_FIXTURES", "/nonexistent"))
real = pytest.mark.skipif(not FIXTURES.is_dir(), reason="JUMBO_FIXTURES names no folder of real outputs")


def fixture(name):
    return (FIXTURES / name).read_text(encoding="utf-8")


def by_name(output, platform):
    return {interface["name"]: interface for interface in parse_interfaces(output, platform)}


# ---------------------------------------------------------------------- EOS


def eos_port(mtu=9214, model="bridged", hardware="ethernet", **more):
    counters = {
        "inUcastPkts": 10,
        "inMulticastPkts": 2,
        "inBroadcastPkts": 1,
        "totalInErrors": 3,
        "inputErrorsDetail": {"giantFrames": 2, "runtFrames": 1, "fcsErrors": 0},
    }
    return {
        "mtu": mtu,
        "hardware": hardware,
        "forwardingModel": model,
        "lineProtocolStatus": "up",
        "interfaceCounters": counters,
        **more,
    }


ADDRESS = {"primaryIp": {"address": "10.255.0.0", "maskLen": 31}}
LAG = {"mtu": 1500, "hardware": "portChannel", "forwardingModel": "routed"}
EOS = {
    "interfaces": {
        "Ethernet1": eos_port(
            9214,
            "routed",
            l3MtuConfigured=True,
            interfaceAddress=[{"primaryIp": {"address": "10.255.0.0", "maskLen": 31}}],
        ),
        "Ethernet2": eos_port(1500, "routed", l3MtuConfigured=False, interfaceAddress=[]),
        "Ethernet3": eos_port(),
        "Ethernet4": eos_port(9214, "dataLink", interfaceMembership="Member of Port-Channel1"),
        "Ethernet5.10": eos_port(1500, "routed", "subinterface"),
        "Port-Channel1": {
            "mtu": 1500,
            "hardware": "portChannel",
            "forwardingModel": "routed",
            "memberInterfaces": {"Ethernet4": {}},
        },
        "Vlan10": eos_port(1500, "routed", "vlan", interfaceCounters={}, lineProtocolStatus="down"),
        "Management1": eos_port(1500, "routed"),
        "Loopback0": {"mtu": 65535, "hardware": "loopback", "forwardingModel": "routed"},
        "Vxlan1": {"mtu": 0, "hardware": "vxlan", "forwardingModel": "bridged"},
    }
}


def test_eos_json():
    found = by_name(EOS, "eos")
    assert {name: (i["kind"], i["ip_mtu"], i["oper_up"]) for name, i in found.items()} == {
        "Ethernet1": ("routed", 9214, True),
        "Ethernet2": ("routed", 1500, True),
        "Ethernet3": ("switched", 9214, True),
        "Ethernet4": ("member", 9214, True),
        "Ethernet5.10": ("subinterface", 1500, True),
        "Port-Channel1": ("lag", 1500, None),
        "Vlan10": ("svi", 1500, False),
        "Management1": ("management", 1500, True),
        "Loopback0": ("loopback", 65535, None),
        "Vxlan1": ("tunnel", None, None),
    }
    assert found["Ethernet1"]["counters"] == {
        "oversize": 2,
        "runts": 1,
        "crc": 0,
        "input_errors": 3,
        "length_errors": None,
        "input_packets": 13,
    }
    assert found["Ethernet1"]["addresses"] == ["10.255.0.0/31"]
    assert (found["Ethernet1"]["configured_mtu"], found["Ethernet2"]["configured_mtu"]) == (9214, None)
    assert (found["Ethernet4"]["parent"], found["Port-Channel1"]["members"]) == ("Port-Channel1", ["Ethernet4"])
    assert found["Ethernet5.10"]["parent"] == "Ethernet5"
    assert set(found["Vlan10"]["counters"].values()) == {None}


def test_eos_json_text_is_the_same_as_its_data():
    assert parse_interfaces(json.dumps(EOS), "eos") == parse_interfaces(EOS, "eos")


EOS_TEXT = """\
Ethernet1 is up, line protocol is up (connected)
  Hardware is Ethernet, address is 0200.0000.0001
  Internet address is 10.0.0.1/31
  IP MTU 9214 bytes, BW 10000000 kbit
     12 packets input, 900 bytes
     1 runts, 4 giants
     5 input errors, 2 CRC, 0 alignment, 0 symbol, 0 input discards
Ethernet2 is administratively down, line protocol is notpresent (disabled)
  Hardware is Ethernet, address is 0200.0000.0002
  Member of Port-Channel7
  Ethernet MTU 9214 bytes , BW 10000000 kbit
Vlan10 is up, line protocol is up (connected)
  Hardware is Vlan, address is 0200.0000.0003
  IP MTU 1500 bytes (default)
"""


def test_eos_text():
    found = by_name(EOS_TEXT, "eos")
    assert {name: (i["kind"], i["ip_mtu"], i["oper_up"]) for name, i in found.items()} == {
        "Ethernet1": ("routed", 9214, True),
        "Ethernet2": ("member", 9214, False),
        "Vlan10": ("svi", 1500, True),
    }
    assert found["Ethernet1"]["counters"]["oversize"] == 4
    assert found["Ethernet1"]["counters"]["input_packets"] == 12
    assert found["Ethernet1"]["addresses"] == ["10.0.0.1/31"]
    assert found["Ethernet2"]["parent"] == "Port-Channel7"


RUNNING = """\
interface defaults
   mtu 9000
!
interface Ethernet1
   mtu 9214
   no switchport
!
interface Vlan10
   l2 mtu 9000
   ip address 10.10.1.1/24
!
router bgp 65001
   mtu 1400
"""


def test_eos_configuration():
    assert parse_eos.configured_mtus(RUNNING) == {"defaults": 9000, "Ethernet1": 9214}


def test_eos_state():
    errors = {"interfaceErrorCounters": {"Ethernet1": {"frameTooLongs": 9}}}
    neighbour = {"systemName": "spine1", "neighborInterfaceInfo": {"interfaceId": '"Ethernet7"', "maxFrameSize": 9236}}
    lldp = {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [neighbour]}}}
    found = parse_eos.state_interfaces(EOS, errors, lldp, RUNNING, "interface Ethernet1\n   mtu 9214\n")
    assert found["Ethernet1"]["neighbours"] == [{"host": "spine1", "interface": "Ethernet7", "max_frame": 9236}]
    assert found["Ethernet1"]["counters"]["oversize"] == 9
    assert (found["Ethernet1"]["configured_mtu"], found["Ethernet1"]["persisted_mtu"]) == (9214, 9214)
    assert (found["Ethernet2"]["configured_mtu"], found["Ethernet2"]["persisted_mtu"]) == (None, 1500)
    assert found["Ethernet3"]["persisted_mtu"] == 9214
    assert found["Ethernet3"]["neighbours"] == []


@real
def test_real_eos_outputs():
    found = by_name(fixture("eos/show_interfaces.json"), "eos")
    assert (found["Management1"]["kind"], found["Management1"]["ip_mtu"]) == ("management", 1500)
    assert (found["Ethernet2"]["kind"], found["Ethernet2"]["ip_mtu"]) == ("switched", 9214)
    found = by_name(fixture("eos/show_interfaces.txt"), "eos")
    assert (found["Ethernet1"]["kind"], found["Ethernet1"]["ip_mtu"]) == ("routed", 1500)
    assert (found["Loopback0"]["ip_mtu"], found["Port-Channel1"]["ip_mtu"]) == (65535, 9214)
    assert found["Vlan10"]["oper_up"] is False


# ---------------------------------------------------------------------- Linux

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


# ---------------------------------------------------------------------- Junos

JUNOS_XML = """\
<rpc-reply xmlns:junos="http://xml.juniper.net/junos/20.4R0/junos">
 <interface-information xmlns="http://xml.juniper.net/junos/20.4R0/junos-interface">
  <physical-interface><name>
xe-0/0/0
</name><oper-status>up</oper-status><mtu>9192</mtu>
   <traffic-statistics><input-packets>77</input-packets></traffic-statistics>
   <input-error-list><input-errors>4</input-errors><input-runts>1</input-runts></input-error-list>
   <ethernet-mac-statistics><input-crc-errors>2</input-crc-errors>
    <input-oversized-frames>3</input-oversized-frames></ethernet-mac-statistics>
   <logical-interface><name>xe-0/0/0.0</name>
    <address-family><address-family-name>inet6</address-family-name><mtu>9178</mtu></address-family>
    <address-family><address-family-name>inet</address-family-name><mtu>9100</mtu></address-family>
   </logical-interface>
  </physical-interface>
  <physical-interface><name>lo0</name><oper-status>up</oper-status><mtu>Unlimited</mtu></physical-interface>
 </interface-information>
</rpc-reply>
"""


def test_junos_xml():
    found = by_name(JUNOS_XML, "junos")
    port = found["xe-0/0/0"]
    assert (port["device_mtu"], port["ip_mtu"], port["oper_up"]) == (9192, 9100, True)
    assert port["counters"] == {
        "oversize": 3,
        "runts": 1,
        "crc": 2,
        "input_errors": 4,
        "length_errors": None,
        "input_packets": 77,
    }
    assert (found["xe-0/0/0.0"]["ip_mtu"], found["xe-0/0/0.0"]["parent"]) == (9100, "xe-0/0/0")
    assert (found["lo0"]["device_mtu"], found["lo0"]["ip_mtu"]) == (None, None)


def test_junos_json():
    unit = {
        "name": [{"data": "ae0.0"}],
        "address-family": [{"address-family-name": [{"data": "inet"}], "mtu": [{"data": "1500"}]}],
    }
    port = {
        "name": [{"data": "ae0"}],
        "oper-status": [{"data": "down"}],
        "mtu": [{"data": "1514"}],
        "logical-interface": [unit],
    }
    found = by_name({"interface-information": [{"attributes": {}, "physical-interface": [port]}]}, "junos")
    assert (found["ae0"]["kind"], found["ae0"]["ip_mtu"], found["ae0"]["oper_up"]) == ("lag", 1500, False)


JUNOS_TEXT = """\
Physical interface: xe-0/0/1, Enabled, Physical link is Up
  Link-level type: Ethernet, MTU: 9192, MRU: 9200, LAN-PHY mode, Speed: 10Gbps
  Input errors:
    Errors: 5, Drops: 0, Framing errors: 0, Runts: 2, Giants: 6, Policed discards: 0
  Logical interface xe-0/0/1.0 (Index 74) (SNMP ifIndex 535)
    Protocol inet, MTU: 9178
Physical interface: gr-0/0/0, Enabled, Physical link is Down
  Type: GRE, Link-level type: GRE, MTU: Unlimited, Speed: 800mbps
"""


def test_junos_text():
    found = by_name(JUNOS_TEXT, "junos")
    port = found["xe-0/0/1"]
    assert (port["device_mtu"], port["ip_mtu"], port["counters"]["oversize"], port["counters"]["runts"]) == (
        9192,
        9178,
        6,
        2,
    )
    assert (found["gr-0/0/0"]["kind"], found["gr-0/0/0"]["device_mtu"], found["gr-0/0/0"]["oper_up"]) == (
        "tunnel",
        None,
        False,
    )


@real
def test_real_junos_outputs():
    assert by_name(fixture("junos/show_interfaces.txt"), "junos")["ge-0/0/0.2036"]["ip_mtu"] == 1500
    assert (
        by_name(fixture("junos/get-interface-information.xml"), "junos")["ge-0/0/0"]["counters"]["input_packets"]
        == 1207
    )
    found = by_name(fixture("junos/qfx_show_interfaces.json"), "junos")
    assert (found["xe-0/0/0"]["device_mtu"], found["xe-0/0/0"]["ip_mtu"], found["irb.10"]["kind"]) == (
        9214,
        9200,
        "svi",
    )


# ---------------------------------------------------------------------- FastIron

FASTIRON = """\
10GigabitEthernet1/2/1 is up, line protocol is up
  MTU 10200 bytes
  5 packets input, 320 bytes, 0 no buffer
  3 input errors, 1 CRC, 0 frame, 0 ignored
  2 runts, 4 giants
GigabitEthernet1/1/1 is disabled, line protocol is down
  Member of active trunk ports 1/1/1,2/1/1,lg10, Lag Interface is lg10
  MTU 1500 bytes, encapsulation ethernet
GigabitEthernet1/1/2 is up, line protocol is up
  Internet address is 192.168.1.1/24, MTU 1500 bytes, encapsulation ethernet
GigabitEthernet3 is up, line protocol is up
  IP MTU 10240 bytes
Ve10 is up, line protocol is up
  Internet address is 10.10.1.1/24, IP MTU 9000 bytes, encapsulation ethernet
"""


def test_fastiron():
    found = by_name(FASTIRON, "fastiron")
    assert {name: (i["kind"], i["ip_mtu"], i["mru"], i["device_mtu"], i["oper_up"]) for name, i in found.items()} == {
        "10GigabitEthernet1/2/1": ("switched", None, 10178, 10200, True),
        "GigabitEthernet1/1/1": ("switched", 1500, 1500, 1500, False),
        "GigabitEthernet1/1/2": ("routed", 1500, None, 1500, True),
        "GigabitEthernet3": ("switched", 10240, None, 10240, True),
        "Ve10": ("svi", 9000, None, 9000, True),
    }
    assert found["10GigabitEthernet1/2/1"]["counters"]["oversize"] == 4
    assert found["GigabitEthernet1/1/1"]["parent"] == "lg10"
    assert found["GigabitEthernet1/1/2"]["addresses"] == ["192.168.1.1/24"]


@real
def test_real_fastiron_outputs():
    assert by_name(fixture("fastiron/show_interfaces_icx.txt"), "fastiron")["40GigabitEthernet2/3/3"]["ip_mtu"] == 1500
    assert by_name(fixture("fastiron/show_interfaces_fesx.txt"), "fastiron")["GigabitEthernet1"]["device_mtu"] == 10240
    assert parse_ping(fixture("fastiron/ping_ok.txt"), "fastiron")["received"] == 2
    assert parse_ping(fixture("fastiron/ping_fail.txt"), "fastiron")["received"] == 0


# ---------------------------------------------------------------------- NICs

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
