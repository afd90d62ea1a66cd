"""What the Linux driver asks a host, and what it makes of the answers; the host is a list of replies."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.linux import LinuxDriver, guard_id, pending_of

LINK = {"host": "h1", "object": "eth1", "field": "ip_mtu", "from": 1500, "to": 9000}
PIN = {"host": "h1", "object": "eth1", "field": "route_mtu", "from": None, "to": 1500}
LIFT = {"host": "h1", "object": "eth1 10.10.1.0/24", "field": "route_mtu", "from": 1500, "to": 9000}
PERSIST = {"host": "h1", "object": "eth1", "field": "persisted", "from": False, "to": True}
BIRD = "unicast 10.60.0.0/16 via 10.10.1.1 dev eth1 table main proto bird scope global mtu 1500"
CONFIRMED = {"confirmed": True, "persisted": True, "not_persisted": []}
GUARD = {
    "id": "r1-leaf.host_link",
    "state": "confirmed",
    "verdict": "confirmed",
    "alive": True,
    "repinned": [{"time": "2030-01-31T12:00:00Z", "route": "unicast 10.10.1.0/24 dev eth1 table main"}],
    "link_changed": [{"time": "2030-01-31T12:00:00Z", "interface": "eth1", "field": "mtu", "from": 9000, "to": 4000}],
    "problems": [{"time": "2030-01-31T12:00:00Z", "message": "no"}],
}
RAW = {
    "kernel": "6.1",
    "interfaces": {},
    "routes": [],
    "guard": GUARD,
    "guards": [GUARD, {**GUARD, "id": "other", "state": "dead", "alive": False}],
    "persistence": "lab-file",
    "persisted": {"links": {}},
    "unpersistable_routes": {"eth1": [BIRD]},
    "forwarding": False,
    "forwarding_by": [],
    "link_readers": {},
    "fragments_sent": 0,
    "ipv6": False,
    "arp": [],
}


class Host:
    """Answers each request with the next reply, and remembers (request, new connection)."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def run(self, request, new_connection):
        self.asked.append((request, new_connection))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def driver(self):
        return LinuxDriver(Access("h1", "linux", "192.0.2.1", run_program=self.run))


def handle(*changes, name="r1-leaf.host_link", **fields):
    return {"name": name, "changes": list(changes), "changed": True, **fields}


def many(persisted, **fields):
    reply = {"ok": True, "persisted": persisted, "not_persisted": [], "before": None, "after": None, **fields}
    return {"ok": True, "replies": [reply, {"ok": True, "released": True}]}


# ---------------------------------------------------------------- what is not persisted is no success


def test_a_confirm_that_a_reboot_would_lose_is_an_error_that_names_the_routes():
    host = Host({"confirmed": True, "persisted": False, "not_persisted": [BIRD]})
    with pytest.raises(JumboError, match="proto bird") as met:
        host.driver.confirm(handle(LINK, PIN))
    assert (met.value.host, met.value.object) == ("h1", "eth1")
    assert "make them static" in str(met.value)


@pytest.mark.parametrize("persisted", [True, None])
def test_a_confirm_is_over_a_new_connection_and_says_what_was_persisted(persisted):
    host = Host({**CONFIRMED, "persisted": persisted})
    assert host.driver.confirm(handle(LINK, PIN)) == {"confirmed": True, "persisted": persisted}
    assert host.asked == [({"verb": "confirm", "id": "r1-leaf.host_link"}, True)]


def test_nothing_waits_for_a_lift():
    host = Host()
    assert host.driver.confirm(handle(LIFT))["confirmed"]
    assert host.asked == []


def test_persisting_is_one_login():
    before, after = {"links": {"eth1": 9000}, "routes": ["a mtu 1500"]}, {"links": {"eth1": 9000}, "routes": ["a"]}
    host = Host(many(True, before=before, after={**after, "rules": ["r"]}))
    done = host.driver.apply([PERSIST, {**PERSIST, "object": "eth2"}], 0, "r1-soak.persist")
    requests = [{"verb": verb, "interfaces": ["eth1", "eth2"]} for verb in ("persist", "release")]
    assert host.asked == [({"verb": "many", "requests": requests}, False)]
    assert (done["changed"], done["notes"]) == (True, [])
    assert done["diff"].splitlines() == ["-boot route a mtu 1500", "+boot route a", "+boot rule r"]


def test_a_lift_that_is_not_persisted_is_an_error_that_names_the_routes():
    with pytest.raises(JumboError, match="proto bird") as met:
        Host(many(False, not_persisted=[BIRD])).driver.apply([PERSIST], 0, "r1-soak.persist")
    assert (met.value.host, met.value.object) == ("h1", "eth1")


def test_where_there_is_no_place_to_persist_it_is_said():
    done = Host(many(None)).driver.apply([PERSIST], 0, "r1-soak.persist")
    assert "running only" in done["notes"][0]


# ---------------------------------------------------------------- the way back


def test_a_persisted_lift_is_taken_out_of_the_boot_configuration_although_the_lift_was_not_of_this_run():
    host = Host({"persisted": True, "notes": ["n"]})
    assert host.driver.revert(handle(PERSIST, name="r2-soak.persist")) == {"reverted": True, "notes": ["n"]}
    assert host.asked == [({"verb": "unpersist", "interfaces": ["eth1"]}, True)]


def test_a_persist_that_cannot_be_taken_back_is_no_success():
    with pytest.raises(JumboError, match="no way"):
        Host(JumboError("no way")).driver.revert(handle(PERSIST))


def test_a_lift_is_pinned_again_and_who_keeps_the_pin_is_told():
    host = Host({"before": {}, "after": {}, "done": [], "notes": ["nobody keeps the pins of eth1: no memory"]})
    assert host.driver.revert(handle(LIFT))["notes"] == ["nobody keeps the pins of eth1: no memory"]
    assert host.asked == [({"verb": "pin", "changes": [{**LIFT, "from": 9000, "to": 1500}]}, True)]


def test_link_and_pins_are_taken_back_as_they_were_applied():
    host = Host({"reverted": True, "complete": True})
    host.driver.revert({"name": "r1-leaf.host_link", "changes": [PIN, LINK]})  # all that an intent says
    assert host.asked == [({"verb": "revert", "id": "r1-leaf.host_link", "changes": [PIN, LINK]}, True)]


@pytest.mark.parametrize("change", [LINK, LIFT, PERSIST])
def test_what_changed_nothing_is_not_taken_back(change):
    host = Host()
    assert host.driver.revert(handle(change, changed=False))["reverted"]
    assert host.asked == []


# ---------------------------------------------------------------- what is read


def test_all_guards_and_what_a_boot_cannot_bring_back_are_part_of_the_state():
    host = Host(RAW)
    state = host.driver.read(interfaces=["eth1"])
    assert host.asked == [({"verb": "read", "interfaces": ["eth1"]}, False)]
    assert [guard["id"] for guard in state["guards"]] == ["r1-leaf.host_link", "other"]
    assert [guard["alive"] for guard in state["guards"]] == [True, False]
    for guard in state["guards"]:
        assert guard["repinned"][0]["route"]
        assert guard["link_changed"][0]["to"] == 4000
        assert guard["problems"][0]["message"]
    assert state["guard"] == GUARD
    assert state["unpersistable_routes"] == {"eth1": [BIRD]}


def test_a_guard_that_is_armed_is_pending():
    assert pending_of(RAW["guards"])["owner"] == "none"
    armed = {**GUARD, "state": "dead", "verdict": "armed", "seconds_left": 7}
    assert pending_of([GUARD, armed]) == {"owner": "ours", "name": "r1-leaf.host_link", "seconds_left": 7}


def test_an_apply_arms_the_guard_of_its_step_and_shows_what_the_host_says():
    seen = {"eth1": {"ip_mtu": 1500, "routes": ["a"]}}
    host = Host({"before": seen, "after": {"eth1": {"ip_mtu": 9000, "routes": ["a"]}}, "notes": ["multicast"]})
    done = host.driver.apply([PIN, LINK], 60, "r1/leaf host_link")
    assert host.asked[0][0]["id"] == guard_id("r1/leaf host_link") == "r1-leaf-host_link"
    assert (done["diff"], done["notes"]) == ("-link eth1 mtu 1500\n+link eth1 mtu 9000", ["multicast"])


def test_a_long_name_becomes_a_folder_name_of_its_own():
    one, other = guard_id("r" * 80 + "1"), guard_id("r" * 80 + "2")
    assert one != other
    assert max(len(one), len(other)) <= 64


def test_without_a_way_to_run_programs_that_is_the_error():
    with pytest.raises(JumboError, match="no way to run"):
        LinuxDriver(Access("h1", "linux", "192.0.2.1")).read()


# ---------------------------------------------------------------- what would change


def route(prefix):
    return {"prefix": prefix, "interface": "eth1", "mtu": None}


@pytest.mark.parametrize(
    ("prefixes", "multicast"),
    [(["10.10.1.0/24"], True), (["10.10.1.0/24", "224.0.0.0/4"], False)],
)
def test_a_pin_is_shown_with_the_route_for_multicast_that_it_adds(prefixes, multicast):
    state = {"interfaces": {"eth1": {}}, "routes": [route(prefix) for prefix in prefixes]}
    lines = Host({}).driver._preview(state, PIN)
    assert [line for line in lines if "224.0.0.0/4" not in line] == ["+route 10.10.1.0/24 dev eth1 mtu 1500"]
    assert any("9047" in line for line in lines) == multicast
