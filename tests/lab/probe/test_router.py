"""A machine that forwards: raised without pins, behind the same dead-man, its routes left to who made them."""

from __future__ import annotations

import json

import pytest

RAISE = [{"object": "eth1", "field": "ip_mtu", "from": 1500, "to": 9000}]
DAEMON = "route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird"


@pytest.fixture
def router(a, kept):
    a.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    a.ip(DAEMON)
    return a


def test_its_link_is_raised_and_no_route_is_touched(router, kept):
    before, content = router.routes(), json.loads(kept.read_text())
    router.do("apply", id="t1", within=60, changes=RAISE)
    assert (router.mtu(), router.routes(), router.state()) == (9000, before, "armed")
    assert router.ipv6()[0] == 9000  # packets in transit of the other family see the link as it is
    reply = router.do("confirm", id="t1")
    assert (reply["confirmed"], reply["persisted"], router.state()) == (True, True, "released")
    now = json.loads(kept.read_text())
    assert now["links"] == {**content["links"], "eth1": 9000}
    assert now["routes"] == content["routes"]  # a routing daemon's routes are no reason to refuse, and not written


def test_nothing_is_kept_after_the_confirmation(router, until):
    router.do("apply", id="t1", within=60, changes=RAISE)
    router.do("confirm", id="t1")
    until(lambda: not router.processes(), what="the end of the guard")
    assert router.mtu() == 9000


def test_unconfirmed_it_goes_back_by_itself(router, until):
    before = router.routes()
    router.do("apply", id="t1", within=0.5, changes=RAISE)
    until(lambda: router.mtu() == 1500, what="the dead-man")
    until(lambda: router.state() == "fired", what="its verdict")
    assert (router.routes(), router.ipv6()[0]) == (before, 1500)


@pytest.mark.parametrize("confirmed", [False, True])
def test_reverted_it_is_as_before(router, kept, original, confirmed, until):
    before = router.routes()
    router.do("apply", id="t1", within=60, changes=RAISE)
    if confirmed:
        router.do("confirm", id="t1")
    router.do("revert", id="t1", changes=RAISE)
    assert (router.mtu(), router.ipv6()[0], router.routes()) == (1500, 1500, before)
    assert kept.read_bytes() == original
    until(lambda: not router.processes(), what="the end of the guard")


def test_routes_that_change_meanwhile_are_the_daemons_business(router):
    router.do("apply", id="t1", within=60, changes=RAISE)
    router.ip("route del 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird")
    assert router.do("confirm", id="t1")["confirmed"] is True
    router.do("revert", id="t1", changes=RAISE)
    assert router.mtu() == 1500


def test_a_host_that_does_not_forward_is_still_pinned_first(a, kept):
    assert "pin its routes" in a.refused("apply", id="t1", within=60, changes=RAISE)["advice"]


def test_transit_too_large_for_the_next_link_is_answered(router, fabric, b):
    """What comes in at 9000 and leaves by eth0, which stays at 1500, gets "fragmentation needed" from the router."""
    router.do("apply", id="t1", within=60, changes=RAISE)
    b.ip("link set eth1 mtu 9000\nroute replace 10.9.0.0/24 via 10.10.1.11 dev eth1")
    fabric.switch.ip("route replace 10.10.1.12/32 via 10.9.0.11")
    b.ip("link set eth0 down")
    out = b.run("sh", "-c", "ip route get 10.9.0.1; ping -c 2 -i 0.3 -W 1 -M do -s 8972 10.9.0.1 2>&1; true")
    assert "10.10.1.11" in out
    assert "mtu = 1500" in out
