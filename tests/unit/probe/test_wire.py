from __future__ import annotations

import socket
import struct

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe import netlink, responder, wire
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.errors import ProbeError
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.prober import Prober, read_wish

REQUEST = {
    "source": "10.0.0.1",
    "targets": [{"host": "h2", "address": "10.0.0.2"}],
    "sizes": [9000, 1500],
    "refuse": 9001,
    "flows": 3,
}


@pytest.mark.parametrize("fragment", [None, 0, 1500])
@pytest.mark.parametrize("reassemblies", [None, 0, 7])
def test_a_report_says_what_is_known_and_what_is_not(fragment, reassemblies):
    data = wire.make_report(b"12345678", 9, 9000, fragment, reassemblies)
    assert wire.read_report(data) == (b"12345678", 9, 9000, fragment, reassemblies)
    assert len(data) <= wire.LEAST_PROBE - max(wire.OVERHEADS.values()) <= 200
    assert not data.startswith(wire.PROBE_MAGIC), "two responders must never answer each other"
    assert wire.read_report(data[:-1]) is None
    assert wire.read_report(b"X" + data[1:]) is None


def error(origin, kind, code, info, offender="198.18.1.254"):
    family, shape = (socket.AF_INET6, "=HHI16s") if ":" in offender else (socket.AF_INET, "=HH4s")
    flow = (0,) if ":" in offender else ()
    address = struct.pack(shape, family, 0, *flow, socket.inet_pton(family, offender))
    return struct.pack("=IBBBBII", 90, origin, kind, code, 0, info, 0) + address


def read_error(family, *facts):
    return wire._trouble(error(*facts), b"quoted", ("10.0.0.2", 47900), wire.DIALECTS[family])


def test_errors_of_the_queue_are_read():
    trouble = read_error(4, 2, 3, 4, 1500)
    assert (trouble.info, trouble.reporter, trouble.destination) == (1500, "198.18.1.254", "10.0.0.2")
    assert read_error(4, 1, 0, 0, 9000).reporter is None
    assert read_error(6, 3, 2, 0, 1500, "fd00:1::fe").reporter == "fd00:1::fe"


@pytest.mark.parametrize(
    ("family", "origin", "kind", "code", "too_big", "unreachable"),
    [
        (4, 2, 3, 4, True, False),
        (4, 2, 3, 3, False, True),
        (4, 2, 11, 0, False, False),
        (4, 1, 0, 0, False, False),
        (6, 3, 2, 0, True, False),  # Packet Too Big has a type of its own (RFC 4443)
        (6, 3, 1, 4, False, True),
        (6, 3, 3, 0, False, False),
        (6, 2, 2, 0, False, False),  # type 2 means nothing in ICMP for IPv4
    ],
)
def test_what_routers_say_is_told_apart_in_both_families(family, origin, kind, code, too_big, unreachable):
    trouble = read_error(family, origin, kind, code, 1500)
    assert (trouble.too_big, trouble.unreachable) == (too_big, unreachable)


class Deaf:
    """A socket that has a name only."""

    def __init__(self, port):
        self.port = port

    def getsockname(self):
        return ("10.0.0.1", self.port)


@pytest.fixture
def prober():
    return Prober(read_wish(REQUEST), [Deaf(port) for port in (1001, 1002, 1003)])


def test_rows_are_one_per_target_size_and_flow_and_one_refusal(prober):
    assert [(row.ip_mtu, row.flow) for row in prober.rows] == [
        *((size, flow) for size in (9000, 1500) for flow in range(3)),
        (9001, 0),
    ]


def test_an_error_that_quotes_the_head_is_booked_to_its_row_else_by_size(prober):
    for row in prober.rows:
        row.sent = 1
    head = wire.PROBE_HEAD.pack(wire.PROBE_MAGIC, prober.token, 4)
    quoted = wire.Trouble(2, 3, 4, 1400, "r", "10.0.0.2", head + bytes(100))
    assert prober._meant(quoted, 1) == [prober.rows[4]]
    bare = quoted._replace(payload=b"", info=1500)
    assert [(row.ip_mtu, row.flow) for row in prober._meant(bare, 1)] == [(9000, 1)]
    stale = quoted._replace(payload=wire.PROBE_HEAD.pack(wire.PROBE_MAGIC, b"otherrun", 4))
    assert prober._meant(stale, 1) == []


def test_a_report_counts_only_for_its_own_run_target_and_flow(prober):
    good = wire.Report(prober.token, 1, 9000, 0, 0)
    for report, source, flow in (
        (good._replace(token=b"otherrun"), "10.0.0.2", 1),
        (good, "10.0.0.3", 1),
        (good, "10.0.0.2", 2),
        (good._replace(sequence=99), "10.0.0.2", 1),
        (None, "10.0.0.2", 1),
    ):
        prober._take(report, source, flow)
    assert not any(row.reports for row in prober.rows)
    prober._take(good, "10.0.0.2", 1)
    assert prober.rows[1].settled


def test_where_no_kernel_tells_of_fragments_the_counter_decides(prober):
    def told(*counts):
        for row in prober.rows:
            row.reports = []
        for row, count in zip(prober.rows, counts, strict=False):
            row.reports = [wire.Report(prober.token, 0, 9000, None, count)]
        return prober._reassembled(prober.rows[0])

    assert told(5, 5, 5) is False
    assert told(5, 5, 6) is True
    assert told(None, None) is None


@pytest.mark.parametrize(
    ("wrong", "about"),
    [
        ({"source": "h1"}, "source"),
        ({"source": "fd00::1"}, "targets"),
        ({"targets": []}, "targets"),
        ({"targets": [{"address": "10.0.0.2"}, {"address": "10.0.0.2"}]}, "targets"),
        ({"targets": [{"address": "h2"}]}, "targets"),
        ({"sizes": [70000]}, "sizes"),
        ({"sizes": [40]}, "sizes"),
        ({"sizes": [1500.5]}, "sizes"),
        ({"refuse": True}, "refuse"),
        ({"flows": 0}, "flows"),
        ({"attempts": 99}, "attempts"),
        ({"timeout": "1"}, "timeout"),
        ({"port": 0}, "port"),
    ],
)
def test_wrong_requests_are_named(wrong, about):
    with pytest.raises(ProbeError) as caught:
        read_wish({**REQUEST, **wrong})
    assert caught.value.object == about


def test_reassemblies_are_read_by_name(tmp_path):
    path = tmp_path / "snmp"
    path.write_text("Ip: Forwarding DefaultTTL ReasmOKs FragOKs\nIp: 1 64 12 7\nIcmp: InMsgs\nIcmp: 3\n")
    assert responder.read_reassemblies(str(path)) == 12
    path.write_text("Ip: Forwarding\nIp: 1\n")
    assert responder.read_reassemblies(str(path)) is None
    assert responder.read_reassemblies(str(tmp_path / "none")) is None


def message(kind, body):
    data = netlink.HEADER.pack(netlink.HEADER.size + len(body), kind, 0, 0, 0) + body
    return data + bytes(-len(data) % 4)


def route(*attributes):
    body = bytes(netlink.ROUTE_HEADER)
    for kind, value in attributes:
        body += netlink.ATTRIBUTE.pack(4 + len(value), kind) + value + bytes(-len(value) % 4)
    return body


def test_netlink_messages_name_their_interface():
    link = struct.pack("=BxHiII", 0, 1, 7, netlink.IFF_UP | netlink.IFF_LOWER_UP, 0)
    address = struct.pack("=BBBBI", 2, 24, 0, 0, 9)
    leads = route((1, b"\x0a\x0a\x01"), (netlink.RTA_OIF, struct.pack("=I", 5)))
    data = message(16, link) + message(20, address) + message(24, leads)
    assert [netlink.index_of(*one) for one in netlink.messages(data)] == [7, 9, 5]
    assert netlink.index_of(24, route((netlink.RTA_MULTIPATH, bytes(8)))) is None
    assert netlink.index_of(24, route()) == 0
    assert netlink.index_of(16, b"\0") is None
    assert list(netlink.messages(b"\1\0")) == []


@pytest.mark.parametrize(("flags", "down"), [(0x10001, False), (0x1, True), (0x10000, True), (0, True)])
def test_a_link_that_is_down_is_heard(flags, down):
    assert netlink.is_down(netlink.RTM_NEWLINK, struct.pack("=BxHiII", 0, 1, 7, flags, 0)) is down
