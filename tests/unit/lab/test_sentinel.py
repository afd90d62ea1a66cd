"""What the sentinel reads and how it judges: packets, ICMP answers in any order, one violation of many packets."""

from __future__ import annotations

import socket
import struct
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.jumbo.fabric.lab.nflog import Logged, read_messages
from ansible_collections.jumbo.fabric.lab.packets import Packet, read_packet, read_too_big
from ansible_collections.jumbo.fabric.lab.violations import Answers, Violation, Violations
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.wire import PROBE_MAGIC
from rollout_helpers import Fabric

PRODUCTION, PROBE = b"GET / HTTP", PROBE_MAGIC + b"and more"
UDP, TCP, ICMP, ICMPV6 = 17, 6, 1, 58


def ipv4(protocol: int, transport: bytes, size: int = 9000, fragment: int = 0x4000, options: bytes = b"") -> bytes:
    first = 0x45 + len(options) // 4
    head = struct.pack("!BBHHHBBH", first, 0, size, 7, fragment, 64, protocol, 0)
    return head + socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.2") + options + transport


def ipv6(protocol: int, transport: bytes, size: int = 9000) -> bytes:
    ends = [socket.inet_pton(socket.AF_INET6, address) for address in ("fd00::1", "fd00::2")]
    return struct.pack("!IHBB", 6 << 28, size - 40, protocol, 64) + b"".join(ends) + transport


def udp(payload: bytes) -> bytes:
    return struct.pack("!HHHH", 40000, 53, 0, 0) + payload


@pytest.mark.parametrize(
    ("data", "is_production"),
    [
        (ipv4(UDP, udp(PRODUCTION)), True),
        (ipv4(UDP, udp(PROBE)), False),
        (ipv4(UDP, udp(PROBE), options=bytes(8)), False),
        (ipv4(TCP, udp(PROBE)), True),  # the mark is one of datagrams
        (ipv4(UDP, udp(PROBE), fragment=0x2001), True),  # a later fragment: no probe is ever sent in fragments
        (ipv4(ICMP, bytes(64)), False),
        (ipv6(UDP, udp(PRODUCTION)), True),
        (ipv6(UDP, udp(PROBE)), False),
        (ipv6(ICMPV6, bytes(64)), False),
        (ipv4(132, bytes(20)), True),
    ],
)
def test_only_marked_datagrams_and_icmp_are_no_production(data: bytes, is_production: bool) -> None:
    packet = read_packet(data)
    assert packet
    assert (packet.size, packet.is_production) == (9000, is_production)


def test_addresses_and_ports_are_read_where_they_are() -> None:
    assert read_packet(ipv4(UDP, udp(b""), options=bytes(4))) == Packet(
        "10.0.0.1", "10.0.0.2", 9000, "udp", (40000, 53), is_production=True
    )
    later = read_packet(ipv4(UDP, udp(b""), fragment=1))
    assert later
    assert later.ports is None


@pytest.mark.parametrize("data", [b"", b"E", ipv4(UDP, b"")[:19], ipv6(UDP, b"")[:39], b"\x08\x06" + bytes(60)])
def test_what_is_no_ip_packet_is_none(data: bytes) -> None:
    assert read_packet(data) is None
    assert read_too_big(data) is None


@pytest.mark.parametrize(
    "answer",
    [
        ipv4(ICMP, struct.pack("!BBHHH", 3, 4, 0, 0, 1500) + ipv4(UDP, udp(PRODUCTION)), 576, options=bytes(4)),
        ipv6(ICMPV6, struct.pack("!BBHI", 2, 0, 0, 1500) + ipv6(UDP, udp(PRODUCTION)), 1280),
    ],
)
def test_an_answer_tells_the_limit_and_the_packet_it_is_about(answer: bytes) -> None:
    found = read_too_big(answer)
    assert found
    assert (found.limit, found.packet.size, found.packet.ports) == (1500, 9000, (40000, 53))


def test_answers_are_paired_in_any_order_and_equal_ones_are_counted() -> None:
    answers = Answers(patience=2.0)
    answers.heard(b"a", 0.0)
    answers.made("leaf1", b"a", 0.5)
    answers.made("leaf1", b"b", 0.0)
    answers.made("leaf2", b"b", 0.1)
    answers.heard(b"b", 0.2)
    assert list(answers.overdue(2.0)) == []
    assert answers.waiting
    assert [(late.node, late.key) for late in answers.overdue(2.2)] == [("leaf2", b"b")]
    assert not answers.waiting
    answers.heard(b"c", 0.0)
    assert list(answers.overdue(3.0)) == []
    answers.made("leaf1", b"c", 3.0)
    assert len(list(answers.overdue(6.0))) == 1, "an answer of long ago belongs to another packet"


LOST = Violation("h1", "h3", "leaf2:Ethernet13 -> h3:eth1", 9000, 1500, "tcp", "h3:eth1 takes in 1500")


def test_packets_that_follow_each_other_are_one_violation_with_its_first_and_last_time() -> None:
    violations = Violations()
    news = [violations.add(LOST, now) is not None for now in (0.0, 0.9, 1.8, 4.0)]
    assert news == [True, False, False, True]
    assert [(entry["time"], entry["until"], entry["packets"]) for entry in violations.all()] == [
        (0.0, 1.8, 3),
        (4.0, 4.0, 1),
    ]


def message(kind: int, *attributes: tuple[int, bytes]) -> bytes:
    body = bytes(4)
    for number, value in attributes:
        body += (struct.pack("=HH", 4 + len(value), number) + value).ljust((len(value) + 7) & ~3, b"\0")
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def test_one_datagram_may_hold_several_packets_and_other_messages() -> None:
    data = message(4 << 8, (10, b"refused eth1 1500\0"), (9, b"first")) + message(3) + message(4 << 8, (9, b"second"))
    assert list(read_messages(data)) == [Logged("refused eth1 1500", b"first"), Logged("", b"second")]


@pytest.mark.parametrize(("seen", "expected", "fails"), [(0, "", False), (1, "", True), (1, "by hand", False)])
def test_a_roll_out_test_fails_on_a_violation_that_it_does_not_expect(
    seen: int, expected: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    violations = Violations()
    for now in range(seen):
        violations.add(LOST, float(now))
    monkeypatch.setattr(Fabric, "lab", SimpleNamespace(violations=violations.all))
    fabric = Fabric(Path(), [], Path())
    fabric.expects_violations = expected
    with pytest.raises(AssertionError, match="h1 -> h3") if fails else nullcontext():
        fabric.check_violations()


def test_and_where_an_expected_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fabric, "lab", SimpleNamespace(violations=list))
    fabric = Fabric(Path(), [], Path())
    fabric.expects_violations = "the tap swallows what the test sends"
    with pytest.raises(AssertionError, match="the tap swallows"):
        fabric.check_violations()
