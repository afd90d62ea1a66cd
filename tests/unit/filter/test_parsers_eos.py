"""EOS: own small samples in its formats, and real outputs."""

from __future__ import annotations

import json

from ansible_collections.jumbo.fabric.plugins.filter.parsers import parse_interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_eos
from unit.filter.outputs import by_name, fixture, real


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
        "Port-Channel2": eos_port(hardware="portChannel"),
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
        "Port-Channel2": ("lag", 9214, True),
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
    assert found["Port-Channel1"]["persisted_mtu"] == 1500
    assert found["Port-Channel2"]["persisted_mtu"] == 9214
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
