"""Routed aggregates and tagged links between switches: each member carries and limits for itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, wait_until
from lab_inventories import lag_fabric

pytest.importorskip("jnpr.junos")

from jnpr.junos.utils.config import Config

pytestmark = pytest.mark.lab

MEMBERS = ("xe-0/0/1", "xe-0/0/2")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    need_namespaces()
    path = tmp_path_factory.mktemp("lag")
    source = lag_fabric(path / "inventory", 171, jumbo_lab_traffic=0)
    done = lab_cli(path / "lab", "up", "-i", source, "--fault", "tap-1518@leaf2:xe-0/0/2")
    assert done.returncode == 0, done.stderr
    yield RunningLab(path / "lab", [source])
    lab_cli(path / "lab", "down")


def junos(lab: RunningLab, *lines: str) -> None:
    device = lab.netconf("leaf2")
    config = Config(device)
    config.load("\n".join(lines), format="set")
    config.commit()
    device.close()


def received(lab: RunningLab) -> list[int]:
    plane = lab.plane("leaf2")
    return [plane.counters(name).input_packets for name in MEMBERS]


def by_spine1(lab: RunningLab) -> bool:
    return "dev ae0" in lab.run("leaf2", "ip", "route", "show", "10.1.0.0/24")


def cross(lab: RunningLab, ip_mtu: int = 1500) -> tuple[int, list[int]]:
    """Send 24 flows to leaf2's host by spine1; return how many arrive, and what each member has received meanwhile."""
    before = received(lab)
    text = (
        "import socket, sys\n"
        "for port in range(24):\n"
        "    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:\n"
        "        one.setsockopt(socket.IPPROTO_IP, 10, 3)\n"
        f"        one.sendto(bytes({ip_mtu} - 28), (sys.argv[1], 40000 + port))\n"
    )
    counted = "/sys/class/net/eth0/statistics/rx_packets"
    had = int(lab.run("h3", "cat", counted))
    lab.run("spine1", "python3", "-c", text, lab.address("h3", "eth0"))
    now = received(lab)
    return int(lab.run("h3", "cat", counted)) - had, [b - a for a, b in zip(before, now, strict=True)]


def test_the_flows_of_an_aggregate_part_to_its_members(lab: RunningLab) -> None:
    assert by_spine1(lab)
    arrived, members = cross(lab)
    assert arrived >= 24
    assert min(members) > 0, members


def test_what_the_front_ends_tell(lab: RunningLab) -> None:
    shown = lab.eapi("spine1", "show interfaces")["result"][0]["interfaces"]
    assert (shown["Port-Channel2"]["lineProtocolStatus"], shown["Port-Channel2"]["mtu"]) == ("up", 1500)
    assert sorted(shown["Port-Channel2"]["memberInterfaces"]) == ["Ethernet11", "Ethernet12"]
    tagged = lab.eapi("spine2", "show interfaces")["result"][0]["interfaces"]["Ethernet2.100"]
    assert (tagged["hardware"], tagged["lineProtocolStatus"], tagged["mtu"]) == ("subinterface", "up", 1500)
    device = lab.netconf("leaf2")
    found = device.rpc.get_interface_information(normalize=True)
    device.close()
    sizes = {entry.findtext("name"): entry.findtext("mtu") for entry in found.iter("physical-interface")}
    assert {name: sizes[name] for name in ("ae0", *MEMBERS, "xe-0/0/3")} == {
        "ae0": "1514",
        "xe-0/0/1": "1514",
        "xe-0/0/2": "1514",
        "xe-0/0/3": "1518",
    }


def test_a_tap_in_the_cable_of_one_member_loses_the_flows_of_that_member_only(lab: RunningLab) -> None:
    ports = ("ae0", "irb", "xe-0/0/11")
    junos(lab, *(f"set interfaces {name} mtu 9014" for name in ports))
    eos = ["enable", "configure", "interface Port-Channel2"]
    lab.eapi("spine1", *eos, "mtu 9000")
    lab.plane("h3").set_ip_mtu("eth0", 9000)
    wait_until(lambda: lab.limits_follow("h3"), what="h3 takes in what its link says")
    wait_until(lambda: by_spine1(lab), what="the session over the aggregate is back")
    arrived, members = cross(lab, 9000)
    assert 0 < arrived < 24
    assert (members[0] > 0, members[1]) == (True, 0)
    lab.eapi("spine1", *eos, "no mtu")
    junos(lab, *(f"delete interfaces {name} mtu" for name in ports))


def test_a_member_that_is_off_leaves_its_flows_to_the_other_and_without_both_the_other_spine_is_taken(
    lab: RunningLab,
) -> None:
    plane = lab.plane("spine1")
    plane.set_up("Ethernet12", False)
    wait_until(lambda: cross(lab)[1][0] >= 24, what="all flows take the member that is left")
    plane.set_up("Ethernet11", False)
    wait_until(lambda: not lab.plane("leaf2").is_up("ae0"), what="the far end sees it")
    for name in ("Ethernet11", "Ethernet12"):
        plane.set_up(name, True)
    wait_until(lambda: lab.plane("leaf2").is_up("ae0"), what="the aggregate is back")
    wait_until(lambda: min(cross(lab)[1]) > 0, what="both carry again")
