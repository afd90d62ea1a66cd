"""The driver as the controller uses it, on a host in namespaces: what it reports is what the host then has."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.linux import LinuxDriver

RACK = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
FAR = {"object": "eth1 10.10.2.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
PERSISTED = {"object": "eth1", "field": "persisted", "from": False, "to": True}
BIRD = "route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird mtu 1500"


@pytest.fixture
def driver(a):
    def run(request, _new_connection):
        reply = a.ask(**request)
        if not reply["ok"]:
            raise JumboError(**{key: value for key, value in reply["error"].items() if key != "undone"})
        return reply

    return LinuxDriver(Access("a", "linux", "192.0.2.1", run_program=run))


@pytest.fixture
def raised(driver, kept, changes):
    handle = driver.apply(changes(), 120, "r1-leaf.host_link")
    driver.confirm(handle)
    return handle


def boot_lifts(host):
    lines = [text for text in host.boot()["routes"] if "dev eth1" in text]
    return [text for text in lines if not text.endswith("mtu 1500")]


def test_a_whole_roll_out_with_a_reboot_in_the_middle_and_all_the_way_back(a, driver, raised, kept, original):
    a.reboot()
    lifted = driver.apply([RACK, FAR], 0, "r1-leaf.lift")
    persisted = driver.apply([PERSISTED], 0, "r1-soak.persist")
    assert len(boot_lifts(a)) == 2
    assert "+boot route unicast 10.10.2.0/24 via" in persisted["diff"]
    assert a.processes() == []
    for handle in (lifted, persisted, raised):
        assert driver.revert(handle) == {"reverted": True, "notes": []}
    assert (a.mtu(), "mtu" in a.routes(), kept.read_bytes()) == (1500, False, original)
    assert a.processes() == []


def test_a_run_that_only_persisted_takes_back_just_that(a, driver, raised):
    driver.apply([RACK, FAR], 0, "r1-leaf.lift")
    persisted = driver.apply([PERSISTED], 0, "r2-soak.persist")
    assert len(boot_lifts(a)) == 2
    driver.revert(persisted)
    assert boot_lifts(a) == []
    state = driver.read(interfaces=["eth1"])
    assert "10.10.2.0/24" in [route["prefix"] for route in state["routes"]]
    assert [guard["state"] for guard in state["guards"]] == ["confirmed"], "they are in memory only, and kept"


def test_a_daemons_route_is_an_error_at_every_door(a, driver, raised):
    driver.apply([RACK], 0, "r1-leaf.lift")
    a.ip(BIRD)
    assert "proto bird" in driver.read(interfaces=["eth1"])["unpersistable_routes"]["eth1"][0]
    with pytest.raises(JumboError, match="proto bird"):
        driver.apply([PERSISTED], 0, "r1-soak.persist")
    with pytest.raises(JumboError, match="proto bird"):
        driver.confirm(raised)
    assert driver.read(interfaces=["eth1"])["guard"]["state"] == "confirmed"


def test_somebody_elses_link_is_named_with_the_host(a, driver, raised):
    a.ip("link set eth1 mtu 4000")
    with pytest.raises(JumboError, match="neither 9000 nor 1500"):
        driver.revert(raised)
