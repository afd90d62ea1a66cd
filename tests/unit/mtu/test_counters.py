"""Wrap and clear told apart, and drift."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.counters import counter_delta, has_restarted, mtu_drift
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.growth import growth


@pytest.mark.parametrize(
    ("after", "before", "delta", "reset", "wrapped"),
    [
        (5, 3, 2, False, False),
        (3, 3, 0, False, False),
        (10, 2**32 - 6, 16, False, True),
        (0, 2**64 - 1, 1, False, True),
        (4, 1000, 4, True, False),
        (0, 2**31, 0, True, False),
        (None, 4, None, False, False),
        (4, None, None, False, False),
        ("4", 1, None, False, False),
    ],
)
def test_counter_delta(after, before, delta, reset, wrapped):
    assert counter_delta({"x": after}, {"x": before}) == {"x": {"delta": delta, "reset": reset, "wrapped": wrapped}}


@pytest.mark.parametrize("after", [0, 3, 7, 2**32 - 1])
@pytest.mark.parametrize("before", [0, 3, 2**32 - 6])
def test_after_a_restart_every_counter_began_anew(after, before):
    assert counter_delta({"x": after}, {"x": before}, restarted=True)["x"] == {
        "delta": after,
        "reset": True,
        "wrapped": False,
    }


@pytest.mark.parametrize(
    ("before", "after", "restarted"),
    [
        ((1000, 50.0), (1010, 60.0), False),
        ((1020, 50.0), (1020, 100.0), False),  # told in whole minutes
        ((1000, 50.0), (20, 60.0), True),
        ((10, 50.0), (60, 650.0), True),  # up for longer than then, and not for as long as since then
        ((1000, None), (999, None), True),
        ((1000, None), (1000, 60.0), False),
        ((None, 50.0), (20, 60.0), None),
        ((1000, 50.0), (None, 60.0), None),
    ],
)
def test_a_restart_is_told_by_the_uptime(before, after, restarted):
    def state(told):
        return {"up_seconds": told[0], "read_at": told[1]}

    assert has_restarted(state(after), state(before)) is restarted


def test_growth_over_a_restart_is_what_was_counted_since():
    def reading(up, oversize, packets):
        counters = {"oversize": oversize, "input_packets": packets}
        return {"leaf5": {"up_seconds": up, "interfaces": {"Ve10": {"counters": counters}}}}

    found = growth(reading(9000, 3, 5), reading(60, 4, 80))
    assert (found.too_long, found.packets, found.cleared) == ({"leaf5:Ve10": 4}, {"leaf5:Ve10": 80}, ("leaf5:Ve10",))
    assert growth(reading(9000, 3, 5), reading(9060, 4, 80)).too_long == {"leaf5:Ve10": 1}


def test_counters_of_one_reading_only():
    found = counter_delta({"a": 1}, {"b": 1})
    assert found["a"]["delta"] is None
    assert found["b"]["delta"] is None


def test_drift_kinds():
    observed = {
        "leaf1": {"interfaces": {"Ethernet1": {"ip_mtu": 1500}, "Ethernet2": {"ip_mtu": 9214, "persisted_mtu": 1500}}},
        "leaf2": {"Ethernet1": {"ip_mtu": None}, "Ethernet2": 9400},
        "leaf3": [{"name": "Ethernet1", "ip_mtu": 9214, "persisted_mtu": 9214}],
    }
    wanted = {
        "leaf1": {"Ethernet1": 9214, "Ethernet2": 9214, "Ethernet3": 9214},
        "leaf2": {"Ethernet1": 9214, "Ethernet2": 9214},
        "leaf3": {"Ethernet1": 9214},
        "leaf4": {"Ethernet1": 9214},
    }
    found = {(d["host"], d["interface"]): (d["kind"], d["observed"]) for d in mtu_drift(observed, wanted)}
    assert found == {
        ("leaf1", "Ethernet1"): ("low", 1500),
        ("leaf1", "Ethernet2"): ("not_persisted", 1500),
        ("leaf1", "Ethernet3"): ("missing", None),
        ("leaf2", "Ethernet1"): ("unknown", None),
        ("leaf2", "Ethernet2"): ("high", 9400),
        ("leaf4", "Ethernet1"): ("not_read", None),
    }


def test_growth_takes_states_and_plain_counters():
    before = {
        "leaf1": {"interfaces": {"Ethernet1": {"counters": {"oversize": 1, "input_packets": 5}}}},
        "h1:eth1": {"oversize": 7},
    }
    after = {
        "leaf1": {"interfaces": {"Ethernet1": {"counters": {"oversize": 4, "input_packets": 9}}}},
        "h1:eth1": {"oversize": 0},
    }
    found = growth(before, after)
    assert dict(found.too_long) == {"leaf1:Ethernet1": 3, "h1:eth1": 0}
    assert found.cleared == ("h1:eth1",)
    assert dict(found.packets) == {"leaf1:Ethernet1": 4}


def test_growth_names_devices_read_once():
    assert growth({"leaf1": {"interfaces": {}}}, {"leaf1": {"error": "gone"}}).missing == ("leaf1",)
