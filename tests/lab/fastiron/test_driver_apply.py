"""`ip mtu` on a FastIron box: written, read back, saved, taken back; never blindly twice."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Session
from lab.fastiron.conftest import PORTS, ROUTED

NAME = "run-leaf.1.svi"


def change(name: str = "Ve10", old: int = 1500, new: int = 9000, field: str = "ip_mtu") -> dict[str, Any]:
    return {"host": "leaf5", "object": name, "field": field, "from": old, "to": new}


JUMBO = [{"host": "leaf5", "object": "jumbo", "field": "jumbo", "from": False, "to": True}]
BOTH = [change(), change(PORTS[0], new=9214)]


def sizes(served: Any) -> tuple[int, int]:
    return served.plane.mtus["Ve10"], served.plane.mtus[PORTS[0]]


def stated(served: Any, saved: bool = False) -> list[str]:
    config = served.device.startup if saved else served.device.running
    return sorted(line for lines in config.stanzas.values() for line in lines if "mtu" in line)


@pytest.fixture
def box(start: Any) -> Any:
    return start().with_jumbo()


def test_applied_confirmed_and_taken_back(box: Any) -> None:
    driver = box.driver
    assert driver.diff(BOTH) == " interface ve 10\n+  ip mtu 9000\n interface ethernet 1/1/1\n+  ip mtu 9214"
    assert box.device.configuring is None
    handle = driver.apply(BOTH, 120, NAME)
    assert (handle["changed"], handle["armed"], sizes(box)) == (True, False, (9000, 9214))
    assert stated(box, saved=True) == [], "only a confirmation saves"
    assert driver.confirm(handle) == {"confirmed": True, "persisted": True}
    assert stated(box, saved=True) == ["ip mtu 9000", "ip mtu 9214"]
    assert driver.revert(handle) == {"reverted": True}
    assert (sizes(box), stated(box), stated(box, saved=True)) == ((1500, 1500), [], [])
    assert driver.revert(handle) == {"reverted": True}, "harmless when it is gone already"


def test_what_is_so_already_is_neither_changed_nor_taken_back(box: Any) -> None:
    box.type("interface ve 10", "ip mtu 9000")
    box.save()
    handle = box.driver.apply([change()], 120, NAME)
    assert handle["changed"] is False
    box.driver.confirm(handle)
    box.driver.revert(handle)
    assert sizes(box)[0] == 9000


def test_a_line_without_an_answer_is_read_and_not_typed_again(box: Any) -> None:
    trouble = box.device.trouble
    trouble.hangs, trouble.hang_at, trouble.hang_seconds = 1, "ip mtu", 5
    before = len(box.kinds())
    handle = box.impatient().apply(BOTH, 120, NAME)
    assert (handle["changed"], sizes(box)) == (True, (9000, 9214))
    assert box.kinds()[before:] == ["config-line", "config-line"]


def test_a_refused_size_is_told_with_the_limit_and_nothing_stays(start: Any) -> None:
    served = start()  # without jumbo
    with pytest.raises(JumboError, match="out of range") as refused:
        served.driver.apply([change(PORTS[0], new=1400), change()], 120, NAME)
    assert (refused.value.object, refused.value.limit) == ("Ve10", 1500)
    assert (sizes(served), stated(served), served.device.configuring) == ((1500, 1500), [], None)


def test_after_a_crash_the_saved_configuration_says_what_was_before(box: Any) -> None:
    box.type("interface ve 10", "ip mtu 1400")
    box.save()
    crashed = {"name": NAME, "changes": [change(old=1400)]}
    box.driver.apply(crashed["changes"], 120, NAME)
    assert sizes(box)[0] == 9000
    assert box.driver.revert(crashed) == {"reverted": True}
    assert (sizes(box)[0], stated(box)) == (1400, ["ip mtu 1400"])


def test_somebody_elses_edit_within_the_step_is_not_saved_and_is_named(box: Any) -> None:
    handle = box.driver.apply([change()], 120, NAME)
    box.type("interface ethernet 1/1/7", "port-name theirs")
    with pytest.raises(JumboError, match="theirs"):
        box.driver.confirm(handle)
    found = box.driver.revert(handle)
    assert found["reverted"] is True
    assert "not saved" in found["notes"][0]
    assert (sizes(box)[0], box.device.running.has("port-name theirs", "interface ethernet 1/1/7")) == (1500, True)


def test_what_somebody_types_between_the_look_and_the_save_is_named(box: Any, monkeypatch: Any) -> None:
    def meanwhile(session: Any) -> str:
        box.type("interface ethernet 1/1/7", "port-name theirs")
        return str(write(session))

    handle = box.driver.apply([change()], 120, NAME)
    write = Session.write_memory
    monkeypatch.setattr(Session, "write_memory", meanwhile)
    with pytest.raises(JumboError, match=r"not what was looked at(?s:.*)\+ port-name theirs"):
        box.driver.confirm(handle)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([change(PORTS[1])], "switched port has no IP MTU"),
        ([change("Ve99")], "no such interface"),
        ([change(old=1400)], "has IP MTU 1500, not the 1400"),
        ([change(field="route_mtu")], "no route_mtu"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_typed(box: Any, changes: Any, words: str) -> None:
    before = len(box.kinds())
    for act in (lambda: box.driver.apply(changes, 120, NAME), lambda: box.driver.diff(changes)):
        with pytest.raises(JumboError, match=words):
            act()
    assert len(box.kinds()) == before


def test_unsaved_work_of_others_is_never_saved(box: Any) -> None:
    box.type("interface ethernet 1/1/7", "port-name theirs")
    with pytest.raises(JumboError, match=r"differ:\n(?s:.*)theirs"):
        box.driver.apply([change()], 120, NAME)


def test_configuration_mode_that_is_held_by_somebody_is_waited_for_and_told(box: Any, monkeypatch: Any) -> None:
    module = "ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session"
    monkeypatch.setattr(f"{module}.CONFIG_PATIENCE", 0.1)
    box.device.configuring = object()
    with pytest.raises(JumboError, match="in use by another session.*let them leave"):
        box.driver.diff([change()])
    with pytest.raises(JumboError, match="in use by another session"):
        box.driver.apply([change()], 120, NAME)
    assert sizes(box)[0] == 1500


def test_a_user_who_may_only_look_learns_it_before_any_change(start: Any) -> None:
    served = start(readers={"reader"}).with_jumbo()
    driver = type(served.driver)(served.access(user="reader"))
    assert driver.read()["interfaces"]["Ve10"]["ip_mtu"] == 1500
    with pytest.raises(JumboError, match="'reader' may not configure"):
        driver.diff([change()])


# Management that crosses the very interface: the box is reached by the address of its ve.
CROSSED = """
vlan 10 name back by port
 untagged ethe 1/1/2 to 1/1/3
 router-interface ve 10
!
interface ve 10
 ip address 127.0.0.1 255.0.0.0
!
hostname leaf5
"""


def test_only_where_management_crosses_the_interface_a_reload_is_scheduled(start: Any) -> None:
    served = start(CROSSED).with_jumbo()
    handle = served.driver.apply([change()], 120, NAME)
    assert (handle["armed"], served.device.reload_in in range(100, 121)) == (True, True)
    assert served.driver.pending()["owner"] == "foreign", "whose it is, the box does not say"
    served.driver.confirm(handle)
    assert served.device.reload_in is None
    handle = served.driver.apply([change(old=9000, new=8000)], 120, NAME)
    served.pass_time(121)
    served.pass_time(5)
    assert served.plane.mtus["Ve10"] == 9000, "it went back to what was saved"


# Management that comes from afar, by a routed port; and none that the box tells a way to.
FAR = f"{ROUTED}hostname leaf5\n"


@pytest.mark.parametrize(
    ("config", "name", "crosses"),
    [
        (f"{FAR}ip route 192.0.2.0/24 10.0.0.1\n", PORTS[0], True),
        (f"{FAR}ip route 192.0.2.0/24 10.0.0.1\n", "Ve10", False),
        (FAR, "Ve10", True),  # not told
    ],
)
def test_by_which_interface_management_comes_the_box_is_asked(
    start: Any, config: str, name: str, crosses: bool
) -> None:
    served = start(config).with_jumbo()
    forbidden = type(served.driver)(served.access(allow_reload=False))
    for act in (forbidden.diff, lambda changes: forbidden.apply(changes, 120, NAME)) if crosses else ():
        with pytest.raises(JumboError, match=f"{name}: management crosses.*jumbo_allow_reload.*another way"):
            act([change(name)])
    told = forbidden.read()["interfaces"][name].get("no_dead_man", "")
    assert (served.plane.mtus[name], "jumbo_allow_reload" in told) == (1500, crosses)
    assert served.driver.apply([change(name)], 120, NAME)["armed"] is crosses


def test_a_reload_that_is_not_ours_is_never_cancelled(start: Any) -> None:
    served = start().with_jumbo()
    handle = served.driver.apply([change()], 120, NAME)
    served.device.schedule(served.clock() + 1800, "alice")
    served.driver.confirm(handle)
    assert served.device.reload_in is not None
    served.driver.revert(handle)
    assert (served.device.reload_in is not None, sizes(served)[0]) == (True, 1500)
    crashed = {"name": NAME, "changes": [change()]}
    with pytest.raises(
        JumboError, match="whose reload it is, nobody has noted: a reload is scheduled: Reload is sched"
    ):
        served.driver.revert(crashed)
    served.device.cancel()
    assert served.driver.revert(crashed) == {"reverted": True}


def test_no_words_for_no_reload_are_as_good_as_a_sentence(start: Any) -> None:
    served = start(CROSSED, reload_words="nothing").with_jumbo()
    handle = served.driver.apply([change()], 120, NAME)
    served.driver.confirm(handle)
    assert (handle["armed"], served.device.reload_in) == (True, None)


def test_words_that_nobody_has_foreseen_count_as_a_scheduled_reload(start: Any) -> None:
    served = start(reload_words="unforeseen")
    assert served.driver.read()["pending"]["name"] == "Reload status: not pending"
    for changes in ([change(new=1400)], JUMBO):
        with pytest.raises(JumboError, match="a reload is scheduled.*Reload status: not pending"):
            served.driver.apply(changes, 120, NAME)
    assert (served.device.jumbo_state(), sizes(served)) == ("absent", (1500, 1500))


@pytest.mark.parametrize("follows_jumbo", [False, True])
def test_after_a_reload_of_ours_sizes_go_up_and_come_back(start: Any, follows_jumbo: bool) -> None:
    served = start(follows_jumbo=follows_jumbo, default_line="dropped")
    served.driver.apply(JUMBO, 0, "run-leaf.1.reload")
    handle = served.driver.apply(BOTH, 120, NAME)
    served.driver.confirm(handle)
    assert sizes(served) == (9000, 9214)
    served.driver.revert(handle)
    assert sizes(served) == (1500, 1500)
    served.device.reload()
    served.pass_time(5)
    assert sizes(served) == (1500, 1500)


def test_without_a_scheduled_reload_such_an_interface_is_refused(start: Any) -> None:
    served = start(CROSSED, schedules=False).with_jumbo()
    with pytest.raises(JumboError, match="Ve10: management crosses this interface"):
        served.driver.apply([change()], 120, NAME)
    assert served.plane.mtus["Ve10"] == 1500


def test_the_client_counts_as_the_box_sees_it_behind_a_proxy(start: Any) -> None:
    served = start(client="10.1.0.9").with_jumbo()
    assert served.driver.apply([change()], 120, NAME)["armed"] is True
    assert start().with_jumbo().driver.apply([change()], 120, NAME)["armed"] is False


def test_where_nothing_would_bring_management_back_is_read(start: Any) -> None:
    told = {
        (schedules, client): start(schedules=schedules, client=client).driver.read()["interfaces"]["Ve10"]
        for schedules, client in ((False, "10.1.0.9"), (True, "10.1.0.9"), (False, "192.0.2.9"))
    }
    assert "no scheduled reload" in told[False, "10.1.0.9"].pop("no_dead_man")
    assert not [one for one in told.values() if "no_dead_man" in one]


def test_a_busy_flash_is_waited_for(box: Any) -> None:
    handle = box.driver.apply([change()], 120, NAME)
    box.device.trouble.flash_busy = 1
    assert box.driver.confirm(handle)["persisted"] is True
    box.device.trouble.save_refused = True
    other = box.driver.apply([change(PORTS[0])], 120, NAME)
    with pytest.raises(JumboError, match="did not save: .*write to flash failed"):
        box.driver.confirm(other)
    box.device.trouble.save_refused = False
    box.driver.revert(other)
    assert (sizes(box), stated(box, saved=True)) == ((9000, 1500), ["ip mtu 9000"])


def test_after_a_crash_what_is_saved_may_have_been_there_before_and_stays(box: Any) -> None:
    box.type("interface ve 10", "ip mtu 9000")
    box.save()
    with pytest.raises(JumboError, match="it has IP MTU 9000, saved as well, which this step never did: it stays"):
        box.driver.revert({"name": NAME, "changes": [change()]})
    assert (sizes(box)[0], stated(box)) == (9000, ["ip mtu 9000"])


def test_an_apply_that_was_refused_leaves_nothing_to_take_back(box: Any) -> None:
    box.type("interface ve 10", "ip mtu 9000")
    with pytest.raises(JumboError, match="running and saved configuration differ") as refused:
        box.driver.apply([change()], 120, NAME)
    assert box.driver.revert(refused.value.handle) == {"reverted": True}
    assert sizes(box)[0] == 9000
