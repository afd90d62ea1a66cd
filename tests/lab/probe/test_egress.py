"""Who sends more than the pin: told by a tap on the host, and a reason to go back while nothing depends on the link."""

from __future__ import annotations

import pytest

LIFT = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
# One datagram of a kind; 4000 bytes of payload unless told otherwise.
SEND = """
import socket, sys
kind, size = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
destination = "10.10.1.12"
if kind == "pmtu_ignoring":
    s.setsockopt(socket.IPPROTO_IP, 10, 3)  # IP_MTU_DISCOVER, IP_PMTUDISC_PROBE
if kind == "multicast":
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.10.1.11"))
    destination = "224.0.0.251"
if kind == "broadcast":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    destination = "10.10.1.255"
s.sendto(b"JUMBOPRB".ljust(size, b"x") if kind == "probe" else bytes(size), (destination, 5353))
"""
SIX = """
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, 23, 3)  # IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE
s.sendto(bytes(4000), ("fd00:10:1::12", 5353))
"""
RAW = """
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth1", 0))
s.send(b"\\x02" * 12 + b"\\x88\\xb5" + bytes(3000))
"""
BULK = """
import socket
s = socket.create_connection(("10.10.1.12", 5001))
s.sendall(bytes(3000000))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""
SINK = """
import socket
with socket.create_server(("10.10.1.12", 5001)) as server:
    print("listening", flush=True)
    peer = server.accept()[0]
    while peer.recv(1 << 16):
        pass
"""


def exposed(host):
    return {(one["kind"], one["destination"], one["ip_mtu"]) for one in host.report().get("exposed", ())}


@pytest.fixture
def raised(a, b, changes):
    a.do("apply", id="t1", within=120, changes=changes())
    a.do("confirm", id="t1")
    return a


def test_each_class_that_pins_do_not_bind_is_told_and_a_confirmed_host_stays(raised, until):
    a = raised
    a.ip("addr add fd00:10:1::11/64 dev eth1 nodad\nneigh add fd00:10:1::12 lladdr 02:00:00:00:00:12 dev eth1")
    for kind in ("multicast", "broadcast", "pmtu_ignoring"):
        a.run(a.python, "-c", SEND, kind, "4000")
        until(lambda kind=kind: [one for one in exposed(a) if one[0] == kind], what=kind)
    a.run(a.python, "-c", RAW)
    a.run(a.python, "-c", SIX)
    until(lambda: len(exposed(a)) >= 5, what="the frame of nobody's, and IPv6")
    assert exposed(a) == {
        ("multicast", "224.0.0.251", 4028),
        ("broadcast", "10.10.1.255", 4028),
        ("pmtu_ignoring", "10.10.1.12", 4028),
        ("pmtu_ignoring", "02:02:02:02:02:02", 3000),
        ("pmtu_ignoring", "fd00:10:1::12", 4048),
    }
    assert (a.mtu(), a.state()) == (9000, "confirmed"), "others depend on the link: the wave goes back in order"
    assert len(a.do("read", interfaces=["eth1"])["guard"]["exposed"]) == 5


def test_an_unconfirmed_host_goes_back_at_once(a, b, changes, until):
    before = a.routes()
    a.do("apply", id="t1", within=120, changes=changes())
    a.run(a.python, "-c", SEND, "pmtu_ignoring", "4000")
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the way back")
    assert (a.mtu(), a.routes()) == (1500, before)
    assert a.state() == "fired"
    assert exposed(a) == {("pmtu_ignoring", "10.10.1.12", 4028)}
    assert "already gone back" in a.refused("confirm", id="t1")["message"]


def test_probes_small_packets_fragments_and_segmented_tcp_are_nothing(raised, b, until):
    a = raised
    server = b.start(b.python, "-c", SINK)
    assert server.stdout.readline() == "listening\n"
    for kind, size in (("probe", 8972), ("probe", 3000), ("unicast", 4000), ("multicast", 1400)):
        a.run(a.python, "-c", SEND, kind, str(size))
    a.run(a.python, "-c", BULK)
    server.communicate()
    a.run(a.python, "-c", SEND, "pmtu_ignoring", "4000")
    until(lambda: exposed(a), what="the one that counts")
    assert exposed(a) == {("pmtu_ignoring", "10.10.1.12", 4028)}


def test_nothing_is_watched_where_it_is_waived_or_lifted(a, b, changes, until):
    waived = [{**one, "exposure": "waived"} for one in changes()]
    a.do("apply", id="t1", within=120, changes=waived)
    a.run(a.python, "-c", SEND, "pmtu_ignoring", "4000")
    a.do("confirm", id="t1")
    a.do("revert", id="t1")
    a.do("apply", id="t2", within=120, changes=changes())
    a.do("confirm", id="t2")
    a.do("lift", changes=[LIFT])
    a.ip("route add 10.99.0.0/16 via 10.10.1.1 dev eth1")
    until(lambda: "10.99.0.0/16 via 10.10.1.1 dev eth1 mtu 1500" in a.routes(), what="a look of the guard")
    a.run(a.python, "-c", SEND, "pmtu_ignoring", "4000")
    assert exposed(a) == set()
    assert a.report("t2")["exposed"] == []


def test_senders_to_groups_are_heard_by_their_fragments_while_the_link_is_small(a):
    assert a.do("read", interfaces=["eth1"])["fragments_sent"] == 0
    lines = [line for kind in ("multicast", "broadcast", "unicast") for line in (f"send('{kind}')", "time.sleep(0.02)")]
    source = SEND.replace("kind, size = sys.argv[1], int(sys.argv[2])", "size = 4000")
    body = "\n".join(f"    {line}" for line in source.splitlines() if line and not line.startswith("import"))
    program = f"import socket, time\ndef send(kind):\n{body}\nwhile True:\n    " + "\n    ".join(lines)
    sending = a.start(a.python, "-c", program)
    try:
        reply = a.do("senders", interfaces=["eth1"], limit=1500, seconds=0.6)
    finally:
        sending.kill()
        sending.communicate()
    heard = {(one["interface"], one["kind"], one["destination"], one["ip_mtu"]) for one in reply["exposed"]}
    assert heard == {("eth1", "multicast", "224.0.0.251", 4028), ("eth1", "broadcast", "10.10.1.255", 4028)}
    assert all(one["packets"] > 1 for one in reply["exposed"])
    assert a.do("read", interfaces=["eth1"])["fragments_sent"] > 0
