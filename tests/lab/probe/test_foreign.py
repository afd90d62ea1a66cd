"""What others have changed since is theirs: a sender is pinned all the same, the rest is left alone or given back."""

from __future__ import annotations

import pytest

CONNECTED = "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11"
RACK = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}


@pytest.mark.parametrize("theirs", [4000, 1400, 9100])
def test_a_link_that_somebody_has_changed_is_named_and_its_routes_are_pinned_first(a, changes, theirs):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[RACK])
    a.ip(f"link set eth1 mtu {theirs}")
    error = a.refused("revert", id="t1", changes=changes())
    assert (error["object"], error["wish"], error["limit"]) == ("eth1", 1500, theirs)
    assert f"{theirs}, neither 9000 nor 1500: somebody has changed it" in error["message"]
    assert error["undone"] is False
    assert a.mtu() == theirs
    if theirs > 1500:
        assert f"{CONNECTED} mtu 1500" in a.routes(), "a sender is pinned whatever else is wrong"
        assert a.state() == "confirmed", "somebody keeps the pins"
    a.ip("link set eth1 mtu 9000")
    a.do("revert", id="t1", changes=changes())
    assert (a.mtu(), a.routes()) == (1500, before)


def test_at_its_deadline_a_guard_leaves_somebody_elses_link_alone_and_keeps_its_pins(a, changes, until):
    before = a.routes()
    a.do("apply", id="t1", within=1, changes=changes(), patches={"guard": ("LOOK_EVERY = 2.0", "LOOK_EVERY = 0.1")})
    a.ip("link set eth1 mtu 4000")
    until(lambda: a.verdict("fired") and a.report()["problems"], what="the deadline")
    assert (a.mtu(), a.state()) == (4000, "fired")
    assert f"{CONNECTED} mtu 1500" in a.routes()
    a.ip("link set eth1 mtu 1500")
    until(lambda: a.report()["complete"], what="the rest of the way back")
    assert (a.mtu(), a.routes()) == (1500, before)
    told = [entry["message"] for entry in a.report()["problems"]]
    assert len(told) == len(set(told)), "a problem is told once"


def test_a_route_that_somebody_has_made_smaller_stays_as_it_is(a, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.ip("route change 10.10.0.0/16 via 10.10.1.1 dev eth1 src 10.10.1.11 proto static mtu 1300")
    undone = a.do("revert", id="t1", changes=changes())["undone"]
    assert "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11 mtu 1300 \n" in a.routes()
    assert f"{CONNECTED} \n" in a.routes()
    assert "route eth1 10.10.0.0/16 left as it is: somebody has given it 1300" in undone


@pytest.mark.parametrize("guarded", [True, False])
def test_a_route_that_somebody_has_made_larger_is_pinned_and_gets_it_back(a, changes, until, guarded):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    if not guarded:
        a.do("release", id="t1")
    a.ip("route change 10.10.0.0/16 via 10.10.1.1 dev eth1 src 10.10.1.11 proto static mtu 8000")
    a.ip("route add 10.77.0.0/16 via 10.10.1.1 dev eth1")
    if guarded:
        until(lambda: "mtu 8000" not in a.routes() and "10.77.0.0/16 via 10.10.1.1 dev eth1 mtu 1500" in a.routes())
    a.do("revert", id="t1", changes=changes())
    now = a.routes()
    assert "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11 mtu 8000 \n" in now
    assert "10.77.0.0/16 via 10.10.1.1 dev eth1 \n" in now


def test_the_pins_of_an_earlier_change_survive_the_way_back_of_a_later_one(a, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("release", id="t1")
    pinned = a.routes()
    second = [{"object": "eth1", "field": "ip_mtu", "from": 9000, "to": 9100}, {**changes()[1], "from": 1500}]
    a.do("apply", id="t2", within=60, changes=second)
    a.do("revert", id="t2", changes=second)
    assert (a.mtu(), a.routes()) == (9000, pinned)


def test_a_change_that_pins_nothing_gives_no_route_back(a, changes):
    a.do("apply", id="t1", within=60, changes=[{**changes()[0], "to": 1400}])
    a.ip("route change 10.10.0.0/16 via 10.10.1.1 dev eth1 src 10.10.1.11 proto static mtu 1300")
    a.do("revert", id="t1")
    assert a.mtu() == 1500
    assert "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11 mtu 1300 \n" in a.routes()


def test_a_change_that_was_never_made_here_is_taken_back_without_touching_anything(a, changes, kept):
    """All that a journal knows of an apply that the host had refused is that it was meant."""
    a.ip("link set eth1 mtu 4000")
    kept.write_text('{"links": {"eth1": 1500}}')
    before = a.routes()
    assert "somebody has changed it" in a.refused("apply", id="t1", within=60, changes=changes())["message"]
    reply = a.do("revert", id="t1", changes=changes())
    assert (reply["complete"], a.mtu(), a.routes()) == (True, 4000, before)
    assert a.boot() == {"links": {"eth1": 1500}}
    assert reply["undone"] == ["eth1 left as it is: nothing shows that this change was ever made here"]
