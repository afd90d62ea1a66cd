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
        (told(END), told(END, at=2.0), ["whether it is drained cannot be told (no session is told over it)"]),
        (told(END), told(END, session(None), at=2.0), ["it is not drained (10.0.0.1 is (not told) with 3 routes)"]),
        (told(END), told(END, session("idle", routes=None), at=2.0), ["it is not drained (10.0.0.1 is idle with (not"]),
        ({}, told(END, DOWN, at=2.0), ["whether it is quiet cannot be told"]),
        (told(END, DOWN, packets=9), told(END, DOWN, packets=3, at=2.0), ["whether it is quiet cannot be told"]),
    ],
    ids=["quiet", "busy", "up", "routes left", "none told", "no state", "no routes told", "read once", "cleared"],
)
def test_what_a_drained_link_must_show(before, after, said):
    found = list(drains.sentences(drains.not_drained({}, before, after, [END])))
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
    found = list(drains.sentences(drains.not_back({}, told(END, *sessions), [END])))
    assert len(found) == len(said)
    assert all(wanted in text for text, wanted in zip(found, said, strict=True))


def test_a_session_that_is_not_told_any_more_is_neither_drained_nor_back():
    preflight, left = told(END, session(), session(neighbour="fd00::1")), session(neighbour="fd00::1")
    text = "spine1:Ethernet1 a session that was up at preflight is not told any more (10.0.0.1)"
    shut = told(END, {**left, **DOWN, "neighbour": "fd00::1"}, at=2.0)
    assert list(drains.sentences(drains.not_drained(preflight, told(END), shut, [END]))) == [text]
    assert list(drains.sentences(drains.not_back(preflight, told(END, left), [END]))) == [text]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ([session()], None),
        ([session(since=104.0)], None),
        ([session(since=130.0)], "10.0.0.1 is up since another time"),
        ([session("active")], "10.0.0.1 is active"),
        ([session(None)], "10.0.0.1 is (not told)"),
        ([session(since=None)], "since when 10.0.0.1 is up is not told"),
        ([], "10.0.0.1 is not told any more"),
    ],
)
def test_a_session_that_went_down_where_nobody_planned_it(now, said):
    _intent, topology = load(mixed("spine2", spines=2, leafs=2))
    known = drains.references(told(END, session()), [], "", lambda _step: None, topology)
    found = drains.flapped(known, told(END, *now), set())
    assert [one["evidence"] for one in found] == ([said] if said else [])
    assert drains.flapped(known, told(END, *now), {END}) == [], "it is drained"
    assert drains.flapped(known, {}, set()) == [], "it was not read for this gate"
    unknown = drains.references(told(END, session("active")), [], "", lambda _step: None, topology)
    assert drains.flapped(unknown, told(END, *now), set()) == [], "it was down before"


@pytest.fixture(scope="module")
def two_planes():
    """Both planes are Junos: every link is drained at some time. Returns (steps, topology, states with sessions)."""
    hosts = mixed("spine1", "spine2", spines=2, leafs=2)
    intent, topology = load(hosts)
    return planned(hosts).as_dict()["steps"], topology, peered(intent, topology)


def peered(intent, topology):
    """Return the states before a roll-out, with a session over each link between switches."""
    found = states(intent)
    for end in (end for link in topology.uplinks() for end in link.ends):
        found[end.device]["interfaces"][end.interface]["adjacencies"] = [session()]
    return found


def plane(topology, spine):
    return {str(link) for link in topology.planes()[spine]}


def test_only_the_links_of_the_running_drain_may_lose_their_sessions(two_planes):
    steps, topology, _states = two_planes
    for wave, spine in ((1, "spine1"), (2, "spine2")):
        for phase in ("drain", "link", "undrain"):
            name = f"fabric.{wave}.{phase}"
            assert {str(link) for link in drains.drained_at(steps, name, topology)} == plane(topology, spine)
            down = drains.expected_down(steps, name, topology)
            assert {str(link) for link in topology.uplinks() if down & set(link.ends)} == plane(topology, spine)
    for step in steps:
        if step["stage"] != "fabric" or step["phase"] == "lift":
            assert not drains.expected_down(steps, step["id"], topology), step["id"]


def test_a_link_with_a_declared_outage_may_lose_its_sessions_in_that_step_only(two_planes):
    _steps, topology, now = two_planes
    link = topology.uplinks()[0]
    quiet = {"changes": [], "outage": [], "phase": "svi"}
    steps = [{**quiet, "id": "a", "outage": [{"link": str(link), "seconds": 9}]}, {**quiet, "id": "b"}]
    assert drains.expected_down(steps, "a", topology) == set(link.ends)
    assert drains.expected_down(steps, "b", topology) == set()
    known = {link.a: drains.references(now, steps, "b", lambda _step: None, topology)[link.a]}
    later = told(link.a, session(since=900.0))
    assert drains.flapped(known, later, set()) == [], "nobody has read when it came back"
    assert drains.flapped(known, told(link.a, session("idle")), set())


def test_after_an_undrain_its_reading_is_what_counts(two_planes):
    steps, topology, now = two_planes
    drained, other = (topology.planes()[spine][0].a for spine in ("spine1", "spine2"))
    reading = told(drained, session(since=500.0))
    known = drains.references(
        now, steps, "fabric.2.drain", lambda step: reading if step == "fabric.1.undrain" else None, topology
    )
    assert [one["since"] for one in known[drained]] == [500.0]
    assert [one["since"] for one in known[other]] == [100.0]
    for since, flapped in ((500.0, False), (100.0, True)):
        found = drains.flapped({drained: known[drained]}, told(drained, session(since=since)), set())
        assert bool(found) is flapped


def test_what_is_up_now_decides_whether_links_can_be_drained():
    intent, topology = load(mixed("spine2", spines=2, leafs=2))
    now, plane = peered(intent, topology), topology.planes()["spine2"]
    assert drains.no_other_way(now, topology, plane) is None
    both = drains.no_other_way(now, topology, topology.uplinks())
    assert both == "leaf1 and leaf2 would have no other way", "nothing else is down"
    other = topology.between("spine1", "leaf1")[0]
    port = now["leaf1"]["interfaces"][other.end_on("leaf1").interface]
    port["adjacencies"] = [session("active")]
    said = f"leaf1 and leaf2 would have no other way: {other} not told to be up"
    assert drains.no_other_way(now, topology, plane) == said
    for oper_up in (False, None):
        port.update(adjacencies=[session()], oper_up=oper_up)
        assert drains.no_other_way(now, topology, plane) == said
    port.update(adjacencies=None, oper_up=True)
    assert drains.no_other_way(now, topology, plane) is None, "its other end tells a session"
    now["spine1"]["interfaces"][other.end_on("spine1").interface]["adjacencies"] = []
    assert drains.no_other_way(now, topology, plane) == said, "no end does"
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
