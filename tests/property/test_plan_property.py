"""Random fabrics: every plan satisfies a brute-force judge, and what is spoilt is caught."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.detours import lost_without
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import way_back
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Change, Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import NotProven, prove
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from property.brute import Walker, alone, judge
from unit.mtu.fabric import applied, inventory, load, paired, states, stretched, with_borders, with_boxes, with_ipv6

# Shrinking a whole fabric takes minutes; what failed is printed, small enough to read.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
FEW = settings.default.max_examples // 16  # a whole plan is proven twice for each of them
SLOW = settings(max_examples=FEW, deadline=None, phases=NO_SHRINKING, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def fabrics(draw, leafs=6, igp=True, boxes=True, routers=("linux", "opnsense"), sessions=True):
    """Leaf-spine fabrics of all sorts: planes, racks, waves, an underlay that is large already, racks done already."""
    kind = draw(st.sampled_from(["routed", "routed", "paired", "stretched"]))
    shared = {
        "jumbo_max_wave": draw(st.integers(1, 5)),
        "jumbo_ip_mtu": draw(st.sampled_from([4000, 8950, 9000])),
    }
    racks = draw(st.integers(2, leafs if kind == "routed" else 3))
    if kind == "paired":
        hosts = paired(draw(st.integers(2, 3)), racks, draw(st.integers(1, 2)), draw(st.integers(0, 1)), **shared)
    elif kind == "stretched":
        hosts = stretched(draw(st.integers(2, 3)), racks, draw(st.integers(1, 2)), **shared)
    else:
        hosts = routed(draw, racks, shared)
    if draw(st.booleans()):
        hosts = with_ipv6(hosts)
    if igp and draw(st.booleans()):
        for link in hosts["spine1"]["variables"]["jumbo_links"]:
            if isinstance(link, dict):
                link["routing"] = "isis"
    if sessions and draw(st.booleans()):
        routers_of = st.sampled_from(sorted(name for name, host in hosts.items() if host["platform"] == "eos"))
        pair = st.lists(routers_of, min_size=2, max_size=2, unique=True)
        hosts["spine1"]["variables"]["jumbo_control_sessions"] = draw(st.lists(pair, min_size=1, max_size=2))
    if draw(st.integers(0, 3)) == 0:
        hosts = with_borders(hosts, draw(st.integers(1, 2)), draw(st.sampled_from(routers)))
    if boxes and draw(st.booleans()):
        switches = sorted(name for name, host in hosts.items() if host["platform"] == "eos")
        hosts = with_boxes(hosts, *draw(st.lists(st.sampled_from(switches), min_size=1, max_size=2, unique=True)))
    small = any(host["platform"] == "fastiron" for host in hosts.values())  # none of its ports is above its frame size
    return hosts, draw(st.sampled_from([1500] if small else [1500, 9100, 9214]))


def routed(draw, racks, shared):
    return inventory(
        spines=draw(st.integers(2, 4)),
        leafs=racks,
        hosts=draw(st.integers(1, 4 if racks < 4 else 2)),
        **shared,
    )


def prepared(fabric, ports=9214):
    hosts, underlay = fabric
    intent, topology = load(hosts)
    found = states(intent, underlay)
    if len(hosts) % 3 == 0 and "persistence" in found.get("border1", {}):
        found["border1"].update(persistence=None)
    for end in topology.endpoints():
        for link in topology.access_links(end):
            port = link.other(link.end_on(end.device))
            told = found[port.device]["interfaces"][port.interface]
            told.update({"ip_mtu": ports, "persisted_mtu": ports} if told["ip_mtu"] is not None else {})
    return hosts, intent, topology, found


@SLOW
@given(fabrics(), st.data())
def test_every_plan_satisfies_the_judge(fabric, data):
    hosts, intent, topology, found = prepared(fabric, data.draw(st.sampled_from([1500, 9214])))
    for device in data.draw(st.lists(st.sampled_from(sorted(found)), max_size=1)):
        for port in found[device]["interfaces"].values():
            port["max_ip_mtu"] = data.draw(st.sampled_from([9050, 9194, 9214]))
    plan = make_plan(intent, topology, found)
    prove(plan, intent, topology, found)
    assert judge(plan.as_dict(), found, hosts) == []


NO_FIREWALLS = {"routers": ("linux",), "sessions": False}  # the way back does not begin with them


# A run that was cut while links are drained is not gone on with where a box must be reloaded first: no way may be left.
@SLOW
@given(st.one_of(fabrics(boxes=False, **NO_FIREWALLS), fabrics(igp=False, **NO_FIREWALLS)), st.data())
def test_limits_and_stops_leave_provable_plans(fabric, data):
    hosts, intent, topology, found = prepared(fabric)
    outside = data.draw(st.sets(st.sampled_from(sorted(intent.devices)), max_size=3))
    first = make_plan(intent, topology, found, frozenset(intent.devices) - outside)
    assert not {c.host for step in first.steps for c in step.changes} & outside
    prove(first, intent, topology, found)
    done = data.draw(st.integers(0, len(first.steps)))
    changes = [c for step in first.as_dict()["steps"][:done] for c in step["changes"]]
    half = applied(found, changes)
    rest = make_plan(intent, topology, half)
    prove(rest, intent, topology, half)
    assert judge(rest.as_dict(), half, hosts) == []
    waves = [(step.stage, step.wave) for step in first.steps[:done]]
    begins = [index for index, wave in enumerate(waves) if not index or wave != waves[index - 1]]
    since = data.draw(st.sampled_from(begins or [0]))  # a failed wave, or a stage, is taken back alone
    back = way_back(first.steps[since:done], topology)
    prove(Plan(back), intent, topology, half, way_back=True)
    assert judge(Plan(back).as_dict(), half, hosts) == []


def wanted_otherwise(data, hosts):
    """Raise a fabric, then want some of it smaller and some larger, with hosts that somebody has unpinned meanwhile."""
    variables = hosts["spine1"]["variables"]
    jumbo = [segment for segment in variables["jumbo_segments"] if segment["role"] == "jumbo"]
    for segment in jumbo:
        segment["ip_mtu"] = data.draw(st.sampled_from([1500, 4000, 9000]))
    _hosts, intent, topology, found = prepared((hosts, 1500))
    first = make_plan(intent, topology, found)
    after = applied(found, [c for step in first.as_dict()["steps"] for c in step["changes"]])
    for segment in jumbo:
        segment["ip_mtu"] = data.draw(st.sampled_from([1500, 4000, 9000]))
    largest = max(segment["ip_mtu"] for segment in jumbo)
    variables["jumbo_ip_mtu"] = max(largest, 1500)
    variables["jumbo_underlay_ip_mtu"] = data.draw(st.sampled_from([largest, min(largest + 100, 9214), 9214]))
    intent, topology = load(hosts)
    return intent, topology, after


@SLOW
@given(fabrics(leafs=3, routers=("linux",), sessions=False), st.data())  # a firewall keeps all of it high
def test_what_is_wanted_smaller_comes_down_and_what_is_wanted_larger_goes_up(fabric, data):
    intent, topology, found = wanted_otherwise(data, fabric[0])
    plan = make_plan(intent, topology, found)
    prove(plan, intent, topology, found)
    assert judge(plan.as_dict(), found, fabric[0]) == []
    after = applied(found, [c for step in plan.as_dict()["steps"] for c in step["changes"]])
    assert make_plan(intent, topology, after).steps == ()
    left_out = any("left out" in note for note in plan.notes)  # a border that forgets may leave everything out
    for segment in topology.jumbo_segments() if not left_out else ():
        ends = [*topology.hosts_in(segment), *topology.gateways(segment)]
        assert {after[end.device]["interfaces"][end.interface]["ip_mtu"] for end in ends} == {segment.ip_mtu}
    done = data.draw(st.integers(0, len(plan.steps)))
    half = applied(found, [c for step in plan.as_dict()["steps"][:done] for c in step["changes"]])
    back = Plan(way_back(plan.steps[:done], topology))
    prove(back, intent, topology, half, way_back=True)
    assert judge(back.as_dict(), half, fabric[0]) == []


@SLOW
@given(fabrics(leafs=3), st.data())
def test_who_may_not_be_touched_keeps_high_what_he_can_reach(fabric, data):
    intent, topology, found = wanted_otherwise(data, fabric[0])
    outside = data.draw(st.sets(st.sampled_from(sorted(intent.devices)), min_size=1, max_size=2))
    plan = make_plan(intent, topology, found, frozenset(intent.devices) - outside)
    assert not {c.host for step in plan.steps for c in step.changes} & outside
    prove(plan, intent, topology, found)
    assert judge(plan.as_dict(), found, fabric[0]) == []


@SLOW
@given(fabrics())
def test_a_second_run_has_nothing_to_do(fabric):
    _hosts, intent, topology, found = prepared(fabric)
    plan = make_plan(intent, topology, found)
    assert plan == make_plan(intent, topology, found)
    after = applied(found, [c for step in plan.as_dict()["steps"] for c in step["changes"]])
    assert make_plan(intent, topology, after).steps == ()


@SLOW
@given(fabrics(boxes=False), st.data())
def test_a_reload_cuts_nobody_off_without_a_waiver(fabric, data):
    hosts, _underlay = fabric
    device = data.draw(st.sampled_from(sorted(name for name, host in hosts.items() if host["platform"] == "eos")))
    boxed = with_boxes(hosts, device, waived=False)
    intent, topology = load(boxed)
    found = states(intent)
    assert bool(lost_without(topology, device)) == bool(alone(Walker(boxed), device))
    if alone(Walker(boxed), device):
        with pytest.raises(InvalidIntent, match="no other way"):
            make_plan(intent, topology, found)
    else:
        prove(make_plan(intent, topology, found), intent, topology, found)


def in_a_row(steps):
    linked = []
    for step in steps:
        linked.append(replace(step, needs=(linked[-1].id,) if linked else ()))
    return tuple(linked)


def swap(plan, data):
    index = data.draw(st.integers(0, len(plan.steps) - 2))
    order = list(plan.steps)
    order[index], order[index + 1] = order[index + 1], order[index]
    return Plan(in_a_row(order))


def forget(plan, data):
    """Leave one change out, so that one end of a link, one host or one pin is forgotten."""
    places = [(s, c) for s, step in enumerate(plan.steps) for c, _change in enumerate(step.changes)]
    where, which = data.draw(st.sampled_from(places))
    steps = list(plan.steps)
    kept = tuple(change for index, change in enumerate(steps[where].changes) if index != which)
    steps[where] = replace(steps[where], changes=kept)
    return Plan(tuple(steps))


def lift_early(plan, data):
    lifts = [index for index, step in enumerate(plan.steps) if step.phase == "lift"]
    index = data.draw(st.sampled_from(lifts))
    to = data.draw(st.integers(0, index))
    order = list(plan.steps)
    order.insert(to, order.pop(index))
    return Plan(in_a_row(order))


def lift_more(plan, data):
    lifts = [step for step in plan.steps if step.phase == "lift"]
    step = data.draw(st.sampled_from(lifts))
    wrong = replace(step.changes[0], object=step.changes[0].interface + data.draw(st.sampled_from(["", " 0.0.0.0/0"])))
    return Plan(tuple(replace(s, changes=(*s.changes, wrong)) if s is step else s for s in plan.steps))


def merge(plan, data):
    """Make one step of two, so that something is used before what it needs is confirmed and persisted."""
    index = data.draw(st.integers(0, len(plan.steps) - 2))
    one, other = plan.steps[index : index + 2]
    both = replace(other, changes=(*one.changes, *other.changes), gate=other.gate or one.gate)
    return Plan(in_a_row([*plan.steps[:index], both, *plan.steps[index + 2 :]]))


def move(plan, data):
    """Put a step anywhere else: a gateway before its hosts, a host before its port, a pin after what it is for."""
    order = list(plan.steps)
    step = order.pop(data.draw(st.integers(0, len(order) - 1)))
    order.insert(data.draw(st.integers(0, len(order))), step)
    return Plan(in_a_row(order))


@settings(max_examples=4 * FEW, deadline=None, phases=NO_SHRINKING, suppress_health_check=[HealthCheck.too_slow])
@given(fabrics(leafs=3), st.sampled_from([swap, forget, lift_early, lift_more, merge, move]), st.data())
def test_what_the_judge_finds_the_proof_finds_too(fabric, spoil, data):
    hosts, intent, topology, found = prepared(fabric, data.draw(st.sampled_from([1500, 9214])))
    if data.draw(st.booleans()):
        intent, topology, found = wanted_otherwise(data, hosts)
    plan = make_plan(intent, topology, found)
    # A border that forgets may leave everything out.
    assume(any(step.phase == "lift" for step in plan.steps) and len(plan.steps) > 1)
    spoilt = spoil(plan, data)
    assume(spoilt != plan)
    if not judge(spoilt.as_dict(), found, hosts):
        return
    with pytest.raises(NotProven) as caught:
        prove(spoilt, intent, topology, found)
    assert caught.value.step


def test_the_judge_sees_what_is_wrong():
    """The judge itself: a gateway before its hosts, a forgotten pin, a lift too early, a forgotten end."""
    hosts = inventory()
    intent, topology = load(hosts)
    found = states(intent)
    plan = make_plan(intent, topology, found)
    steps = list(plan.steps)
    assert judge(plan.as_dict(), found, hosts) == []
    turned = [steps[1], steps[0], *steps[2:]]
    assert "leaf1:Vlan10 sends 9000" in judge(Plan(tuple(turned)).as_dict(), found, hosts)[0]
    pinless = replace(steps[0], changes=tuple(c for c in steps[0].changes if c.field != "route_mtu"))
    assert "to everywhere" in judge(Plan((pinless, *steps[1:])).as_dict(), found, hosts)[0]
    early = [*steps[:6], steps[9], *steps[6:9], *steps[10:]]
    assert judge(Plan(tuple(early)).as_dict(), found, hosts)
    lonely = replace(
        steps[6], changes=tuple(c for c in steps[6].changes if (c.host, c.object) != ("spine1", "Ethernet1"))
    )
    assert judge(Plan((*steps[:6], lonely, *steps[7:])).as_dict(), found, hosts)
    assert isinstance(lonely.changes[0], Change)
