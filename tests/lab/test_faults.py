"""Each fault does to packets and management what its help says; the small lab is one spine, two racks of one host."""

from __future__ import annotations

import subprocess
import urllib.error
from collections.abc import Callable

import pytest
from ansible_collections.jumbo.fabric.lab.faults import FAULTS
from lab_helpers import RunningLab, wait_until

pytestmark = pytest.mark.lab

Start = Callable[..., RunningLab]


def passes(lab: RunningLab, source: str, destination: str, ip_mtu: int) -> bool:
    return lab.ping(source, lab.address(destination), ip_mtu).received == 2


def test_spine_1500_loses_large_packets_both_ways_in_silence(small_lab: Start) -> None:
    lab = small_lab("spine-1500")
    assert lab.status()["faults"] == ["spine-1500@agg:Ethernet2/1"]
    lab.raise_all(9000, leave=[("db-b", "ens3f0np0")])
    spine = lab.plane("agg")
    assert spine.ip_mtu("Ethernet2/1") == 9000, "the port accepts and reports what it is given"
    assert passes(lab, "db-a", "db-b", 1500)
    assert passes(lab, "db-b", "db-a", 1500)
    towards = lab.ping("db-a", lab.address("db-b"), 1501)
    assert (towards.received, "Frag needed" in towards.text) == (0, False)
    assert spine.counters("Ethernet2/1").giants == 0, "what the port sends and loses is counted nowhere"
    lab.raise_all(9000)
    back = lab.ping("db-b", lab.address("db-a"), 9000, count=3)
    assert (back.received, "Frag needed" in back.text) == (0, False)
    wait_until(lambda: spine.counters("Ethernet2/1").giants >= 3, what="what it drops on ingress counts as giants")
    assert spine.counters("Ethernet1/1").giants == 0


def test_tap_1518_loses_large_packets_and_nobody_counts(small_lab: Start) -> None:
    lab = small_lab("tap-1518@tor-a:Ethernet49/1")
    lab.raise_all(9000)
    assert passes(lab, "db-a", "db-b", 1500)
    for source, destination in (("db-a", "db-b"), ("db-b", "db-a")):
        lost = lab.ping(source, lab.address(destination), 1501)
        assert (lost.received, "Frag needed" in lost.text) == (0, False)
    assert lab.plane("tor-a").counters("Ethernet49/1").giants == 0
    assert lab.plane("agg").counters("Ethernet1/1").giants == 0


def test_icmp_filtered_keeps_only_fragmentation_needed_back(small_lab: Start) -> None:
    lab = small_lab("icmp-filtered")
    assert lab.status()["faults"] == ["icmp-filtered@tor-a"]
    lab.raise_all(9000, leave=[("tor-a", "Ethernet49/1"), ("tor-b", "Ethernet49/1")])
    own = lab.ping("db-a", lab.address("db-b"), 9000)
    assert (own.received, "Frag needed" in own.text) == (0, False), "its own answer does not get out"
    lab.plane("tor-a").set_ip_mtu("Ethernet49/1", 9000)
    lab.plane("agg").set_ip_mtu("Ethernet2/1", 1500)
    others = lab.ping("db-a", lab.address("db-b"), 9000)
    assert (others.received, "Frag needed" in others.text) == (0, False), "the spine's answer does not pass"
    assert "Frag needed" in lab.ping("db-b", lab.address("db-a"), 9000).text, "the other leaf still answers"
    assert passes(lab, "db-a", "db-b", 1500)
    unreachable = lab.plane("db-a").ping(["-c", "1", "-W", "1", "-t", "1", lab.address("db-b")], 5.0)
    assert "Time to live exceeded" in unreachable, "other ICMP is not filtered"


def test_host_unreachable_cuts_management_with_the_first_change(small_lab: Start) -> None:
    lab = small_lab("host-unreachable")
    assert lab.status()["faults"] == ["host-unreachable@db-b"]
    assert lab.ssh("db-b", "true").returncode == 0
    assert lab.ssh("db-b", "ethtool", "-i", "ens3f0np0").returncode == 0, "reading changes nothing"
    command = lab.ssh_command("db-b", "ip link set ens3f0np0 mtu 9000; echo changed > /run/mark; exec sleep 20")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as session:
        assert session.wait(10) == 255, "the open connection is cut"
    assert lab.ssh("db-b", "true").returncode == 255
    assert not lab.status()["nodes"]["db-b"]["reachable"]
    assert lab.ssh("db-a", "true").returncode == 0
    assert lab.plane("db-b").ip_mtu("ens3f0np0") == 9000
    wait_until(lambda: "changed" in lab.run("db-b", "cat", "/run/mark"), what="what was started in the host goes on")


def test_host_unreachable_waits_for_a_route_change_as_well(small_lab: Start) -> None:
    lab = small_lab("host-unreachable@db-a")
    route = lab.run("db-a", "ip", "route", "show", "172.20.0.0/26").strip()
    lab.ssh("db-a", f"ip route replace {route} mtu 1500")
    wait_until(lambda: not lab.status()["nodes"]["db-a"]["reachable"], what="management is lost")


def test_host_unreachable_cuts_a_switch_with_its_first_commit(small_lab: Start) -> None:
    lab = small_lab("host-unreachable@tor-b")
    session = ("enable", "configure session s", "interface Ethernet49/1", "mtu 9000")
    assert "result" in lab.eapi("tor-b", *session)
    assert "result" in lab.eapi("tor-b", "enable", "show configuration sessions"), "loading and reading change nothing"
    with pytest.raises((urllib.error.URLError, OSError)):
        lab.eapi("tor-b", "enable", "configure session s", "commit timer 00:02:00")
    assert lab.plane("tor-b").ip_mtu("Ethernet49/1") == 9000
    with pytest.raises((urllib.error.URLError, OSError)):
        lab.eapi("tor-b", "show version")
    assert "result" in lab.eapi("tor-a", "show version")


def test_eos_max_9194_is_refused_with_the_switchs_own_words(small_lab: Start) -> None:
    lab = small_lab("eos-max-9194")
    assert lab.status()["faults"] == ["eos-max-9194@agg"]
    session = ("enable", "configure session s", "interface Ethernet1/1")
    refused = lab.eapi("agg", *session, "mtu 9195")
    assert "Max MTU for Ethernet1/1 is 9194" in str(refused["error"])
    assert "result" in lab.eapi("agg", *session, "mtu 9194")
    assert "result" in lab.eapi("tor-a", "enable", "configure session s", "interface Ethernet49/1", "mtu 9214")


def test_faults_are_listed_with_help_place_and_end(small_lab: Start) -> None:
    lab = small_lab()
    text = lab.cli("faults", "-i", lab.sources[0]).stdout
    for name, fault in FAULTS.items():
        assert name in text
        assert fault.help in text
        assert fault.expected in text
    assert "agg:Ethernet2/1" in text
