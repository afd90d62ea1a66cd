"""A FastIron box in a fabric: what it takes in is limited for the whole box, and only a reload changes that."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, network, small_inventory, wait_until

netmiko = pytest.importorskip("netmiko")

pytestmark = pytest.mark.lab

UPLINK, ACCESS = "10GigabitEthernet1/2/1", "GigabitEthernet1/1/5"
SAVED_JUMBO = ("enable", "jumbo-lab", "configure terminal", "jumbo", "end", "write memory")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[RunningLab]:
    need_namespaces()
    knobs = {"jumbo_lab_network": network(180), "jumbo_lab_traffic": 0, "jumbo_lab_reload_seconds": 1}
    inventory = small_inventory(tmp_path / "small.json", fastiron=["tor-b"], **knobs)
    done = lab_cli(tmp_path / "lab", "up", "-i", inventory)
    assert done.returncode == 0, done.stderr
    yield RunningLab(tmp_path / "lab", [inventory])
    lab_cli(tmp_path / "lab", "down")


def shell(lab: RunningLab) -> Any:
    return netmiko.ConnectHandler(
        device_type="terminal_server",
        host=lab.nodes["tor-b"].listen,
        port=2222,
        username="admin",
        password="jumbo-lab",
    )


def typed(lab: RunningLab, *lines: str) -> str:
    """Return what is printed after the last line."""
    connection = shell(lab)
    said = connection.read_until_pattern(">")
    for line in ("skip-page-display", *lines):
        connection.write_channel(f"{line}\n")
        said = connection.read_until_pattern(r"(?:[>#]|Password:|'n'\): ?)$")
    connection.disconnect()
    return said


def answers(lab: RunningLab) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((lab.nodes["tor-b"].listen, 2222)) == 0


def seen_by_spine(lab: RunningLab) -> int:
    reply = lab.eapi("agg", "show lldp neighbors Ethernet2/1 detail")
    (neighbour,) = reply["result"][0]["lldpNeighbors"]["Ethernet2/1"]["lldpNeighborInfo"]
    return int(neighbour["neighborInterfaceInfo"]["maxFrameSize"])


def test_a_box_takes_large_packets_in_only_after_its_reload(lab: RunningLab) -> None:
    lab.raise_all(leave=[("tor-b", UPLINK), ("tor-b", "Ve301")])
    gateway = lab.address("tor-b", "Ve301")
    assert lab.ping("db-b", gateway, 1500).received == 2
    assert lab.ping("db-b", gateway, 1501).received == 0
    assert "0 runts, 2 giants" in typed(lab, f"show interfaces ethernet {ACCESS[-5:]}")
    assert seen_by_spine(lab) == 1522
    assert "Copy Done" in typed(lab, *SAVED_JUMBO)
    assert lab.ping("db-b", gateway, 1501).received == 0, "saved is not active"

    typed(lab, "enable", "jumbo-lab", "reload")  # asked, and not answered: nothing happens
    assert lab.ping("db-b", gateway, 1500).received == 2
    connection = shell(lab)
    for line, answer in (("enable", "Password:"), ("jumbo-lab", "#"), ("reload", "'n'\\):")):
        connection.write_channel(f"{line}\n")
        connection.read_until_pattern(answer)
    connection.write_channel("y")
    connection.read_until_pattern("anyway")
    connection.write_channel("y")
    wait_until(lambda: not lab.status()["nodes"]["tor-b"]["interfaces"][ACCESS]["up"], what="its ports go down")
    assert lab.ping("db-b", gateway, 100).received == 0
    wait_until(lambda: answers(lab), what="it is back")

    assert "MTU 10200 bytes" in typed(lab, f"show interfaces ethernet {ACCESS[-5:]}")
    assert seen_by_spine(lab) == 10200
    wait_until(lambda: lab.ping("db-b", gateway, 1500).received == 2, what="the rack is reachable")
    assert lab.ping("db-b", gateway, 9000).received == 2, "its answers come in fragments"
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 0, "what leaves by the ve is bounded by its ip mtu"
    raised = (
        "enable",
        "jumbo-lab",
        "configure terminal",
        "interface ve 301",
        "ip mtu 9000",
        "end",
        "show interfaces ve 301",
    )
    assert "IP MTU 9000 bytes" in typed(lab, *raised)
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 2
    assert lab.folder.ask("audit")["audit"]["tor-b"]["dirty"] is True
