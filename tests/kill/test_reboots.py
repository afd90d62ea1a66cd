"""Reboots of a random node at a random entry of the journal: `make reboot-tests`, not a part of CI.

JUMBO_REBOOTS (default 50) draws from JUMBO_REBOOT_SEED (default 1) on; each is a whole roll-out and its way back, about
a minute. A draw that fails is repeated by its seed: JUMBO_REBOOTS=1 JUMBO_REBOOT_SEED=n.
"""

import os

import pytest
from reboot_helpers import draw, reboot
from rollout_helpers import fabrics

FIRST = int(os.environ.get("JUMBO_REBOOT_SEED", "1"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("JUMBO_REBOOTS", "50")))

pytestmark = pytest.mark.lab


@pytest.fixture
def fabric(tmp_path):
    yield from fabrics(tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_reboot_nothing_is_lost_for_its_size_and_the_end_is_an_allowed_one(fabric, seed):
    lab = fabric()
    reboot(lab, draw(seed, list(lab.lab.nodes)))
