"""What a lab host boots into, and the original that comes back to the byte."""

from __future__ import annotations

import json

import pytest

ORIGINAL = b'{"links": {"eth0": 1500},\n  "routes": ["10.5.0.0/16 via 10.9.0.1 dev eth0"], "note": "hands off"}\n'
FAR = {"object": "eth1 10.10.2.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
RACK = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}


@pytest.fixture
def kept(a):
    """Return a lab host's file."""
    path = a.file("/etc/jumbo-lab.json")
    path.write_bytes(ORIGINAL)
    return path


def content(path):
    return json.loads(path.read_text())


def reboot(a, path):
    """Bring the host up as its boot would: nothing remembered, the file applied."""
    a.run("sh", "-c", "rm -rf /run/jumbo-fabric; ip rule del pref 9047; ip route flush table 9047; true")
    a.ip("link set eth1 mtu 1500 down\nlink set eth1 up")
    a.ip("route replace 10.10.0.0/16 via 10.10.1.1 dev eth1 src 10.10.1.11 proto static")
    data = content(path)
    routes = [f"route replace {text}" for text in data["routes"] if "eth1" in text]
    links = [f"link set {name} mtu {mtu}" for name, mtu in data["links"].items()]
    a.ip("\n".join(routes + [f"rule add {text}" for text in data.get("rules", [])] + links))


def test_confirm_persists_pinned_persist_writes_lifts_revert_restores_the_bytes(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    assert kept.read_bytes() == ORIGINAL, "nothing is persisted before it is confirmed"
    assert a.do("confirm", id="t1")["persisted"] is True
    data = content(kept)
    assert (data["links"], data["note"]) == ({"eth0": 1500, "eth1": 9000}, "hands off")
    assert data["routes"][0] == "10.5.0.0/16 via 10.9.0.1 dev eth0"
    assert all(text.endswith("mtu 1500") for text in data["routes"][1:])
    assert len(data["routes"]) == 4

    a.do("lift", changes=[RACK, FAR])
    assert content(kept) == data, "a lift is not persisted by itself"
    reply = a.do("persist", id="t1")
    assert reply["lifts"] == {"eth1": {"10.10.1.0/24": 9000, "10.10.2.0/24": 9000}}
    texts = content(kept)["routes"]
    assert "unicast 10.10.1.0/24 dev eth1 table main proto kernel scope link src 10.10.1.11" in texts
    assert "unicast 10.10.2.0/24 via 10.10.1.1 dev eth1 table main proto 147 scope global src 10.10.1.11" in texts
    assert a.do("read", interfaces=["eth1"])["persisted"] == content(kept)
    a.do("release", id="t1")

    assert a.do("revert", id="t1", changes=changes())["persisted"] is True
    assert kept.read_bytes() == ORIGINAL
    assert [path.name for path in kept.parent.glob("*jumbo-lab*")] == ["jumbo-lab.json"]


def test_a_pin_takes_a_persisted_lift_along(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[FAR])
    a.do("persist", id="t1")
    a.do("pin", changes=[{**FAR, "from": 9000, "to": 1500}])
    assert not [text for text in content(kept)["routes"] if "10.10.2.0/24" in text]
    assert content(kept)["links"]["eth1"] == 9000


def test_the_persisted_mark_alone_is_taken_back_to_pins(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    pinned = content(kept)
    a.do("lift", changes=[RACK])
    a.do("persist", id="t1")
    assert content(kept) != pinned
    a.do("revert", id="t1", changes=[{"object": "eth1", "field": "persisted", "from": False, "to": True}])
    assert content(kept) == pinned
    assert "proto kernel scope link src 10.10.1.11 \n" in a.routes(), "the lift itself is still there"


def test_after_a_reboot_a_host_is_pinned_and_revert_needs_only_the_request(a, kept, changes):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[FAR])
    a.do("persist", id="t1")
    a.do("release", id="t1")
    reboot(a, kept)
    state = a.do("read", interfaces=["eth1"])
    assert (state["guard"], state["interfaces"]["eth1"]["mtu"]) == (None, 9000)
    assert "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 mtu 1500" in a.routes()
    assert [route["prefix"] for route in state["routes"] if route["ours"]] == ["224.0.0.0/4", "10.10.2.0/24"]

    done = a.do("pin", changes=[{**FAR, "from": 9000, "to": 1500}])["done"]
    assert done[-1].startswith("deleted eth1 10.10.2.0/24")
    assert not [text for text in content(kept)["routes"] if "10.10.2.0/24" in text]
    a.do("revert", id="t1", changes=[*changes(), FAR])
    assert (a.mtu(), a.routes()) == (1500, before)
    assert kept.read_bytes() == ORIGINAL


def test_somebody_elses_entries_survive_a_revert(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    data = content(kept)
    data["links"]["eth0"] = 1400
    kept.write_text(json.dumps(data))
    a.do("revert", id="t1")
    assert content(kept)["links"] == {"eth0": 1400}
    assert content(kept)["routes"] == ["10.5.0.0/16 via 10.9.0.1 dev eth0"]
    assert content(kept)["note"] == "hands off"


def test_routes_of_a_daemon_are_not_persisted_as_if_they_were_configuration(a, kept, changes):
    a.ip("route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird")
    a.do("apply", id="t1", within=60, changes=changes())
    reply = a.do("confirm", id="t1")
    assert reply["persisted"] is False
    assert "10.60.0.0/16" in reply["not_persisted"][0]
    assert kept.read_bytes() == ORIGINAL
    a.do("revert", id="t1")
    assert "10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird \n" in a.routes()


def test_a_broken_file_is_named_and_left_alone(a, kept, changes):
    kept.write_text("{nonsense")
    a.do("apply", id="t1", within=60, changes=changes())
    error = a.refused("confirm", id="t1")
    assert (error["object"], "is not JSON" in error["message"]) == ("/etc/jumbo-lab.json", True)
    assert kept.read_text() == "{nonsense"
    a.do("revert", id="t1")
    assert a.mtu() == 1500
