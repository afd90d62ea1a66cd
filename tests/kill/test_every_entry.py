"""SIGKILL at every entry of the journal in one lab: hours, not minutes. `make kill-tests`, not a part of CI.

JUMBO_KILL_EVERY (default 1) takes every n-th entry only. What CI runs is the same with devices in memory, in seconds
(tests/unit/controller/test_kill.py), and a few kills in the lab (tests/lab/rollout/test_crash.py).
"""

import itertools
import os
import signal

import pytest
from rollout_helpers import fabrics

EVERY = int(os.environ.get("JUMBO_KILL_EVERY", "1"))

pytestmark = pytest.mark.lab


@pytest.fixture
def fabric(tmp_path):
    yield from fabrics(tmp_path)


def test_killed_at_every_entry_the_next_roll_out_goes_on_to_the_end(fabric):
    lab = fabric()
    for number in itertools.count(1, EVERY):
        before = lab.newest()

        def written(line, number=number, before=before):
            return lab.newest() != before and line["seq"] >= number

        died = lab.play_and("rollout", written, lambda: None, then_kill=signal.SIGKILL)
        if died.status == 0:  # it has fewer entries than this
            assert number > 100
            return
        again = lab.play("rollout")
        assert (again.status, again.report["verdict"]) == (0, "passed"), (number, again.output)
        assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {9000, 9214}, number
        for name, audit in lab.lab.folder.ask("audit")["audit"].items():
            assert (audit["open_sessions"], audit["commit_timer"]) == ([], None), (number, name)
        back = lab.play("rollback")
        assert (back.status, back.report["verdict"]) == (0, "passed"), (number, back.output)
        assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}, number
        assert lab.stalls() == [], number
