"""Roll-outs over an EOS and a FastIron rack: the box is reloaded first and alone; its trouble stops them safely."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_helpers import lab_cli, need_namespaces
from lab_inventories import icx_fabric
from rollout_helpers import Fabric

pytest.importorskip("netmiko")

pytestmark = pytest.mark.lab

ROUTED = {"10GigabitEthernet1/2/1", "10GigabitEthernet1/2/2"}


@pytest.fixture
def racks(tmp_path: Path) -> Iterator[Callable[..., Fabric]]:
    """Start the two racks with a host each, with a fault or not; they are taken down afterwards."""
    need_namespaces()
    started: list[Fabric] = []

    def start(fault: str = "", **variables: object) -> Fabric:
        source = icx_fabric(tmp_path / "inventory", 182, hosts=1, **variables)
        done = lab_cli(tmp_path / "lab", "up", "-i", source, "--fault", fault)
        assert done.returncode == 0, done.stderr
        started.append(Fabric(tmp_path / "lab", [source], tmp_path / "evidence"))
        return started[-1]

    try:
        yield start
        for fabric in started:
            fabric.check_violations()
    finally:
        lab_cli(tmp_path / "lab", "down")


def box(racks):
    return racks.lab.folder.ask("audit")["audit"]["leaf5"]


def kinds(racks):
    return [entry["kind"] for entry in box(racks)["entries"]]


def is_clean(racks):
    audit = box(racks)
    return not (audit["dirty"] or audit["open_sessions"] or audit["commit_timer"])


def rack_is_at(racks, ip_mtu):
    now = racks.ip_mtus()
    return (now["h51"]["eth0"], now["leaf5"]["Ve10"]) == (ip_mtu, ip_mtu)


@pytest.mark.long
def test_a_refused_save_reloads_nothing_and_leaves_no_line(racks):
    lab = racks("save-refused", jumbo_stages=["canary", "leaf"])
    outcome = lab.play("rollout")
    assert outcome.status == 2, outcome.output
    assert "did not save" in outcome.output
    assert "reboot" not in kinds(lab)
    assert is_clean(lab)
    assert rack_is_at(lab, 1500)
    assert lab.ip_mtus()["leaf1"]["Vlan10"] == 9000, "the canary is proven and keeps it"


@pytest.mark.long  # the standing fabric, and management in band, raise such a rack as well
def test_a_rack_is_raised_by_a_reload_and_one_that_is_raised_is_left_alone(racks):
    lab = racks("flash-busy", jumbo_stages=["canary", "leaf"])
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert rack_is_at(lab, 9000)
    until = kinds(lab)[: kinds(lab).index("reboot") + 1]
    assert list(dict.fromkeys(until)) == ["config-line", "write-startup", "reboot"]
    assert is_clean(lab)


@pytest.mark.long
def test_the_whole_fabric_there_nothing_to_do_again_and_back(racks):
    lab = racks()
    before = lab.ip_mtus()
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert rack_is_at(lab, 9000)
    assert {now["leaf5"][port] for port in ROUTED} == {9214}
    done = len(kinds(lab))
    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert len(kinds(lab)) == done, "nothing was typed"
    back = lab.play("rollback")
    assert back.status == 0, back.output
    assert lab.ip_mtus() == before
    assert kinds(lab).count("reboot") == 1, "its large frames stay on"
    assert is_clean(lab)


@pytest.mark.long
def test_a_line_that_hangs_is_read_back(racks):
    lab = racks("cli-hang", ansible_command_timeout=6, jumbo_stages=["canary", "leaf"])
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert rack_is_at(lab, 9000)
    assert kinds(lab).count("config-line") == 5, "jumbo, three sizes that are in force, one that is raised: none twice"


@pytest.mark.long
def test_a_box_that_does_not_come_back_stops_the_roll_out(racks):
    lab = racks("reload-never", jumbo_reload_within=15)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert "leaf5:jumbo: it is not back 15 s after its reload" in outcome.output
    assert rack_is_at(lab, 1500)
    now = lab.ip_mtus()
    assert now["h11"]["eth0"] == 9000, "the canary is proven and keeps it"
    assert {size for spine in ("spine1", "spine2") for size in now[spine].values()} == {1500}
