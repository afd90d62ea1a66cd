"""Lifting by explicit prefixes, pinning again at the sender, and what TCP makes of it."""

from __future__ import annotations

import contextlib

import pytest

RACK = "eth1 10.10.1.0/24"
FAR = "eth1 10.10.2.0/24"
SERVER = """
import socketserver, sys
class Sink(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(1 << 16):
            pass
with socketserver.ThreadingTCPServer((sys.argv[1], 5001), Sink) as server:
    print("listening", flush=True)
    server.serve_forever()
"""
# Sends on each line it reads, waits until all is acknowledged, and tells the segment size it used last (TCP_INFO).
CLIENT = """
import fcntl, socket, struct, sys, time
s = socket.create_connection((sys.argv[1], 5001))
for _turn in sys.stdin:
    s.sendall(bytes(300000))
    end = time.monotonic() + 5
    while struct.unpack("i", fcntl.ioctl(s, 0x5411, bytes(4)))[0] and time.monotonic() < end:
        time.sleep(0.005)
    print(struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 16)[0], flush=True)
"""


def lift(thing=RACK, before=1500, after=9000):
    return {"host": "a", "object": thing, "field": "route_mtu", "from": before, "to": after}


def pin(thing=RACK):
    return lift(thing, 9000, 1500)


@pytest.fixture
def sessions():
    """Open TCP sessions; each call of one sends and returns its segment size."""
    with contextlib.ExitStack() as stack:

        def serve(host, address):
            server = host.start(host.python, "-c", SERVER, address)
            stack.callback(server.communicate)
            stack.callback(server.kill)
            assert server.stdout.readline() == "listening\n"

        def connect(host, address):
            client = host.start(host.python, "-c", CLIENT, address)
            stack.callback(client.communicate)
            stack.callback(client.kill)

            def send():
                client.stdin.write("go\n")
                client.stdin.flush()
                return int(client.stdout.readline())

            return send

        yield serve, connect


@pytest.fixture
def raised(a, changes):
    return confirmed(a, changes)


def confirmed(host, changes):
    host.do("apply", id="t1", within=120, changes=changes())
    host.do("confirm", id="t1")
    return host


def test_production_keeps_1448_until_both_are_lifted_and_a_sender_shrinks_at_once(raised, b, changes, sessions):
    a, b = raised, confirmed(b, changes)
    serve, connect = sessions
    serve(b, "10.10.1.12")
    assert connect(a, "10.10.1.12")() == 1448
    a.do("lift", changes=[lift()])
    assert connect(a, "10.10.1.12")() == 1448
    reply = b.do("lift", changes=[lift()])
    assert (reply["before"][RACK][0]["ip_mtu"], reply["after"][RACK][0]["ip_mtu"]) == (1500, 9000)
    session = connect(a, "10.10.1.12")
    assert session() == 8948
    b.do("pin", changes=[pin()])
    assert session() == 8948, "a pin at the receiver does nothing to a running session"
    a.do("pin", changes=[pin()])
    assert session() == 1448
    a.do("lift", changes=[lift()])
    assert session() == 8948


def test_a_far_prefix_is_added_beside_the_wide_route_and_taken_away_pinned_first(raised, c, changes, sessions):
    a, c = raised, confirmed(c, changes)
    serve, connect = sessions
    serve(c, "10.10.2.21")
    pinned = a.routes()
    reply = a.do("lift", changes=[lift(FAR)])
    assert "10.10.2.0/24 via 10.10.1.1 dev eth1 proto 147 src 10.10.1.11 \n" in a.routes()
    assert "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11 mtu 1500" in a.routes()
    assert reply["after"][FAR] == [
        {
            "route": "unicast 10.10.2.0/24 via 10.10.1.1 dev eth1 table main proto 147 scope global src 10.10.1.11",
            "ip_mtu": 9000,
        }
    ]
    c.do("lift", changes=[lift("eth1 10.10.1.0/24")])
    session = connect(a, "10.10.2.21")
    assert session() == 8948
    assert a.do("lift", changes=[lift(FAR)])["after"] == reply["after"], "lifting twice is harmless"
    done = a.do("pin", changes=[pin(FAR)])["done"]
    assert done == [f"pinned {FAR} at 1500", f"deleted {FAR}, which a lift had added"]
    assert session() == 1448
    assert a.routes() == pinned
    assert a.do("pin", changes=[pin(FAR)])["done"] == [], "pinning twice is harmless"


def test_a_single_peer_is_lifted_out_of_a_connected_prefix(raised):
    a = raised
    a.do("lift", changes=[lift("eth1 10.10.1.12/32")])
    assert "10.10.1.12 dev eth1 proto 147 scope link src 10.10.1.11 \n" in a.routes()
    assert "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 mtu 1500" in a.routes()


def test_the_guard_does_not_fight_a_lift(raised, until):
    a = raised
    a.do("lift", changes=[lift(), lift(FAR)])
    a.ip("route add 10.99.0.0/16 via 10.10.1.1 dev eth1")
    until(lambda: "10.99.0.0/16 via 10.10.1.1 dev eth1 mtu 1500" in a.routes(), what="a look of the guard")
    assert "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 \n" in a.routes()
    assert a.do("read", interfaces=["eth1"])["guard"]["interfaces"]["eth1"]["lifts"] == {
        "10.10.1.0/24": 9000,
        "10.10.2.0/24": 9000,
    }


def test_the_default_route_is_never_lifted(raised):
    a = raised
    a.ip("route replace default via 10.10.1.1 dev eth1 mtu 1500")
    for thing in ("eth1 default", "eth1 0.0.0.0/0"):
        assert "the default route is never lifted" in a.refused("lift", changes=[lift(thing)])["message"]
    assert "every route of eth1 is never lifted" in a.refused("lift", changes=[lift("eth1")])["message"]
    assert "default via 10.10.1.1 dev eth1 mtu 1500" in a.routes()
    # A prefix behind the default gateway gets a route of its own.
    a.do("lift", changes=[lift("eth1 198.51.100.0/24")])
    assert "198.51.100.0/24 via 10.10.1.1 dev eth1 proto 147 \n" in a.routes()


def test_lifts_that_cannot_be_are_refused_and_leave_nothing(raised):
    a = raised
    before = a.routes()
    larger = a.refused("lift", changes=[lift(after=9100)])
    assert (larger["wish"], larger["limit"]) == (9100, 9000)
    elsewhere = a.refused("lift", changes=[lift(), lift("eth1 203.0.113.0/24")])
    assert (elsewhere["object"], "no route of eth1 leads" in elsewhere["message"]) == ("eth1 203.0.113.0/24", True)
    other = a.refused("lift", changes=[lift("eth1 10.9.0.0/24")])
    assert "does not leave by eth1" in other["message"]
    assert "carries 1500, not 1400" in a.refused("lift", changes=[lift(before=1400)])["message"]
    assert "is no prefix" in a.refused("lift", changes=[lift("eth1 10.10.1.7/24")])["message"]
    assert a.routes() == before


def test_a_lift_that_the_kernel_does_not_honour_is_taken_back(raised):
    a = raised
    a.ip("route add 10.10.2.0/24 via 10.9.0.1 dev eth0 table 50\nrule add to 10.10.2.0/24 lookup 50 pref 60")
    before = a.routes()
    error = a.refused("lift", changes=[lift(FAR)])
    assert "leaves by eth0" in error["message"]
    assert error["undone"] is True
    assert a.routes() == before


def test_an_unconfirmed_or_unguarded_host_is_not_lifted(a, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    assert "not confirmed yet" in a.refused("lift", changes=[lift()])["message"]
    a.do("confirm", id="t1")
    a.run("kill", "-KILL", a.guard())
    assert "is dead" in a.refused("lift", changes=[lift()])["message"]
    assert "mtu 1500" in a.routes()


def test_revert_pins_what_is_lifted_before_the_link_goes_down(raised):
    a = raised
    a.do("lift", changes=[lift(), lift(FAR)])
    undone = a.do("revert", id="t1")["undone"]
    steps = [line.split()[0] for line in undone]
    assert steps.index("link") > max(index for index, step in enumerate(steps) if step == "pinned")
    assert steps.index("route") > steps.index("link")
    assert (a.mtu(), "mtu" in a.routes(), "147" in a.routes()) == (1500, False, False)


def test_revert_of_a_lift_alone_keeps_link_and_guard(raised):
    a = raised
    a.do("lift", changes=[lift(FAR)])
    reply = a.do("revert", id="t1", changes=[lift(FAR)])
    assert (reply["complete"], a.mtu(), "10.10.2.0/24" in a.routes()) == (False, 9000, False)
    assert a.state() == "confirmed"


def test_all_routes_of_an_interface_are_pinned_in_one_go(raised):
    a = raised
    a.do("lift", changes=[lift(), lift(FAR)])
    a.do("pin", changes=[{"object": "eth1", "field": "route_mtu", "from": 9000, "to": 1500}])
    assert "10.10.2.0/24" not in a.routes()
    assert "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 mtu 1500" in a.routes()
    assert a.do("read", interfaces=["eth1"])["guard"]["interfaces"]["eth1"]["lifts"] == {}
