"""Uplinks that run BGP: a session that is shut down moves the traffic, and so does a link that is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, network, wait_until
from lab_inventories import rack_fabric, variant

pytest.importorskip("jnpr.junos")

from jnpr.junos.utils.config import Config

pytestmark = pytest.mark.lab

# leaf2:xe-0/0/1 and spine1:Ethernet2, then spine2:xe-0/0/2 and leaf2:xe-0/0/2.
LEAF2_SPINE1, SPINE1_LEAF2 = "10.255.0.4", "10.255.0.5"
LEAF2_SPINE2, SPINE2_LEAF2 = "10.255.0.6", "10.255.0.7"
BACKEND2, BACKEND2_6 = "10.10.2.0/24", "fd00:10:2::/64"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    need_namespaces()
    path = tmp_path_factory.mktemp("bgp")
    known = {"jumbo_lab_network": network(170), "jumbo_lab_traffic": 0.1}
    sources = [rack_fabric(path / "inventory", 170), variant(path / "overlay", ["spine2", "leaf2"], "bgp", **known)]
    done = lab_cli(path / "lab", "up", "-i", sources[0], "-i", sources[1])
    assert done.returncode == 0, done.stderr
    yield RunningLab(path / "lab", sources)
    lab_cli(path / "lab", "down")


@pytest.fixture
def lab(started: RunningLab) -> Iterator[RunningLab]:
    """The lab with all sessions up; each test puts its own back, and nothing is lost for its size meanwhile."""
    began = time.time()
    yield started
    wait_until(lambda: len(hops(started, "leaf1")) == 2 and len(hops(started, "spine1")) == 1, what="all ways are back")
    assert [violation for violation in started.violations() if violation["until"] > began] == []


def hops(lab: RunningLab, node: str, prefix: str = BACKEND2) -> list[str]:
    """Return the next hops that a switch has towards a prefix."""
    words = lab.run(node, "ip", "-6" if ":" in prefix else "-4", "route", "show", prefix).split()
    return [words[position + 1] for position, word in enumerate(words) if word == "via"]


def eos(lab: RunningLab, node: str, *lines: str) -> Any:
    reply = lab.eapi(node, "enable", *lines)
    assert "result" in reply, reply
    return reply["result"][-1]


def junos(lab: RunningLab, node: str, *lines: str) -> None:
    device = lab.netconf(node)
    config = Config(device)
    config.load("\n".join(lines), format="set")
    config.commit()
    device.close()


def peer(lab: RunningLab, node: str, address: str) -> dict[str, Any]:
    word = "ipv6" if ":" in address else "ip"
    found: dict[str, Any] = lab.eapi(node, f"show {word} bgp summary")["result"][0]["vrfs"]["default"]["peers"][address]
    return found


def junos_state(lab: RunningLab, node: str, address: str) -> tuple[str, str | None]:
    device = lab.netconf(node)
    found = device.rpc.get_bgp_summary_information(normalize=True)
    device.close()
    (one,) = [entry for entry in found.iter("bgp-peer") if entry.findtext("peer-address") == address]
    return one.findtext("peer-state"), one.findtext("bgp-rib/active-prefix-count")


def test_all_sessions_are_up_and_show_what_they_bring(lab: RunningLab) -> None:
    assert (peer(lab, "spine1", LEAF2_SPINE1)["peerState"], peer(lab, "spine1", LEAF2_SPINE1)["prefixReceived"]) == (
        "Established",
        2,
    )
    assert junos_state(lab, "leaf2", SPINE1_LEAF2) == ("Established", "4")
    shown = lab.eapi("spine1", "show ip route")["result"][0]["vrfs"]["default"]["routes"][BACKEND2]
    assert (shown["routeType"], shown["vias"][0]["interface"]) == ("eBGP", "Ethernet2")


def test_a_neighbour_shut_down_on_eos_moves_the_traffic_of_both_directions(lab: RunningLab) -> None:
    lines = ["configure", "router bgp 65000", f"neighbor {LEAF2_SPINE1} shutdown"]
    eos(lab, "spine1", *lines)
    wait_until(lambda: hops(lab, "leaf1") == ["10.255.0.3"], what="leaf1 goes by spine2 only")
    assert hops(lab, "leaf2", "10.10.1.0/24") == [SPINE2_LEAF2], "the far end as well"
    assert len(hops(lab, "leaf1", BACKEND2_6)) == 2, "IPv6 has a session of its own"
    assert len(hops(lab, "leaf1", "10.10.3.0/24")) == 2, "other ways stay"
    found = peer(lab, "spine1", LEAF2_SPINE1)
    assert (found["peerState"], found["peerStateIdleReason"], found["prefixReceived"]) == ("Idle", "Admin", 0)
    assert junos_state(lab, "leaf2", SPINE1_LEAF2) == ("Active", None)
    assert f"neighbor {LEAF2_SPINE1} shutdown" in str(eos(lab, "spine1", "show running-config"))
    for source, target in (("h1", "h3"), ("h3", "h1"), ("h5", "h3")):
        assert lab.ping(source, lab.address(target), 1500).received == 2, (source, target)
    before = time.monotonic()
    eos(lab, "spine1", *lines[:-1], f"no {lines[-1]}")
    wait_until(lambda: len(hops(lab, "leaf1")) == 2, what="both ways are back")
    assert time.monotonic() - before > 0.9, "a session takes a moment"


def test_a_neighbour_shut_down_on_junos_is_withdrawn_at_the_eos_end(lab: RunningLab) -> None:
    shut = f"protocols bgp group uplinks neighbor {SPINE1_LEAF2} shutdown"
    junos(lab, "leaf2", f"set {shut}")
    wait_until(lambda: hops(lab, "leaf1") == ["10.255.0.3"], what="leaf1 goes by spine2 only")
    assert junos_state(lab, "leaf2", SPINE1_LEAF2) == ("Idle", None)
    assert peer(lab, "spine1", LEAF2_SPINE1)["peerState"] == "Active"
    assert lab.ping("h1", lab.address("h3"), 1500).received == 2
    junos(lab, "leaf2", f"delete {shut}")


def test_a_link_that_is_off_at_one_end_takes_its_sessions_down_at_both(lab: RunningLab) -> None:
    eos(lab, "leaf1", "configure", "interface Ethernet1", "shutdown")
    wait_until(lambda: hops(lab, "leaf1") == ["10.255.0.3"], what="leaf1 goes by spine2 only")
    wait_until(lambda: hops(lab, "leaf3", "10.10.1.0/24") == ["10.255.0.11"], what="leaf3 as well")
    assert peer(lab, "spine1", "10.255.0.0")["peerState"] == "Active"
    assert lab.ping("h5", lab.address("h1"), 1500).received == 2
    assert lab.ping("h1", lab.address("h5"), 1500).received == 2
    eos(lab, "leaf1", "configure", "interface Ethernet1", "no shutdown")
    assert len(hops(lab, "leaf1")) == 1, "the link is back before its sessions are"


def test_an_interface_that_junos_adds_anew_loses_its_sessions_for_a_moment(lab: RunningLab) -> None:
    since = peer(lab, "spine1", LEAF2_SPINE1)["upDownTime"]
    junos(lab, "leaf2", "set interfaces xe-0/0/1 mtu 9214")
    wait_until(lambda: peer(lab, "spine1", LEAF2_SPINE1)["upDownTime"] > since, what="the session was down")
    wait_until(lambda: peer(lab, "spine1", LEAF2_SPINE1)["peerState"] == "Established", what="it is up again")
    junos(lab, "leaf2", "delete interfaces xe-0/0/1 mtu")


def test_a_switch_that_boots_gets_its_sessions_back(lab: RunningLab) -> None:
    assert lab.cli("reboot", "spine2").returncode == 0
    assert len(hops(lab, "leaf1")) == 1, "spine2 has not told anything yet"
    wait_until(lambda: len(hops(lab, "leaf1")) == 2, what="both ways are back")
    assert lab.ping("h1", lab.address("h3"), 1500).received == 2
