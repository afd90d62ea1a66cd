from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.changes import read_changes
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.errors import ProbeError


def change(**fields):
    return {"host": "h1", "object": "eth1", "field": "ip_mtu", "from": 1500, "to": 9000, **fields}


def test_objects_are_read():
    link, pin, lift = read_changes(
        [
            change(),
            change(field="route_mtu", **{"from": None, "to": 1500}),
            change(field="route_mtu", object="eth1 10.0.0.0/8"),
        ]
    )
    assert (link.interface, link.prefix, link.before, link.after) == ("eth1", None, 1500, 9000)
    assert (pin.field, pin.before) == ("route_mtu", None)
    assert (lift.prefix, lift.object) == ("10.0.0.0/8", "eth1 10.0.0.0/8")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"field": "speed"}, "was not understood"),
        ({"object": None}, "was not understood"),
        ({"object": "eth1 10.0.0.0/8"}, "no object of ip_mtu"),
        ({"object": "eth1 10.0.0.1/8", "field": "route_mtu"}, "is no prefix"),
        ({"object": "eth1 fd00::1/64", "field": "route_mtu"}, "is no prefix"),
        ({"from": None}, "None is no ip_mtu"),
        ({"to": "9000 "}, "'9000 ' is no ip_mtu"),
        ({"to": True}, "True is no ip_mtu"),
        ({"to": 0}, "0 is no ip_mtu"),
        ({"to": 65536}, "65536 is no ip_mtu"),
        ({"field": "persisted"}, "1500 is no persisted"),
    ],
)
def test_wrong_changes_are_named(wrong, words):
    with pytest.raises(ProbeError, match=words):
        read_changes([change(**wrong)])


@pytest.mark.parametrize("raw", [None, [], {}, "eth1", [7]])
def test_no_changes_at_all(raw):
    with pytest.raises(ProbeError):
        read_changes(raw)


def test_one_object_is_changed_once():
    with pytest.raises(ProbeError, match="asked for twice"):
        read_changes([change(), change(to=8000)])
