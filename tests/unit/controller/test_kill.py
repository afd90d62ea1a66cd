"""The controller is killed at every line of its journal: what the next roll-out says and does, and where it all ends.

After every act and every dead-man the doubles look whether anybody may send more than somebody on the way takes.
"""

import pytest
from controller_player import go_to, moments

PARTS = 2  # for two cores


def killed_at(monkeypatch, player, first, step):
    """Yield where the controller was killed, after each kill; the dead-man's time is over at every second one."""
    for index, moment in enumerate(moments(monkeypatch, player, "rollout")[first::step]):
        go_to(player, moment)
        if index % 2:
            player.world.fire()
        yield moment.label


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_line_the_next_roll_out_goes_on_to_the_end(player, monkeypatch, part):
    for label in killed_at(monkeypatch, player, part, PARTS):
        assert player.play() == "passed", (label, player.said)
        assert player.status() == 0
        assert player.world.lifted(), label
        assert player.world.pending() == {}


def test_killed_anywhere_revert_takes_all_of_it_back(player, monkeypatch):
    for label in killed_at(monkeypatch, player, 1, 5):
        verdict = player.play(jumbo_resume="revert")
        if verdict == "failed":  # nothing was changed yet, or it was finished
            assert "no roll-out of this evidence directory is unfinished" in player.report["reason"], label
            assert player.world.is_as_before() or player.world.lifted(), label
        else:
            assert verdict == "reverted", (label, player.said)
            assert player.status() == 2
            assert player.world.is_as_before(), label
        assert player.world.pending() == {}


@pytest.mark.parametrize("gate", ["canary.1.host_link", "leaf.1.lift", "fabric.1.link", "soak.gate"])
def test_killed_while_a_failure_is_taken_back_the_next_roll_out_ends_it(player, monkeypatch, gate):
    player.world.bad_gates = {gate}
    found = moments(monkeypatch, player, "rollout")
    assert player.report["verdict"] == "reverted"
    failed = next(index for index, one in enumerate(found) if one.label == f"after {gate}  done probe")
    player.world.bad_gates = set()
    for moment in found[failed::3]:
        go_to(player, moment)
        first = player.play()
        assert first in ("reverted", "passed"), (moment.label, player.said)
        if first == "reverted":
            assert player.status() == 2
            assert player.play() == "passed"
        assert player.world.lifted(), moment.label
