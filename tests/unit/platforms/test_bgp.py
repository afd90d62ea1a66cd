"""BGP neighbours of an interface: which a drain shuts down, and when a session counts as down."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import (
    eos_bgp,
    eos_changes,
    junos_bgp,
    junos_drains,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import ports_of
from lxml import etree


@pytest.mark.parametrize(
    ("state", "routes", "down"),
    [("Idle", 0, True), ("Established", 0, False), ("Idle", 3, False), ("Idle", None, False), (None, None, False)],
    ids=["down", "up", "routes left", "routes not told", "not told"],
)
def test_a_session_is_down_only_where_that_is_told(state, routes, down):
    assert eos_bgp.is_down({"peerState": state, "prefixReceived": routes}) is down
    assert junos_bgp.is_down({"state": state, "routes": routes}) is down


def test_a_neighbour_of_whom_nothing_is_told_is_not_down():
    assert not eos_bgp.is_down({})
    assert not junos_bgp.is_down({})


EOS = """
interface Ethernet1
   ip address 10.0.0.0/31
interface Ethernet2
   vrf TENANT
   ip address 10.0.0.0/31
interface Ethernet3
   ip address 10.0.3.0/31
interface Ethernet3.7
   vrf TENANT
   ip address 10.0.7.0/31
router bgp 65001
   neighbor L peer group
   neighbor 10.0.0.1 remote-as 65000
   neighbor 10.0.3.1 remote-as 65000
{more}
"""
DRAIN = {"host": "leaf1", "field": "drained", "from": False, "to": True}


def test_a_vrf_may_have_the_same_subnet_and_its_interface_leads_to_nobody():
    found = eos_bgp.neighbours_by_interface(EOS.format(more=""))
    assert {name: [one.address for one in near] for name, near in found.items()} == {
        "Ethernet1": ["10.0.0.1"],
        "Ethernet3": ["10.0.3.1"],
    }


@pytest.mark.parametrize(
    ("more", "port", "said"),
    [
        ("   bgp listen range 10.0.0.0/24 peer-group L remote-as 65000", "Ethernet1", "bgp listen range 10.0.0.0/24"),
        ("   neighbor fe80::1%Et1 remote-as 65000", "Ethernet1", "link-local neighbor fe80::1%Et1"),
        ("   neighbor interface Et1 peer-group L", "Ethernet1", "neighbor interface Et1"),
        ("   neighbor interface Et1-3 peer-group L", "Ethernet1", "neighbor interface Et1-3"),
        ("   vrf TENANT\n      neighbor 10.0.7.1 remote-as 65000", "Ethernet3", "neighbor 10.0.7.1 in VRF TENANT"),
        ("   vrf TENANT\n      neighbor 10.0.0.1 remote-as 65000", "Ethernet1", None),
        ("   bgp listen range 10.9.0.0/24 peer-group L remote-as 65000", "Ethernet1", None),
        ("   neighbor fe80::1%Et11 remote-as 65000", "Ethernet1", None),
        ("   neighbor interface Ethernet2 peer-group L", "Ethernet1", None),
    ],
)
def test_eos_does_not_drain_by_half(more, port, said):
    changes, config = [{**DRAIN, "object": port}], EOS.format(more=more)
    if said is None:
        assert len(eos_changes.resolved(changes, config, "leaf1")[0]["shut"]) == 1
        return
    with pytest.raises(JumboError) as caught:
        eos_changes.resolved(changes, config, "leaf1")
    assert f"leaf1:{port}: it may carry BGP sessions that are not shut down" in str(caught.value)
    assert f": {said}. A drain shuts down" in str(caught.value)


JUNOS = """
<configuration>
 <interfaces>
  <interface><name>xe-0/0/0</name>
   <unit><name>0</name><family><inet><address><name>10.0.0.0/31</name></address></inet></family></unit>
   <unit><name>7</name><family><inet><address><name>10.0.7.0/31</name></address></inet></family></unit></interface>
  <interface><name>xe-0/0/1</name>
   <unit><name>0</name><family><inet><address><name>10.0.0.0/31</name></address></inet></family></unit></interface>
 </interfaces>
 <protocols><bgp><group><name>G</name><neighbor><name>10.0.0.1</name></neighbor>{main}</group></bgp></protocols>
 <routing-instances><instance><name>T</name><interface><name>xe-0/0/1.0</name></interface>
  <interface><name>xe-0/0/0.7</name></interface>
  <protocols><bgp><group><name>H</name>{tenant}</group></bgp></protocols></instance></routing-instances>
</configuration>
"""


def test_an_instance_of_its_own_may_have_the_same_subnet_and_neighbour():
    tenant = "<neighbor><name>10.0.0.1</name></neighbor>"
    ports = ports_of(etree.fromstring(JUNOS.format(main="", tenant=tenant)))
    assert [one.as_dict() for one in ports["xe-0/0/0"].neighbours] == [{"group": "G", "address": "10.0.0.1"}]
    assert (ports["xe-0/0/0"].others, ports["xe-0/0/1"].neighbours) == ((), ())
    assert ports["xe-0/0/1"].others == ("neighbor 10.0.0.1 in routing instance T",)


@pytest.mark.parametrize(
    ("main", "tenant", "said"),
    [
        ("<allow>10.0.0.0/24</allow>", "", "group G allow 10.0.0.0/24"),
        ("<allow><name>all</name></allow>", "", "group G allow all"),
        ("<allow>10.9.0.0/24</allow>", "", None),
        ("<dynamic-neighbor><name>D</name></dynamic-neighbor>", "", "group G dynamic-neighbor D"),
        ("<neighbor><name>fe80::1</name><local-interface>xe-0/0/0.0</local-interface></neighbor>", "", "link-local"),
        ("<neighbor><name>fe80::1</name><local-interface>xe-0/0/1.0</local-interface></neighbor>", "", None),
        ("", "<neighbor><name>10.0.7.1</name></neighbor>", "neighbor 10.0.7.1 in routing instance T"),
        ("", "<allow>10.0.7.0/24</allow>", "group H allow 10.0.7.0/24"),
        ("", "<allow>10.0.0.0/24</allow>", None),
    ],
)
def test_junos_does_not_drain_by_half(main, tenant, said):
    changes = [{**DRAIN, "object": "xe-0/0/0"}]
    ports = ports_of(etree.fromstring(JUNOS.format(main=main, tenant=tenant)))
    if said is None:
        assert junos_drains.resolved(changes, ports, "leaf1")[0]["shut"] == [{"group": "G", "address": "10.0.0.1"}]
        return
    with pytest.raises(JumboError) as caught:
        junos_drains.resolved(changes, ports, "leaf1")
    assert said in str(caught.value)
