"""A mixed fabric whose links are drained while they are raised: up, back, failing, and killed at any line.

After every act the doubles look whether anybody may send more than somebody on the way takes, and whether every pair of
hosts has a way that is not drained.
"""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import End
from ansible_collections.jumbo.fabric.plugins.plugin_utils import judging
from controller_doubles import DoubleDriver, World
from controller_player import Player, go_to, install, lines, moments
from unit.mtu.fabric import mixed


@pytest.fixture
def player(tmp_path, monkeypatch):
    """Two racks under two spines; one spine and one leaf are Junos boxes."""
    player = Player(World(mixed("spine2", "leaf2", spines=2, leafs=2, hosts=1)), tmp_path / "evidence")
    install(monkeypatch, player)
    return player


def acts(player, verb="apply"):
    """Return (step, host) of what was begun in the fabric stage, in order."""
    found = [line for line in lines(player.evidence)[-1] if line["verb"] == verb and line["event"] == "intent"]
    return [(line["step"], line["host"]) for line in found if line["step"].startswith("fabric")]


def test_links_of_a_junos_box_are_drained_the_slow_end_changes_first_and_they_come_back(player):
    assert player.play() == "passed", player.said
    assert (player.world.lifted(), player.world.drained(), player.world.pending()) == (True, [], {})
    done = acts(player)
    first = [host for step, host in done if step == "fabric.1.drain"]
    assert sorted(first) == ["leaf2", "spine1"], "spine1 and leaf1 are EOS: their link needs no drain"
    assert next(host for step, host in done if step == "fabric.1.link") == "leaf2"
    assert next(step for step, _host in done if step.startswith("fabric.2")) == "fabric.2.drain"
    assert {host for step, host in done if step == "fabric.2.undrain"} == {"leaf1", "leaf2", "spine2"}
    assert "leaf2 Ethernet1: drained: its traffic takes other links" in player.said


def test_the_way_back_drains_one_plane_after_the_other(player):
    player.play()
    assert player.play("rollback") == "passed", player.said
    assert player.world.is_as_before()
    assert player.world.drained() == []
    back = [line for line in lines(player.evidence)[-2] if line["verb"] == "revert" and line["event"] == "intent"]
    steps = list(
        dict.fromkeys(line["step"] for line in back if line["step"].startswith("fabric") and "lift" not in line["step"])
    )
    wanted = [f"fabric.{wave}.{phase}" for wave in (2, 1) for phase in ("undrain", "link", "drain")]
    assert steps == wanted


@pytest.mark.parametrize("gate", ["fabric.1.drain", "fabric.1.link", "fabric.2.undrain"])
def test_a_gate_that_fails_takes_the_stage_back_and_leaves_nothing_drained(player, gate):
    player.world.bad_gates = {gate}
    assert player.play() == "reverted", player.said
    assert (player.world.drained(), player.world.pending()) == ([], {})
    assert player.world.sizes() == {1500, 9000}, "racks keep what is proven"


def test_where_the_slow_end_fails_the_other_is_not_touched(player, monkeypatch):
    apply = DoubleDriver.apply

    def fails(self, changes, within, name):
        if self.host == "leaf2" and name.endswith("fabric.1.link"):
            raise JumboError("the commit failed", host="leaf2")
        return apply(self, changes, within, name)

    monkeypatch.setattr(DoubleDriver, "apply", fails)
    assert player.play() == "reverted", player.said
    assert [host for step, host in acts(player) if step == "fabric.1.link"] == ["leaf2"]
    assert player.world.drained() == []
    assert "fabric.1.link was not finished" not in str(player.said), "the others were not asked to"


def test_a_session_that_does_not_come_back_fails_its_gate(player, monkeypatch):
    world, down = player.world, player.world.topology.uplinks()[2].ends
    is_up = world.is_up
    monkeypatch.setattr(world, "is_up", lambda end: is_up(end) and not (end in down and world.size(end) > 1500))
    monkeypatch.setattr("ansible_collections.jumbo.fabric.plugins.plugin_utils.drains.COMES_BACK_WITHIN", 0.0)
    monkeypatch.setattr(player.world, "look", lambda: None)
    player.play()
    assert player.report["verdict"] != "passed"
    assert any("session has not come back" in text for text in player.said), player.said


def test_links_are_not_drained_where_the_others_are_down(player, monkeypatch):
    world = player.world
    dead = {end for link in world.topology.uplinks() for end in link.ends if "spine2" in str(link)}
    is_up, first = world.is_up, End("h1", "eth1")
    monkeypatch.setattr(world, "is_up", lambda end: is_up(end) and not (end in dead and world.size(first) > 1500))
    monkeypatch.setattr(world, "look", lambda: None)
    assert player.play() != "passed"
    assert any("its link is not drained" in text and "would have no other way" in text for text in player.said)
    assert acts(player) == []


def test_drained_links_are_not_changed_where_the_others_went_down_meanwhile(player, monkeypatch):
    world, dead = player.world, set()
    others = {end for link in world.topology.uplinks() for end in link.ends if "spine2" in str(link)}
    is_up, judge = world.is_up, judging.judge

    def dies_then(run, step, accesses):
        found = judge(run, step, accesses)
        dead.update(others if step["phase"] == "drain" else ())
        return found

    monkeypatch.setattr(judging, "judge", dies_then)
    monkeypatch.setattr(world, "is_up", lambda end: is_up(end) and end not in dead)
    monkeypatch.setattr(world, "look", lambda: None)
    assert player.play() == "reverted", player.said
    assert any("its drained link is not changed" in text for text in player.said), player.said
    assert {step for step, _host in acts(player)} == {"fabric.1.drain"}
    assert world.drained() == []


def test_a_session_of_a_plane_that_is_drained_later_may_not_flap_now(player, monkeypatch):
    world, judge = player.world, judging.judge

    def flaps_then(run, step, accesses):
        found = judge(run, step, accesses)
        if step["id"] == "fabric.1.drain":
            late = {both: since + 1e6 for both, since in world.up_since.items() if "spine2" in str(both)}
            world.up_since.update(late)
        return found

    monkeypatch.setattr(judging, "judge", flaps_then)
    assert player.play() == "reverted", player.said
    assert any("a session went down on a link that was not drained" in text for text in player.said), player.said
    assert world.drained() == []


@pytest.mark.parametrize("part", range(2))
def test_killed_anywhere_around_a_drain_the_next_roll_out_goes_on_and_leaves_nothing_drained(player, monkeypatch, part):
    found = [
        one for one in moments(monkeypatch, player, "rollout") if "fabric.1" in one.label or "fabric.2" in one.label
    ]
    for index, moment in enumerate(found[part::4]):
        go_to(player, moment)
        if index % 2:
            player.world.fire()
        assert player.play() == "passed", (moment.label, player.said)
        assert (player.world.lifted(), player.world.drained(), player.world.pending()) == (True, [], {}), moment.label


def test_killed_anywhere_around_a_drain_revert_undrains_and_lowers(player, monkeypatch):
    found = [
        one for one in moments(monkeypatch, player, "rollout") if "fabric.1" in one.label or "fabric.2" in one.label
    ]
    for moment in found[3::7]:
        go_to(player, moment)
        assert player.play(jumbo_resume="revert") == "reverted", (moment.label, player.said)
        assert (player.world.is_as_before(), player.world.drained()) == (True, []), moment.label


def test_links_that_run_what_no_driver_drains_are_refused_by_name(tmp_path, monkeypatch):
    player = Player(World(mixed("spine2", routing="static", spines=2, leafs=2, hosts=1)), tmp_path / "evidence")
    install(monkeypatch, player)
    assert player.play() == "failed"
    assert "the driver of eos drains no link that runs static" in str(player.said) + player.report["reason"]
