"""What the driver reads of a FastIron box, in every way in which boxes print it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import boxes
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from lab.fastiron.conftest import PORTS, STARTUP

LAG = (
    """
lag core dynamic id 1
 ports ethe 1/1/5 to 1/1/6
!
"""
    + STARTUP
)


def test_a_whole_state(start: Any) -> None:
    state = start(LAG).driver.read()
    found = state["interfaces"]
    assert (state["model"], state["version"], state["saved"]) == ("ICX7150-24P", "08.0.95pT213", True)
    assert state["pending"]["owner"] == "none"
    assert state["jumbo"] == {"configured": False, "saved": False, "active": False}
    kinds = {name: (one["kind"], one["ip_mtu"], one["mru"], one["device_mtu"]) for name, one in found.items()}
    assert kinds[PORTS[0]] == ("routed", 1500, None, 1500)
    assert kinds[PORTS[1]] == ("switched", None, 1500, 1500)
    assert kinds[PORTS[4]] == ("member", None, 1500, 1500)
    assert kinds["lg1"] == ("lag", None, 1500, None)
    assert kinds["Ve10"] == ("svi", 1500, None, 1500)
    assert kinds["GigEthernetmgmt1"][0] == "management"
    assert (found[PORTS[4]]["parent"], found["lg1"]["members"]) == ("lg1", PORTS[4:6])
    assert found[PORTS[0]]["addresses"] == ["10.0.0.0/31"]
    assert found[PORTS[0]]["neighbours"] == [{"host": "spine1", "interface": "Ethernet7", "max_frame": 9236}]
    assert found[PORTS[1]]["neighbours"] == []
    assert (found[PORTS[0]]["counters"]["oversize"], found[PORTS[0]]["counters"]["input_packets"]) == (3, 100)
    assert (found[PORTS[1]]["vlans"], found[PORTS[0]]["vlans"]) == ([[10, 10]], [])


@pytest.mark.parametrize("named", ["lag 1", "ethe 1/1/5 to 1/1/6"])
def test_a_vlan_names_an_aggregate_or_its_ports(start: Any, named: str) -> None:
    found = start(LAG.replace("untagged", f"tagged {named}\n untagged")).driver.read()["interfaces"]
    assert (found["lg1"]["vlans"], found[PORTS[4]]["vlans"], found[PORTS[6]]["vlans"]) == ([[10, 10]], [], None)


@pytest.mark.parametrize(
    "options", [{"mtu_line": "icx-older"}, {"mtu_line": "fesx", "jumbo": 10240}, {"lag_line": "primary", "lldp": False}]
)
def test_boxes_that_print_otherwise_tell_the_same(start: Any, options: Any) -> None:
    state = start(LAG, **options).with_jumbo().driver.read()
    assert state["jumbo"]["active"] is True
    sizes = {one["kind"]: (one["ip_mtu"], one["mru"]) for one in state["interfaces"].values()}
    assert (sizes["switched"], sizes["member"], sizes["lag"]) == ((None, 10178),) * 3
    assert sizes["routed"] == (1500, None)
    assert state["interfaces"][PORTS[4]]["parent"] == "lg1"


def test_configured_saved_and_active_are_told_apart(start: Any) -> None:
    served, seen = start(), []
    for act in (lambda: served.type("jumbo"), served.save, served.with_jumbo):
        seen.append(boxes.stage_of(served.driver.read()))
        act()
    state = served.driver.read()
    assert [*seen, boxes.stage_of(state)] == ["absent", "configured", "saved", "active"]
    assert state["saved"] is True
    served.type("no jumbo")
    served.save()
    assert (served.driver.read()["jumbo"], boxes.stage_of(served.driver.read())) == (
        {"configured": False, "saved": False, "active": True},
        "active",
    )


def test_what_is_stated_runs_and_boots_are_apart(start: Any) -> None:
    served = start().with_jumbo()
    served.type("interface ve 10", "ip mtu 9000")
    ve = served.driver.read()["interfaces"]["Ve10"]
    assert (ve["ip_mtu"], ve["configured_mtu"], ve["persisted_mtu"]) == (9000, 9000, 1500)
    state = served.driver.read()
    assert state["saved"] is False
    assert "+ ip mtu 9000" in state["unsaved_diff"]


def test_a_session_that_hangs_is_left_and_interfaces_are_asked_for_one_by_one(start: Any) -> None:
    served = start()
    served.device.trouble.hangs, served.device.trouble.hang_at, served.device.trouble.hang_seconds = (
        1,
        "show interfaces",
        4,
    )
    state = FastironOf(served).read(only_interfaces=True)
    assert state["interfaces"]["Ve10"]["ip_mtu"] == 1500
    assert set(state["interfaces"]) >= {*PORTS, "Ve10"}


def FastironOf(served: Any) -> Any:  # noqa: N802 - reads like the class it returns
    return served.impatient()


def test_pings_count_the_payload_and_believe_what_is_said_of_it(start: Any) -> None:
    served, asked = start(), []
    reply = "8980 bytes from 10.0.0.1: icmp_seq=1 ttl=63 time=0.043 ms\n"
    served.plane.answer = lambda line: asked.append(line) or reply * 3
    found = served.driver.ping("10.0.0.1", 9000, "10.1.0.1", 3)
    assert (found["sent"], found["received"], found["loss_percent"]) == (3, 3, 0.0)
    assert asked[0][asked[0].index("-s") + 1] == "8972"
    served.plane.answer = lambda _line: ""
    assert served.driver.ping("10.0.0.1", 9000)["received"] == 0
    with pytest.raises(JumboError, match="refuses"):
        served.driver.ping("10.0.0.1", 10100)
    with pytest.raises(JumboError, match="IPv4 only"):
        served.driver.ping("fd00::1", 9000)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"password": "bad"}, ("refused the credentials", "ansible_password")),
        ({"enable_password": "bad"}, ("enable mode", "ansible_become_password")),
    ],
)
def test_who_may_not_in_is_told_which_variable(start: Any, wrong: Any, words: tuple[str, ...]) -> None:
    served = start()
    driver = type(served.driver)(served.access(**wrong))
    with pytest.raises(AccessDenied) as denied:
        driver.read()
    assert all(word in str(denied.value) for word in ("leaf5", *words))
    assert "bad" not in str(denied.value)


def test_nobody_there_is_unreachable(start: Any) -> None:
    served = start()
    served.call(served.handle.set_unreachable(True))
    with pytest.raises(Unreachable, match="leaf5"):
        served.impatient().read()


def test_a_scheduled_reload_of_somebody_is_pending(start: Any) -> None:
    served = start()
    served.device.schedule(served.device.now() + 600, "console")
    found = served.driver.pending()
    assert (found["owner"], found["kind"]) == ("foreign", "reload")
    assert start(schedules=False).driver.pending()["owner"] == "none"


@pytest.mark.parametrize("options", [{"enable": ""}, {"enable_user": True}, {"privileged": True}])
def test_enable_mode_is_reached_however_it_is_kept(start: Any, options: Any) -> None:
    assert start(**options).driver.pending()["owner"] == "none"
