"""napalm, unchanged, over HTTPS: every call that a roll-out makes."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("napalm")

from napalm.base.exceptions import (
    CommandErrorException,
    CommitError,
    ConnectionException,
    MergeConfigException,
    SessionLockedException,
    UnsupportedVersion,
)
from pyeapi.eapilib import CommandError
from pyeapi.eapilib import ConnectionError as EapiConnectionError

MTU = "interface Ethernet1\n   mtu 9000\n"


def kinds(served: Any) -> list[str]:
    return [entry.kind for entry in served.device.writes]


def test_facts(served: Any, napalm: Any) -> None:
    facts = napalm(served).get_facts()
    assert facts["hostname"] == "leaf1"
    assert facts["fqdn"] == "leaf1.lab.example"
    assert (facts["vendor"], facts["model"]) == ("Arista", "vEOS-lab")
    assert facts["os_version"].startswith("4.32.2F-")
    assert facts["serial_number"]
    assert facts["uptime"] >= 0
    assert facts["interface_list"] == ["Ethernet1", "Ethernet2", "Ethernet3", "Loopback0", "Management1", "Vlan10"]


def test_interfaces(served: Any, napalm: Any) -> None:
    found = napalm(served).get_interfaces()
    assert found["Ethernet1"]["description"] == "to spine1"
    assert found["Ethernet1"]["speed"] == 10000.0
    assert found["Ethernet1"]["mac_address"].count(":") == 5
    assert found["Ethernet1"]["last_flapped"] > 0
    assert {name: entry["mtu"] for name, entry in found.items()} == {
        "Ethernet1": 1500,
        "Ethernet2": 9214,
        "Ethernet3": 9214,
        "Vlan10": 1500,
        "Loopback0": 65535,
        "Management1": 1500,
    }
    assert (found["Ethernet3"]["is_up"], found["Ethernet3"]["is_enabled"]) == (False, False)
    assert (found["Ethernet1"]["is_up"], found["Ethernet1"]["is_enabled"]) == (True, True)


def test_counters(served: Any, napalm: Any) -> None:
    found = napalm(served).get_interfaces_counters()["Ethernet1"]
    assert (found["rx_octets"], found["tx_octets"], found["rx_errors"]) == (9000, 8000, 3)
    assert (found["rx_unicast_packets"], found["tx_unicast_packets"]) == (100, 200)


def test_configurations(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    found = driver.get_config()
    assert "mtu 9000" in found["candidate"]
    assert "mtu 9000" not in found["running"] + found["startup"]
    assert "   ip address 10.0.0.0/31" in found["running"].splitlines()
    assert "mtu 1500" in driver.get_config(retrieve="running", full=True)["running"]
    assert driver.get_config(retrieve="running", sanitized=True)["running"]
    assert driver.get_config(retrieve="startup")["startup"].startswith("! Command: show startup-config")
    assert "mtu 9000" in driver.get_config(retrieve="candidate")["candidate"]


def test_lldp(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    for found in (driver.get_lldp_neighbors_detail(), driver.get_lldp_neighbors_detail("Ethernet1")):
        (neighbour,) = found["Ethernet1"]
        assert (neighbour["remote_system_name"], neighbour["remote_port"]) == ("spine1", "Ethernet7")
    assert driver.get_lldp_neighbors() == {"Ethernet1": [{"hostname": "spine1", "port": "Ethernet7"}]}
    detail = driver.cli(["show lldp neighbors detail"], encoding="json")["show lldp neighbors detail"]
    info = detail["lldpNeighbors"]["Ethernet1"]["lldpNeighborInfo"][0]["neighborInterfaceInfo"]
    assert info["maxFrameSize"] == 9236


def test_mac_table(served: Any, napalm: Any) -> None:
    (entry,) = napalm(served).get_mac_address_table()
    assert (entry["mac"], entry["interface"], entry["vlan"]) == ("02:00:00:00:00:01", "Ethernet2", 10)


REPLY = """PING 10.0.0.1 (10.0.0.1) 72(100) bytes of data.
80 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.579 ms
80 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.979 ms

--- 10.0.0.1 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 6ms
rtt min/avg/max/mdev = 0.579/0.779/0.979/0.200 ms, ipg/ewma 1.500/0.876 ms
"""


def test_ping(served: Any, napalm: Any) -> None:
    served.plane.answer = lambda _: REPLY
    result = napalm(served).ping("10.0.0.1", count=2)["success"]
    assert (result["probes_sent"], result["packet_loss"], result["rtt_avg"]) == (2, 0, 0.779)
    assert [probe["ip_address"] for probe in result["results"]] == ["10.0.0.1", "10.0.0.1"]


def test_ping_in_a_vrf_without_routes(served: Any, napalm: Any) -> None:
    served.device.edit(["vrf instance MGMT"])
    assert "connect:" in napalm(served).ping("10.0.0.1", vrf="MGMT")["error"]


def test_merge_compare_discard(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    diff = driver.compare_config()
    assert [line for line in diff.splitlines() if line[0] in "+-"] == ["+   mtu 9000"]
    assert diff.startswith("@@")
    driver.discard_config()
    audit = served.device.audit()
    assert (audit["written"], audit["open_sessions"], len(audit["aborted_sessions"])) == (False, [], 1)
    assert served.mtu() == 1500


def test_nothing_to_change_is_an_empty_diff(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config="interface Ethernet1\n   description to spine1\n")
    assert driver.compare_config() == ""
    driver.discard_config()


def test_commit_saves(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config()
    assert served.mtu() == 9000
    assert kinds(served)[-3:] == ["write-file", "commit", "write-startup"]
    assert "mtu 9000" in driver.get_config()["startup"]


@pytest.mark.parametrize("version", ["4.31.5M", "4.32.2F"])
def test_commit_on_trial_and_confirm_from_another_connection(start: Any, napalm: Any, version: str) -> None:
    served = start(version=version)
    first = napalm(served)
    first.load_merge_candidate(config=MTU)
    first.commit_config(revert_in=120)
    assert served.mtu() == 9000
    name, first.config_session = first.config_session, None
    first.close()
    second = napalm(served)
    assert second.has_pending_commit() is True
    assert 0 < second._get_pending_commits()[name] <= 120
    second.config_session = name
    second.confirm_commit()
    assert second.has_pending_commit() is False
    assert kinds(served)[-2:] == ["confirm", "write-startup"]
    assert "mtu 9000" in second.get_config()["startup"]


@pytest.mark.parametrize("version", ["4.31.5M", "4.32.2F"])
def test_the_timer_fires_by_itself(start: Any, napalm: Any, version: str) -> None:
    served = start(version=version)
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=1)
    assert served.mtu() == 9000
    assert served.plane.wait_for_mtu("Ethernet1", 1500, 10)  # no request is needed for it
    assert driver.has_pending_commit() is False
    with pytest.raises(CommitError, match="No pending commit-confirm found"):
        driver.confirm_commit()
    assert "mtu 9000" not in driver.get_config(retrieve="running")["running"]


def test_the_timer_fires_while_management_is_cut(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=1)
    served.call(served.handle.set_unreachable(True))
    with pytest.raises((ConnectionException, EapiConnectionError)):
        driver.has_pending_commit()
    assert served.plane.wait_for_mtu("Ethernet1", 1500, 10)
    served.call(served.handle.set_unreachable(False))
    assert driver.has_pending_commit() is False


def test_closing_the_driver_reverts(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=120)
    driver.close()
    assert served.mtu() == 1500
    assert kinds(served)[-1] == "revert"


def test_rollback_of_a_pending_commit(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    driver.load_merge_candidate(config=MTU)
    driver.commit_config(revert_in=120)
    driver.rollback()
    assert served.mtu() == 1500
    assert kinds(served)[-2:] == ["revert", "write-startup"]


def test_rollback_restores_the_startup_config_of_the_commit(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    served.device.edit(["interface Ethernet2", "description never saved"])
    driver.load_merge_candidate(config=MTU)
    driver.commit_config()
    driver.rollback()
    assert served.mtu() == 1500
    assert "never saved" not in driver.get_config()["running"]


def test_replace(served: Any, napalm: Any) -> None:
    driver = napalm(served)
    wanted = driver.get_config()["running"].replace("   no switchport", "   mtu 9000\n   no switchport")
    driver.load_replace_candidate(config=wanted)
    assert [line for line in driver.compare_config().splitlines() if line[0] in "+-"] == ["+   mtu 9000"]
    driver.commit_config()
    assert served.mtu() == 9000


def test_a_refused_mtu(start: Any, napalm: Any) -> None:
    served = start(max_mtu=9194)
    driver = napalm(served)
    with pytest.raises(MergeConfigException) as caught:
        driver.load_merge_candidate(config="interface Ethernet1\n   mtu 9216\n")
    reason = "CLI command 4 of 5 'mtu 9216' failed: invalid command"
    assert str(caught.value) == f"Error [1002]: {reason} [errors: ['Max MTU for Ethernet1 is 9194']]"
    audit = served.device.audit()
    assert (audit["written"], audit["open_sessions"]) == (False, [])


def test_a_platform_without_the_command(start: Any, napalm: Any) -> None:
    driver = napalm(start(per_interface_mtu="rejected"))
    with pytest.raises(MergeConfigException, match=r"Unavailable command \(not supported on this hardware platform\)"):
        driver.load_merge_candidate(config=MTU)


def test_somebody_elses_session_locks(served: Any, napalm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    served.device.foreign_session("cvp")
    driver = napalm(served)
    monkeypatch.setattr(driver, "_obtain_lock", lambda **_: driver._lock())  # without its ten seconds
    with pytest.raises(SessionLockedException):
        driver.load_merge_candidate(config=MTU)


def test_other_commits_are_refused_in_the_window(served: Any, napalm: Any) -> None:
    first, second = napalm(served), napalm(served)
    first.load_merge_candidate(config=MTU)
    first.commit_config(revert_in=120)
    second.load_merge_candidate(config="interface Ethernet2\n   description second\n")
    with pytest.raises(CommitError, match="Pending commit confirm already in process"):
        second.commit_config(revert_in=120)
    with pytest.raises(CommandError, match="could not run command"):
        second.commit_config()


def test_wrong_password(served: Any, napalm: Any) -> None:
    with pytest.raises((ConnectionException, EapiConnectionError), match="Unauthorized"):
        napalm(served, password="wrong")


def test_enable_password(served: Any, napalm: Any) -> None:
    assert napalm(served, enable_password="secret").get_config()["running"]


def test_an_old_release_is_refused_by_the_client(start: Any, napalm: Any) -> None:
    with pytest.raises(UnsupportedVersion):
        napalm(start(version="4.22.1F"))


def test_unknown_command(served: Any, napalm: Any) -> None:
    with pytest.raises(CommandErrorException):
        napalm(served).cli(["show bogus"])
