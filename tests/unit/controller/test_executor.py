"""What the journal says is still applied, whatever became of it."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import executor

CHANGE = {"host": "leaf1", "object": "Ethernet1", "field": "ip_mtu", "from": 1500, "to": 9214}


class Device:
    def __init__(self, error=None):
        self.error = error

    def apply(self, changes, within, name):
        if self.error:
            raise self.error
        return {"name": name, "changes": list(changes), "changed": True}

    def revert(self, handle):
        if self.error:
            raise self.error
        return {"reverted": True}

    confirm = revert


@pytest.fixture
def acts(tmp_path, monkeypatch):
    def make(error=None):
        monkeypatch.setattr(executor, "open_driver", lambda access: Device(error))
        return executor.Executor(Journal(tmp_path / "journal.jsonl"), "r1")

    return make


ACCESS = Access("leaf1", "eos", "192.0.2.1")


def test_what_is_applied_is_known_by_its_handle_until_it_is_taken_back(acts):
    run = acts()
    outcome = run.apply(ACCESS, "s1", [CHANGE], 120)
    assert outcome.ok
    assert outcome.changed
    [handle] = list(executor.handles(run.journal.lines()).values())
    assert handle["name"] == "r1-s1"
    run.revert(ACCESS, "s1", handle)
    assert executor.handles(run.journal.lines()) == {}


@pytest.mark.parametrize("error", [JumboError("refused", host="leaf1"), Unreachable("gone", host="leaf1")])
def test_an_apply_that_failed_may_still_be_applied(acts, error):
    run = acts(error)
    outcome = run.apply(ACCESS, "s1", [CHANGE], 120)
    assert not outcome.ok
    assert outcome.unreachable == isinstance(error, Unreachable)
    handle = executor.handles(run.journal.lines())["s1", "leaf1"]
    assert (handle["name"], handle["changes"]) == ("r1-s1", [CHANGE])


def test_what_a_failed_apply_knew_is_what_its_revert_gets(acts):
    error = JumboError("refused", host="leaf1")
    error.handle = {"name": "r1-s1", "changes": [CHANGE], "changed": False}
    run = acts(error)
    run.apply(ACCESS, "s1", [CHANGE], 120)
    assert executor.handles(run.journal.lines())["s1", "leaf1"] == error.handle


def test_a_revert_that_failed_leaves_it_applied(acts):
    run = acts()
    run.apply(ACCESS, "s1", [CHANGE], 120)
    failing = acts(Unreachable("gone", host="leaf1"))
    handle = executor.handles(failing.journal.lines())["s1", "leaf1"]
    assert not failing.revert(ACCESS, "s1", handle).ok
    assert ("s1", "leaf1") in executor.handles(failing.journal.lines())


def test_a_crash_between_intent_and_done_counts_as_applied_and_not_as_confirmed(acts):
    run = acts()
    run.journal.write(
        step="s1", host="leaf1", event="intent", verb="apply", data={"name": "r1-s1", "changes": [CHANGE]}
    )
    assert ("s1", "leaf1") in executor.handles(run.journal.lines())
    assert executor.results(run.journal.lines(), "s1", executor.MAKING) == {}


def test_everywhere_keeps_the_order_and_runs_at_once():
    assert executor.everywhere(lambda item: item * 2, range(200)) == [item * 2 for item in range(200)]
