"""Who keeps the pins when the guard that did is gone: after a reboot, after a release, after a kill."""

from __future__ import annotations

import pytest

RACK = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
FAR = {"object": "eth1 10.10.2.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
CONNECTED = "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11"
WIDE = "10.10.0.0/16 via 10.10.1.1 dev eth1 proto static src 10.10.1.11"
GROUPS = "224.0.0.0/4 dev eth1 table 9047 proto 147 scope link metric 2 mtu 1500"


def back(change):
    return {**change, "from": change["to"], "to": change["from"]}


@pytest.fixture
def before(a):
    return a.routes()


@pytest.fixture
def raised(a, before, kept, changes):
    """A host that is raised, confirmed and persisted pinned."""
    a.do("apply", id="t1", within=120, changes=changes())
    a.do("confirm", id="t1")
    return a


@pytest.fixture
def rebooted(raised):
    raised.reboot()
    assert (raised.mtu(), raised.do("read", interfaces=["eth1"])["guards"]) == (9000, [])
    return raised


@pytest.fixture
def over(raised):
    """A host whose roll-out is over: lifted, persisted, released."""
    raised.do("lift", changes=[RACK, FAR])
    many = [{"verb": verb, "interfaces": ["eth1"]} for verb in ("persist", "release")]
    persisted, released = raised.do("many", requests=many)["replies"]
    assert (persisted["persisted"], released["released"]) == (True, True)
    assert raised.processes() == []
    return raised


def guards(host):
    return {one["id"]: one for one in host.do("read", interfaces=["eth1"])["guards"]}


def flap(host):
    host.ip("link set eth1 down\nlink set eth1 up")


def test_a_host_that_has_rebooted_before_its_lift_is_finished_and_taken_back_to_the_byte(
    rebooted, before, kept, original, changes, until
):
    a = rebooted
    a.do("lift", changes=[RACK, FAR])
    (one,) = guards(a).values()
    assert (one["state"], one["alive"], one["adopted"]) == ("confirmed", True, True)
    assert one["interfaces"]["eth1"] == {
        "ip_mtu": None,
        "pin": 1500,
        "lifts": {"10.10.1.0/24": 9000, "10.10.2.0/24": 9000},
    }
    a.ip("route add 10.99.0.0/16 via 10.10.1.1 dev eth1")
    until(lambda: "10.99.0.0/16 via 10.10.1.1 dev eth1 mtu 1500" in a.routes(), what="the pin")
    a.ip("route del 10.99.0.0/16")

    many = [{"verb": verb, "interfaces": ["eth1"]} for verb in ("persist", "release")]
    persisted, released = a.do("many", requests=many)["replies"]
    assert (persisted["persisted"], released["released"]) == (True, True)
    assert persisted["lifts"] == {"eth1": {"10.10.1.0/24": 9000, "10.10.2.0/24": 9000}}
    assert a.boot()["links"]["eth1"] == 9000
    assert len([text for text in a.boot()["routes"] if "10.10.2.0/24" in text]) == 1
    until(lambda: not a.processes(), what="the end of the guard")

    a.do("pin", changes=[back(RACK), back(FAR)])
    a.do("unpersist", interfaces=["eth1"])
    a.do("revert", id="t1", changes=changes())
    assert (a.mtu(), a.routes()) == (1500, before)
    assert kept.read_bytes() == original
    assert [path.name for path in kept.parent.glob("*jumbo-lab*")] == ["jumbo-lab.json"]
    until(lambda: not a.processes(), what="the end of the guard")


def test_what_is_adopted_survives_a_flap(rebooted, until):
    a = rebooted
    a.do("lift", changes=[FAR])
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes() and GROUPS in a.routes(), what="the pins")


def test_a_host_that_has_rebooted_is_not_lifted_where_a_route_is_not_bound(rebooted):
    a = rebooted
    a.ip(f"route change {WIDE}")
    error = a.refused("lift", changes=[RACK])
    assert (error["object"], error["wish"], error["limit"]) == ("eth1 10.10.0.0/16", 1500, 9000)
    assert f"{CONNECTED} mtu 1500" in a.routes()
    assert a.processes() == []


def test_a_lift_that_a_reboot_has_lost_is_not_persisted(raised):
    a = raised
    a.do("lift", changes=[RACK])
    a.reboot()
    error = a.refused("persist", interfaces=["eth1"])
    assert (error["object"], "nothing is lifted on eth1" in error["message"]) == ("eth1", True)
    a.do("lift", changes=[RACK])
    assert a.do("persist", interfaces=["eth1"])["persisted"] is True


def test_a_lift_that_somebody_has_taken_away_is_not_persisted(raised):
    a = raised
    a.do("lift", changes=[RACK, FAR])
    a.ip("route del 10.10.2.0/24")
    error = a.refused("persist", interfaces=["eth1"])
    assert (error["object"], error["wish"]) == ("eth1 10.10.2.0/24", 9000)


def test_what_is_not_confirmed_is_not_persisted(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    assert "nothing is lifted" in a.refused("persist", interfaces=["eth1"])["message"]
    assert "confirm it first" in a.refused("persist", id="t1")["advice"]
    assert "names no interfaces" in a.refused("persist", interfaces=[])["message"]
    assert "no interface eth9" in a.refused("persist", interfaces=["eth9"])["message"]


def test_a_lost_memory_is_made_again_by_the_same_lift(raised, until):
    a = raised
    a.do("lift", changes=[RACK])
    a.run("rm", "-r", "/run/jumbo-fabric")
    until(lambda: not a.processes(), what="the end of the guard")
    assert "is not bound to 1500" in a.refused("persist", interfaces=["eth1"])["message"]
    a.do("lift", changes=[RACK])
    assert a.do("persist", interfaces=["eth1"])["lifts"] == {"eth1": {"10.10.1.0/24": 9000}}


@pytest.mark.parametrize("lost", ["", "route", "rule"])
def test_the_pin_for_multicast_comes_back_with_its_keeper(rebooted, lost):
    a = rebooted
    if lost == "route":
        a.run("ip", "route", "flush", "table", "9047")
    if lost == "rule":
        a.run("ip", "rule", "del", "pref", "9047")
    a.do("lift", changes=[RACK])
    assert GROUPS in a.routes()
    assert "lookup 9047" in a.routes()


def test_pins_on_the_way_back_are_kept_until_the_link_is_down(over, before, kept, original, changes, until):
    a = over
    a.do("pin", changes=[back(RACK), back(FAR)])
    assert guards(a)["t1"]["state"] == "confirmed"
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")
    assert [entry["route"] for entry in guards(a)["t1"]["repinned"]]
    a.do("revert", id="t1", changes=changes())
    until(lambda: not a.processes(), what="the end of the guard")
    assert kept.read_bytes() == original
    assert (a.mtu(), "mtu" in a.routes()) == (1500, False)


def test_pins_on_the_way_back_are_kept_after_a_reboot_too(over, before, kept, original, changes, until):
    a = over
    a.reboot()
    assert "10.10.2.0/24 via 10.10.1.1 dev eth1 proto 147" in a.routes()
    a.do("pin", changes=[back(FAR)])
    (one,) = guards(a).values()
    assert one["interfaces"]["eth1"]["lifts"] == {"10.10.1.0/24": 9000}, "what others have lifted stays"
    a.do("pin", changes=[back(RACK)])
    assert f"{CONNECTED} mtu 1500" in a.routes()
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")
    a.ip(f"route add {WIDE} mtu 1500")
    a.do("revert", id="t1", changes=changes())
    assert (a.mtu(), a.routes(), kept.read_bytes()) == (1500, before, original)
    until(lambda: not a.processes(), what="the end of the guard")


def test_a_pin_is_set_even_when_nobody_can_keep_it(over):
    a = over
    no_guard = {"keep": ("guard.start(record)", 'raise OSError("no memory")')}
    reply = a.ask("pin", changes=[back(RACK)], patches=no_guard)
    assert reply["ok"]
    assert reply["notes"] == ["nobody keeps the pins of eth1: no memory"]
    assert f"{CONNECTED} mtu 1500" in a.routes()
    assert guards(a)["t1"]["state"] == "released"
    a.reboot()
    reply = a.ask("pin", changes=[back(FAR)], patches=no_guard)
    assert reply["notes"] == ["nobody keeps the pins of eth1: no memory"]
    assert "10.10.2.0/24" not in a.routes()
    assert [one["state"] for one in guards(a).values()] == ["reverted"]


def test_a_killed_guard_is_started_again_by_a_pin_and_not_by_a_lift(raised, until):
    a = raised
    a.do("lift", changes=[RACK])
    a.run("kill", "-KILL", a.guard())
    assert "is dead" in a.refused("lift", changes=[FAR])["message"]
    a.do("pin", changes=[back(RACK)])
    assert guards(a)["t1"]["state"] == "confirmed"
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")


def test_further_prefixes_are_lifted_and_persisted_after_the_guard_was_released(raised):
    a = raised
    a.do("lift", changes=[RACK])
    a.do("persist", interfaces=["eth1"])
    a.do("release", interfaces=["eth1"])
    a.do("lift", changes=[FAR])
    assert guards(a)["t1"]["state"] == "confirmed"
    assert a.do("persist", interfaces=["eth1"])["lifts"] == {"eth1": {"10.10.1.0/24": 9000, "10.10.2.0/24": 9000}}


@pytest.mark.parametrize("booted", [False, True])
def test_lifts_leave_the_boot_configuration_while_they_still_run(over, booted):
    a = over
    if booted:
        a.reboot()
    reply = a.do("unpersist", interfaces=["eth1"])
    assert (reply["persisted"], reply["notes"]) == (True, [])
    texts = [text for text in a.boot()["routes"] if "dev eth1" in text]
    assert all(text.endswith("mtu 1500") for text in texts)
    assert not [text for text in texts if "10.10.2.0/24" in text]
    assert a.boot()["links"]["eth1"] == 9000
    assert f"{CONNECTED} \n" in a.routes(), "the lift itself was not ours to take back"
    (one,) = guards(a).values()
    assert (one["state"], set(one["interfaces"]["eth1"]["lifts"])) == ("confirmed", {"10.10.1.0/24", "10.10.2.0/24"})
    assert not a.do("release", interfaces=["eth1"])["released"], "they are in memory only"
    a.do("unpersist", interfaces=["eth1"])
    assert a.do("persist", interfaces=["eth1"])["persisted"] is True
    assert a.do("release", interfaces=["eth1"])["released"]


def test_unpersist_where_nothing_is_persisted(a, kept, original):
    assert a.do("unpersist", interfaces=["eth1"])["persisted"] is None
    assert kept.read_bytes() == original


def test_a_later_change_takes_over_from_a_keeper_when_it_is_confirmed(over, changes, until):
    a = over
    a.do("pin", changes=[back(RACK), back(FAR)])
    second = [{"object": "eth1", "field": "ip_mtu", "from": 9000, "to": 9100}, {**changes()[1], "from": 1500}]
    a.do("apply", id="t2", within=60, changes=second)
    assert {name: one["state"] for name, one in guards(a).items()} == {"t1": "confirmed", "t2": "armed"}
    a.do("revert", id="t2", changes=second)
    assert (a.mtu(), guards(a)["t1"]["state"]) == (9000, "confirmed")
    a.do("apply", id="t2", within=60, changes=second)
    a.do("confirm", id="t2")
    assert {name: one["state"] for name, one in guards(a).items()} == {"t1": "released", "t2": "confirmed"}
    until(lambda: a.processes() == ["jumbo-guard"], what="the end of the other")
    a.do("lift", changes=[{**RACK, "to": 9100}])
    assert guards(a)["t2"]["interfaces"]["eth1"]["lifts"] == {"10.10.1.0/24": 9100}


def test_a_keeper_is_not_reverted_by_itself(rebooted):
    a = rebooted
    a.do("lift", changes=[RACK])
    (name,) = guards(a)
    assert "only keeps the pins of another change" in a.refused("revert", id=name)["message"]


def test_without_the_original_the_boot_configuration_follows_what_was_taken_back(rebooted, before, kept, changes):
    a = rebooted
    a.run("sh", "-c", "rm /etc/jumbo-lab.json.before-*")
    a.do("lift", changes=[RACK, FAR])
    a.do("persist", interfaces=["eth1"])
    assert [path.name.partition("before-")[2][:7] for path in kept.parent.glob("*.before-*")] == ["adopted"]
    assert a.do("revert", id="t1", changes=changes())["persisted"] is True
    assert (a.mtu(), a.routes()) == (1500, before)
    assert a.boot()["links"] == {"eth0": 1500, "eth1": 1500}
    assert not [text for text in a.boot()["routes"] if "mtu" in text or "147" in text]
    assert a.boot()["rules"] == []
    assert list(kept.parent.glob("*.before-*")) == []


DOWN = [
    {"object": "eth1", "field": "route_mtu", "from": 1500, "to": 1500},
    {"object": "eth1", "field": "ip_mtu", "from": 9000, "to": 4000},
]


def test_a_link_comes_down_behind_pins_that_its_own_guard_keeps_and_goes_up_again(over, until):
    a = over
    a.do("pin", changes=[back(RACK), back(FAR)])
    assert a.do("unpersist", interfaces=["eth1"])["persisted"] is True
    a.do("apply", id="t2", within=60, changes=DOWN)
    a.do("confirm", id="t2")
    assert (a.mtu(), a.boot()["links"]["eth1"]) == (4000, 4000)
    assert {name: one["state"] for name, one in guards(a).items()} == {"t1": "released", "t2": "confirmed"}
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")
    a.do("revert", id="t2", changes=DOWN)
    assert (a.mtu(), f"{CONNECTED} mtu 1500" in a.routes()) == (9000, True)
    a.do("lift", changes=[RACK])
    assert f"{CONNECTED} \n" in a.routes()


def test_a_change_that_only_pinned_gives_way_to_one_that_lowers_the_link(a, kept, until):
    a.ip("link set eth1 mtu 9000")
    a.sysctl("eth1", mtu=1500)  # its IPv6 routes could not be pinned one by one
    pin = [{"object": "eth1", "field": "route_mtu", "from": None, "to": 1500}]
    a.do("apply", id="t1", within=60, changes=pin)
    a.do("confirm", id="t1")
    a.do("apply", id="t2", within=60, changes=DOWN)
    a.do("confirm", id="t2")
    assert {name: one["state"] for name, one in guards(a).items()} == {"t1": "released", "t2": "confirmed"}
    assert a.mtu() == 4000
    flap(a)
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")
