"""Sessions of routers over several hops: drained around, held against every link, refused where an end takes less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Change, Plan, Step, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from unit.mtu.fabric import inventory, load, planned, states


def fabric(*sessions, **shared):
    return inventory(jumbo_control_sessions=[list(ends) for ends in sessions], **shared)


def phases(plan):
    return [step.id for step in plan.steps if step.stage == "fabric" and step.changes and step.phase != "lift"]


def notes(plan, hosts):
    intent, topology = load(hosts)
    return prove(plan, intent, topology, states(intent)).notes


def test_links_that_a_session_may_cross_are_drained_while_their_ends_differ():
    plan = planned(fabric(("leaf1", "leaf3")))
    assert phases(plan) == [f"fabric.{n}.{phase}" for n in (1, 2) for phase in ("drain", "link", "undrain")]
    assert phases(planned(inventory())) == ["fabric.1.link", "fabric.2.link"]


def test_a_session_that_stays_on_one_side_asks_for_nothing_elsewhere():
    """leaf4 hangs on leaf3 alone: their session crosses only the link between them."""
    hosts = fabric(("leaf3", "leaf4"))
    hosts["leaf4"] = {"platform": "eos", "groups": ["leafs"], "variables": hosts["h1"]["variables"]}
    ends = ["leaf3:Ethernet40", "leaf4:Ethernet40"]
    hosts["h1"]["variables"]["jumbo_links"].append({"ends": ends, "routing": "static"})
    drains = [step for step in planned(hosts).steps if step.phase == "drain"]
    assert [sorted(step.hosts) for step in drains] == [["leaf3", "leaf4"]]


def test_without_the_drain_the_far_end_may_still_be_small():
    hosts = fabric(("leaf1", "leaf3"))
    intent, topology = load(hosts)
    found = states(intent)
    plain = make_plan(intent, topology, found)
    steps = [step for step in plain.steps if step.phase not in ("drain", "undrain")]
    linked = [replace(step, needs=(steps[n - 1].id,) if n else ()) for n, step in enumerate(steps)]
    with pytest.raises(NotProven, match="the control session leaf1 - leaf3 may send 9214 by") as caught:
        prove(Plan(tuple(linked)), intent, topology, found)
    assert (caught.value.verdict, caught.value.step, caught.value.pair) == (
        "BLACKHOLE",
        "fabric.1.link",
        ("leaf1", "leaf3"),
    )


def test_a_session_is_as_large_as_the_smaller_of_both_ends_first_hops():
    """leaf3 is raised after leaf1: until then it tells leaf1 the old size, and leaf1's links need no drain for it."""
    hosts = fabric(("leaf1", "leaf3"), jumbo_max_wave=2)
    intent, topology = load(hosts)
    found = states(intent)
    steps = list(make_plan(intent, topology, found).steps)
    first = next(step for step in steps if step.id == "fabric.1.link")
    assert "leaf3" not in first.hosts
    kept = [step for step in steps if step.id not in ("fabric.1.drain", "fabric.1.undrain")]
    linked = [replace(step, needs=(kept[n - 1].id,) if n else ()) for n, step in enumerate(kept)]
    prove(Plan(tuple(linked)), intent, topology, found)


def test_routers_on_the_way_that_are_raised_later_answer_and_that_is_said():
    hosts = fabric(("leaf1", "leaf3"))
    (told,) = [note for note in notes(planned(hosts), hosts) if "control session" in note]
    assert told.startswith(
        "large packets of the control session leaf1 - leaf3 may be answered with fragmentation needed"
    )


def test_a_session_whose_router_is_drained_on_all_links_goes_down_and_that_is_said():
    plan = planned(fabric(("leaf1", "spine2")))
    assert "The control session leaf1 - spine2 is down while the links of spine2 are drained." in plan.notes
    assert not [note for note in plan.notes if "links of leaf1" in note]


def test_a_session_goes_on_with_the_size_it_was_set_up_with():
    """leaf2's links are small already: set up now it would be small; set up before, leaf1 still sends 9214."""
    hosts = fabric(("leaf1", "leaf2"), spines=2, leafs=2, jumbo_underlay_ip_mtu=4100, jumbo_ip_mtu=1500)
    intent, topology = load(hosts)
    found = states(intent, underlay=9214)
    small = {"ip_mtu": 4100, "device_mtu": 4100, "persisted_mtu": 4100}
    for spine in ("spine1", "spine2"):
        found[spine]["interfaces"]["Ethernet2"].update(small)
    for port in ("Ethernet1", "Ethernet2"):
        found["leaf2"]["interfaces"][port].update(small)
    ends = (("leaf1", "Ethernet1"), ("spine1", "Ethernet1"))
    changes = tuple(Change(device, port, "ip_mtu", 9214, 4100, 9214, 4100) for device, port in ends)
    together = Step("lower.1.link", "lower", 1, "link", changes, (), "one link, not drained", atomic=True)
    with pytest.raises(NotProven, match="session leaf1 - leaf2 may send 9214 by leaf1:Ethernet1, spine1:Ethernet1"):
        prove(Plan((together,)), intent, topology, found)
    prove(make_plan(intent, topology, found), intent, topology, found)


def test_what_was_uneven_before_is_only_noted():
    hosts = fabric(("leaf1", "leaf3"))

    def uneven(found):
        for end in ("spine1", "spine2"):
            for port in found[end]["interfaces"].values():
                port.update(ip_mtu=9214, device_mtu=9214, persisted_mtu=9214)
        found["leaf1"]["interfaces"]["Ethernet1"].update(ip_mtu=9214, device_mtu=9214, persisted_mtu=9214)
        found["leaf3"]["interfaces"]["Ethernet2"].update(ip_mtu=9214, device_mtu=9214, persisted_mtu=9214)

    intent, topology = load(hosts)
    found = states(intent)
    uneven(found)
    proof = prove(make_plan(intent, topology, found), intent, topology, found)
    assert any("may lose packets of 9214 at leaf" in note and note.endswith("already") for note in proof.notes)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([["leaf1"]], "two routers"),
        ([["leaf1", "leaf1"]], "two routers"),
        ([["leaf1", "leaf9"]], "two routers"),
        ([["leaf1", "h1"]], "two routers"),
        (["leaf1"], "list"),
    ],
)
def test_bad_sessions_are_refused_with_what_is_allowed(value, text):
    with pytest.raises(InvalidIntent, match=text) as caught:
        read_intent(inventory(jumbo_control_sessions=value))
    assert "jumbo_control_sessions" in str(caught.value)
