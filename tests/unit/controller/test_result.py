"""The exit status follows from the verdict, whoever is to blame."""

import pytest
from ansible_collections.jumbo.fabric.plugins.action import rollout_report, rollout_result

HOSTS = ("h1", "h2", "leaf1")


def result_of(host, report, hosts=HOSTS):
    action = object.__new__(rollout_result.ActionModule)
    action.variables = {"inventory_hostname": host, "ansible_play_hosts_all": list(hosts)}
    return action.perform({"report": report})


def exit_status(report, hosts=HOSTS):
    """Return what ansible-playbook would exit with: 4 for unreachable hosts, 2 for failed ones."""
    results = [result_of(host, report, hosts) for host in hosts]
    return 4 if any(r.get("unreachable") for r in results) else 2 if any(r.get("failed") for r in results) else 0


def trouble(unreachable=False):
    return {"unreachable": unreachable, "message": "why"}


@pytest.mark.parametrize("verdict", ["planned", "passed", "soaking"])
def test_good_verdicts_exit_0(verdict):
    assert exit_status({"verdict": verdict, "troubles": {}, "touched": ["h1"]}) == 0


@pytest.mark.parametrize("verdict", ["failed", "reverted", "stopped", "", None])
@pytest.mark.parametrize(
    "troubles", [{}, {"h1": trouble()}, {"spine9": trouble()}, {"spine9": trouble(unreachable=True)}]
)
def test_bad_verdicts_never_exit_0_even_where_only_hosts_outside_the_play_are_to_blame(verdict, troubles):
    assert exit_status({"verdict": verdict, "troubles": troubles, "touched": []}) == 2


def test_an_unreachable_host_of_the_play_exits_4():
    assert exit_status({"verdict": "failed", "troubles": {"h2": trouble(unreachable=True)}}) == 4


def test_no_report_at_all_is_a_failure():
    assert exit_status({}) == 2


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ({"verdict": "running"}, "failed"),
        ({"verdict": "reverted"}, "reverted"),
        ({"verdict": "passed"}, "passed"),
        ({"verdict": "passed", "stages": {"leaf": {"waves": [{"number": 1}]}}}, "failed"),
        ({"verdict": "passed", "stages": {"leaf": {"waves": [{"number": 1, "opened": True}]}}}, "passed"),
    ],
)
def test_a_run_is_passed_only_when_every_wave_ran(state, verdict):
    full = {"stages": {}, "findings": [], "troubles": {}, **state}
    rollout_report.ActionModule._settle(full)
    assert full["verdict"] == verdict


def test_only_what_blocks_is_held_against_a_host():
    note = {"host": "h1", "interface": None, "reason": "running only", "evidence": "x", "blocking": False}
    gate = {"host": "spine1", "interface": "Ethernet2", "reason": "it drops", "evidence": "x"}
    state = {"verdict": "reverted", "stages": {}, "troubles": {}, "findings": [note, gate]}
    rollout_report.ActionModule._settle(state)
    assert list(state["troubles"]) == ["spine1"]
