"""Arithmetic that must come back to where it began."""

from __future__ import annotations

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import units
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.counters import counter_delta
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation import NAMES, encapsulation_overhead
from hypothesis import given
from hypothesis import strategies as st

PLATFORMS = st.sampled_from(["eos", "junos", "fastiron", "opnsense", "linux"])
TAGGING = st.sampled_from(["untagged", "tagged", "flexible"])
IP_MTU = st.integers(68, 65535)


@given(IP_MTU, PLATFORMS, TAGGING)
def test_ip_to_device_and_back(size, platform, tagging):
    number = units.device_mtu(size, platform, tagging)
    assert number >= size
    assert units.ip_mtu(number, platform, tagging) == size


@given(IP_MTU, TAGGING)
def test_frames_carry_what_they_were_made_for(size, tagging):
    assert units.frame_to_ip_mtu(size + units.LAYER2[tagging], tagging) == size


@given(st.integers(1280, 65535), st.sampled_from([4, 6]))
def test_probe_and_segment_fit_their_packet(size, family):
    assert units.ping_payload(size, family) + (28 if family == 4 else 48) == size
    assert units.tcp_mss(size, family, True) == units.tcp_mss(size, family) - 12


@given(st.integers(2, 64))
def test_enough_flows_miss_no_path(width):
    flows = units.flows_needed(width)
    assert width * (1 - 1 / width) ** flows <= 1e-6
    assert width * (1 - 1 / width) ** (flows - 1) > 1e-6


@given(st.lists(st.sampled_from(NAMES), max_size=4))
def test_overheads_add_up(names):
    assert encapsulation_overhead(names) == sum(encapsulation_overhead([name]) for name in names)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32))
def test_a_counter_that_only_counted_gives_what_it_counted(before, counted):
    after = (before + counted) % 2**64
    found = counter_delta({"x": after}, {"x": before})["x"]
    if after >= before or found["wrapped"]:
        assert found["delta"] == counted
    else:
        assert found["reset"]
