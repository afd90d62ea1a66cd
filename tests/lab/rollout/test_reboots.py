"""A node reboots in the middle of a roll-out: what it comes back with is a state that the proof has covered.

Many more draws: `make reboot-tests`.
"""

import pytest
from reboot_helpers import Draw, reboot

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab(module_fabric):
    return module_fabric()


@pytest.mark.parametrize(
    "drawn",
    [
        Draw("rollout", "h3", 0.55),  # it has confirmed its link and its lift, and persisted the first only
        pytest.param(Draw("rollout", "leaf2", 0.70), marks=pytest.mark.long),
        pytest.param(Draw("rollback", "h5", 0.30), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_after_a_reboot_nothing_is_lost_for_its_size_and_the_end_is_an_allowed_one(lab, drawn):
    reboot(lab, drawn)
