"""The sentinel shouts when production is lost for its size, with pair, link and size, and keeps still otherwise.

Nothing of the product runs here: links are raised by hand. The lab is one spine, two racks of one host, no traffic.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lab_helpers import RunningLab, wait_until

pytestmark = pytest.mark.lab

Start = Callable[..., RunningLab]

DONT, DO = 0, 2  # IP_PMTUDISC_*: without DF, and with DF whatever the route says
SEND = """
import socket, sys
target, size, discover, mark = sys.argv[1:]
v6 = ":" in target
sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(*((socket.IPPROTO_IPV6, 23) if v6 else (socket.IPPROTO_IP, 10)), int(discover))
sock.sendto(mark.encode().ljust(int(size) - (48 if v6 else 28), b"."), (target, 9))
"""
DB_A, DB_B = "db-a:ens3f0np0", "db-b:ens3f0np0"
TO_DB_B = f"tor-b:Ethernet5 -> {DB_B}"


@pytest.fixture(scope="module")
def healthy(module_small_lab: Start) -> RunningLab:
    return module_small_lab()


@pytest.fixture
def lab(healthy: RunningLab) -> Iterator[RunningLab]:
    yield healthy
    healthy.restore()


@pytest.fixture
def new(lab: RunningLab) -> Callable[[], list[tuple[Any, ...]]]:
    """Return what has been told since the test began, as (from, to, link, size, reason)."""
    before = len(lab.violations())
    return lambda: told(lab)[before:]


def told(lab: RunningLab) -> list[tuple[Any, ...]]:
    return [tuple(entry[key] for key in ("from", "to", "link", "size", "reason")) for entry in lab.violations()]


def send(lab: RunningLab, source: str, target: str, size: int, discover: int = DO, mark: str = "production") -> None:
    """Send one UDP datagram of that many bytes of IP packet; sizes learned before are forgotten first."""
    lab.run(source, "ip", "route", "flush", "cache")
    lab.run(source, sys.executable, "-c", SEND, target, str(size), str(discover), mark)


def test_a_host_that_takes_less_in_than_its_gateway_sends(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000, leave=[("db-b", "ens3f0np0")])
    send(lab, "db-a", lab.address("db-b"), 1500)
    assert new() == []
    send(lab, "db-a", lab.address("db-b"), 1501)
    assert new() == [("db-a", "db-b", TO_DB_B, 1501, f"{DB_B} takes in 1500")]


def test_probes_and_pings_are_no_production(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000, leave=[("db-b", "ens3f0np0")])
    giants = lab.plane("db-b").counters("ens3f0np0").giants
    send(lab, "db-a", lab.address("db-b"), 9000, mark="JUMBOPRB")
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 0
    wait_until(lambda: lab.plane("db-b").counters("ens3f0np0").giants == giants + 3, what="all of them were too large")
    assert new() == []


def test_what_fits_is_silent_at_any_size(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000)
    for size in (1500, 9000):
        send(lab, "db-a", lab.address("db-b"), size)
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 2
    assert new() == []


def test_a_router_whose_answer_arrives_is_silent_and_one_whose_answer_is_filtered_is_not(
    lab: RunningLab, new: Any
) -> None:
    lab.raise_all(9000, leave=[("agg", "Ethernet2/1")])
    target = lab.address("db-b")
    send(lab, "db-a", target, 9000)
    wait_until(lambda: "mtu 1500" in lab.run("db-a", "ip", "route", "get", target), what="the answer has arrived")
    assert new() == []
    lab.run("db-a", "nft", FILTER)
    try:
        send(lab, "db-a", target, 9000)
        assert new() == [("db-a", "db-b", "agg:Ethernet2/1 -> tor-b:Ethernet49/1", 9000, UNHEARD.format("agg"))]
    finally:
        lab.run("db-a", "nft", "delete table inet firewall")


FILTER = (
    "table inet firewall { chain input { type filter hook input priority 0; "
    "icmp type destination-unreachable drop; icmpv6 type packet-too-big drop; }; }"
)
UNHEARD = "{} sends 1500, and its ICMP did not arrive at the sender"


def test_a_router_that_does_not_even_answer(lab: RunningLab, new: Any) -> None:
    """It has no way back to the sender, so its kernel drops and says nothing."""
    lab.raise_all(9000, leave=[("tor-a", "Ethernet49/1")])
    lab.run("db-a", "ip", "addr", "replace", "192.0.2.1/32", "dev", "lo")
    lab.run("db-a", "ip", "route", "replace", lab.address("db-b"), "via", lab.address("tor-a", "Vlan300"), *FROM)
    try:
        send(lab, "db-a", lab.address("db-b"), 9000)
        assert [(link, reason) for _from, _to, link, _size, reason in new()] == [("tor-a", UNANSWERED)]
        assert len(new()) == 1, "it is told once"
    finally:
        lab.run("db-a", "ip", "route", "del", lab.address("db-b"))


FROM = ("src", "192.0.2.1")
UNANSWERED = "1 packets were too large for it, and it did not answer"


def test_a_switched_port_that_sends_less_loses_in_silence(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000)
    leaf = lab.plane("tor-b")
    old = leaf.ip_mtu("Ethernet5")
    leaf.set_ip_mtu("Ethernet5", 1500)
    try:
        listing = ("tor-b", "nft", "list", "table", "bridge", "jumbo_lab")
        wait_until(lambda: "meta length > 1500 " in lab.run(*listing), what="the sentinel has seen the change")
        send(lab, "db-a", lab.address("db-b"), 9000)
        assert new() == [("db-a", "db-b", TO_DB_B, 9000, "tor-b:Ethernet5 sends 1500")]
    finally:
        leaf.set_ip_mtu("Ethernet5", old)


def test_a_switch_that_would_have_to_fragment(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000, leave=[("tor-a", "Ethernet49/1")])
    send(lab, "db-a", lab.address("db-b"), 5000, discover=DONT)
    ((*pair, link, size, reason),) = new()
    assert (pair, link, size) == (["db-a", "db-b"], "tor-a:Ethernet49/1 -> agg:Ethernet1/1", 5000)
    assert "does not fragment" in reason


def test_ipv6(lab: RunningLab, new: Any) -> None:
    """The lab builds none; by hand there is a host, its gateway, and a way out of that which is smaller."""
    lab.raise_all(9000, leave=[("tor-a", "Ethernet49/1")])
    host, uplink = lab.nodes["db-a"].kernel("ens3f0np0"), lab.nodes["tor-a"].kernel("Ethernet49/1")
    for node, interface, address in (("db-a", host, "fd00::2/64"), ("tor-a", "Vlan300", "fd00::1/64")):
        lab.run(node, "sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=0")
        lab.run(node, "ip", "addr", "replace", address, "dev", interface, "nodad")
    lab.run("tor-a", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", f"net.ipv6.conf.{uplink}.disable_ipv6=0")
    lab.run("tor-a", "ip", "neigh", "replace", "fd01::9", "lladdr", "02:00:00:00:00:09", "dev", uplink)
    lab.run("tor-a", "ip", "route", "replace", "fd01::/64", "dev", uplink)
    lab.run("db-a", "ip", "route", "replace", "fd01::/64", "via", "fd00::1")

    send(lab, "db-a", "fd01::9", 9000)
    wait_until(lambda: "mtu 1500" in lab.run("db-a", "ip", "route", "get", "fd01::9"), what="the answer has arrived")
    assert new() == []
    lab.run("db-a", "nft", FILTER)
    lab.run("db-a", "ip", "-6", "route", "flush", "cache")
    send(lab, "db-a", "fd01::9", 9000)
    (filtered,) = new()
    assert filtered == ("fd00::2", "fd01::9", "tor-a:Ethernet49/1 -> agg:Ethernet1/1", 9000, UNHEARD.format("tor-a"))
    lab.run("db-a", "nft", "delete table inet firewall")

    lab.plane("db-a").set_ip_mtu("ens3f0np0", 1500)
    wait_until(lambda: lab.limits_follow("db-a"), what="the host takes in 1500")
    send(lab, "tor-a", "fd00::2", 9000)
    send(lab, "tor-a", "fd00::2", 9000, mark="JUMBOPRB")
    assert new()[1:] == [("fd00::1", "fd00::2", f"tor-a:Ethernet5 -> {DB_A}", 9000, f"{DB_A} takes in 1500")]


def test_it_stays_at_its_post_when_a_node_reboots(lab: RunningLab, new: Any) -> None:
    lab.cli("reboot", "db-b")
    lab.raise_all(9000, leave=[("db-b", "ens3f0np0")])
    send(lab, "db-a", lab.address("db-b"), 9000)
    assert new() == [("db-a", "db-b", TO_DB_B, 9000, f"{DB_B} takes in 1500")]


def test_violations_are_in_the_folder_the_events_the_status_and_the_exit_status(lab: RunningLab, new: Any) -> None:
    lab.raise_all(9000, leave=[("db-b", "ens3f0np0")])
    for _turn in range(3):
        send(lab, "db-a", lab.address("db-b"), 8888)
    assert len(new()) >= 1
    last = lab.violations()[-1]
    assert last["until"] >= last["time"] >= lab.status()["started"]
    assert sum(entry["packets"] for entry in lab.violations() if entry["size"] == 8888) == 3
    lines = (lab.folder.path / "violations.jsonl").read_text().splitlines()
    assert [json.loads(line)["time"] for line in lines] == [entry["time"] for entry in lab.violations()]
    events = [event for event in lab.folder.ask("events")["events"] if event["kind"] == "violation"]
    assert (events[-1]["node"], "8888 bytes on" in events[-1]["text"]) == ("db-b", True)
    assert ["db-a", "->", "db-b", "udp", "8888"] in [
        line.split()[2:7] for line in lab.cli("status").stdout.splitlines()
    ]
    shown = lab.cli("violations", "--json")
    assert (shown.returncode, json.loads(shown.stdout.splitlines()[-1])) == (1, last)


def test_spine_1500_is_told_both_ways(small_lab: Start) -> None:
    lab = small_lab("spine-1500")
    assert lab.cli("violations").returncode == 0
    lab.raise_all(9000)
    send(lab, "db-a", lab.address("db-b"), 9000)
    send(lab, "db-b", lab.address("db-a"), 1501)
    assert told(lab) == [
        ("db-a", "db-b", "agg:Ethernet2/1 -> tor-b:Ethernet49/1", 9000, "the cable passes 1500"),
        ("db-b", "db-a", "tor-b:Ethernet49/1 -> agg:Ethernet2/1", 1501, "agg:Ethernet2/1 takes in 1500"),
    ]


def test_tap_1518_is_told_with_the_cable_it_is_in(small_lab: Start) -> None:
    lab = small_lab("tap-1518@tor-a:Ethernet49/1")
    lab.raise_all(9000)
    send(lab, "db-a", lab.address("db-b"), 9000)
    assert told(lab) == [("db-a", "db-b", "tor-a:Ethernet49/1 -> agg:Ethernet1/1", 9000, "the cable passes 1500")]


def test_icmp_filtered_is_told_with_the_router_that_was_not_heard(small_lab: Start) -> None:
    lab = small_lab("icmp-filtered")
    uplink, spine_port = ("tor-a", "Ethernet49/1"), ("agg", "Ethernet2/1")
    lab.raise_all(9000, leave=[uplink, spine_port])
    send(lab, "db-a", lab.address("db-b"), 9000, mark="JUMBOPRB")
    send(lab, "db-a", lab.address("db-b"), 9000)
    lab.raise_all(9000, leave=[spine_port])
    send(lab, "db-a", lab.address("db-b"), 9000)
    assert told(lab) == [
        ("db-a", "db-b", "tor-a:Ethernet49/1 -> agg:Ethernet1/1", 9000, UNHEARD.format("tor-a")),
        ("db-a", "db-b", "agg:Ethernet2/1 -> tor-b:Ethernet49/1", 9000, UNHEARD.format("agg")),
    ]
