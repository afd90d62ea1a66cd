"""A dead-man that is armed first must not fire before the last device of its step has been asked to confirm."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.time_budget import (
    SPARE_SECONDS,
    budget,
    refuse_too_slow,
)


def step(hosts):
    return {"id": "leaf.1.host_link", "changes": [{"host": f"h{number}"} for number in range(hosts) for _twice in "ab"]}


def test_rounds_of_the_slowest_host_count_and_a_host_counts_once():
    found = budget(step(40), {"h7": 4.0}, at_once=5)
    assert (found.hosts, found.slowest, found.visits) == (40, "h7", 8 * 8.0)
    assert found.needed == 64 + 30 + 64
    assert budget(step(40), {"h7": 4.0}, at_once=40).visits == 8.0


def test_a_few_quick_hosts_need_no_more_than_a_gate_and_some_spare():
    found = budget(step(2), {"h0": 0.2, "h1": 0.1}, at_once=20)
    assert found.confirm == SPARE_SECONDS
    refuse_too_slow(found, 120, 20)


def test_what_may_not_be_confirmed_in_time_is_refused_with_what_helps():
    found = budget(step(160), {"h9": 5.0}, at_once=5)
    with pytest.raises(JumboError) as refused:
        refuse_too_slow(found, 300, 5)
    for part in ("leaf.1.host_link", "160 devices, 5 at a time", "h9", "670 s", "jumbo_confirm_within is 300", "forks"):
        assert part in str(refused.value)


def test_a_step_without_changes_needs_no_visits():
    assert budget({"id": "fabric.proof", "changes": []}, {}, at_once=5).visits == 0
