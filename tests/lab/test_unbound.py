"""Multicast, broadcast and datagrams of senders that ignore the path's MTU: harmless at 1500, and loud above it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, wait_until
from lab_inventories import one_rack

pytestmark = pytest.mark.lab

KINDS = ("multicast", "broadcast", "pmtu_ignoring")
LIMIT = 1500


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], RunningLab]]:
    """Start a rack of two hosts whose datagrams have this size; it is taken down afterwards."""
    need_namespaces()

    def up(size: int) -> RunningLab:
        source = one_rack(tmp_path / "inventory", 94, jumbo_lab_traffic=0.1, jumbo_lab_unbound=size)
        done = lab_cli(tmp_path / "lab", "up", "-i", source)
        assert done.returncode == 0, done.stderr
        return RunningLab(tmp_path / "lab", [source])

    yield up
    lab_cli(tmp_path / "lab", "down")


def heard(lab: RunningLab) -> dict[str, int]:
    return dict(lab.status()["traffic"]["unbound"])


def test_all_kinds_arrive_and_a_raised_sender_harms_nobody_at_1500(start: Callable[[int], RunningLab]) -> None:
    lab = start(1500)
    wait_until(lambda: all(heard(lab).get(kind, 0) > 2 for kind in KINDS), what="all kinds are heard")
    for interface, host in (("Ethernet11", "h1"), ("Ethernet12", "h2")):  # the link, as a roll-out would: pinned
        lab.run(host, "ip", "route", "change", lab_prefix(lab, host), "dev", "eth0", "mtu", "1500")
        lab.plane(host).set_ip_mtu("eth0", 9000)
        before = heard(lab)
        wait_until(lambda b=before: all(heard(lab)[kind] > b[kind] + 2 for kind in KINDS), what="they still arrive")
        assert lab.plane("leaf1").counters(interface).giants == 0
    assert lab.violations() == []


def test_at_4000_they_leave_in_fragments_until_the_link_is_raised_and_whole_from_then_on(
    start: Callable[[int], RunningLab],
) -> None:
    lab = start(4000)
    wait_until(lambda: all(heard(lab).get(kind, 0) > 2 for kind in KINDS), what="all kinds are heard")
    assert lab.violations() == []
    lab.run("h1", "ip", "route", "change", lab_prefix(lab, "h1"), "dev", "eth0", "mtu", str(LIMIT))
    began = time.time()
    lab.plane("h1").set_ip_mtu("eth0", 9000)  # h2 is not raised, and no pin bounds these
    targets = {"239.77.0.1", "10.1.0.255", "h2"}

    def lost() -> set[str]:
        return {entry["to"] for entry in lab.violations() if entry["size"] == 4000 and entry["from"] == "h1"}

    wait_until(lambda: lost() == targets, what="the sentinel shouts of each kind")
    assert all(entry["time"] >= began and entry["link"].endswith("-> h2:eth0") for entry in lab.violations())


def lab_prefix(lab: RunningLab, host: str) -> str:
    """Return the host's own prefix."""
    return next(line.split()[0] for line in lab.run(host, "ip", "route").splitlines() if "proto kernel" in line)
