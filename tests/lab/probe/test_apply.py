"""Pin, then raise; refuse by name; take back to the byte."""

from __future__ import annotations

import json

import pytest

PINNED = "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 mtu 1500"


def test_pins_every_route_before_the_link_and_reverts_to_the_byte(a, changes, until):
    a.ip("route add 10.77.0.0/16 via 10.10.1.1 dev eth1 table 77 metric 50 tos 0x10")
    a.ip("route add 10.78.0.0/16 via 10.10.1.1 dev eth1 mtu 1400 advmss 1000")
    before = a.routes()

    reply = a.do("apply", id="t1", within=60, changes=changes())

    assert a.mtu() == 9000
    assert (reply["before"]["eth1"]["ip_mtu"], reply["after"]["eth1"]["ip_mtu"]) == (1500, 9000)
    now = a.routes()
    assert PINNED in now
    assert "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11 mtu 1500" in now
    assert "10.77.0.0/16 tos 0x10 via 10.10.1.1 dev eth1 table 77 metric 50 mtu 1500" in now
    assert "10.78.0.0/16 via 10.10.1.1 dev eth1 mtu 1400 advmss 1000" in now
    assert "default via 10.9.0.1 dev eth0 \n" in now
    assert "eth1 10.78.0.0/16 keeps its own MTU 1400" in reply["notes"]
    assert a.do("confirm", id="t1") == {**a.do("confirm", id="t1"), "confirmed": True, "persisted": None}

    undone = a.do("revert", id="t1", changes=changes())
    assert undone["undone"][0].startswith("link eth1 back from 9000 to 1500")
    assert a.mtu() == 1500
    assert a.routes() == before
    assert a.do("revert", id="t1", changes=changes())["undone"] == []
    until(lambda: not a.processes(), what="the end of the guard")


def test_multicast_is_pinned_without_moving_what_names_no_interface(a, changes):
    unbound = a.run("ip", "route", "get", "239.1.1.1")
    assert "dev eth0" in unbound
    a.do("apply", id="t1", within=60, changes=changes())
    assert a.run("ip", "route", "get", "239.1.1.1") == unbound
    bound = json.loads(a.run("ip", "-j", "route", "get", "239.1.1.1", "oif", "eth1"))
    assert bound[0]["metrics"] == [{"mtu": 1500}]


def test_multicast_goes_to_table_main_where_it_leaves_by_this_interface_anyway(a, changes):
    a.ip("route replace default via 10.10.1.1 dev eth1")
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    now = a.routes()
    assert "224.0.0.0/4 dev eth1 proto 147 scope link mtu 1500" in now
    assert "default via 10.10.1.1 dev eth1 mtu 1500" in now
    assert "9047" not in now
    a.do("revert", id="t1")
    assert a.routes() == before


def test_apply_again_is_harmless_and_an_id_stands_for_one_change(a, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    again = a.do("apply", id="t1", within=60, changes=changes())
    assert again["already"]
    assert again["before"] == again["after"]
    assert "other changes" in a.refused("apply", id="t1", within=60, changes=changes(to=8000))["message"]
    held = a.refused("apply", id="t2", within=60, changes=[{**changes()[0], "from": 9000, "to": 9100}])
    assert "held by the change t1" in held["message"]
    a.do("revert", id="t1")
    assert not a.do("apply", id="t1", within=60, changes=changes())["already"]


def test_a_request_on_a_grown_link_is_refused_with_both_numbers(a, changes):
    a.ip("link set eth1 mtu 4000")
    before = a.routes()
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert (error["object"], error["wish"], error["limit"]) == ("eth1", 1500, 4000)
    assert "somebody has changed it" in error["message"]
    assert (a.mtu(), a.routes(), a.processes()) == (4000, before, [])


@pytest.mark.parametrize("switch", ["ip_forward", "conf/eth0/forwarding"])
def test_a_forwarding_host_is_never_pinned(a, changes, switch):
    a.run("sh", "-c", f"echo 1 > /proc/sys/net/ipv4/{switch}")
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert "this host forwards packets" in error["message"]
    assert (a.mtu(), a.do("read", interfaces=["eth1"])["forwarding"]) == (1500, True)


def test_a_host_whose_daemons_read_link_mtus_is_never_pinned(a, changes):
    """A name is all that tells them: a sleeping stand-in has it."""
    holder = a.run("sh", "-c", "(printf kubelet > /proc/self/comm; exec 1>&- 2>&-; sleep 30; :) & echo started")
    assert holder == "started\n"
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert (error["object"], "Kubernetes" in error["message"]) == ("kubelet", True)
    assert (a.mtu(), a.do("read", interfaces=["eth1"])["link_readers"]) == (1500, {"kubelet": "Kubernetes"})


def test_a_prefix_on_two_interfaces_is_refused_and_both_routes_stay(a, changes):
    a.ip("addr add 10.10.1.99/24 dev eth0")
    before = a.routes()
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert error["object"] == "eth1 10.10.1.0/24"
    assert "exists 2 times with metric 0 and tos 0" in error["message"]
    assert "dev eth0" in error["message"]
    assert (a.mtu(), a.routes()) == (1500, before)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("route add 10.66.0.0/16 nexthop via 10.10.1.1 dev eth1 nexthop via 10.9.0.1 dev eth0", "multipath"),
        ("route add 10.66.0.0/16 via 10.10.1.1 dev eth1 mtu lock 1400", "locked"),
        ("route add 10.66.0.0/16 via 10.10.1.1 dev eth1 mtu 4000", "MTU 4000, not none"),
        ("route add 10.66.0.0/16 encap ip id 5 dst 10.9.0.1 dev eth1", "encapsulation"),
        ("nexthop add id 5 via 10.10.1.1 dev eth1\nroute add 10.66.0.0/16 nhid 5", "nexthop object"),
    ],
)
def test_what_cannot_be_edited_exactly_is_refused_by_name(a, changes, line, words):
    a.ip(line)
    before = a.routes()
    error = a.refused("apply", id="t1", within=60, changes=changes())
    assert words in error["message"]
    assert (a.mtu(), a.routes(), a.processes()) == (1500, before, [])


def test_a_size_beyond_the_driver_is_refused_with_the_limit(a, changes):
    a.ip("link add eth7 type veth peer name eth8")
    a.ip("link set eth7 up")
    error = a.refused("apply", id="t1", within=60, changes=[{**changes("eth7")[0], "to": 65535 + 1}])
    assert error["limit"] == "1-65535 bytes of IP packet"
    error = a.refused("apply", id="t1", within=60, changes=[{**changes("lo")[0], "from": 65536, "to": 1000}])
    assert "65536 is no ip_mtu" in error["message"]
    error = a.refused("apply", id="t1", within=60, changes=changes(to=1000))
    assert (error["object"], error["limit"]) == ("eth1", "1280-65535")


def test_a_child_cannot_outgrow_its_parent_and_follows_it_in_one_request(a, changes):
    a.ip("link add base type veth peer name peer")
    a.ip("link add child link base type macvlan mode bridge")
    a.ip("link set base up")
    a.ip("link set child up")
    a.ip("addr add 10.33.0.1/24 dev child")
    before = a.routes()
    error = a.refused("apply", id="t1", within=60, changes=changes("child"))
    assert (error["object"], error["wish"], error["limit"]) == ("child", 9000, 1500)
    a.do("apply", id="t1", within=60, changes=[*changes("child"), *changes("base")])
    assert (a.mtu("base"), a.mtu("child")) == (9000, 9000)
    a.do("revert", id="t1")
    assert (a.mtu("base"), a.mtu("child"), a.routes()) == (1500, 1500, before)


def test_raising_without_a_pin_is_refused_where_routes_would_grow(a, changes):
    error = a.refused("apply", id="t1", within=60, changes=changes()[:1])
    assert "would send more" in error["message"]
    assert a.mtu() == 1500


def test_a_size_that_the_device_below_refuses_is_undone_at_once(a, changes, until):
    before = a.routes()
    # The port's other half is at 9216 and in another namespace: only the kernel knows.
    error = a.refused("apply", id="t1", within=60, changes=changes(to=9300))
    assert "the device below" in error["message"]
    assert error["undone"] is True
    assert (a.mtu(), a.routes()) == (1500, before)
    until(lambda: not a.processes(), what="the end of the guard")
    assert not a.do("apply", id="t1", within=60, changes=changes())["already"]


def test_bad_requests_are_told_what_they_are(a):
    assert "is no verb" in a.refused("lower")["message"]
    assert a.refused("apply", id="../x", within=60, changes=[])["object"] == "id"
    assert a.refused("apply", id="t1", within=60, changes=[])["object"] == "changes"
    assert (
        a.refused("apply", id="t1", within=0, changes=[{"object": "eth1", "field": "ip_mtu", "from": 1, "to": 2}])[
            "object"
        ]
        == "within"
    )
    error = a.refused(
        "apply", id="t1", within=5, changes=[{"object": "eth9", "field": "ip_mtu", "from": 1500, "to": 9000}]
    )
    assert (error["object"], error["limit"]) == ("eth9", "eth0, eth1, lo")
    assert "remembers no change" in a.refused("confirm", id="nothing")["message"]
