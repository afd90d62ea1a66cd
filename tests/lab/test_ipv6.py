"""IPv6 beside IPv4 in the lab: real packets, real answers of routers, advertisements, boots, faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_helpers import BUNDLED, RunningLab, lab_cli, need_namespaces, overlay, wait_until
from lab_inventories import rack_fabric

pytestmark = pytest.mark.lab

FAR = "fd00:10:2::2"
SETTINGS = "/proc/sys/net/ipv6/conf/eth1"


@pytest.fixture(scope="module")
def lab6(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """Three racks with advertisements that tell an MTU, and a leaf that says nothing of a packet too big."""
    need_namespaces()
    folder = tmp_path_factory.mktemp("six") / "lab"
    sources = [rack_fabric(folder.with_name("inventory"), 95, jumbo_lab_traffic=0.1)]
    done = lab_cli(folder, "up", "-i", sources[0], "--fault", "icmp-filtered@leaf3")
    assert done.returncode == 0, done.stderr
    try:
        yield RunningLab(folder, sources)
    finally:
        lab_cli(folder, "down")


def ping(lab: RunningLab, host: str, destination: str, ip_mtu: int) -> str:
    """Ping with packets that must not be fragmented; a size that was learned before is forgotten first."""
    lab.run(host, "ip", "-6", "route", "flush", "cache")
    arguments = ["-M", "do", "-c", "3", "-i", "0.1", "-W", "0.5", "-s", str(ip_mtu - 48), destination]
    return lab.plane(host).ping(arguments, 20.0)


def ipv6_mtu(lab: RunningLab, host: str) -> tuple[int, int]:
    found = lab.run(host, "cat", f"{SETTINGS}/mtu", f"{SETTINGS}/accept_ra_mtu").split()
    return int(found[0]), int(found[1])


def test_the_old_size_crosses_the_fabric_and_production_runs_in_both_families(lab6):
    assert " 0% packet loss" in wait_until(lambda: ping(lab6, "h1", FAR, 1500), what="a ping")
    sessions = wait_until(
        lambda: lab6.run("h1", "ss", "-Htn", "dst", "fd00:10:1::/48"), what="a session of production over IPv6"
    )
    assert "fd00:10:1::2" in sessions
    assert lab6.status()["traffic"]["stall_count"] == 0


def test_switches_are_configured_in_both_families(lab6):
    text = json.dumps(lab6.eapi("leaf1", "enable", "show running-config")["result"][1])
    for line in ("ipv6 address fd00:10:1::1/64", "ipv6 address fd00:10:255::/127", "ipv6 unicast-routing"):
        assert line in text
    assert "ipv6 route fd00:10:2::/64 fd00:10:255::1" in text


def test_a_router_says_packet_too_big_in_its_own_family_and_a_filtered_one_does_not(lab6):
    # Only the link of the sender is raised: the leaf's other side is the limit.
    for host, leaf in (("h1", "leaf1"), ("h5", "leaf3")):
        lab6.run(host, "ip", "link", "set", "eth1", "mtu", "9000")
        lab6.plane(leaf).set_ip_mtu("Vlan10", 9000)
    try:
        # Again and again: an older advertisement, or an answer to production, makes the sender refuse by itself.
        wait_until(lambda: "Packet too big: mtu=1500" in ping(lab6, "h1", FAR, 9000), what="the router's answer")
        silent = wait_until(
            lambda: "local error" not in (text := ping(lab6, "h5", FAR, 9000)) and text, what="a ping that left h5"
        )
        assert "0 received" in silent
        assert "too big" not in silent
        assert " 0% packet loss" in ping(lab6, "h5", FAR, 1500)
    finally:
        for host, leaf in (("h1", "leaf1"), ("h5", "leaf3")):
            lab6.plane(leaf).set_ip_mtu("Vlan10", 1500)
            lab6.run(host, "ip", "link", "set", "eth1", "mtu", "1500")


def test_an_advertised_size_moves_a_host_that_listens_and_none_that_does_not(lab6):
    lab6.plane("leaf1").set_ip_mtu("Vlan10", 1400)
    try:
        wait_until(lambda: ipv6_mtu(lab6, "h1") == (1400, 1), what="the advertised MTU")
        lab6.run("h2", "sh", "-c", f"echo 0 > {SETTINGS}/accept_ra_mtu; echo 1500 > {SETTINGS}/mtu")
        lab6.plane("leaf1").set_ip_mtu("Vlan10", 1450)
        wait_until(lambda: ipv6_mtu(lab6, "h1") == (1450, 1), what="the next one")
        assert ipv6_mtu(lab6, "h2") == (1500, 0)
    finally:
        lab6.plane("leaf1").set_ip_mtu("Vlan10", 1500)
        lab6.run("h2", "sh", "-c", f"echo 1 > {SETTINGS}/accept_ra_mtu")
    wait_until(lambda: ipv6_mtu(lab6, "h1") == (1500, 1), what="the old size")


def test_a_boot_brings_a_host_back_large_and_pinned_in_both_families(lab6):
    file = lab6.folder.path / "nodes/h3/etc/jumbo-lab.json"
    file.write_text(
        json.dumps(
            {
                "links": {"eth1": 9000},
                "routes": [
                    "unicast 10.10.2.0/24 dev eth1 table main proto kernel scope link src 10.10.2.2 mtu 1500",
                    "unicast fd00:10:2::/64 dev eth1 table main proto kernel metric 256 mtu 1500",
                    "unicast fd00:10:1::/64 via fd00:10:2::1 dev eth1 table main metric 1024 mtu 9000",
                ],
                "ipv6": {"eth1": {"mtu": 1500, "accept_ra_mtu": 0}},
            }
        )
    )
    try:
        assert lab6.cli("reboot", "h3").returncode == 0
        assert lab6.plane("h3").ip_mtu("eth1") == 9000
        assert ipv6_mtu(lab6, "h3") == (1500, 0)
        routes = lab6.run("h3", "ip", "-6", "route", "show", "dev", "eth1")
        assert "fd00:10:2::/64 proto kernel metric 256 mtu 1500" in routes
        assert "fd00:10:1::/64 via fd00:10:2::1 metric 1024 mtu 9000" in routes
        assert "scope link src 10.10.2.2 mtu 1500" in lab6.run("h3", "ip", "-4", "route", "show", "dev", "eth1")
    finally:
        file.write_text('{"links": {}, "routes": []}\n')
        lab6.cli("reboot", "h3")


def test_a_port_that_was_off_has_its_ipv6_back(lab6):
    plane = lab6.plane("leaf1")
    for port in ("Ethernet1", "Vlan10"):
        plane.set_up(port, up=False)
        plane.set_up(port, up=True)
    wait_until(lambda: " 0% packet loss" in ping(lab6, "h1", FAR, 1500), what="the way back")
    routes = lab6.run("leaf1", "ip", "-6", "route", "show", "fd00:10:2::/64")
    assert routes.count("nexthop") == 2, routes


@pytest.mark.parametrize(("wish", "good"), [("mtu", True), ("plain", True), ("loud", False)])
def test_the_kind_of_advertisement_is_checked(tmp_path: Path, wish: str, good: bool) -> None:
    extra = overlay(
        tmp_path / "overlay", jumbo_lab_advertise=wish, jumbo_lab_network="127.300.0" if good else "127.9.9"
    )
    done = lab_cli(tmp_path / "lab", "up", "-i", str(BUNDLED), "-i", extra)
    assert done.returncode != 0
    assert ("jumbo_lab_advertise" in done.stderr) is not good
