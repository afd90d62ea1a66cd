"""What a lab host boots into, and the original that comes back to the byte."""

from __future__ import annotations

import json

FAR = {"object": "eth1 10.10.2.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
RACK = {"object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}


def content(path):
    return json.loads(path.read_text())


def test_confirm_persists_pinned_persist_writes_lifts_revert_restores_the_bytes(a, kept, changes, original):
    a.do("apply", id="t1", within=60, changes=changes())
    assert kept.read_bytes() == original, "nothing is persisted before it is confirmed"
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
    assert kept.read_bytes() == original
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


def test_after_a_reboot_a_host_is_pinned_and_revert_needs_only_the_request(a, kept, changes, original):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[FAR])
    a.do("persist", id="t1")
    a.do("release", id="t1")
    a.reboot()
    state = a.do("read", interfaces=["eth1"])
    assert (state["guard"], state["interfaces"]["eth1"]["mtu"]) == (None, 9000)
    assert "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11 mtu 1500" in a.routes()
    assert [route["prefix"] for route in state["routes"] if route["ours"]] == ["224.0.0.0/4", "10.10.2.0/24"]

    done = a.do("pin", changes=[{**FAR, "from": 9000, "to": 1500}])["done"]
    assert done[-1].startswith("deleted eth1 10.10.2.0/24")
    assert not [text for text in content(kept)["routes"] if "10.10.2.0/24" in text]
    a.do("revert", id="t1", changes=[*changes(), FAR])
    assert (a.mtu(), a.routes()) == (1500, before)
    assert kept.read_bytes() == original


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


def test_what_a_boot_cannot_bring_back_is_not_confirmed_and_told_before_anything_is_touched(a, kept, changes, original):
    a.ip("route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird")
    told = a.do("read", interfaces=["eth1", "eth0"])["unpersistable_routes"]
    assert list(told) == ["eth1"]
    assert "10.60.0.0/16 via 10.10.1.1 dev eth1 table main proto bird" in told["eth1"][0]
    a.do("apply", id="t1", within=60, changes=changes())
    error = a.refused("confirm", id="t1")
    assert (error["object"], error["wish"]) == ("eth1", "persisted")
    assert "10.60.0.0/16" in error["message"]
    assert "static" in error["limit"]
    assert (kept.read_bytes(), a.state()) == (original, "armed"), "it still goes back by itself"
    a.do("revert", id="t1")
    assert "10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird \n" in a.routes()


def test_a_daemons_route_that_came_later_is_told_as_not_persisted(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[RACK])
    pinned = content(kept)
    a.ip("route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird mtu 1500")
    reply = a.do("persist", interfaces=["eth1"])
    assert reply["persisted"] is False
    assert "10.60.0.0/16" in reply["not_persisted"][0]
    assert content(kept) == pinned
    assert not a.do("release", interfaces=["eth1"])["released"], "its guard is needed as long as nothing is persisted"
    assert a.state() == "confirmed"


def test_a_host_without_a_backend_runs_only_and_has_nothing_to_tell(a, changes):
    a.ip("route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird")
    assert a.do("read", interfaces=["eth1"])["unpersistable_routes"] == {}
    a.do("apply", id="t1", within=60, changes=changes())
    assert a.do("confirm", id="t1")["persisted"] is None
    a.do("lift", changes=[RACK])
    assert a.do("persist", interfaces=["eth1"])["persisted"] is None
    assert not a.do("release", interfaces=["eth1"])["released"]
    assert a.state() == "confirmed"


def test_a_pin_leaves_the_boot_configuration_even_when_a_daemons_route_came_later(a, kept, changes):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.do("lift", changes=[RACK, FAR])
    a.do("persist", id="t1")
    a.ip("route add 10.60.0.0/16 via 10.10.1.1 dev eth1 proto bird mtu 1500")
    a.do("pin", changes=[{**RACK, "from": 9000, "to": 1500}, {**FAR, "from": 9000, "to": 1500}])
    assert not [text for text in content(kept)["routes"] if "10.10.2.0/24" in text]
    assert next(text for text in content(kept)["routes"] if "10.10.1.0/24" in text).endswith("mtu 1500")


def test_a_broken_file_is_named_and_left_alone(a, kept, changes):
    kept.write_text("{nonsense")
    a.do("apply", id="t1", within=60, changes=changes())
    error = a.refused("confirm", id="t1")
    assert (error["object"], "is not JSON" in error["message"]) == ("/etc/jumbo-lab.json", True)
    assert kept.read_text() == "{nonsense"
    a.do("revert", id="t1")
    assert a.mtu() == 1500
