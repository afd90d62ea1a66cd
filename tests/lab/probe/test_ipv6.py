"""IPv6 beside IPv4: pinned by its interface, lifted by explicit prefixes, and never moved by a router advertisement."""

from __future__ import annotations

import json
import struct

import pytest
from lab_helpers import wait_until

RACK = {"object": "eth1 fd00:10:1::/64", "field": "route_mtu", "from": 1500, "to": 9000}
FAR = {"object": "eth1 fd00:10:2::/64", "field": "route_mtu", "from": 1500, "to": 9000}
SIZES = {"port": 47900, "sizes": [9000, 1500], "refuse": 9001, "attempts": 3, "timeout": 0.6}
# Sends one datagram and prints how large the packets were that left: AF_PACKET sees what goes to the wire.
SEND = """
import socket, sys
destination, size, interface = sys.argv[1], int(sys.argv[2]), sys.argv[3]
family = socket.AF_INET6 if ":" in destination else socket.AF_INET
tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
tap.bind((interface, 3))
tap.settimeout(0.5)
s = socket.socket(family, socket.SOCK_DGRAM)
if family == socket.AF_INET6:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex(interface))
s.sendto(bytes(size), (destination, 5353))
sizes = []
try:
    while len(sizes) < 3:
        data, where = tap.recvfrom(65535)
        if where[2] == socket.PACKET_OUTGOING and len(data) > 600:
            sizes.append(len(data))
except TimeoutError:
    pass
print(sizes)
"""


def advertisement(source, mtu, lifetime=1800, prefix="fd00:10:1::"):
    """Return the program that sends one router advertisement (RFC 4861), with an MTU option unless mtu is 0."""
    option = struct.pack("!BBHI", 5, 1, 0, mtu) if mtu else b""
    head = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0)
    return f"""
import socket, struct
body = {head!r} + {option!r} + struct.pack("!BBBBIII16s", 3, 4, 64, 0x80, 3600, 1800, 0,
    socket.inet_pton(socket.AF_INET6, {prefix!r}))
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
index = socket.if_nametoindex({source!r})
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
s.sendto(body, ("ff02::1", 0, 0, index))
"""


def six(fabric, host, rack, number):
    """Give a host its IPv6 addresses and routes, as the fabric gives it those of IPv4."""
    fabric.switch.ip("addr replace fd00:10:1::1/64 dev br1 nodad\naddr replace fd00:10:2::1/64 dev br2 nodad")
    fabric.switch.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    host.ip(
        f"""
        addr add fd00:10:{rack}::{number}/64 dev eth1 nodad
        route add fd00:10::/32 via fd00:10:{rack}::1 dev eth1 proto static
        route add default via fd00:10:{rack}::1 dev eth1 proto static metric 2048
        """
    )
    return host


def routes(host):
    return host.run("ip", "-6", "route", "show", "table", "all", "dev", "eth1")


def routing(host):
    """Return the routes without what the kernel makes for addresses as they come."""
    return sorted(line for line in routes(host).splitlines() if line and not line.startswith(("local", "anycast")))


def get_mtu(host, peer):
    """Return what the kernel would use: `ip route get`, else the interface's IPv6 MTU."""
    found = json.loads(host.run("ip", "-6", "-j", "route", "get", peer))[0]
    return next((entry["mtu"] for entry in found.get("metrics", ()) if "mtu" in entry), host.ipv6()[0])


@pytest.fixture
def a6(fabric, a):
    return six(fabric, a, 1, 11)


@pytest.fixture
def b6(fabric, b):
    return six(fabric, b, 1, 12)


@pytest.fixture
def raised(a6, changes):
    a6.do("apply", id="t1", within=120, changes=changes())
    a6.do("confirm", id="t1")
    return a6


def test_both_families_are_pinned_before_the_link_and_go_back_to_the_byte(a6, changes, until):
    a = a6
    until(lambda: "fe80::/64" in routes(a), what="the link-local address")
    before, before4 = routing(a), a.routes()
    a.ip("route add fd00:77::/48 via fd00:10:1::1 dev eth1 mtu 1400 metric 7 table 77")
    seen = a.start("ip", "-6", "monitor", "route")
    reply = a.do("apply", id="t1", within=60, changes=changes())
    seen.kill()
    grown = [line for line in seen.communicate()[0].splitlines() if "mtu 9000" in line]
    assert grown == [], "at no moment was a route larger"
    assert (a.mtu(), a.ipv6()) == (9000, (1500, 0))
    assert reply["after"]["eth1"]["ipv6_mtu"] == 1500
    now = routes(a)
    assert "fd00:10:1::/64 proto kernel metric 256 mtu 1500 pref medium" in now
    assert "fd00:10::/32 via fd00:10:1::1 proto static metric 1024 mtu 1500 pref medium" in now
    assert "default via fd00:10:1::1 proto static metric 2048 mtu 1500 pref medium" in now
    assert "mtu 1400" in now
    assert "lock" not in now
    for peer in ("fd00:10:1::12", "fd00:10:2::21", "2001:db8::1", "fe80::1%eth1", "ff05::1%eth1"):
        assert get_mtu(a, peer.partition("%")[0]) <= 1500
    assert "mtu" not in a.run("ip", "-6", "route", "show", "dev", "eth0"), "fe80::/64 of another interface is not ours"
    a.do("confirm", id="t1")
    a.ip("route del fd00:77::/48 dev eth1 table 77")
    a.do("revert", id="t1", changes=changes())
    assert (a.mtu(), a.ipv6(), routing(a), a.routes()) == (1500, (1500, 1), before, before4)


def test_multicast_of_both_families_keeps_the_old_size_for_ordinary_sockets(raised):
    a = raised
    sizes = json.loads(a.run(a.python, "-c", SEND, "ff05::1:3", "4000", "eth1"))
    assert len(sizes) == 3, "one datagram of 4000 bytes left in fragments"
    assert max(sizes) <= 1500


def test_the_triple_proves_ipv6_both_ways_while_pinned(a6, b6, changes):
    for host, address in ((a6, "fd00:10:1::11"), (b6, "fd00:10:1::12")):
        host.do("apply", id="t1", within=120, changes=changes())
        host.do("respond", addresses=[address], port=47900, seconds=60)
    for host, source, target in ((a6, "fd00:10:1::11", "fd00:10:1::12"), (b6, "fd00:10:1::12", "fd00:10:1::11")):
        reply = host.do("probe", source=source, targets=[{"host": "x", "address": target}], flows=8, **SIZES)
        for row in reply["flows"]:
            if row["ip_mtu"] == 9001:
                assert (row["sent"], row["local_error_mtu"]) == (0, 9000)
            else:
                assert (row["received"] >= 1, row["reported"], row["reassembled"]) == (True, [row["ip_mtu"]], False)
        assert reply["responders"] == [{"dst": target, "host": "x", "reassemblies": 0}]
    (echo,) = a6.do("ping", targets=[{"address": "fd00:10:1::12"}], ip_mtus=[9000], count=1)["pings"]
    assert (echo["received"], echo["local"], echo["reported_mtu"]) == (0, True, 1500)


def test_a_router_that_cannot_says_so_in_icmpv6(raised, fabric, c):
    a = raised
    six(fabric, c, 2, 21).do("respond", addresses=["fd00:10:2::21"], port=47900, seconds=60)
    fabric.switch.ip("link set br1 mtu 9000\nlink set br2 mtu 1500")
    targets = [{"host": "c", "address": "fd00:10:2::21"}]
    wait_until(lambda: a.do("ping", targets=targets, ip_mtus=[1500], count=1)["pings"][0]["received"], what="c answers")
    reply = a.do("probe", source="fd00:10:1::11", targets=targets, flows=2, **SIZES)
    for row in reply["flows"]:
        if row["ip_mtu"] == 9000:
            assert (row["received"], row["too_big"]) == (0, [{"from": "fd00:10:1::1", "mtu": 1500}])
        elif row["ip_mtu"] == 1500:
            assert (row["received"], row["too_big"]) == (1, [])


def test_prefixes_are_lifted_and_everything_else_stays_at_the_old_size(raised):
    a = raised
    reply = a.do("lift", changes=[RACK, FAR])
    assert (reply["before"][RACK["object"]][0]["ip_mtu"], reply["after"][FAR["object"]][0]["ip_mtu"]) == (1500, 9000)
    assert "fd00:10:2::/64 via fd00:10:1::1 proto 147 metric 1024 mtu 9000 pref medium" in routes(a)
    assert (get_mtu(a, "fd00:10:1::12"), get_mtu(a, "fd00:10:2::21")) == (9000, 9000)
    assert (get_mtu(a, "fd00:10:3::1"), get_mtu(a, "2001:db8::1"), a.ipv6()) == (1500, 1500, (1500, 0))
    for thing in ("eth1 ::/0", "eth1"):
        assert "never lifted" in a.refused("lift", changes=[{**RACK, "object": thing}])["message"]
    peer = {**RACK, "object": "eth1 fd00:10:3::7/128"}
    a.do("lift", changes=[peer])
    assert (get_mtu(a, "fd00:10:3::7"), get_mtu(a, "fd00:10:3::8")) == (9000, 1500)
    back = [{**one, "from": 9000, "to": 1500} for one in (RACK, FAR, peer)]
    a.do("pin", changes=back)
    assert "9000" not in routes(a)
    assert "147" not in routes(a)


@pytest.mark.parametrize("mtu", [0, 1500, 9000])
def test_advertisements_with_and_without_an_mtu_move_nothing(fabric, a6, changes, until, mtu):
    a = a6
    a.run("ip", "-6", "route", "del", "default")
    a.ip("addr del fd00:10:1::11/64 dev eth1\naddr add fd00:10:1::11/128 dev eth1 nodad")

    def advertise(lifetime):
        fabric.switch.run(a.python, "-c", advertisement("br1", mtu, lifetime))

    # Again and again: the router's own link-local address may still be tentative.
    until(lambda: advertise(1800) or "proto ra" in routes(a), what="the advertised default route")
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    advertise(1500)
    until(lambda: "expires 17" not in routes(a), what="the next advertisement")
    assert (a.mtu(), a.ipv6()) == (9000, (1500, 0))
    assert routes(a).count("proto ra") == 1, "an edit would have made a twin"
    assert (get_mtu(a, "2001:db8::1"), get_mtu(a, "fd00:10:1::12")) == (1500, 1500)
    a.do("lift", changes=[RACK])
    assert (get_mtu(a, "fd00:10:1::12"), get_mtu(a, "2001:db8::1")) == (9000, 1500)
    advertise(0)
    until(lambda: "proto ra" not in routes(a), what="the withdrawal")
    a.do("revert", id="t1")
    assert (a.mtu(), a.ipv6(), "147" in routes(a)) == (1500, (1500, 1), False)


def test_what_somebody_lets_an_advertisement_do_is_undone_and_told(fabric, raised, until):
    a = raised
    a.do("lift", changes=[RACK])
    a.sysctl("eth1", accept_ra_mtu=1)
    fabric.switch.run(a.python, "-c", advertisement("br1", 9000))
    until(lambda: a.ipv6() == (1500, 0), what="the IPv6 MTU")
    until(lambda: get_mtu(a, "fd00:10:2::21") == 1500, what="the pin that the advertisement had raised")
    told = [entry["route"] for entry in a.do("read", interfaces=["eth1"])["guard"]["repinned"]]
    assert any("accept_ra_mtu 1" in text for text in told)


def test_a_flap_is_pinned_again_in_both_families(raised, until):
    a = raised
    a.ip("link set eth1 down\nlink set eth1 up")
    until(lambda: a.ipv6() == (1500, 0), what="the IPv6 MTU")
    a.ip("addr replace fd00:10:1::11/64 dev eth1 nodad")
    assert get_mtu(a, "fd00:10:1::12") == 1500
    until(lambda: "scope link src 10.10.1.11 mtu 1500" in a.routes(), what="the pin of IPv4")
    told = [entry["route"] for entry in a.do("read", interfaces=["eth1"])["guard"]["repinned"]]
    assert "net.ipv6.conf.eth1.mtu 9000" in told


def test_unconfirmed_ipv6_goes_back_with_the_rest(a6, changes, until):
    a = a6
    until(lambda: "fe80::/64" in routes(a), what="the link-local address")
    before = routing(a)
    a.do("apply", id="t1", within=1.2, changes=changes())
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.ipv6(), routing(a)) == (1500, (1500, 1), before)


def test_a_smaller_ipv6_mtu_of_somebodys_own_is_kept(a6, changes):
    a = a6
    a.sysctl("eth1", mtu=1400)
    a.do("apply", id="t1", within=60, changes=changes())
    assert a.ipv6() == (1400, 0)
    a.do("revert", id="t1")
    assert (a.mtu(), a.ipv6()) == (1500, (1400, 1))


def test_a_boot_brings_ipv6_back_pinned_and_the_way_back_is_whole(a6, kept, original, changes):
    a = a6
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    boot = a.boot()
    assert boot["ipv6"] == {"eth1": {"mtu": 1500, "accept_ra_mtu": 0}}
    assert any(text.startswith("unicast fd00:10:1::/64") and "mtu 1500" in text for text in boot["routes"])
    assert any(text.startswith("unicast ::/0 via") for text in boot["routes"]), "a default without family is IPv4's"
    assert not any("fe80::/64" in text for text in boot["routes"]), "`ip route replace` would hit another interface"
    a.do("lift", changes=[RACK])
    a.do("persist", interfaces=["eth1"])
    assert any(text.startswith("unicast fd00:10:1::/64") and "mtu 9000" in text for text in a.boot()["routes"])
    a.do("unpersist", interfaces=["eth1"])
    assert not any("mtu 9000" in text for text in a.boot()["routes"])
    a.do("revert", id="t1")
    assert kept.read_bytes() == original


def test_a_host_that_forwards_ipv6_is_never_pinned(a6, changes):
    a = a6
    a.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert (error["object"], "this host forwards packets" in error["message"]) == (
        "net.ipv6.conf.all.forwarding",
        True,
    )
    assert (a.mtu(), a.do("read", interfaces=["eth1"])["forwarding"]) == (1500, True)


def test_a_prefix_on_two_interfaces_is_left_to_the_interface_and_not_lifted(a6, changes):
    a = a6
    a.ip("addr add fd00:10:1::99/64 dev eth0 nodad")
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    assert a.run("ip", "-6", "route", "show", "fd00:10:1::/64").count("fd00:10:1::/64") == 2
    assert get_mtu(a, "fd00:10:1::12") == 1500
    assert "exists 2 times" in a.refused("lift", changes=[RACK])["message"]
