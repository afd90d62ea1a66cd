"""Hosts with one interface, and an internet of 1500 behind a border that is a Linux machine: both stay in touch."""

import json

import pytest
from lab_helpers import wait_until
from lab_inventories import border_fabric
from rollout_helpers import fabric_of

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    path = tmp_path_factory.mktemp("border")
    source = border_fabric(path / "inventory", 92, jumbo_lab_traffic=0.2)
    with fabric_of(path, source) as fabric:
        yield fabric


def without_border(lab):
    """Return the extra variables by which the inventory says nothing of the border's links."""
    links = lab.lab.design.topology.intent.links
    kept = [link for link in links if "border1" not in {end.device for end in link.ends}]
    told = [{"ends": [str(end) for end in link.ends], "routing": link.routing} for link in kept]
    return ("-e", json.dumps({"jumbo_links": told}))


def outside(lab):
    """Return how many bytes the internet has received."""
    return int(lab.lab.run("inet", "cat", "/sys/class/net/eth0/statistics/rx_bytes"))


# Sends a marked probe that no pin bounds, and prints who answered with which MTU (linux/errqueue.h, RFC 1191).
ASK = """
import select, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 10, 3)
s.setsockopt(socket.IPPROTO_IP, 11, 1)
s.connect((sys.argv[1], 47900))
s.send(b"JUMBOPRB" + bytes(9000 - 28 - 8))
select.select([], [], [s], 5)
for _level, _kind, data in s.recvmsg(64, 512, socket.MSG_ERRQUEUE)[1]:
    if len(data) >= 24:
        print(socket.inet_ntoa(data[20:24]), struct.unpack("=IBBBBII", data[:16])[5])
"""


@pytest.mark.long
def test_a_border_is_raised_towards_the_fabric_and_answers_for_what_stays_at_1500(lab):
    before = outside(lab)
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["border1"]["eth1"], now["border1"]["eth2"], now["border1"]["eth3"]) == (9214, 9214, 1500)
    assert (now["spine1"]["Ethernet9"], now["spine2"]["Ethernet9"], now["h1"]["eth0"]) == (9214, 9214, 9000)
    routes = lab.lab.run("border1", "ip", "route", "show", "table", "all")
    assert " mtu " not in routes, routes
    booted = json.loads(lab.lab.run("border1", "cat", "/etc/jumbo-lab.json"))
    assert (booted["links"]["eth1"], booted["links"].get("eth3", 1500)) == (9214, 1500)
    reporter, mtu = lab.lab.run("h1", "python3", "-c", ASK, lab.lab.address("inet", "eth0")).split()
    assert mtu == "1500"
    assert reporter in lab.lab.run("border1", "ip", "-4", "address", "show")
    wait_until(lambda: outside(lab) > before + (1 << 20), what="transfers to the internet")
    assert lab.stalls() == []
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
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
