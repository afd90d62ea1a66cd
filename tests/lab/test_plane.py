"""Packets through the standing fabric: what passes, what is answered, what is lost and where that is counted."""

from __future__ import annotations

import sys
import time

import pytest
from lab_helpers import RunningLab, wait_until

pytestmark = pytest.mark.lab

FLOWS = """
import socket
for port in range(20000, 20064):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("", port))
        for _turn in range(20):
            sender.sendto(b"x", ("{destination}", 9))
"""


# What leaves a host above 1500 bytes of IP packet; at egress the length includes the Ethernet header.
LARGE = """
table netdev seen {
  chain out { type filter hook egress device "eth1" priority 0; policy accept;
    meta length > 1514 counter
  }
}
"""


@pytest.mark.parametrize(("source", "destination"), [("h1", "h2"), ("h1", "h3"), ("h6", "h1"), ("h4", "h5")])
def test_hosts_reach_each_other_at_1500(lab: RunningLab, source: str, destination: str) -> None:
    assert lab.ping(source, lab.address(destination), 1500).received == 2


def test_frontends_reach_each_other_by_the_default_route(lab: RunningLab) -> None:
    assert lab.run("h1", "ip", "route", "show", "default").split()[:5] == ["default", "via", "10.20.1.1", "dev", "eth0"]
    assert lab.ping("h1", lab.address("h5", "eth0"), 1500).received == 2


def test_gateways_and_link_ends_answer(lab: RunningLab) -> None:
    assert lab.ping("leaf1", lab.address("h1"), 1500).received == 2
    assert lab.ping("spine2", lab.address("leaf3", "Ethernet2"), 1500).received == 2


def test_both_spines_carry_traffic(lab: RunningLab) -> None:
    leaf = lab.plane("leaf1")
    before = [leaf.counters(port).output_packets for port in ("Ethernet1", "Ethernet2")]
    lab.run("h1", sys.executable, "-c", FLOWS.format(destination=lab.address("h3")))
    sent = [
        leaf.counters(port).output_packets - old for port, old in zip(("Ethernet1", "Ethernet2"), before, strict=True)
    ]
    assert min(sent) > 300, "1280 packets in 64 flows are spread over both spines"


def test_everything_raised_carries_9000(lab: RunningLab) -> None:
    lab.raise_all(9000)
    for destination in ("h2", "h3", "h6"):
        assert lab.ping("h1", lab.address(destination), 9000).received == 2
    refused = lab.ping("h1", lab.address("h3"), 9001)
    assert "message too long, mtu=9000" in refused.text.replace("Message", "message")


def test_tcp_grows_to_full_segments(lab: RunningLab) -> None:
    lab.raise_all(9000)
    segment = wait_until(lambda: (s := lab.status()["traffic"]["largest_segment"]) > 8900 and s, what="TCP at 8948")
    assert segment == 8948


def test_leaf_answers_where_its_uplinks_are_small(lab: RunningLab) -> None:
    uplinks = [(leaf, port) for leaf in ("leaf1", "leaf2", "leaf3") for port in ("Ethernet1", "Ethernet2")]
    lab.raise_all(9000, leave=uplinks)
    answer_from(lab, "10.10.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)")


def test_gateway_answers_where_it_is_smaller_than_its_hosts(lab: RunningLab) -> None:
    lab.raise_all(9000, leave=[("leaf2", "Vlan10")])
    answer_from(lab, "10.255.0.")


def answer_from(lab: RunningLab, words: str) -> None:
    """Ping h3 until the answer is a router's, not what the host's kernel has just learned from production traffic."""

    def answered() -> bool:
        answer = lab.ping("h1", lab.address("h3"), 9000)
        assert answer.received == 0
        return f"From {words}" in answer.text

    wait_until(answered, what=f"an answer from {words}")


def test_what_a_host_does_not_take_in_is_lost_and_counted(lab: RunningLab) -> None:
    lab.raise_all(9000, leave=[("h3", "eth1")])
    before = lab.ethtool("h3", "eth1", "rx_oversize_pkts_phy")
    answer = lab.ping("h1", lab.address("h3"), 9000, count=3)
    assert answer.received == 0
    assert "Frag needed" not in answer.text, "a gateway above its host loses packets in silence"
    assert lab.ethtool("h3", "eth1", "rx_oversize_pkts_phy") >= before + 3
    assert lab.plane("h3").counters("eth1").giants >= 3
    assert lab.ping("h1", lab.address("h3"), 1500).received == 2


def test_production_traffic_notices_a_black_hole(lab: RunningLab) -> None:
    before, began = lab.status()["traffic"]["stall_count"], time.time()
    lab.raise_all(9000, leave=[("h3", "eth1")])

    def hole() -> bool:
        traffic = lab.status()["traffic"]
        new = traffic["stalls"][before - traffic["stall_count"] :] if traffic["stall_count"] > before else []
        return any(stall["to"] == "h3" and stall["old_size_passes"] for stall in new)

    wait_until(hole, 20.0, "a stall towards h3 whose old sizes pass")
    told = [entry for entry in lab.violations() if entry["until"] >= began and entry["to"] == "h3"]
    assert {entry["link"] for entry in told} == {"leaf2:Ethernet12 -> h3:eth1"}
    # Datagrams of 8028 and 8048 bytes, or TCP of a connection from before, which keeps the segment size agreed on then.
    assert all(entry["size"] > lab.plane("h3").ip_mtu("eth1") for entry in told)


def let_stalls_end(lab: RunningLab) -> None:
    """Await that what an earlier test broke is over: a stall is told only seconds after it began."""

    def quiet() -> bool:
        first = lab.status()["traffic"]
        wait_until(lambda: lab.status()["traffic"]["transfers"] > first["transfers"] + 100, what="100 transfers")
        return bool(lab.status()["traffic"]["stall_count"] == first["stall_count"])

    wait_until(quiet, 30.0, "a hundred transfers without a stall")


def test_production_traffic_flows_without_stalls(lab: RunningLab) -> None:
    let_stalls_end(lab)
    traffic = lab.status()["traffic"]
    wait_until(lambda: lab.status()["traffic"]["transfers"] > traffic["transfers"] + 200, what="200 transfers")
    assert lab.status()["traffic"]["stall_count"] == traffic["stall_count"]


def test_a_switched_off_port_is_avoided_and_comes_back(lab: RunningLab) -> None:
    spine, leaf = lab.plane("spine1"), lab.plane("leaf1")
    spine.set_up("Ethernet1", False)
    try:
        assert not spine.is_up("Ethernet1")
        wait_until(lambda: not leaf.is_up("Ethernet1"), what="the far end sees that the link is down")
        before = [leaf.counters(port).output_packets for port in ("Ethernet1", "Ethernet2")]
        lab.run("h1", sys.executable, "-c", FLOWS.format(destination=lab.address("h3")))
        after = [leaf.counters(port).output_packets for port in ("Ethernet1", "Ethernet2")]
        assert after[0] == before[0]
        assert after[1] >= before[1] + 1280, "all 64 flows take the other spine"
    finally:
        spine.set_up("Ethernet1", True)
    wait_until(lambda: leaf.is_up("Ethernet1"), what="the link is back")
    assert lab.ping("h3", lab.address("h1"), 1500).received == 2
    assert "10.10.1.0/24 via 10.255.0.0 dev Ethernet1" in lab.run("spine1", "ip", "route")


def test_an_svi_that_is_off_keeps_switching(lab: RunningLab) -> None:
    leaf = lab.plane("leaf1")
    leaf.set_up("Vlan10", False)
    try:
        assert lab.ping("h1", lab.address("h2"), 1500).received == 2
        assert lab.ping("h1", lab.address("h3"), 1500).received == 0
    finally:
        leaf.set_up("Vlan10", True)
    assert lab.ping("h1", lab.address("h3"), 1500).received == 2


def test_unknown_interfaces_are_key_errors(lab: RunningLab) -> None:
    plane = lab.plane("leaf1")
    for ask in (plane.counters, plane.is_up, plane.neighbour):
        with pytest.raises(KeyError):
            ask("Ethernet47")
    with pytest.raises(KeyError):
        plane.set_ip_mtu("Ethernet47", 9000)


def test_neighbours_are_who_the_cables_lead_to(lab: RunningLab) -> None:
    neighbour = lab.plane("leaf1").neighbour("Ethernet2")
    assert neighbour is not None
    assert (neighbour.host, neighbour.interface, neighbour.max_frame) == ("spine2", "Ethernet1", 9236)
    host = lab.plane("leaf1").neighbour("Ethernet12")
    assert host is not None
    assert (host.host, host.interface, host.max_frame) == ("h1", "eth1", 1518)
    assert lab.plane("leaf1").neighbour("Vlan10") is None


def test_offloads_do_not_hide_segment_sizes(lab: RunningLab) -> None:
    """No packet in the fabric is larger than its sender's segment, nor larger in the sender's own hooks."""
    lab.run("h1", "sh", "-c", f"nft -f - <<'X'\n{LARGE}X")
    try:
        done = lab.status()["traffic"]["transfers"]
        wait_until(lambda: lab.status()["traffic"]["transfers"] > done + 100, what="100 transfers")
        assert "packets 0 bytes 0" in lab.run("h1", "nft", "list", "table", "netdev", "seen")
    finally:
        lab.run("h1", "nft", "delete", "table", "netdev", "seen")
