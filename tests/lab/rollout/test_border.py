"""Hosts with one interface, and an internet of 1500 behind a border that is a Linux machine: both stay in touch."""

import json

import pytest
from lab_helpers import lab_cli, wait_until
from lab_inventories import border_fabric
from rollout_helpers import Fabric

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    path = tmp_path_factory.mktemp("border")
    source = border_fabric(path / "inventory", 92, jumbo_lab_traffic=0.2)
    done = lab_cli(path / "lab", "up", "-i", source)
    assert done.returncode == 0, done.stderr
    fabric = Fabric(path / "lab", [source], path / "evidence")
    try:
        yield fabric
        fabric.check_violations()
    finally:
        lab_cli(path / "lab", "down")


def without_border(lab):
    """Return the extra variables by which the inventory says nothing of the border's links."""
    links = lab.lab.design.topology.intent.links
    kept = [link for link in links if "border1" not in {end.device for end in link.ends}]
    told = [{"ends": [str(end) for end in link.ends], "routing": link.routing} for link in kept]
    return ("-e", json.dumps({"jumbo_links": told}))


def outside(lab):
    """Return how many bytes the internet has received."""
    return int(lab.lab.run("inet", "cat", "/sys/class/net/eth0/statistics/rx_bytes"))


def test_a_border_whose_links_are_to_be_raised_is_refused_by_name(lab):
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (2, "failed"), outcome.output
    assert "border1:eth1: this machine routes for others" in outcome.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}


@pytest.mark.long
def test_a_border_that_is_left_alone_is_reached_at_1500_all_the_time(lab):
    before = outside(lab)
    outcome = lab.play("rollout", *without_border(lab))
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["h1"]["eth0"], now["h3"]["eth0"], now["leaf1"]["Ethernet1"]) == (9000, 9000, 9214)
    assert set(now["border1"].values()) == {1500}
    assert (now["spine1"]["Ethernet9"], now["spine2"]["Ethernet9"]) == (1500, 1500)
    way = lab.lab.run("h1", "ip", "route", "get", lab.lab.address("inet", "eth0"))
    assert "dev eth0" in way
    assert "mtu 1500" in lab.lab.run("h1", "ip", "route", "show", "default")
    assert lab.lab.ping("h1", lab.lab.address("h3"), 9000).received == 2
    wait_until(lambda: outside(lab) > before + (1 << 20), what="transfers to the internet")
    assert lab.stalls() == []
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
