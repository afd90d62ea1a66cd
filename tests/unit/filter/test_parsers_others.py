"""Junos and FastIron: own small samples in their formats, and real outputs."""

from __future__ import annotations

from ansible_collections.jumbo.fabric.plugins.filter.parsers import parse_ping
from unit.filter.outputs import by_name, fixture, real

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
    assert port["mru"] == 9178
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
