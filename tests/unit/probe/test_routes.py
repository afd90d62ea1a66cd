"""Routes as `ip -d -o route show table all` prints them (captured from iproute2 6.1, kernel 6.18)."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe import routes as subject
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.errors import ProbeError

TEXT = """\
unicast 10.23.0.0/16 via 10.10.1.77 dev eth1 table 77 proto boot scope global onlink linkdown initcwnd 20 features ecn
unicast default via 10.9.0.1 dev eth2 table main proto boot scope global 
unicast 10.10.0.0/16 tos 0x10 via 10.10.1.1 dev eth1 table main proto static scope global src 10.10.1.11 metric 100 linkdown 
unicast 10.10.1.0/24 dev eth1 table main proto kernel scope link src 10.10.1.11 linkdown 
unicast 10.20.0.0/16 via 10.10.1.1 dev eth1 table main proto boot scope global mtu 1500 window 3000 advmss 1000 
unicast 10.21.0.0/16 via 10.10.1.1 dev eth1 table main proto boot scope global linkdown mtu lock 1500 
unicast 10.25.0.0/16 table main proto boot scope global \\	nexthop via 10.10.1.1 dev eth1 weight 2 linkdown \\	nexthop via 10.9.0.1 dev eth2 weight 1 
unicast 10.26.0.0/16 via inet6 fe80::1 dev eth1 table main proto boot scope global 
unicast 10.27.0.0/16  encap ip id 5 src 0.0.0.0 dst 1.2.3.4 ttl 0 tos 0 dev eth1 table main proto boot scope link 
blackhole 10.28.0.0/16 table main proto boot scope global 
unicast 10.24.0.0/16 nhid 5 via 10.10.1.1 dev eth1 table main proto boot scope global mtu 1400 \\	nh_info id 5 via 10.10.1.1 dev eth1 scope link proto unspec 
local 10.10.1.11 dev eth1 table local proto kernel scope host src 10.10.1.11 
"""  # noqa: E501, W291
ROUTES = {route.prefix: route for route in subject.parse_routes(TEXT)}


def test_fields_are_read():
    route = ROUTES["10.10.0.0/16"]
    assert (route.device, route.gateway, route.table, route.protocol) == ("eth1", "10.10.1.1", "main", "static")
    assert (route.metric, route.tos, route.source, route.mtu) == (100, "0x10", "10.10.1.11", None)
    assert ROUTES["0.0.0.0/0"].gateway == "10.9.0.1"
    assert ROUTES["10.10.1.11/32"].type == "local"
    assert ROUTES["10.26.0.0/16"].gateway == "fe80::1"
    assert (ROUTES["10.21.0.0/16"].mtu, ROUTES["10.21.0.0/16"].locked) == (1500, True)
    assert ROUTES["10.25.0.0/16"].nexthops == ("eth1", "eth2")
    assert ROUTES["10.28.0.0/16"].device is None


def test_the_text_can_be_given_back_without_marks():
    assert "linkdown" not in " ".join(route.text for route in ROUTES.values())
    assert ROUTES["10.10.0.0/16"].text == (
        "unicast 10.10.0.0/16 tos 0x10 via 10.10.1.1 dev eth1 table main proto static scope global"
        " src 10.10.1.11 metric 100"
    )


@pytest.mark.parametrize("mtu", [None, 1500, 9000])
def test_only_the_mtu_changes(mtu):
    route = ROUTES["10.20.0.0/16"]
    changed = subject.parse_routes(" ".join(route.tokens_with(mtu)))[0]
    assert changed.mtu == mtu
    assert changed.tokens_with(1500) == route.tokens_with(1500)
    assert changed.key == route.key


def test_routes_of_a_device_include_multipath_and_leave_local_out():
    assert [route.prefix for route in subject.of_device(ROUTES.values(), "eth2")] == ["0.0.0.0/0", "10.25.0.0/16"]
    assert "10.10.1.11/32" not in [route.prefix for route in subject.of_device(ROUTES.values(), "eth1")]


@pytest.mark.parametrize(
    ("prefix", "word"),
    [
        ("10.25.0.0/16", "multipath"),
        ("10.24.0.0/16", "nexthop object"),
        ("10.27.0.0/16", "encapsulation"),
        ("10.21.0.0/16", "locked"),
    ],
)
def test_what_cannot_be_edited_exactly_says_why(prefix, word):
    with pytest.raises(ProbeError, match=word):
        subject.require_editable(ROUTES[prefix], ROUTES.values())


def test_a_twin_is_refused_whatever_else_differs():
    other = subject.parse_routes("unicast 10.10.1.0/24 dev eth7 table main proto kernel scope link src 10.10.1.99")[0]
    with pytest.raises(ProbeError, match=r"exists 2 times with metric 0 and tos 0"):
        subject.require_editable(ROUTES["10.10.1.0/24"], [*ROUTES.values(), other])
    elsewhere = subject.parse_routes("unicast 10.10.1.0/24 dev eth7 table 9 proto kernel scope link")[0]
    subject.require_editable(ROUTES["10.10.1.0/24"], [*ROUTES.values(), elsewhere])


def test_differences_see_through_the_order_of_metrics_only():
    one = "unicast 10.0.0.0/8 dev eth1 table main mtu 1500 advmss 1000"
    same = "unicast 10.0.0.0/8 dev eth1 table main advmss 1000 mtu 1500"
    assert subject.differences([one], [same]) == []
    assert subject.differences([one, one], [same]) == [f"- {same}"]
    assert subject.differences([], [one]) == [f"+ {same}"]
