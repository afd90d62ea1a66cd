"""Management in band: it comes over the fabric, and is lost with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, wait_until
from lab_inventories import in_band_fabric

pytestmark = pytest.mark.lab

SECONDS = "3"  # enough for an answer that comes at all


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    need_namespaces()
    path = tmp_path_factory.mktemp("inband")
    source = in_band_fabric(path / "inventory", 96, jumbo_lab_traffic=0)
    done = lab_cli(path / "lab", "up", "-i", source)
    assert done.returncode == 0, done.stderr
    yield RunningLab(path / "lab", [source])
    lab_cli(path / "lab", "down")


def arrived(lab: RunningLab, leaf: str, port: str) -> int:
    return int(lab.plane(leaf).counters(port).input_packets)


def answers(lab: RunningLab, host: str) -> bool:
    command = ["timeout", SECONDS, *lab.ssh_command(host, "true")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_switches_and_hosts_are_managed_across_the_fabric(lab: RunningLab) -> None:
    before = arrived(lab, "leaf1", "Ethernet13")
    assert "result" in lab.eapi("leaf2", "show version")
    assert "result" in lab.eapi("spine1", "show version")
    assert lab.ssh("h3", "hostname").stdout.strip() == "h3"
    assert arrived(lab, "leaf1", "Ethernet13") > before + 20


def test_a_large_answer_comes_back_whole(lab: RunningLab) -> None:
    assert len(lab.ssh("h3", "head -c 3000000 /dev/zero | tr '\\0' x").stdout) == 3_000_000


def test_a_cut_says_nothing_and_the_node_goes_on(lab: RunningLab) -> None:
    lab.folder.ask("cut", node="h3")
    try:
        assert not lab.status()["nodes"]["h3"]["reachable"]
        assert not answers(lab, "h3")
        assert lab.ping("h1", lab.address("h3", "eth0"), 1500).received == 2
    finally:
        lab.folder.ask("mend", node="h3")
    assert lab.ssh("h3", "hostname").stdout.strip() == "h3"


def test_a_port_that_goes_down_takes_the_management_along(lab: RunningLab) -> None:
    lab.plane("leaf2").set_up("Ethernet11", up=False)
    try:
        assert not answers(lab, "h3")
    finally:
        lab.plane("leaf2").set_up("Ethernet11", up=True)
    wait_until(lambda: lab.ping("h1", lab.address("h3", "eth0"), 1500).received == 2)
    assert lab.ssh("h3", "hostname").stdout.strip() == "h3"
