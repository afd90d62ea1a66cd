"""PyEZ, ncclient and netmiko, unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from lab.junos.conftest import PASSWORD

pytest.importorskip("jnpr.junos")

from jnpr.junos.exception import CommitError, ConfigLoadError, RpcError
from jnpr.junos.utils.config import Config
from lxml import etree
from ncclient import manager
from ncclient.operations.rpc import RPCError

MTU = ["set interfaces xe-0/0/0 mtu 9014", "set interfaces xe-0/0/0 unit 0 family inet mtu 9000"]


def size(reply: Any, unit: str, family: str = "inet") -> str | None:
    path = f".//logical-interface[name='{unit}']/address-family[address-family-name='{family}']/mtu"
    return reply.findtext(path)


# -- PyEZ --------------------------------------------------------------------------------------------------------------


def test_every_fact_can_be_asked_for(served: Any, pyez: Any) -> None:
    device = pyez(served)
    facts = {name: device.facts[name] for name in device.facts}
    assert (facts["hostname"], facts["model"], facts["version"]) == ("leaf2", "QFX5120-48Y-8C", "21.4R3.15")
    assert (facts["switch_style"], facts["personality"]) == ("VLAN_L2NG", "SWITCH")
    assert facts["RE0"]["mastership_state"] == "master"


@pytest.mark.parametrize("shown", [True, False])
def test_physical_and_logical_sizes_are_apart(start: Any, pyez: Any, shown: bool) -> None:
    served = start(shows_mru=shown)
    served.device.edit(["set interfaces xe-0/0/0 mtu 9192", "set interfaces xe-0/0/0 unit 0 family inet mtu 9100"])
    reply = pyez(served).rpc.get_interface_information(extensive=True, normalize=True)
    port = reply.find("physical-interface[name='xe-0/0/0']")
    assert (port.findtext("mtu"), port.findtext("mru")) == ("9192", "9200" if shown else None)
    assert size(reply, "xe-0/0/0.0") == "9100"
    assert size(reply, "xe-0/0/4.7") == "1500"  # flexible-vlan-tagging: 22 bytes of 1522
    assert size(reply, "irb.10") == "1500"
    assert reply.findtext("physical-interface[name='lo0']/mtu") == "Unlimited"
    assert size(reply, "xe-0/0/1.0", "eth-switch") == "1514"


def test_an_aggregate_has_giants_and_no_mac_statistics(served: Any, pyez: Any) -> None:
    reply = pyez(served).rpc.get_interface_information(extensive=True, normalize=True)
    lag = reply.find("physical-interface[name='ae0']")
    assert lag.findtext("input-error-list/input-giants") == "5"
    assert lag.find("ethernet-mac-statistics") is None
    port = reply.find("physical-interface[name='xe-0/0/0']")
    assert port.findtext("ethernet-mac-statistics/input-oversized-frames") == "3"
    assert port.find("input-error-list/input-giants") is None


def test_irb_is_held_by_its_smallest_port(served: Any, pyez: Any) -> None:
    device = pyez(served)
    served.device.edit(["set interfaces irb mtu 9014", "set interfaces irb unit 10 family inet mtu 9000"])
    assert size(device.rpc.get_interface_information(), "irb.10") == "1500"
    served.device.edit(["set interfaces xe-0/0/1 mtu 9192"])
    assert size(device.rpc.get_interface_information(), "irb.10") == "9000"
    assert served.plane.mtus["irb.10"] == 9000


@pytest.mark.parametrize("family", ["device", "name"])
def test_lldp_tells_the_largest_frame_in_both_styles(start: Any, pyez: Any, family: str) -> None:
    device = pyez(start(lldp_style=family))
    if family == "device":
        reply = device.rpc.get_lldp_interface_neighbors(interface_device="xe-0/0/0")
        assert reply.findtext(".//lldp-remote-subtype-mtu-size") == "9236"
        with pytest.raises(RpcError, match="syntax error"):
            device.rpc.get_lldp_interface_neighbors_information(interface_name="xe-0/0/0")
        return
    reply = device.rpc.get_lldp_interface_neighbors_information(interface_name="xe-0/0/0.0")
    assert int(reply.findtext(".//lldp-remote-org-def-info"), 16) == 9236
    with pytest.raises(RpcError, match="syntax error"):
        device.rpc.get_lldp_interface_neighbors(interface_device="xe-0/0/0")


TOO_LONG = """PING 10.0.0.1 (10.0.0.1) 8973(9001) bytes of data.
ping: local error: message too long, mtu=1500

--- 10.0.0.1 ping statistics ---
2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 12ms
"""
NEEDED = """PING 10.9.0.1 (10.9.0.1) 8972(9000) bytes of data.
From 10.0.0.9 icmp_seq=1 Frag needed and DF set (mtu = 1500)

--- 10.9.0.1 ping statistics ---
2 packets transmitted, 0 received, +1 errors, 100% packet loss, time 12ms
"""


def ping(device: Any) -> Any:
    return device.rpc.ping(host="10.0.0.1", size="8973", count="2", rapid=True, do_not_fragment=True)


def test_a_ping_that_does_not_leave_the_box(start: Any, pyez: Any) -> None:
    served = start(ping_errors="own")
    asked: list[Any] = []
    served.plane.answer = lambda line: asked.append(list(line)) or TOO_LONG
    reply = ping(pyez(served))
    assert reply.findtext("rpc-error/error-message").strip() == "sendto: Message too long"
    assert reply.findtext("probe-results-summary/packet-loss") == "100"
    assert asked[0][asked[0].index("-M") + 1] == "do"


def test_the_same_as_an_error_of_netconf(start: Any, pyez: Any) -> None:
    served = start(ping_errors="base")
    served.plane.answer = lambda _line: TOO_LONG
    with pytest.raises(RpcError, match="sendto: Message too long"):
        ping(pyez(served))


def test_a_router_that_needs_fragments_is_told_in_text(served: Any, pyez: Any) -> None:
    served.plane.answer = lambda _line: NEEDED
    text = pyez(served).cli("ping 10.9.0.1 size 8972 count 2 do-not-fragment", warning=False)
    assert "36 bytes from 10.0.0.9: frag needed and DF set (MTU 1500)" in text


def test_load_replaces_what_is_tagged_and_only_that(served: Any, pyez: Any) -> None:
    config = Config(pyez(served))
    config.load("interfaces { replace: xe-0/0/0 { mtu 9014; } }", format="text")
    diff = config.diff()
    assert "+   mtu 9014;" in diff
    assert "-   description" in diff
    assert "xe-0/0/1" not in diff
    config.rollback()
    assert config.diff() is None


def test_what_is_not_there_cannot_be_deleted(served: Any, pyez: Any) -> None:
    config = Config(pyez(served))
    with pytest.raises(ConfigLoadError, match="statement not found"):
        config.load("delete interfaces xe-0/0/0 mtu", format="set")
    config.load("delete interfaces xe-0/0/0 mtu", format="set", ignore_warning="statement not found")


def test_a_check_confirms(served: Any, pyez: Any) -> None:
    config = Config(pyez(served))
    config.load("\n".join(MTU), format="set")
    config.commit(confirm=2)
    assert served.device.database.pending is not None
    assert config.commit_check() is True
    assert served.device.database.pending is None
    assert served.kinds()[-1] == "confirm"


def test_the_history_tells_what_is_pending(served: Any, pyez: Any) -> None:
    device = pyez(served)
    config = Config(device)
    config.load("\n".join(MTU), format="set")
    config.commit(confirm=2, comment="step 1")
    newest = device.rpc.get_commit_information(normalize=True).find("commit-history")
    assert newest.findtext("comment") == "commit confirmed, rollback in 2mins"
    assert newest.findtext("log") == "step 1"
    assert newest.findtext("commit-confirmed") == "rollback pending"
    assert (newest.findtext("user"), newest.findtext("client")) == ("admin", "netconf")
    config.commit()
    newest = device.rpc.get_commit_information(normalize=True).find("commit-history")
    assert newest.find("commit-confirmed") is None
    assert (
        device.rpc.get_rollback_information(compare="0", rollback="1").findtext(".//configuration-output").strip() == ""
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["set interfaces xe-0/0/0 unit 0 family inet mtu 9000"],
            "Family MTU 9000 is too large relative to device MTU 1514",
        ),
        (
            ["set interfaces xe-0/0/4 mtu 9014", "set interfaces xe-0/0/4 unit 7 family inet mtu 9000"],
            "overhead should be 22",
        ),
        (["set interfaces xe-0/0/0 mtu 9500"], r"Value 9500 is not within range \(256..9216\)"),
        (["set interfaces xe-0/0/3 mtu 9014"], "a member of ae0 has no MTU of its own"),
        (["set interfaces lo0 mtu 9014"], "not supported"),
    ],
)
def test_what_a_commit_refuses(served: Any, pyez: Any, lines: list[str], message: str) -> None:
    config = Config(pyez(served))
    config.load("\n".join(lines), format="set")
    with pytest.raises(CommitError, match=message):
        config.commit()
    assert served.device.audit()["written"] is False


# -- ncclient ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def ncclient(served: Any) -> Any:
    with manager.connect(
        host="127.0.0.1",
        port=served.port,
        username="admin",
        password=PASSWORD,
        hostkey_verify=False,
        device_params={"name": "junos"},
        allow_agent=False,
        look_for_keys=False,
        timeout=10,
    ) as connection:
        yield connection


def test_ncclient_locks_loads_compares_commits(served: Any, ncclient: Any) -> None:
    ncclient.lock()
    ncclient.load_configuration(action="set", config=MTU)
    assert "mtu 9014" in ncclient.compare_configuration().xpath("//configuration-output")[0].text
    ncclient.commit(confirmed=True, timeout="120")
    assert served.device.database.pending.minutes == 2
    ncclient.commit()
    ncclient.unlock()
    assert served.mtu() == 9000
    assert served.device.audit()["open_sessions"] == []


def test_ncclient_discards(served: Any, ncclient: Any) -> None:
    ncclient.load_configuration(action="set", config=MTU)
    ncclient.discard_changes()
    assert served.device.audit()["dirty"] is False


def test_seconds_taken_for_minutes_are_taken_back_at_once(served: Any, ncclient: Any) -> None:
    ncclient.load_configuration(action="set", config=MTU)
    ncclient.rpc(etree.XML("<commit><confirmed/><confirm-timeout>5</confirm-timeout></commit>"))
    served.device.tick()
    assert served.mtu() == 1500


def test_ncclient_reads_the_configuration(ncclient: Any) -> None:
    filter_ = etree.XML(
        "<configuration><interfaces><interface><name>xe-0/0/0</name></interface></interfaces></configuration>"
    )
    reply = ncclient.get_configuration(format="xml", filter=filter_)
    assert [name.text for name in reply.xpath("//interfaces/interface/name")] == ["xe-0/0/0"]
    assert reply.xpath("//family/inet/address/name")[0].text == "10.0.0.0/31"
    assert ncclient.get_config(source="running").data_xml.count("10.1.0.1/24") == 1


def test_an_unknown_rpc_is_a_syntax_error(ncclient: Any) -> None:
    with pytest.raises(RPCError, match="syntax error"):
        ncclient.rpc(etree.XML("<get-nothing-at-all/>"))


# -- netmiko -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def netmiko(served: Any) -> Any:
    library = pytest.importorskip("netmiko")
    known = {"host": "127.0.0.1", "port": served.port, "username": "admin", "password": PASSWORD}
    with library.ConnectHandler(device_type="juniper_junos", **known) as connection:
        yield connection


def test_netmiko_shows_and_configures(served: Any, netmiko: Any) -> None:
    assert netmiko.base_prompt == "admin@leaf2"
    assert "Junos: 21.4R3.15" in netmiko.send_command("show version")
    assert "MTU: 1514, MRU: 1522" in netmiko.send_command("show interfaces xe-0/0/0 | match Link-level")
    netmiko.send_config_set(MTU, exit_config_mode=False)
    assert "+   mtu 9014;" in netmiko.send_command("show | compare", expect_string="#")
    assert "commit complete" in netmiko.commit(confirm=True, confirm_delay=2)
    assert served.device.database.pending.minutes == 2
    assert "rollback pending" in netmiko.send_command("run show system commit", expect_string="#")
    assert "commit complete" in netmiko.commit()
    netmiko.exit_config_mode()
    assert served.device.database.pending is None
    assert "set interfaces xe-0/0/0 mtu 9014" in netmiko.send_command("show configuration interfaces | display set")


def test_netmiko_is_told_what_is_wrong(netmiko: Any) -> None:
    assert "syntax error" in netmiko.send_command("show nonsense")
    netmiko.send_config_set(["set interfaces xe-0/0/0 unit 0 family inet mtu 9000"], exit_config_mode=False)
    with pytest.raises(ValueError, match="Family MTU 9000 is too large"):
        netmiko.commit()
    assert "load complete" in netmiko.send_command("rollback 0", expect_string="#")
