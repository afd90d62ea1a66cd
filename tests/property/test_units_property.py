"""Arithmetic that must come back to where it began."""

from __future__ import annotations

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import units
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.capability import Limit
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.counters import counter_delta
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation import (
    NAMES,
    encapsulation_overhead,
    left_inside,
    underlay_needs,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation_table import (
    NAMED,
    TABLE,
    Count,
    Flag,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.link_limit import LinkEnd, largest_common
from hypothesis import assume, given
from hypothesis import strategies as st

PLATFORMS = st.sampled_from(["eos", "junos", "fastiron", "opnsense", "linux"])
TAGGING = st.sampled_from(["untagged", "tagged", "flexible"])
IP_MTU = st.integers(68, 65535)


@given(IP_MTU, PLATFORMS, TAGGING)
def test_ip_to_device_and_back(size, platform, tagging):
    number = units.device_mtu(size, platform, tagging)
    assert number >= size
    assert units.ip_mtu(number, platform, tagging) == size


@given(st.integers(90, 65535), PLATFORMS, TAGGING)
def test_a_device_number_never_means_more_than_it_sends(number, platform, tagging):
    size = units.ip_mtu(number, platform, tagging)
    assert units.device_mtu(size, platform, tagging) == number
    if size < 65535:
        assert units.device_mtu(size + 1, platform, tagging) > number


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


def values_of(option):
    if isinstance(option, Flag):
        return st.booleans()
    if isinstance(option, Count):
        return st.integers(0, (option.high - option.low) // option.step).map(lambda n: option.low + n * option.step)
    return st.sampled_from(option.words)


@st.composite
def stacks(draw, names=NAMES):
    """Stacks of up to four, with any options; those that contradict themselves are thrown away."""
    stack = []
    for name in draw(st.lists(st.sampled_from(names), max_size=4)):
        options = TABLE[NAMED[name][0]].options
        chosen = draw(st.lists(st.sampled_from(sorted(options)), unique=True)) if options else []
        stack.append({"type": name, "options": {option: draw(values_of(options[option])) for option in chosen}})
    try:
        encapsulation_overhead(stack)
    except JumboError:
        assume(False)
    return stack


@given(st.integers(1280, 20000), stacks())
def test_inside_and_outside_are_inverse_and_never_overstated(inner, stack):
    outer = underlay_needs(inner, stack)
    left = left_inside(outer, stack)
    # What is left has the same need, and one byte more has not: with ESP it is the inner size rounded up to its block.
    assert left >= inner
    assert underlay_needs(left, stack) == outer < underlay_needs(left + 1, stack)
    assert encapsulation_overhead(stack, inner) == outer - inner <= encapsulation_overhead(stack)
    if not any(item["type"].startswith("ipsec_esp") for item in stack):
        assert left == inner


@given(st.integers(1280, 20000), stacks())
def test_what_is_left_inside_always_fits(underlay, stack):
    try:
        left = left_inside(underlay, stack, least=68)
    except JumboError:
        assert underlay_needs(68, stack) > underlay
        return
    assert underlay_needs(left, stack) <= underlay < underlay_needs(left + 1, stack)
    assert left_inside(underlay_needs(left, stack), stack, least=68) == left


LIMITS = st.one_of(st.none(), st.integers(1280, 9500).map(lambda size: Limit(size, size, "a test")))


@given(st.integers(1280, 9214), LIMITS, LIMITS, st.tuples(PLATFORMS, PLATFORMS), st.tuples(TAGGING, TAGGING))
def test_both_ends_can_do_what_a_link_gets_and_one_cannot_do_more(wish, first, second, platforms, taggings):
    limits = (first, second)
    ends = [LinkEnd(n, p, t, limit) for n, p, t, limit in zip("ab", platforms, taggings, limits, strict=True)]
    found = largest_common("a - b", wish, ends)
    assert all(limit is None or found.ip_mtu <= limit.ip_mtu for limit in limits)
    assert found.ip_mtu <= wish
    if found.ip_mtu < wish:
        limit = limits["ab".index(found.limited_by)]
        assert limit.ip_mtu == found.ip_mtu
        assert found.limited_by in found.sentence
        assert all(str(end.own_number(found.ip_mtu)) in found.sentence for end in ends)
    else:
        assert found.limited_by is None


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32))
def test_a_counter_that_only_counted_gives_what_it_counted(before, counted):
    after = (before + counted) % 2**64
    found = counter_delta({"x": after}, {"x": before})["x"]
    if after >= before or found["wrapped"]:
        assert found["delta"] == counted
    else:
        assert found["reset"]
