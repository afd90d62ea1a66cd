"""Senders that no pin bounds: what preflight makes of them, and how a waiver reaches the host."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.linux import LinuxDriver
from ansible_collections.jumbo.fabric.plugins.plugin_utils.access import _waived
from ansible_collections.jumbo.fabric.plugins.plugin_utils.exposure import exposures

HEARD = {"interface": "eth1", "kind": "multicast", "destination": "239.1.1.1", "ip_mtu": 4028, "packets": 9}
SEGMENTS = [
    {"name": "backend1", "members": ["leaf1:Vlan10", "h1:eth1", "h2"]},
    {"name": "frontend1", "members": ["h1:eth0"]},
]


class Intent:
    baseline_ip_mtu = 1500

    def __init__(self, waived):
        self.accepted = waived

    def waived(self, kind, *objects):
        return kind == "exposure" and self.accepted in objects


class Topology:
    """One segment with one host."""

    def __init__(self, waived=None):
        self.intent = Intent(waived)

    def jumbo_segments(self):
        return [type("Segment", (), {"name": "backend1"})()]

    def hosts_in(self, _segment):
        return [type("End", (), {"device": "h1", "interface": "eth1"})()]


def ask(reply, waived=None, fragments=5):
    asked = []

    def run(request, _new):
        asked.append(request)
        if isinstance(reply, Exception):
            raise reply
        return {"exposed": reply}

    states = {"h1": {"interfaces": {"eth1": {}}, "fragments_sent": fragments}}
    found = exposures(Topology(waived), states, {"h1": Access("h1", "linux", "192.0.2.1", run_program=run)})
    return asked, found


def test_a_sender_above_the_old_size_blocks_unless_it_is_waived():
    (request,), (finding,) = ask([HEARD])
    assert (request["verb"], request["interfaces"], request["limit"]) == ("senders", ["eth1"], 1500)
    assert finding["blocking"]
    assert (finding["host"], finding["interface"]) == ("h1", "eth1")
    for word in ("239.1.1.1", "4028", "backend1"):
        assert word in finding["evidence"]
    _asked, (accepted,) = ask([HEARD], waived="backend1")
    assert not accepted["blocking"]
    assert "waiver: exposure" in accepted["reason"]


def test_a_host_that_never_sent_a_fragment_is_not_listened_to_and_one_that_cannot_tell_is():
    assert ask([HEARD], fragments=0) == ([], [])
    assert len(ask([], fragments=None)[0]) == 1


def test_what_could_not_be_watched_blocks():
    _asked, (finding,) = ask(JumboError("the program needs CAP_NET_RAW", host="h1"))
    assert finding["blocking"]
    assert "CAP_NET_RAW" in finding["evidence"]


@pytest.mark.parametrize(
    ("host", "waivers", "interfaces"),
    [
        ("h1", [{"kind": "exposure", "object": "backend1", "reason": "known"}], ["eth1"]),
        ("h2", [{"kind": "exposure", "object": "backend1", "reason": "known"}], ["*"]),
        ("h1", [{"kind": "only_path", "object": "backend1", "reason": "known"}], []),
        ("h1", [{"kind": "exposure", "object": "backend2", "reason": "known"}], []),
        ("h1", None, []),
    ],
)
def test_a_waiver_reaches_the_hosts_of_its_segment(host, waivers, interfaces):
    assert list(_waived(host, {"jumbo_waivers": waivers, "jumbo_segments": SEGMENTS})) == interfaces


@pytest.mark.parametrize(("waived", "told"), [({"eth1"}, True), ({"*"}, True), ({"eth0"}, False), (set(), False)])
def test_the_host_is_told_with_the_change(waived, told):
    asked = []

    def run(request, _new):
        asked.append(request)
        return {"before": {}, "after": {}}

    driver = LinuxDriver(Access("h1", "linux", "192.0.2.1", run_program=run, waived=frozenset(waived)))
    driver.apply([{"object": "eth1", "field": "route_mtu", "from": None, "to": 1500}], 60, "r1-s1")
    assert (asked[0]["changes"][0].get("exposure") == "waived") is told
