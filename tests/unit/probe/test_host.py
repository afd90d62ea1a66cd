from __future__ import annotations

import json

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe import (
    host,
    iproute,
    persistence,
    pins,
    record,
    routes,
    state,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.errors import ProbeError


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"verb": 5}', '{"verb": "lower"}'])
def test_any_request_gets_one_line_of_json(text, capsys):
    assert host.main(text) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["ok"] is False
    assert set(reply["error"]) == {"message", "object", "wish", "limit", "advice"}


def test_what_is_not_foreseen_is_told_as_data(monkeypatch):
    monkeypatch.setattr(state, "read", lambda request: request["interfaces"].nonsense)
    error = host.run({"verb": "read", "interfaces": []})["error"]
    assert "a fault of the program itself: AttributeError" in error["message"]

    def refuse(_request):
        raise PermissionError(13, "Permission denied", "/run/jumbo-fabric")

    monkeypatch.setattr(state, "read", refuse)
    error = host.run({"verb": "read"})["error"]
    assert (error["message"], error["object"].split(",")[0]) == (
        "the system refused: Permission denied (/run/jumbo-fabric)",
        "refuse",
    )


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ("Error: mtu greater than device maximum.\n", "the driver of this device allows no more"),
        ("RTNETLINK answers: Numerical result out of range\n", "larger than its parent"),
        ("RTNETLINK answers: Invalid argument\n", "the device below"),
        ('Cannot find device "x"\n', "there is no such device"),
        ("RTNETLINK answers: Operation not permitted\n", "CAP_NET_ADMIN"),
        ("RTNETLINK answers: File exists\n", "was refused: File exists"),
        ("", "no message"),
    ],
)
def test_the_kernels_words_are_explained(messages, words):
    error = iproute.refusal(messages, command="ip link set", about="eth1", wish=9000, limit=None)
    assert words in error.message
    assert (error.object, error.wish) == ("eth1", 9000)


def test_programs_are_found_without_a_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert iproute.find_program("sh")
    assert iproute.find_program("no-such-program") is None
    with pytest.raises(ProbeError, match="is not on this host"):
        iproute.need_program("no-such-program")


def parsed(*texts):
    return routes.parse_routes("\n".join(texts))


def test_loose_is_what_could_carry_more_than_it_may():
    found = parsed(
        "unicast 10.1.0.0/16 dev eth1 table main",
        "unicast 10.2.0.0/16 dev eth1 table main mtu 1500",
        "unicast 10.3.0.0/16 dev eth1 table main mtu 1400",
        "unicast 10.4.0.0/16 dev eth1 table main mtu 9000",
        "unicast 10.5.0.0/16 dev eth1 table main",
        "unicast 10.6.0.0/16 dev eth2 table main",
        "local 10.1.0.1 dev eth1 table local",
    )
    wanted = {"pin": 1500, "lifts": {"10.5.0.0/16": {"mtu": 9000}}}
    assert [(route.prefix, mtu) for route, mtu in pins.loose("eth1", wanted, found, routes.Width(9000))] == [
        ("10.1.0.0/16", 1500),
        ("10.4.0.0/16", 1500),
    ]
    assert ("10.5.0.0/16", 9000) in [
        (route.prefix, mtu) for route, mtu in pins.loose("eth1", wanted, found, routes.Width(9216))
    ]
    assert pins.loose("eth1", {"pin": None}, found, routes.Width(9000)) == []


def test_ipv6_is_bound_by_its_interface_and_pinned_where_it_can_be_edited():
    found = parsed(
        "unicast fd00:1::/64 dev eth1 table main proto kernel metric 256",
        "unicast fd00:2::/64 via fd00:1::1 dev eth1 table main proto static metric 1024 mtu 9000",
        "unicast fd00:9::/64 dev eth1 table main proto kernel metric 256 expires 3599",
        "unicast fe80::/64 dev eth1 table main proto kernel metric 256",
        "unicast fe80::/64 dev eth0 table main proto kernel metric 256",
        "multicast ff00::/8 dev eth1 table local proto kernel metric 256",
    )
    small, grown = routes.Width(9000, 1500), routes.Width(9000, 9000)

    def prefixes(pairs):
        return [(route.prefix, mtu) for route, mtu in pairs]

    assert prefixes(pins.loose("eth1", {"pin": 1500}, found, small)) == [("fd00:2::/64", 1500)]
    everything = [(prefix, 1500) for prefix in ("fd00:1::/64", "fd00:2::/64", "fd00:9::/64", "fe80::/64")]
    assert prefixes(pins.loose("eth1", {"pin": 1500}, found, grown)) == everything
    lifted = {"pin": 1500, "lifts": {"fd00:2::/64": {"mtu": 9000}}}
    assert prefixes(pins.loose("eth1", lifted, found, small)) == []
    assert prefixes(pins.unpinned("eth1", lifted, found, small)) == [("fd00:1::/64", 1500)]


@pytest.mark.parametrize("identity", [None, 7, "", "..", "../x", ".lock", "a/b", "x" * 65, "a b"])
def test_an_id_is_a_safe_file_name(identity):
    with pytest.raises(ProbeError, match="is not usable"):
        record.need_record(identity)


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "ROOT", str(tmp_path / "run"))
    one = record.need_record("r1-s2.h1")
    one.create({"id": one.id, "armed_at": 1.0, "deadline": 1e12, "interfaces": {"eth1": {}}})
    return one


def test_one_verdict_wins(memory):
    assert (memory.verdict(), memory.decide("armed", "fired"), memory.decide("armed", "confirmed")) == (
        "armed",
        True,
        False,
    )
    assert memory.verdict() == "fired"
    assert memory.seconds_left() is None


def test_who_holds_an_interface(memory):
    assert record.in_charge_of("eth1") == memory
    assert record.in_charge_of("eth2") is None
    memory.decide("armed", "confirmed")
    memory.decide("confirmed", "released")
    assert (record.in_charge_of("eth1"), record.last_holder("eth1")) == (None, memory)
    memory.decide("released", "reverted")
    assert (memory.is_over(), record.last_holder("eth1")) == (True, None)
    assert not memory.guard_lives()
    memory.wake()


@pytest.fixture
def lab_file(tmp_path, monkeypatch):
    path = tmp_path / "jumbo-lab.json"
    monkeypatch.setattr(persistence, "LAB_FILE", str(path))
    return path


def test_no_backend_is_null_and_not_pretended(lab_file, memory):
    assert (persistence.backend(), persistence.read()) == (None, None)
    assert persistence.write(memory, {"interfaces": {}}, with_lifts=True) == {"persisted": None, "not_persisted": []}
    assert persistence.restore(memory, ["eth1"]) is None


@pytest.mark.parametrize("content", ["{", "[]", "\udcff"])
def test_a_file_that_is_not_ours_to_understand_is_named(lab_file, content):
    lab_file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProbeError, match=r"jumbo-lab\.json"):
        persistence.read()


def test_driver_of_ethtool():
    assert state.driver_of("driver: mlx5_core\nversion: 6.1.0\n") == "mlx5_core"
    assert state.driver_of("driver: \n") is None
    assert state.driver_of("") is None
