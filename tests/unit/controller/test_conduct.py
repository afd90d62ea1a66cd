"""In which groups steps are taken back: what may go at once, what waits for the group before."""

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.plugin_utils.conduct import lowering_groups
from unit.mtu.fabric import load, paired, states


def groups(hosts):
    """Everything that a plan raises, taken back."""
    intent, topology = load(hosts)
    plan = make_plan(intent, topology, states(intent))
    applied = {}
    for step in plan.steps:
        for host in step.hosts:
            changes = [change.as_dict() for change in step.changes if change.host == host]
            applied[step.id, host] = {"changes": changes}
    phases = {step.id: step.phase for step in plan.steps}
    return list(lowering_groups(applied, phases, topology)), topology, phases, applied


def test_no_group_holds_both_members_of_a_pair_and_everything_is_taken_back_once():
    found, topology, phases, applied = groups(paired(pairs=2))
    for group in found:
        assert not {topology.partner_of(host) for host in group} & set(group), group
    acts = [(step, host) for group in found for host, steps in group.items() for step in steps]
    assert sorted(acts) == sorted(applied)
    order = list(dict.fromkeys(phases[step] for step, _host in acts))
    assert order == ["lift", "persist", "svi", "link", "host_link"]


def test_both_ends_of_a_link_go_back_in_one_group_and_few_groups_are_enough():
    found, _topology, phases, _applied = groups(paired(pairs=2))
    steps = [{step for its_steps in group.values() for step in its_steps} for group in found]
    holding = [here for here in steps if any(phases[step] == "link" for step in here)]
    assert len(holding) == 2
    assert holding[0].isdisjoint(holding[1])
