"""Two switches that act as one (MLAG), hosts with an uplink to either, and a segment stretched over a switched link."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, wait_until
from lab_inventories import pair_fabric
from rollout_helpers import Fabric

pytestmark = pytest.mark.lab

PAIRS = [("h5", "h1"), ("h1", "h5"), ("h5", "h6"), ("h5", "h7"), ("h7", "h6"), ("h7", "h1"), ("h1", "h7"), ("h2", "h3")]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    need_namespaces()
    path = tmp_path_factory.mktemp("pair")
    source = pair_fabric(path / "inventory", 93, jumbo_lab_traffic=0.1)
    done = lab_cli(path / "lab", "up", "-i", source)
    assert done.returncode == 0, done.stderr
    try:
        yield Fabric(path / "lab", [source], path / "evidence")
    finally:
        lab_cli(path / "lab", "down")


@pytest.fixture
def lab(fabric: Fabric) -> Iterator[RunningLab]:
    """The file's lab; each test leaves it as it was."""
    yield fabric.lab
    fabric.lab.restore()


@contextlib.contextmanager
def clean(lab: RunningLab, size: int) -> Iterator[None]:
    """Give everything this size by hand; from then on no production is lost for its size."""
    lab.raise_all(size)
    began = time.time()
    yield
    assert [violation for violation in lab.violations() if violation["until"] > began] == []


def received(lab: RunningLab) -> dict[str, int]:
    """Return what each switch of the pair has got from h5."""
    return {leaf: lab.plane(leaf).counters("Ethernet11").input_packets for leaf in ("leaf3", "leaf4")}


def grows(lab: RunningLab) -> Callable[[], set[str]]:
    """Return what tells by which of the two h5 has sent from now on."""
    before = received(lab)
    return lambda: {leaf for leaf, count in received(lab).items() if count > before[leaf] + 20}


@pytest.mark.parametrize("size", [1500, 9000])
def test_everybody_reaches_everybody_and_both_members_carry_it(lab: RunningLab, size: int) -> None:
    with clean(lab, size):
        by = grows(lab)
        for source, destination in PAIRS:
            assert lab.ping(source, lab.address(destination), size).received == 2, (source, destination)
        wait_until(lambda: by() == {"leaf3", "leaf4"}, what="both members carry traffic of h5")


def test_a_packet_to_all_arrives_once(lab: RunningLab) -> None:
    rules = "table ip heard {\nchain in {\ntype filter hook input priority 0;\nicmp type echo-request counter\n}\n}"
    for source in ("h5", "h7", "leaf4"):
        for host in ("h6", "h7") if source == "h5" else ("h6",):
            lab.run(host, "nft", rules)
            try:
                lab.plane(source).ping(["-b", "-c", "3", "-i", "0.1", "-W", "0.5", "10.3.0.255"], 10.0)
                counted = lab.run(host, "nft", "list", "table", "ip", "heard")
                assert "counter packets 3 " in counted, (source, host, counted)
            finally:
                lab.run(host, "nft", "delete", "table", "ip", "heard")


@pytest.mark.parametrize("leaf", ["leaf3", "leaf4"])
def test_a_cut_member_moves_its_traffic_to_the_other(lab: RunningLab, leaf: str) -> None:
    other = {"leaf3": "leaf4", "leaf4": "leaf3"}[leaf]
    with clean(lab, 9000):
        lab.plane(leaf).set_up("Ethernet11", up=False)
        try:
            wait_until(lambda: lab.ping("h5", lab.address("h1"), 9000).received == 2, what="h5 sends by the other")
            by = grows(lab)
            for source, destination in PAIRS:
                assert lab.ping(source, lab.address(destination), 9000).received == 2, (source, destination)
            wait_until(lambda: by() == {other}, what=f"{other} carries what h5 sends")
        finally:
            lab.plane(leaf).set_up("Ethernet11", up=True)
        by = grows(lab)
        wait_until(lambda: by() == {"leaf3", "leaf4"}, what="both members carry traffic of h5 again")


def test_a_switch_that_boots_takes_part_again(lab: RunningLab) -> None:
    with clean(lab, 1500):
        lab.folder.ask("reboot", node="leaf4")
        by = grows(lab)
        wait_until(lambda: by() == {"leaf3", "leaf4"}, what="both members carry traffic of h5")
        for source, destination in PAIRS:
            assert lab.ping(source, lab.address(destination), 1500).received == 2, (source, destination)


def test_the_switches_say_that_they_are_one(lab: RunningLab) -> None:
    shown = lab.eapi("leaf3", "show interfaces")["result"][0]["interfaces"]
    assert shown["Port-Channel11"]["memberInterfaces"].keys() == {"Ethernet11"}
    assert (shown["Port-Channel11"]["forwardingModel"], shown["Port-Channel11"]["mtu"]) == ("bridged", 9214)
    assert shown["Ethernet11"]["interfaceMembership"] == "Member of Port-Channel11"
    assert shown["Vlan4094"]["lineProtocolStatus"] == "up"
    lldp = lab.eapi("leaf3", "show lldp neighbors detail")["result"][0]["lldpNeighbors"]
    assert [lldp[port]["lldpNeighborInfo"][0]["systemName"] for port in ("Ethernet11", "Ethernet20")] == ["h5", "leaf4"]
    assert lldp["Ethernet11"]["lldpNeighborInfo"][0]["neighborInterfaceInfo"]["interfaceId_v2"] == "eth1"
    lab.ping("leaf3", "10.254.0.1", 1500)
    assert lab.plane("leaf3").ping(["-c", "1", "-W", "1", "10.254.0.1"], 5.0).count("1 received") == 1
