"""Management that crosses what is being changed: it goes along, and where it is lost the node takes itself back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import lab_cli, need_namespaces, wait_until
from lab_inventories import in_band_fabric
from rollout_helpers import Fabric

pytestmark = pytest.mark.lab

WITHIN = 120  # seconds; jumbo_confirm_within may not be less


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Fabric]:
    need_namespaces()
    source = in_band_fabric(tmp_path / "inventory", 97, jumbo_confirm_within=WITHIN)
    done = lab_cli(tmp_path / "lab", "up", "-i", source)
    assert done.returncode == 0, done.stderr
    fabric = Fabric(tmp_path / "lab", [source], tmp_path / "evidence")
    try:
        yield fabric
        fabric.check_violations()
    finally:
        lab_cli(tmp_path / "lab", "down")


def test_all_is_raised_and_taken_back_over_the_very_links(fabric: Fabric) -> None:
    outcome = fabric.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = fabric.ip_mtus()
    assert (now["h1"]["eth0"], now["h3"]["eth0"], now["leaf2"]["Vlan10"]) == (9000, 9000, 9000)
    assert (now["spine1"]["Ethernet1"], now["leaf2"]["Ethernet1"]) == (9214, 9214)
    assert fabric.lab.plane("admin").ip_mtu("eth0") == 1500
    back = fabric.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in fabric.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert fabric.stalls() == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("node", "interface", "step"), [("h3", "eth0", "leaf.1.host_link"), ("leaf2", "Vlan10", "leaf.1.svi")]
)
def test_a_node_that_is_lost_with_its_change_takes_itself_back(
    fabric: Fabric, node: str, interface: str, step: str
) -> None:
    def applied(line: dict[str, Any]) -> bool:
        return (line["step"], line["host"], line["verb"], line["event"]) == (step, node, "apply", "done")

    outcome = fabric.play_and("rollout", applied, lambda: fabric.lab.folder.ask("cut", node=node))
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert node in [finding["host"] for finding in outcome.report["findings"]]
    wait_until(
        lambda: fabric.lab.plane(node).ip_mtu(interface) == 1500, WITHIN + 30.0, f"{node} has taken its change back"
    )
    assert fabric.stalls() == []
    fabric.lab.folder.ask("mend", node=node)
    again = fabric.play("rollout")
    assert again.report["verdict"] in ("passed", "reverted"), again.output
    last = again if again.report["verdict"] == "passed" else fabric.play("rollout")
    assert (last.status, last.report["verdict"]) == (0, "passed"), last.output
