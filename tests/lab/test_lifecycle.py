"""Up, up again, down, down again, killed, rebooted: what is there afterwards, and what is not."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, network, small_inventory, wait_until

pytestmark = pytest.mark.lab


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def processes_of(pid: int) -> set[int]:
    """Return the ids of a process and all its descendants."""
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, more = {pid}, {pid}
    while more:
        more = {child for child, parent in parents.items() if parent in more} - found
        found |= more
    return found


def sentence(text: str) -> str:
    """Return what was said to the user, after checking that it is one line and no traceback."""
    assert text.count("\n") == 1, text
    assert text.startswith("lab: ")
    return text.removeprefix("lab: ").strip()


def start(path: Path, block: int) -> RunningLab:
    need_namespaces()
    folder = path / ("a-rather-long-name-" * 5) / "lab"  # longer than a socket's path may be
    inventory = small_inventory(path / "small.json", jumbo_lab_network=network(block))
    done = lab_cli(folder, "up", "-i", inventory)
    assert done.returncode == 0, done.stderr
    return RunningLab(folder, [inventory])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """A lab for the tests that leave it running."""
    started = start(tmp_path_factory.mktemp("shared"), 80)
    yield started
    started.cli("down")


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[RunningLab]:
    """A lab of its own, for a test that ends it."""
    started = start(tmp_path, 81)
    yield started
    started.cli("down")


def test_up_twice_is_harmless_and_another_lab_is_refused(shared: RunningLab, tmp_path: Path) -> None:
    before = shared.status()["pid"]
    again = shared.cli("up", "-i", shared.sources[0])
    assert (again.returncode, again.stdout.startswith("lab: already running")) == (0, True)
    other_fault = shared.cli("up", "-i", shared.sources[0], "--fault", "icmp-filtered")
    assert other_fault.returncode == 1
    assert "another inventory, or with other faults, is running" in sentence(other_fault.stderr)
    other = small_inventory(tmp_path / "other.json", jumbo_lab_network=network(81), jumbo_ip_mtu=8000)
    assert "Take it down first" in sentence(shared.cli("up", "-i", other).stderr)
    assert shared.status()["pid"] == before


def test_down_leaves_nothing_and_down_again_is_fine(mortal: RunningLab) -> None:
    lab = processes_of(mortal.status()["pid"])
    assert len(lab) > 10
    assert mortal.cli("down").stdout == "lab: down\n"
    wait_until(lambda: all(map(is_gone, lab)), 5, "all processes have ended")
    assert not mortal.folder.path.exists()
    again = mortal.cli("down")
    assert (again.returncode, again.stdout.startswith("lab: no lab in ")) == (0, True)


def test_a_killed_supervisor_takes_everything_along(mortal: RunningLab) -> None:
    status = mortal.status()
    lab = processes_of(status["pid"])
    mounts = Path("/proc/self/mounts").read_text()
    os.kill(status["pid"], signal.SIGKILL)
    wait_until(lambda: all(map(is_gone, lab)), 5, "all processes have ended")
    assert Path("/proc/self/mounts").read_text() == mounts, "nothing of a lab is mounted in the machine's own view"
    refused = mortal.cli("status")
    assert "no lab is running" in sentence(refused.stderr)
    done = mortal.cli("down")
    assert (done.returncode, "had ended by itself" in done.stdout) == (0, True)
    assert not mortal.folder.path.exists()


def test_up_after_a_kill_starts_anew(mortal: RunningLab) -> None:
    os.kill(mortal.status()["pid"], signal.SIGKILL)
    assert mortal.cli("up", "-i", mortal.sources[0]).returncode == 0
    assert mortal.ping("db-a", mortal.address("db-b"), 1500).received == 2


def test_a_lab_ends_in_order_when_it_is_terminated(mortal: RunningLab) -> None:
    lab = processes_of(mortal.status()["pid"])
    os.kill(mortal.status()["pid"], signal.SIGTERM)
    wait_until(lambda: all(map(is_gone, lab)), 10, "all processes have ended")
    assert not mortal.folder.path.exists()


def test_a_foreign_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    inventory = small_inventory(tmp_path.with_suffix(".json"), jumbo_lab_network=network(81))
    refused = lab_cli(tmp_path, "up", "-i", inventory)
    assert "thesis.tex" in sentence(refused.stderr)
    lab_cli(tmp_path, "down")
    assert (tmp_path / "thesis.tex").exists()


def test_a_rebooted_host_comes_back_with_what_it_persisted(shared: RunningLab) -> None:
    assert json.loads(shared.run("db-a", "cat", "/etc/jumbo-lab.json")) == {"links": {}, "routes": []}
    pin = f"172.20.0.0/26 dev ens3f0np0 proto kernel scope link src {shared.address('db-a')} mtu 1500"
    group = "pref 9047 to 224.0.0.0/4 oif ens3f0np0 lookup 9047"
    persisted = {"links": {"ens3f0np0": 9000}, "routes": [pin], "rules": [group]}
    script = f"echo '{json.dumps(persisted)}' > /etc/new.json && mv /etc/new.json /etc/jumbo-lab.json"
    shared.run("db-a", "sh", "-c", f"{script}; echo > /run/forgotten")
    before = shared.pid("db-a")
    assert shared.cli("reboot", "db-a").returncode == 0
    assert shared.pid("db-a") != before
    assert shared.plane("db-a").ip_mtu("ens3f0np0") == 9000
    assert "mtu 1500" in shared.run("db-a", "ip", "route", "show", "172.20.0.0/26")
    assert "oif ens3f0np0 lookup 9047" in shared.run("db-a", "ip", "rule")
    assert shared.limits_follow("db-a")
    assert "forgotten" not in shared.run("db-a", "ls", "/run")
    assert shared.ssh("db-a", "hostname").stdout == "db-a\n"
    wait_until(lambda: shared.ping("db-b", shared.address("db-a"), 1500).received == 2, what="it is reachable again")
    transfers = shared.status()["traffic"]["transfers"]
    wait_until(lambda: shared.status()["traffic"]["transfers"] > transfers + 2, what="its traffic flows again")


def test_a_broken_persisted_file_does_not_stop_the_boot(shared: RunningLab) -> None:
    broken = {"links": {"eth7": 9000, "ens3f0np0": "; reboot"}, "routes": ["nonsense", 7]}
    shared.run("db-b", "sh", "-c", f"echo '{json.dumps(broken)}' > /etc/jumbo-lab.json")
    assert shared.cli("reboot", "db-b").returncode == 0
    assert shared.plane("db-b").ip_mtu("ens3f0np0") == 1500
    assert any(event["kind"] == "boot" for event in shared.folder.ask("events")["events"])


def test_a_rebooted_switch_boots_its_startup_config(shared: RunningLab) -> None:
    saved = ("enable", "configure", "interface Ethernet49/1", "mtu 9000", "end", "write memory")
    assert "result" in shared.eapi("tor-a", *saved)
    assert "result" in shared.eapi("tor-a", "enable", "configure", "interface Vlan300", "mtu 9000")
    assert shared.plane("tor-a").ip_mtu("Vlan300") == 9000
    assert shared.cli("reboot", "tor-a").returncode == 0
    plane = shared.plane("tor-a")
    assert (plane.ip_mtu("Ethernet49/1"), plane.ip_mtu("Vlan300")) == (9000, 1500)
    wait_until(lambda: shared.ping("db-a", shared.address("db-b"), 1500).received == 2, what="it forwards again")


def test_two_labs_on_the_same_addresses_do_not_start(shared: RunningLab, tmp_path: Path) -> None:
    refused = lab_cli(tmp_path / "lab", "up", "-i", shared.sources[0])
    assert refused.returncode == 1
    assert "set jumbo_lab_network" in sentence(refused.stderr)
    assert not (tmp_path / "lab").exists()
    assert shared.ssh("db-a", "true").returncode == 0


def test_an_unknown_node_cannot_be_rebooted(shared: RunningLab) -> None:
    refused = shared.cli("reboot", "tor-z")
    assert refused.returncode == 1
    assert "tor-a" in sentence(refused.stderr), "the nodes that there are"


def test_status_tells_everything_as_json_and_as_a_table(shared: RunningLab) -> None:
    status = json.loads(shared.cli("status", "--json").stdout)
    assert set(status["nodes"]) == {"agg", "tor-a", "tor-b", "db-a", "db-b"}
    assert status["nodes"]["agg"]["interfaces"]["Ethernet1/1"] == {"ip_mtu": 1500, "up": True}
    assert {"transfers", "stalls", "largest_segment"} <= set(status["traffic"])
    table = shared.cli("status").stdout
    assert "9214: Ethernet5" in table
    assert "transfers" in table


def test_events_tell_who_was_changed(shared: RunningLab) -> None:
    for ip_mtu in (3000, 4000):
        shared.plane("db-a").set_ip_mtu("ens3f0np0", ip_mtu)
        shared.plane("tor-b").set_ip_mtu("Ethernet49/1", ip_mtu)
    for line in ("db-a  mtu  ens3f0np0: 3000 -> 4000", "tor-b mtu  Ethernet49/1: 3000 -> 4000"):
        words = line.split()
        wait_until(lambda w=words: any(w == e.split()[1:] for e in shared.cli("events").stdout.splitlines()), what=line)


def test_exec_runs_inside_the_node(shared: RunningLab) -> None:
    done = shared.cli("exec", "tor-a", "hostname")
    assert (done.returncode, done.stdout) == (0, "tor-a\n")
    assert shared.cli("exec", "tor-a", "sh", "-c", "exit 7").returncode == 7
    assert "not in the lab" in sentence(shared.cli("exec", "nobody", "true").stderr)
