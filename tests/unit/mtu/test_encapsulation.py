"""What encapsulations cost, against figures of their documents and of known implementations."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation import (
    NAMES,
    encapsulation_overhead,
    left_inside,
    underlay_needs,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation_table import TABLE
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError


def item(name, **options):
    return {"type": name, "options": options}


@pytest.mark.parametrize(
    ("given", "overhead"),
    [
        (["vxlan"], 50),
        (["vxlan6"], 70),
        ([item("vxlan", inner_tagged=True)], 54),
        ([item("vxlan6", inner_tagged=True)], 74),
        (["geneve"], 50),
        ([item("geneve", option_bytes=8)], 58),
        ([item("geneve6", option_bytes=252, inner_tagged=True)], 326),
        (["gre"], 24),
        ([item("gre", key=True)], 28),
        ([item("gre", key=True, sequence=True, checksum=True)], 36),
        ([item("gre6", encapsulation_limit=True)], 52),  # what Linux takes off an ip6gre device
        (["l2gre"], 42),
        ([item("l2gre", key=False)], 38),
        (["nvgre"], 42),
        (["ipip"], 20),
        (["ipip6"], 40),
        ([item("ipip6", encapsulation_limit=True)], 48),  # Linux gives an ip6tnl device 1452 of 1500
        (["wireguard"], 60),
        (["wireguard6"], 80),
        (["gtpu"], 36),
        (["mpls"], 4),
        ([item("mpls", labels=3)], 12),
        ([item("mpls", labels=2, inner_ethernet=True, control_word=True, inner_tagged=True)], 30),
        (["qinq"], 4),
        ([item("qinq", tags=2)], 8),
        (["macsec"], 32),  # Linux gives a macsec device 1468 of 1500
        ([item("macsec", sci=False)], 24),
        ([item("macsec", sci=False, icv_bytes=8)], 16),
        (["pppoe"], 8),
        ([item("erspan", type="I")], 38),
        (["erspan"], 50),
        ([item("erspan", type="III")], 54),
        ([item("erspan6", type="III", platform_header=True)], 82),
        (["srv6"], 64),
        ([item("srv6", segments=3)], 96),
        ([item("srv6", segments=3, reduced=True)], 80),
        ([item("srv6", reduced=True)], 40),  # one segment, reduced: no routing header at all
        ([item("srv6", segments=2, inner_ethernet=True)], 94),
        (["ipsec_esp"], 57),  # 20 + 8 + 8 + 2 + 16 and up to 3 of padding
        ([item("ipsec_esp", mode="transport", nat_t=True)], 45),
        (["mpls", "vxlan"], 54),
        ("vxlan", 50),
        ({"type": "vxlan", "options": None}, 50),
        ([], 0),
    ],
)
def test_encapsulation_overhead(given, overhead):
    assert encapsulation_overhead(given) == overhead


@pytest.mark.parametrize(
    ("stack", "inner", "underlay"),
    [
        (["vxlan"], 9000, 9050),
        (["vxlan"], 8950, 9000),  # guests
        (["vxlan6"], 9000, 9070),
        ([], 9000, 9000),
        # AES-GCM in a tunnel: 9000 and a trailer of 2 are padded to 9004; 52 of headers, IV and ICV.
        (["ipsec_esp"], 9002, 9056),
        (["ipsec_esp"], 1446, 1500),  # what Linux gives
        ([item("ipsec_esp", nat_t=True)], 1438, 1500),
        ([item("ipsec_esp", cipher="aes_cbc_sha1")], 1438, 1496),
        ([item("ipsec_esp", cipher="aes_cbc_sha256", nat_t=True)], 1422, 1492),
        ([item("ipsec_esp6")], 1426, 1500),
        # In transport mode the 20 bytes of the IP header are not padded: 1438 and the trailer are 90 blocks of 16.
        ([item("ipsec_esp", mode="transport", cipher="aes_cbc_sha1")], 1458, 1496),
        ([item("ipsec_esp", mode="transport"), "vxlan"], 8916, 9000),
        (["ipsec_esp", "vxlan"], 8896, 9000),
        (["macsec", "mpls", "vxlan"], 8914, 9000),
    ],
)
def test_what_fits_exactly(stack, inner, underlay):
    assert underlay_needs(inner, stack) <= underlay < underlay_needs(inner + 1, stack)
    assert left_inside(underlay, stack) == inner


def test_esp_pads_by_what_the_size_leaves():
    assert [underlay_needs(size, ["ipsec_esp"]) for size in range(8998, 9004)] == [9052, 9056, 9056, 9056, 9056, 9060]
    assert encapsulation_overhead(["ipsec_esp"], 9000) == 56


def test_the_order_counts_where_something_pads():
    cbc = item("ipsec_esp", cipher="aes_cbc_sha1")
    assert underlay_needs(9000, [cbc, "gre"]) != underlay_needs(9000, ["gre", cbc])


def test_every_name_has_an_overhead_and_every_row_a_source():
    assert all(encapsulation_overhead([name]) > 0 for name in NAMES)
    assert {name.rstrip("6") if name not in TABLE else name for name in NAMES} == set(TABLE)
    assert all(row.source for row in TABLE.values())


BAD = [
    (["vxlna"], "vxlan"),
    ([5], "vxlan"),
    (7, "a list"),
    ([{"name": "gre"}], "gre"),
    ([{"type": "gre", "options": 3}], "{option: value}"),
    ([item("gre", keys=1)], "checksum, encapsulation_limit, key, sequence"),
    ([item("wireguard", mode="tunnel")], "none"),
    ([item("gre", key="no")], "true, false"),
    ([item("mpls", labels="2")], "1-16"),
    ([item("mpls", labels=0)], "1-16"),
    ([item("geneve", option_bytes=6)], "0-252 in steps of 4"),
    ([item("macsec", icv_bytes=32)], "8-16"),
    ([item("erspan", type="IV")], "I, II, III"),
    ([item("srv6", segments=128)], "1-127"),
    ([item("ipsec_esp", cipher="rot13")], "aes_gcm"),
    ([item("ipsec_esp", mode="x")], "tunnel, transport"),
    # contradictions
    ([item("mpls", control_word=True)], "inner_ethernet"),
    ([item("mpls", inner_tagged=True)], "inner_ethernet"),
    ([item("gre", encapsulation_limit=True)], "IPv6"),
    ([item("erspan", type="I", platform_header=True)], "III"),
    ([item("ipsec_esp", mode="transport"), "vxlan6"], "same IP version"),
    ([item("ipsec_esp6", mode="transport"), "gre"], "same IP version"),
    ([item("ipsec_esp", mode="transport"), "mpls"], "same IP version"),
]


@pytest.mark.parametrize(("given", "allowed"), BAD)
def test_bad_encapsulations_are_told_with_what_is_allowed(given, allowed):
    with pytest.raises(JumboError) as caught:
        encapsulation_overhead(given)
    assert allowed in str(caught.value.limit)


def test_a_misspelt_name_is_answered_with_the_likely_one():
    with pytest.raises(JumboError, match="Did you mean wireguard"):
        encapsulation_overhead(["wiregard"])


def test_less_than_ipv6_needs_is_refused_with_the_way_out():
    assert left_inside(1330, ["vxlan"]) == 1280
    with pytest.raises(JumboError) as caught:
        left_inside(1329, ["vxlan"])
    told = str(caught.value)
    assert "vxlan in an underlay of 1329 leaves 1279 bytes" in told
    assert caught.value.limit == "1330-65535"
    assert "Raise the underlay to 1330" in told
    assert left_inside(1329, ["vxlan"], least=68) == 1279


@pytest.mark.parametrize("stack", [["vxlan"], ["srv6"] * 1200])
def test_packets_above_what_ip_can_be_are_refused(stack):
    with pytest.raises(JumboError, match="would make packets of"):
        underlay_needs(65500, stack)
    assert underlay_needs(65485, ["vxlan"]) == 65535


def test_a_stack_that_no_underlay_carries_is_refused():
    with pytest.raises(JumboError) as caught:
        left_inside(9000, ["srv6"] * 1200)
    assert caught.value.limit == "fewer encapsulations"
