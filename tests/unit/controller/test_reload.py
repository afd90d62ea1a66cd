"""A roll-out that reloads a box: in its window only, alone, and never taken back."""

from dataclasses import replace

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.platform_table import PLATFORMS
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from controller_doubles import World
from controller_player import Player, install, lines
from unit.mtu.fabric import inventory, with_boxes

NEVER = "00:00-00:01"


@pytest.fixture
def player(tmp_path, monkeypatch):
    """Two racks, the second behind a box with one frame size for all ports, whose driver can reload it."""
    monkeypatch.setitem(PLATFORMS, "fastiron", replace(PLATFORMS["fastiron"], fields=frozenset({"ip_mtu", "jumbo"})))
    monkeypatch.setitem(registry.DRIVERS, "fastiron", ("eos", "EosDriver"))
    player = Player(World(with_boxes(inventory(spines=1, leafs=2, hosts=1), "leaf2")), tmp_path / "evidence")
    install(monkeypatch, player)
    return player


def jumbo(player):
    return player.world.devices["leaf2"].state["jumbo"]


def acts(player, step):
    return [
        (line["host"], line["verb"]) for line in lines(player.evidence)[-1] if line["step"] == step and line["host"]
    ]


def shut(monkeypatch):
    """Let it be noon while the window is a minute at midnight."""
    module = "ansible_collections.jumbo.fabric.plugins.plugin_utils.reload_window"
    monkeypatch.setattr(f"{module}.is_open", lambda window, *_now: window != NEVER)


def test_a_box_is_reloaded_and_the_roll_out_goes_on(player):
    assert (player.play(), player.status()) == ("passed", 0), "\n".join(player.said)
    assert player.world.lifted()
    assert jumbo(player) == {"configured": True, "saved": True, "active": True}
    assert ("leaf2", "apply") in acts(player, "leaf.1.reload")
    assert ("leaf2", "confirm") in acts(player, "leaf.1.reload")


def test_outside_its_window_the_roll_out_stops_before_the_stage(player, monkeypatch):
    shut(monkeypatch)
    assert (player.play(jumbo_reload_window=NEVER), player.status()) == ("stopped", 2)
    assert f"stage leaf waits for the window {NEVER}" in player.report["reason"]
    assert jumbo(player)["active"] is False
    assert player.world.pending() == {}
    assert player.world.devices["h1"].sends("eth1", "10.10.1.0/24") == 9000  # the canary is through
    assert player.play() == "passed", player.said
    assert player.world.lifted()


def test_a_window_that_closes_on_the_way_is_noticed(player, monkeypatch):
    shut(monkeypatch)
    plan = "ansible_collections.jumbo.fabric.plugins.plugin_utils.reload_window.first_waiting"
    monkeypatch.setattr(plan, lambda *_arguments: None)  # it was open while the plan was made
    assert (player.play(jumbo_reload_window=NEVER), player.status()) == ("stopped", 2)
    assert jumbo(player)["active"] is False
    assert player.world.pending() == {}


def test_a_failure_after_the_reload_takes_all_back_but_the_large_frames(player):
    player.world.bad_gates = {"leaf.2.svi"}
    assert player.play() == "reverted", player.said
    assert jumbo(player)["active"] is True
    player.world.bad_gates = set()
    assert player.play() == "passed", player.said
    assert not acts(player, "leaf.1.reload")


def test_a_box_that_does_not_forward_after_its_reload_stops_the_roll_out(player):
    player.world.bad_gates = {"leaf.1.reload"}
    assert player.play() == "reverted", player.said
    assert any("its large frames stay on" in line for line in player.said)
    assert player.world.pending() == {}
    player.world.bad_gates = set()
    assert player.play() == "passed", player.said


def test_the_way_back_of_everything_leaves_large_frames_on(player):
    assert player.play() == "passed"
    assert player.play("rollback") == "passed", player.said
    assert player.world.sizes() == {1500}
    assert jumbo(player)["active"] is True
