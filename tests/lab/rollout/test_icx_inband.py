"""A FastIron box that is managed across the very `ve` that is raised, from a host behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import wait_until
from lab_inventories import icx_fabric
from rollout_helpers import Fabric, fabric_of, is_done

pytest.importorskip("netmiko")

pytestmark = pytest.mark.lab

WITHIN = 120  # seconds; jumbo_confirm_within may not be less
SVI = "leaf.2.svi"


@pytest.fixture
def racks(tmp_path: Path) -> Iterator[Callable[..., Fabric]]:
    """Start the two racks with a host each; the box is managed from the host behind it."""
    waiting = []

    def start(**own: Any) -> Fabric:
        known = {"jumbo_lab_management": "inband", "jumbo_lab_station": "h51", **own}
        stages = ["canary", "leaf"]
        source = icx_fabric(tmp_path / "inventory", 183, hosts=1, own=known, jumbo_stages=stages)
        waiting.append(fabric_of(tmp_path, source))
        return waiting[-1].__enter__()

    yield start
    for one in waiting:
        one.__exit__(None, None, None)


def audit(racks: Fabric) -> dict[str, Any]:
    return racks.lab.folder.ask("audit")["audit"]["leaf5"]


def test_a_reload_is_scheduled_before_the_change_and_cancelled_when_it_is_confirmed(racks):
    lab = racks()
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert lab.ip_mtus()["leaf5"]["Ve10"] == 9000
    armed = [line["data"] for line in outcome.journal if line["host"] == "leaf5" and is_done(line, "apply")]
    assert [entry.get("handle", entry).get("armed") for entry in armed] == [None, True], armed
    assert audit(lab)["commit_timer"] is None


def test_a_release_without_it_is_refused_before_anything_is_touched(racks):
    lab = racks(jumbo_lab_reload_schedules=False)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "failed"), outcome.output
    assert "leaf5:Ve10: nothing would bring management back" in outcome.output
    assert "Manage the box by another way (ansible_host), or leave it out with --limit" in outcome.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert not audit(lab)["written"]


@pytest.mark.long
def test_a_box_that_is_lost_with_its_change_reloads_what_it_had_saved(racks):
    lab = racks()

    def applied(line: dict[str, Any]) -> bool:
        return line["step"] == SVI and line["host"] == "leaf5" and is_done(line, "apply")

    outcome = lab.play_and("rollout", applied, lambda: lab.lab.folder.ask("cut", node="leaf5"))
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    wait_until(lambda: lab.lab.plane("leaf5").ip_mtu("Ve10") == 1500, WITHIN + 30.0, "leaf5 has taken its change back")
    lab.lab.folder.ask("mend", node="leaf5")
    again = lab.play("rollout")
    last = again if again.report["verdict"] == "passed" else lab.play("rollout")
    assert (last.status, last.report["verdict"]) == (0, "passed"), (again.output, last.output)
