"""A whole roll-out in this process: the collection's own playbooks against devices in memory."""

import pytest
from controller_doubles import World
from controller_player import Player, install
from unit.mtu.fabric import inventory


@pytest.fixture
def player(tmp_path, monkeypatch):
    """One operator with an evidence directory; two racks of two hosts under one spine."""
    player = Player(World(inventory(spines=1, leafs=2, hosts=2)), tmp_path / "evidence")
    install(monkeypatch, player)
    return player
