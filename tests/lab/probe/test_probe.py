"""Probes that prove a path while production is still pinned, and the traps that an echo falls into."""

from __future__ import annotations

import json

import pytest

SIZES = {"port": 47900, "sizes": [9000, 1500], "refuse": 9001, "attempts": 3, "timeout": 0.6}


@pytest.fixture
def pair(a, b, changes):
    """Two hosts at 9000, pinned at 1500, each with a responder."""
    for host, address in ((a, "10.10.1.11"), (b, "10.10.1.12")):
        host.do("apply", id="t1", within=120, changes=changes())
        host.do("respond", addresses=[address], port=47900, seconds=60)
    return a, b


def target(name, address):
    return {"host": name, "address": address}


def rows(reply, ip_mtu):
    return [row for row in reply["flows"] if row["ip_mtu"] == ip_mtu]


def test_the_triple_proves_9000_both_ways_while_pinned_and_nothing_is_reassembled(pair):
    a, b = pair
    for host, source, name, address in ((a, "10.10.1.11", "b", "10.10.1.12"), (b, "10.10.1.12", "a", "10.10.1.11")):
        reply = host.do("probe", source=source, targets=[target(name, address)], flows=8, **SIZES)
        for size in (9000, 1500):
            found = rows(reply, size)
            assert len({row["port"] for row in found}) == 8
            for row in found:
                assert (row["dst"], row["host"]) == (address, name)
                assert (row["received"] >= 1, row["reported"], row["reassembled"]) == (True, [size], False)
                assert (row["local_error_mtu"], row["too_big"], row["unreachable"]) == (None, [], [])
        (refused,) = rows(reply, 9001)
        assert (refused["sent"], refused["received"], refused["local_error_mtu"]) == (0, 0, 9000)
        assert reply["responders"] == [{"dst": address, "host": name, "reassemblies": 0}]
    # The gate that an operator would use says nothing while pinned.
    (echo,) = a.do("ping", targets=[target("b", "10.10.1.12")], ip_mtus=[9000], count=1)["pings"]
    assert (echo["received"], echo["local"], echo["reported_mtu"]) == (0, True, 1500)


def test_a_peer_at_1500_answers_an_echo_and_is_caught_all_the_same(a, b, changes):
    a.do("apply", id="t1", within=120, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[{"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}])
    for host, address in ((a, "10.10.1.11"), (b, "10.10.1.12")):
        host.do("respond", addresses=[address], port=47900, seconds=60)
    (echo,) = a.do("ping", targets=[target("b", "10.10.1.12")], ip_mtus=[9000], count=2)["pings"]
    assert (echo["sent"], echo["received"]) == (2, 2), "the echo comes back in fragments and looks fine"
    reply = b.do("probe", source="10.10.1.12", targets=[target("a", "10.10.1.11")], flows=1, **SIZES)
    (large,), (control,) = rows(reply, 9000), rows(reply, 1500)
    assert (large["received"], large["local_error_mtu"]) == (0, 1500)
    assert control["received"] == 1
    assert rows(reply, 9001)[0]["local_error_mtu"] == 1500, "not 9000: this host is not at its wished size"


def test_fragments_are_no_proof(pair):
    a = pair[0]
    # A datagram that claims to be a probe but leaves without DF, in fragments of 1500.
    script = """
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(2)
s.sendto(b"JUMBOPRB" + b"12345678" + struct.pack("!I", 7) + bytes(5000), ("10.10.1.12", 47900))
print(s.recv(2048).hex())
"""
    answer = bytes.fromhex(a.run(a.python, "-c", script).strip())
    assert answer.startswith(b"JUMBORPT12345678")
    assert int.from_bytes(answer[20:24], "big") == 28 + 20 + 5000
    assert 1000 < int.from_bytes(answer[24:28], "big") <= 1500, "the responder saw the largest fragment"
    assert len(answer) <= 200


def test_a_silent_black_hole_costs_the_large_ones_only(pair, fabric):
    a = pair[0]
    fabric.switch.ip("link set p-b mtu 1500")
    reply = a.do("probe", source="10.10.1.11", targets=[target("b", "10.10.1.12")], flows=4, **SIZES)
    assert all(
        (row["sent"], row["received"], row["reported"], row["reassembled"]) == (3, 0, [], None)
        for row in rows(reply, 9000)
    )
    assert all(row["received"] == 1 for row in rows(reply, 1500))


def test_a_router_that_cannot_is_named_with_its_mtu(pair, fabric, c):
    a = pair[0]
    c.do("respond", addresses=["10.10.2.21"], port=47900, seconds=60)
    fabric.switch.ip("link set br2 mtu 1500")
    reply = a.do("probe", source="10.10.1.11", targets=[target("c", "10.10.2.21")], flows=2, **SIZES)
    for row in rows(reply, 9000):
        assert (row["received"], row["too_big"]) == (0, [{"from": "10.10.1.1", "mtu": 1500}])
    for row in rows(reply, 1500):
        assert (row["received"], row["too_big"]) == (1, [])


def test_no_responder_and_no_route_are_told_apart_from_loss(pair):
    a = pair[0]
    reply = a.do(
        "probe",
        source="10.10.1.11",
        targets=[target("b", "10.10.1.12"), target("far", "203.0.113.1"), target("gone", "10.10.1.99")],
        **{**SIZES, "port": 4790, "sizes": [1500], "timeout": 0.3, "flows": 2},
    )
    by_host = {row["host"]: row for row in rows(reply, 1500)}
    assert by_host["b"]["unreachable"] == [{"from": "10.10.1.12", "code": 3}]
    assert by_host["gone"]["received"] == 0
    a.ip("route del default")
    reply = a.do(
        "probe",
        source="10.10.1.11",
        targets=[target("far", "203.0.113.1")],
        **{**SIZES, "sizes": [1500], "timeout": 0.2, "flows": 1},
    )
    assert "unreachable" in rows(reply, 1500)[0]["local_error"]


def test_the_same_ports_can_be_walked_again(pair):
    a = pair[0]
    fields = {**SIZES, "source": "10.10.1.11", "targets": [target("b", "10.10.1.12")]}
    first = a.do("probe", flows=3, **fields)
    ports = sorted({row["port"] for row in first["flows"]})
    again = a.do("probe", ports=ports, **fields)
    assert sorted({row["port"] for row in again["flows"]}) == ports


def test_a_responder_is_used_again_replaced_and_ends_at_its_deadline(a, until):
    first = a.do("respond", addresses=["10.10.1.11"], port=47900, seconds=30)
    assert (first["listening"], first["reused"], a.processes()) == (True, False, ["jumbo-responder"])
    assert a.do("respond", addresses=["10.10.1.11"], port=47900, seconds=1)["reused"]
    replaced = a.do("respond", addresses=["10.9.0.11"], port=47900, seconds=1.2)
    assert (replaced["reused"], replaced["addresses"]) == (False, ["10.10.1.11", "10.9.0.11"])
    assert a.processes() == ["jumbo-responder"]
    assert a.do("read", interfaces=[])["responders"][0]["port"] == 47900
    until(lambda: not a.processes(), what="the end of the responder")
    assert a.do("read", interfaces=[])["responders"] == []
    error = a.refused("respond", addresses=["10.10.1.77"], port=47900, seconds=5)
    assert (error["object"], error["wish"]) == ("10.10.1.77", 47900)
    assert a.processes() == []


def test_a_responder_answers_nothing_but_probes(a, b):
    b.do("respond", addresses=["10.10.1.12"], port=47900, seconds=20)
    script = """
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.4)
for data in (b"hello" * 50, b"JUMBOPRB", b"JUMBORPT" + bytes(100)):
    s.sendto(data, ("10.10.1.12", 47900))
try:
    print(s.recv(2048))
except socket.timeout:
    print("silence")
"""
    assert a.run(a.python, "-c", script).strip() == "silence"


def test_pings_report_router_and_size(a, b, c, fabric, changes):
    a.do("apply", id="t1", within=120, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[{"object": "eth1 10.10.2.0/24", "field": "route_mtu", "from": 1500, "to": 9000}])
    fabric.switch.ip("link set br2 mtu 1500")
    targets = [target("b", "10.10.1.12"), target("c", "10.10.2.21")]
    reply = a.do("ping", targets=targets, ip_mtus=[9000, 1500], count=2)
    found = {(row["host"], row["ip_mtu"]): row for row in reply["pings"]}
    assert json.dumps(reply)
    assert found["b", 1500]["received"] == found["c", 1500]["received"] == 2
    assert (found["b", 9000]["local"], found["b", 9000]["reported_mtu"]) == (True, 1500)
    routed = found["c", 9000]
    assert (routed["received"], routed["too_big_by"], routed["reported_mtu"]) == (0, "10.10.1.1", 1500)
