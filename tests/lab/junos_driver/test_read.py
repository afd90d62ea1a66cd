"""What the driver says of a box: sizes apart, counters of aggregates, addresses, neighbours, what is pending."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.junos.load import set_edits


def test_sizes_of_every_kind_of_interface(box: Any) -> None:
    box.device.edit(["set interfaces xe-0/0/0 mtu 9192", "set interfaces xe-0/0/0 unit 0 family inet mtu 9000"])
    found = box.driver.read()["interfaces"]
    keys = ("kind", "ip_mtu", "mru", "device_mtu", "configured_mtu", "persisted_mtu")
    assert {name: tuple(found[name][key] for key in keys) for name in found if name not in ("em0", "vtep", "lo0")} == {
        "xe-0/0/0": ("routed", 9000, 9178, 9192, 9178, 9000),
        "xe-0/0/1": ("routed", 4000, 4000, 4014, 4000, 4000),
        "xe-0/0/2": ("switched", 1500, 1500, 1514, None, 1500),
        "xe-0/0/3": ("member", 1500, 1500, 1514, None, 1500),
        "ae0": ("lag", 1500, 1500, 1514, None, 1500),
        "xe-0/0/4": ("routed", 1500, 1500, 1518, None, 1500),
        "xe-0/0/5": ("routed", 1500, 1500, 1522, None, 1500),
        "irb.10": ("svi", 1500, None, None, None, 1500),
    }
    assert (found["lo0"]["ip_mtu"], found["lo0"]["mru"], found["lo0"]["kind"]) == (None, None, "loopback")


def test_counters_addresses_members(box: Any) -> None:
    found = box.driver.read(only_interfaces=True)["interfaces"]
    assert found["xe-0/0/0"]["counters"]["oversize"] == 3
    assert found["ae0"]["counters"]["oversize"] == 5
    assert found["xe-0/0/0"]["counters"]["input_packets"] == 100
    assert found["irb.10"]["counters"]["oversize"] is None
    assert (found["ae0"]["members"], found["xe-0/0/3"]["parent"]) == (["xe-0/0/3"], "ae0")
    assert found["xe-0/0/0"]["addresses"] == ["10.0.0.0/31"]
    assert found["irb.10"]["addresses"] == ["10.1.0.1/24"]
    assert found["lo0"]["addresses"] == ["10.255.0.2/32"]


@pytest.mark.parametrize("style", ["device", "name"])
def test_neighbours_in_both_styles(start: Any, style: str) -> None:
    state = start(lldp_style=style).driver.read()
    assert state["interfaces"]["xe-0/0/0"]["neighbours"] == [
        {"host": "spine1", "interface": "Ethernet7", "max_frame": 9236}
    ]
    assert state["interfaces"]["xe-0/0/1"]["neighbours"] == []
    assert (state["model"], state["version"], state["saved"]) == ("qfx5120-48y-8c", "21.4R3.15", True)
    assert state["pending"]["owner"] == "none"


def test_reading_writes_nothing(box: Any) -> None:
    box.driver.read()
    box.driver.pending()
    assert box.kinds() == []


def test_a_commit_of_somebody_else_that_waits(box: Any) -> None:
    box.device.edit(["set interfaces xe-0/0/2 description x"], user="bob", minutes=5)
    found = box.driver.pending()
    assert (found["owner"], found["kind"]) == ("foreign", "timer")
    assert "bob via cli at 20" in found["name"]
    assert 295 <= found["seconds_left"] <= 300


def test_one_of_ours_that_waits(box: Any) -> None:
    box.apply()
    found = box.driver.pending()
    assert (found["owner"], found["name"], found["kind"]) == ("ours", f"jumbo-{'run-canary.0.svi'}", "timer")
    box.pass_time(121)
    assert box.driver.pending()["owner"] == "none"


@pytest.mark.parametrize("options", [{"marks_pending": False}, {"log_replaces_comment": True}])
def test_one_of_ours_on_releases_that_tell_it_otherwise(start: Any, options: dict[str, bool]) -> None:
    box = start(**options)
    handle = box.apply()
    assert box.driver.pending()["owner"] == "ours"
    box.driver.confirm(handle)
    assert box.driver.pending()["owner"] == "none"
    assert box.mtus == (9000, 9000)


def test_a_candidate_that_somebody_left_changed(box: Any) -> None:
    box.device.database.load(box.device.foreign_session("bob"), set_edits("set interfaces xe-0/0/0 mtu 2000"))
    found = box.driver.pending()
    assert (found["owner"], found["kind"], found["seconds_left"]) == ("foreign", "candidate", None)


OK = """PING 10.0.0.1 (10.0.0.1) 8972(9000) bytes of data.
8980 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.579 ms

--- 10.0.0.1 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 6ms
"""
TOO_LONG = """PING 10.0.0.1 (10.0.0.1) 8972(9000) bytes of data.
ping: local error: message too long, mtu=1500

--- 10.0.0.1 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 12ms
"""
NEEDED = """PING 10.9.0.1 (10.9.0.1) 8972(9000) bytes of data.
From 10.0.0.9 icmp_seq=1 Frag needed and DF set (mtu = 1500)

--- 10.9.0.1 ping statistics ---
3 packets transmitted, 0 received, +1 errors, 100% packet loss, time 12ms
"""


def test_ping_counts_the_whole_packet(box: Any) -> None:
    asked: list[Any] = []
    box.plane.answer = lambda line: asked.append(list(line)) or OK
    found = box.driver.ping("10.0.0.1", 9000, "10.0.0.0", 1)
    assert (found["sent"], found["received"], found["too_big_local"]) == (1, 1, False)
    (line,) = asked
    assert line[line.index("-s") + 1] == "8972"
    assert line[line.index("-M") + 1] == "do"
    assert line[line.index("-I") + 1] == "10.0.0.0"


@pytest.mark.parametrize("errors", ["own", "base"])
def test_a_ping_that_does_not_leave_the_box(start: Any, errors: str) -> None:
    box = start(ping_errors=errors)
    box.plane.answer = lambda _line: TOO_LONG
    found = box.driver.ping("10.0.0.1", 9000)
    assert (found["sent"], found["received"], found["too_big_local"]) == (3, 0, True)


def test_a_ping_that_a_router_refuses_names_it(box: Any) -> None:
    box.plane.answer = lambda _line: NEEDED
    found = box.driver.ping("10.9.0.1", 9000)
    assert (found["sent"], found["received"], found["too_big_local"]) == (3, 0, False)
    assert (found["too_big_reported_by"], found["reported_mtu"]) == ("10.0.0.9", 1500)
