"""napalm, unchanged, over NETCONF: every call that a roll-out makes."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("napalm")

from jnpr.junos.exception import CommitError, ConnectAuthError, RpcTimeoutError
from napalm.base.exceptions import CommitConfirmException, LockError, MergeConfigException

MTU = "set interfaces xe-0/0/0 mtu 9014\nset interfaces xe-0/0/0 unit 0 family inet mtu 9000\n"


XML_MTU = """
<configuration><interfaces><interface><name>xe-0/0/0</name><mtu>9014</mtu>
<unit><name>0</name><family><inet><mtu>9000</mtu></inet></family></unit>
</interface></interfaces></configuration>
"""


def changed(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line[0] in "+-"]


def test_facts(served: Any, napalm: Any) -> None:
    served.device.booted_at -= 60
    facts = napalm(served).get_facts()
    assert (facts["hostname"], facts["fqdn"]) == ("leaf2", "leaf2.lab.example")
    assert (facts["vendor"], facts["model"]) == ("Juniper", "QFX5120-48Y-8C")
    assert (facts["os_version"], facts["serial_number"]) == ("21.4R3.15", served.device.serial)
    assert facts["uptime"] >= 60
    assert {"xe-0/0/0", "ae0", "irb", "lo0"} <= set(facts["interface_list"])


def test_interfaces_have_the_media_mtu_on_units_too(served: Any, napalm: Any) -> None:
    served.device.edit(["set interfaces xe-0/0/0 mtu 9014", "set interfaces xe-0/0/0 unit 0 family inet mtu 8000"])
    found = napalm(served).get_interfaces()
    assert found["xe-0/0/0"]["description"] == "to spine1"
    assert (found["xe-0/0/0"]["mtu"], found["xe-0/0/0.0"]["mtu"]) == (9014, 9014)  # napalm#2164: 8000 is the unit's
    assert (found["xe-0/0/1"]["mtu"], found["lo0"]["mtu"]) == (1514, 0)
    assert (found["xe-0/0/2"]["is_up"], found["xe-0/0/2"]["is_enabled"]) == (False, False)
    assert (found["xe-0/0/0"]["is_up"], found["xe-0/0/0"]["is_enabled"]) == (True, True)
    assert found["xe-0/0/0"]["speed"] == 10000.0
    assert found["xe-0/0/0"]["mac_address"].count(":") == 5


def test_counters_miss_aggregates_and_irb(served: Any, napalm: Any) -> None:
    found = napalm(served).get_interfaces_counters()
    assert not {"ae0", "irb"} & set(found)  # the name pattern that napalm asks with
    port = found["xe-0/0/0"]
    assert (port["rx_octets"], port["tx_octets"], port["rx_errors"]) == (9000, 8000, 3)
    assert (port["rx_unicast_packets"], port["tx_unicast_packets"]) == (100, 200)


def test_configurations(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    found = driver.get_config()
    assert "mtu 9014;" in found["candidate"]
    assert "mtu 9014;" not in found["running"]
    assert "            address 10.0.0.0/31;" in found["running"]
    driver.discard_config()


@pytest.mark.parametrize("style", ["device", "name"])
def test_lldp_in_both_styles(start: Any, napalm: Any, style: str) -> None:
    driver = napalm(start(lldp_style=style))
    (neighbours,) = driver.get_lldp_neighbors_detail().values()
    assert (neighbours[0]["remote_system_name"], neighbours[0]["remote_port"]) == ("spine1", "Ethernet7")
    assert [one["hostname"] for many in driver.get_lldp_neighbors().values() for one in many] == ["spine1"]


REPLY = """PING 10.0.0.1 (10.0.0.1) 1400(1428) bytes of data.
1408 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.579 ms
1408 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.979 ms

--- 10.0.0.1 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 6ms
rtt min/avg/max/mdev = 0.579/0.779/0.979/0.200 ms, ipg/ewma 1.500/0.876 ms
"""


def test_ping(served: Any, napalm: Any) -> None:
    asked: list[Any] = []
    served.plane.answer = lambda line: asked.append(list(line)) or REPLY
    result = napalm(served).ping("10.0.0.1", size=1400, count=2)["success"]
    assert (result["probes_sent"], result["packet_loss"], result["rtt_avg"]) == (2, 0, 0.779)
    assert [probe["ip_address"] for probe in result["results"]] == ["10.0.0.1", "10.0.0.1"]
    assert asked[0][asked[0].index("-s") + 1] == "1400"  # the payload, not the packet
    assert asked[0][asked[0].index("-M") + 1] == "dont"


def test_ping_without_an_answer(served: Any, napalm: Any) -> None:
    assert napalm(served).ping("10.0.0.1", count=1) == {"error": "Packet loss 100"}


@pytest.mark.parametrize(
    "config",
    [
        MTU,
        "interfaces { xe-0/0/0 { mtu 9014; unit 0 { family inet { mtu 9000; } } } }",
        XML_MTU,
    ],
    ids=["set", "text", "xml"],
)
def test_merge_compare_commit(served: Any, napalm: Any, config: str) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=config)
    diff = driver.compare_config()
    assert changed(diff) == ["+   mtu 9014;", "+   mtu 9000;"]
    assert diff.startswith("[edit interfaces xe-0/0/0]")
    assert served.mtu() == 1500
    driver.commit_config(message="raised")
    assert (served.mtu(), served.plane.receives["xe-0/0/0"]) == (9000, 9000)
    assert served.device.database.history[0].log == "raised"
    assert served.device.audit()["open_sessions"] == []
    assert driver.compare_config() == ""


def test_discard(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.discard_config()
    audit = served.device.audit()
    assert (audit["dirty"], audit["open_sessions"], audit["written"]) == (False, [], False)


def test_replace(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    config = driver.get_config(retrieve="running")["running"].replace("to spine1", "to spine9")
    driver.load_replace_candidate(config=config)
    assert changed(driver.compare_config()) == ['-   description "to spine1";', '+   description "to spine9";']
    driver.commit_config()
    assert driver.compare_config() == ""


def test_rollback_and_after_a_confirmation(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config()
    driver.rollback()
    assert served.mtu() == 1500


def test_a_confirmed_commit_that_is_confirmed(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=120)
    assert served.mtu() == 9000
    assert driver.has_pending_commit() is True
    later = napalm(served)
    later.confirm_commit()
    assert later.has_pending_commit() is False
    assert served.kinds()[-1] == "confirm"
    assert served.device.due is None


def test_a_confirmed_commit_whose_time_runs_out(start: Any, napalm: Any) -> None:
    ahead = [0.0]
    served = start(clock=lambda: time.time() + ahead[0])
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=60)
    driver.close()
    ahead[0] += 59
    served.device.tick()
    assert served.mtu() == 9000
    ahead[0] += 1
    served.device.tick()
    assert served.mtu() == 1500
    again = napalm(served)
    assert again.has_pending_commit() is False
    again.confirm_commit()  # asks nobody, and "succeeds" on what is not there any more
    assert served.mtu() == 1500


def test_seconds_that_are_no_minutes(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    with pytest.raises(CommitConfirmException, match="multiple of 60"):
        driver.commit_config(revert_in=90)
    assert served.device.audit()["dirty"] is True  # the lock is gone, the change is still in the candidate


def test_a_foreign_lock_says_who(served: Any, napalm: Any) -> None:
    served.device.database.take_lock(served.device.foreign_session("bob"))
    with pytest.raises(LockError, match=r"database locked by:\s+bob terminal"):
        napalm(served).load_merge_candidate(config=MTU)


def test_a_changed_candidate_is_not_locked(served: Any, napalm: Any) -> None:
    driver = napalm(served, lock_disable=True)
    driver.load_merge_candidate(config=MTU)
    with pytest.raises(LockError, match="configuration database modified"):
        napalm(served).load_merge_candidate(config=MTU)


def test_a_statement_that_is_unknown(served: Any, napalm: Any) -> None:
    with pytest.raises(MergeConfigException) as caught:
        napalm(served).load_merge_candidate(config="set interfaces xe-0/0/0 speling 1")
    assert "syntax error" in str(caught.value)
    assert served.device.audit()["dirty"] is False


def test_a_family_mtu_that_does_not_fit(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config="set interfaces ae0 unit 0 family inet mtu 9192")
    with pytest.raises(CommitError) as caught:
        driver.commit_config()
    said = "Family MTU 9192 is too large relative to device MTU 1514; Protocol overhead should be 14"
    assert said in str(caught.value)
    assert "[edit interfaces ae0 unit 0 family]" in str(caught.value.errs)
    assert served.device.audit()["open_sessions"] != []  # a failed commit leaves the lock (napalm#1445)


def test_a_commit_that_is_done_and_not_answered(served: Any, napalm: Any) -> None:
    served.device.trouble.lose_commit_reply = True
    driver = napalm(served, timeout=1)
    driver.load_merge_candidate(config=MTU)
    with pytest.raises(RpcTimeoutError):
        driver.commit_config(revert_in=120)
    assert served.mtu() == 9000


def test_a_private_copy(served: Any, napalm: Any) -> None:
    driver = napalm(served, config_private=True)
    driver.load_merge_candidate(config=MTU)
    served.device.edit(["set interfaces xe-0/0/1 description other"])
    driver.commit_config()
    assert served.mtu() == 9000
    assert "set interfaces xe-0/0/1 description other" in served.device.set_lines()


def test_a_private_copy_takes_no_confirmed_commit(served: Any, napalm: Any) -> None:
    driver = napalm(served, config_private=True)
    driver.load_merge_candidate(config=MTU)
    with pytest.raises(CommitError, match="private"):
        driver.commit_config(revert_in=60)


def test_a_lock_for_the_whole_session(served: Any, napalm: Any) -> None:
    driver = napalm(served, config_lock=True)
    assert served.device.audit()["open_sessions"] != []
    driver.load_merge_candidate(config=MTU)
    driver.commit_config()
    assert served.device.audit()["open_sessions"] != []
    driver.close()
    assert served.device.audit()["open_sessions"] == []
    driver.open()


def test_the_fallback_for_boxes_without_the_subsystem(start: Any, napalm: Any) -> None:
    assert napalm(start(netconf="fallback")).get_facts()["hostname"] == "leaf2"


def test_a_wrong_password(served: Any, napalm: Any) -> None:
    with pytest.raises(ConnectAuthError):
        napalm(served, password="wrong")
