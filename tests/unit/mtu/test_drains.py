"""Drained links: what shows that traffic is led around them, and what shows that it comes back."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import drains, preflight
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.supported import refuse_unsupported
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.time_budget import DRAINED_SPARE_SECONDS, budget
from unit.mtu.fabric import load, mixed, planned, states

END = End("spine1", "Ethernet1")


def session(state="established", **more):
    return {
        "protocol": "bgp",
        "neighbour": "10.0.0.1",
        "state": state,
        "shut": False,
        "since": 100.0,
        "routes": 3,
        **more,
    }


def told(end=END, *sessions, packets=0, at=0.0):
    port = {"adjacencies": list(sessions), "counters": {"input_packets": packets}, "oper_up": True}
    return {end.device: {"read_at": at, "interfaces": {end.interface: port}}}


DOWN = session("idle", shut=True, routes=0)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (told(END, DOWN), told(END, DOWN, packets=40, at=2.0), []),
        (told(END, DOWN), told(END, DOWN, packets=400, at=2.0), ["it is not quiet (it receives 200 packets a second)"]),
        (told(END, DOWN), told(END, session(), at=2.0), ["it is not drained (10.0.0.1 is established with 3 routes)"]),
        (told(END, DOWN), told(END, session("idle", routes=3), at=2.0), ["it is not drained (10.0.0.1 is idle with 3"]),
        ({}, told(END, DOWN, at=2.0), ["whether it is quiet cannot be told"]),
        (told(END, DOWN, packets=9), told(END, DOWN, packets=3, at=2.0), ["whether it is quiet cannot be told"]),
    ],
    ids=["quiet", "busy", "up", "routes left", "read once", "cleared"],
)
def test_what_a_drained_link_must_show(before, after, said):
    found = list(drains.sentences(drains.not_drained(before, after, [END])))
    assert len(found) == len(said)
    for text, wanted in zip(found, said, strict=True):
        assert text.startswith(f"spine1:Ethernet1 {wanted}")


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        ([session()], []),
        ([session(), session("active")], ["its bgp session has not come back (10.0.0.1 is active)"]),
        ([session(None)], ["its bgp session has not come back (10.0.0.1 is not told)"]),
        ([session(), DOWN], []),
        ([], ["no session is told over it"]),
    ],
    ids=["back", "one of two", "not told", "shut by others", "none"],
)
def test_what_an_undrained_link_must_show(sessions, said):
    found = list(drains.sentences(drains.not_back(told(END, *sessions), [END])))
    assert len(found) == len(said)
    assert all(wanted in text for text, wanted in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("now", "flapped"),
    [
        (session(), False),
        (session(since=104.0), False),
        (session(since=130.0), True),
        (session("active"), True),
        (session(since=None), False),
    ],
)
def test_a_session_that_went_down_where_nobody_planned_it(now, flapped):
    _intent, topology = load(mixed("spine2", spines=2, leafs=2))
    (link,) = topology.between("spine1", "leaf1")
    assert bool(drains.flapped(told(END, session()), told(END, now), topology, set())) is flapped
    assert drains.flapped(told(END, session()), told(END, now), topology, {link}) == []
    assert drains.flapped({}, told(END, now), topology, set()) == []


def test_links_that_a_plan_drains_or_declares_an_outage_of_may_lose_their_sessions():
    plan = planned(mixed("spine2", spines=2, leafs=2)).as_dict()["steps"]
    _intent, topology = load(mixed("spine2", spines=2, leafs=2))
    assert {str(link) for link in drains.predicted(plan, topology)} == {str(k) for k in topology.planes()["spine2"]}


def test_what_is_up_now_decides_whether_links_can_be_drained():
    intent, topology = load(mixed("spine2", spines=2, leafs=2))
    now = states(intent)
    plane = topology.planes()["spine2"]
    assert drains.no_other_way(now, topology, plane) is None
    other = topology.between("spine1", "leaf1")[0]
    now["leaf1"]["interfaces"][other.end_on("leaf1").interface]["adjacencies"] = [session("active")]
    assert "leaf1 and leaf2 would have no other way" in drains.no_other_way(now, topology, plane)
    now["leaf1"]["interfaces"][other.end_on("leaf1").interface].update(adjacencies=[session()], oper_up=False)
    assert f"{other} down" in drains.no_other_way(now, topology, plane)
    del now["spine1"]
    assert drains.no_other_way(now, topology, plane), "who is not read carries nothing"


@pytest.mark.parametrize("routing", ["static", "ospf", "isis"])
def test_what_no_driver_drains_is_refused_with_what_it_does(routing):
    hosts = mixed("spine2", routing=routing, spines=2, leafs=2)
    intent, topology = load(hosts)
    with pytest.raises(InvalidIntent) as caught:
        refuse_unsupported(planned(hosts), intent, topology)
    assert f"drains no link that runs {routing} (jumbo_links is '{routing}'); allowed: bgp" in str(caught.value)
    assert ("cost the link out" in str(caught.value)) == (routing != "static")


@pytest.mark.parametrize("routing", ["ospf", "isis"])
def test_igp_links_that_were_raised_by_hand_ask_for_no_drain(routing):
    hosts = mixed(routing=routing, spines=2, leafs=2)
    intent, topology = load(hosts)
    plan = planned(hosts, lambda found: found.update(states(intent, underlay=9214)))
    refuse_unsupported(plan, intent, topology)
    changed = {step.phase for step in plan.steps if step.stage == "fabric" and step.changes}
    assert changed == {"lift"}


def test_what_bgp_carries_is_drained_and_not_refused():
    hosts = mixed("spine2", spines=2, leafs=2)
    intent, topology = load(hosts)
    plan = planned(hosts)
    refuse_unsupported(plan, intent, topology)
    phases = [step.phase for step in plan.steps if step.id.startswith("fabric.2")]
    assert phases == ["drain", "link", "undrain"]


def test_a_drained_step_is_confirmed_with_a_minute_left_on_both_ends():
    step = {"id": "fabric.1.link", "changes": [{"host": "leaf2"}, {"host": "spine1"}]}
    assert budget(step, {}, 64, DRAINED_SPARE_SECONDS).confirm == 60
    assert budget(step, {"leaf2": 40.0}, 64, DRAINED_SPARE_SECONDS).confirm == 80


@pytest.mark.parametrize(
    ("sessions", "far", "reason", "blocking"),
    [
        ([session()], [session()], None, None),
        ([session("active")], [session("active")], "its bgp session is down", True),
        ([DOWN], [session("active")], "its bgp session is shut down", False),
        ([session("active")], [DOWN], "its bgp session is shut down", False),
        ([session(None)], [session()], "its bgp session is down", True),
    ],
    ids=["up", "down", "shut here", "shut there", "not told"],
)
def test_preflight_wants_sessions_up_and_names_those_that_are_shut_down(sessions, far, reason, blocking):
    intent, topology = load(mixed("spine2", spines=2, leafs=2))
    now = states(intent)
    link = topology.between("spine1", "leaf1")[0]
    for end, told_here in zip(link.ends, (sessions, far), strict=True):
        now[end.device]["interfaces"][end.interface]["adjacencies"] = told_here
    found = [f for f in preflight.check(intent, topology, now) if "session" in f["reason"]]
    assert {(f["reason"], f["blocking"]) for f in found} == ({(reason, blocking)} if reason else set())


def test_preflight_says_where_an_mtu_comes_from():
    intent, topology = load(mixed("spine2", spines=2, leafs=2))
    now = states(intent)
    now["spine2"]["interfaces"]["Ethernet1"]["mtu_from"] = "group base"
    found = [f for f in preflight.check(intent, topology, now) if "group base" in f["reason"]]
    assert [(f["host"], f["interface"], f["blocking"]) for f in found] == [("spine2", "Ethernet1", False)]


def test_whom_a_drain_does_not_move_is_said():
    hosts = mixed("spine2")
    uplinks = [link for link in hosts["leaf1"]["variables"]["jumbo_links"] if isinstance(link, dict)]
    uplinks[1]["routing"] = "static"  # leaf1 - spine2
    told = [note for note in planned(hosts).notes if "static routes" in note]
    assert [note.partition(" while")[0] for note in told] == ["leaf1 goes on sending to spine2 by static routes"]
