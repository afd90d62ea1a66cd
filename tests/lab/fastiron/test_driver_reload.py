"""Large frames by a reload: from wherever the box is, waited for, and stopped safely where it does not work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from lab_helpers import wait_until

JUMBO = [{"host": "leaf5", "object": "jumbo", "field": "jumbo", "from": False, "to": True}]
NAME = "run-leaf.1.reload"
PORT = "GigabitEthernet1/1/1"
TYPED = ["config-line"] * 3  # `jumbo`, and the sizes that the ve and the routed port have
OWN = ("Ve10", "GigabitEthernet1/1/1")


def stated(config: Any) -> list[str]:
    return sorted(line for lines in config.stanzas.values() for line in lines if "mtu" in line)


@pytest.mark.parametrize("options", [{}, {"reload_questions": 2}, {"reload_questions": 2, "any_key": False}])
def test_jumbo_is_saved_reloaded_and_read_back(start: Any, options: Any) -> None:
    served = start(**options)
    assert served.driver.diff(JUMBO).startswith("+jumbo\n")
    handle = served.driver.apply(JUMBO, 0, NAME)
    assert (handle["changed"], served.device.jumbo_state()) == (True, "active")
    assert served.kinds() == [*TYPED, "write-startup", "reboot"]
    assert served.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    found = served.driver.revert(handle)
    assert (found["reverted"], served.device.jumbo_state()) == (True, "active")
    assert "stays on" in found["notes"][0]
    assert served.driver.apply(JUMBO, 0, NAME)["changed"] is False


def test_what_somebody_configured_and_never_reloaded_is_finished(start: Any) -> None:
    served = start()
    served.type("jumbo")
    found = served.driver.diff(JUMBO)
    assert ("+jumbo" in found, "(a save and a reload" in found) == (False, True)
    served.save()
    served.driver.apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"
    assert served.kinds() == [*TYPED, "write-startup", "reboot"]


def test_active_and_taken_out_of_the_saved_configuration_needs_no_reload(start: Any) -> None:
    served = start().with_jumbo()
    served.type("no jumbo")
    served.save()
    assert served.driver.diff(JUMBO) == "+jumbo\n(a save)"
    before = len(served.kinds())
    served.driver.apply(JUMBO, 0, NAME)
    assert (served.device.jumbo_state(), served.kinds()[before:]) == ("active", ["config-line", "write-startup"])


def test_a_save_that_is_refused_reloads_nothing_and_takes_the_line_out_again(start: Any) -> None:
    served = start()
    served.device.trouble.save_refused = True
    with pytest.raises(JumboError, match="did not save: .*write to flash failed"):
        served.driver.apply(JUMBO, 0, NAME)
    assert (served.device.jumbo_state(), served.device.is_on, "reboot" in served.kinds()) == ("absent", True, False)
    assert stated(served.device.running) == [], "only our own lines were taken out"


@pytest.mark.parametrize("default_line", ["kept", "dropped", "refused"])
@pytest.mark.parametrize("follows_jumbo", [False, True])
def test_what_interfaces_send_is_the_same_after_the_reload(start: Any, follows_jumbo: bool, default_line: str) -> None:
    served = start(follows_jumbo=follows_jumbo, default_line=default_line)
    assert "+  ip mtu 1500" in served.driver.diff(JUMBO)
    served.driver.apply(JUMBO, 0, NAME)
    assert [served.plane.mtus[name] for name in OWN] == [1500, 1500]
    assert served.driver.read()["saved"] is True
    assert served.driver.apply(JUMBO, 0, NAME)["changed"] is False
    served.device.reload()
    served.pass_time(1)
    assert [served.plane.mtus[name] for name in OWN] == [1500, 1500], "and so does any later boot"


def test_what_somebody_stated_is_not_stated_again_nor_taken_out(start: Any) -> None:
    served = start(follows_jumbo=True)
    served.type("interface ve 10", "ip mtu 1400")
    served.save()
    served.device.trouble.save_refused = True
    with pytest.raises(JumboError, match="did not save"):
        served.driver.apply(JUMBO, 0, NAME)
    assert stated(served.device.running) == ["ip mtu 1400"]
    served.device.trouble.save_refused = False
    served.driver.apply(JUMBO, 0, NAME)
    assert [served.plane.mtus[name] for name in OWN] == [1400, 1500]


def test_a_run_that_was_cut_after_its_lines_or_after_the_reload_is_gone_on_with(start: Any) -> None:
    served = start(follows_jumbo=True, default_line="dropped")
    served.type("jumbo")
    served.save()
    served.device.reload()
    served.pass_time(1000)
    served.call(served.handle.set_unreachable(False))
    assert served.plane.mtus["Ve10"] > 9000
    assert "+  ip mtu 1500" in served.driver.diff(JUMBO)
    served.driver.apply(JUMBO, 0, NAME)
    assert [served.plane.mtus[name] for name in OWN] == [1500, 1500]
    cut = start()
    cut.type("jumbo", "interface ve 10", "ip mtu 1500")
    assert cut.driver.read()["saved"] is True, "nothing in it is somebody else's"
    cut.driver.apply(JUMBO, 0, NAME)
    assert stated(cut.device.startup) == ["ip mtu 1500", "ip mtu 1500"]


def test_what_is_stated_and_would_grow_by_the_reload_is_refused(start: Any) -> None:
    served = start().with_jumbo()
    served.type("interface ve 10", "ip mtu 9000", "exit", "no jumbo")
    served.save()
    served.device.reload()
    served.pass_time(1000)
    served.call(served.handle.set_unreachable(False))
    before = len(served.kinds())
    for act in (lambda: served.driver.diff(JUMBO), lambda: served.driver.apply(JUMBO, 0, NAME)):
        with pytest.raises(JumboError, match="Ve10: it states IP MTU 9000 and has 1500"):
            act()
    assert len(served.kinds()) == before


def test_a_box_whose_ports_are_all_routed_is_refused_before_anything_is_typed(start: Any) -> None:
    ports = "".join(f"interface ethernet 1/1/{n}\n ip address 10.0.{n}.0 255.255.255.254\n!\n" for n in range(1, 13))
    served = start(ports)
    for act in (lambda: served.driver.diff(JUMBO), lambda: served.driver.apply(JUMBO, 0, NAME)):
        with pytest.raises(JumboError, match="no port prints its frame size.*leave one port without an address"):
            act()
    assert served.kinds() == []


def test_a_busy_flash_is_waited_for(start: Any) -> None:
    served = start()
    served.device.trouble.flash_busy = 1
    served.driver.apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"


def test_a_box_that_does_not_come_back_is_unreachable_with_what_to_do(start: Any) -> None:
    served = start()
    served.device.trouble.reload_never = True
    with pytest.raises(Unreachable, match="leaf5:jumbo: it is not back 2 s after its reload.*Look at its console"):
        served.impatient(reload_within=2.0).apply(JUMBO, 0, NAME)
    assert served.device.startup.has("jumbo")


@pytest.mark.parametrize("what", ["users", "commands"])
def test_a_box_that_boots_may_refuse_users_and_commands_for_a_while(start: Any, what: str) -> None:
    served = start()
    served.device.trouble.boots_without = what
    served.driver.apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"


def test_a_box_that_goes_on_to_refuse_its_users_is_told_with_that_in_the_end(start: Any) -> None:
    served = start()
    served.device.trouble.boots_without, served.device.trouble.boots_seconds = "users", 60.0
    with pytest.raises(Unreachable, match="not back 3 s after its reload: .*refused the credentials.*ansible_password"):
        served.impatient(reload_within=3.0).apply(JUMBO, 0, NAME)


@pytest.mark.parametrize("line", ["jumbo", "ip mtu"])
def test_a_line_without_an_answer_is_read_and_not_typed_again(start: Any, line: str) -> None:
    served = start()
    trouble = served.device.trouble
    trouble.hangs, trouble.hang_at, trouble.hang_seconds = 1, line, 3
    served.impatient().apply(JUMBO, 0, NAME)
    assert served.kinds() == [*TYPED, "write-startup", "reboot"]


def test_a_save_without_an_answer_is_read_back(start: Any) -> None:
    served = start()
    trouble = served.device.trouble
    trouble.hangs, trouble.hang_at, trouble.hang_seconds = 1, "write memory", 3
    served.impatient().apply(JUMBO, 0, NAME)
    assert served.kinds() == [*TYPED, "write-startup", "reboot"]


def test_what_others_did_not_save_would_be_lost_so_nothing_is_reloaded(start: Any) -> None:
    served = start()
    served.type("interface ethernet 1/1/7", "port-name theirs")
    with pytest.raises(JumboError, match=r"a reload would lose it:\n(?s:.*)theirs"):
        served.driver.apply(JUMBO, 0, NAME)
    assert served.kinds()[-1] == "config-line"


def test_ports_that_were_up_are_waited_for(start: Any) -> None:
    served = start(reload_seconds=0.3)
    port = "GigabitEthernet1/1/2"
    served.device.on_power, tell = (
        lambda on: (served.plane.unplugged.add(port) if on else None, tell(on)),
        served.device.on_power,
    )
    with pytest.raises(Unreachable, match=f"not up again: {port}"):
        served.impatient(reload_within=4.0).apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"
    served.plane.unplugged.clear()
    wait_until(lambda: served.driver.apply(JUMBO, 0, NAME)["changed"] is False)


def test_whom_lldp_saw_is_waited_for(start: Any) -> None:
    served = start()
    neighbours = served.plane.known_neighbours
    spine = neighbours.pop(PORT)
    neighbours[PORT] = replace(spine, interface="Ethernet8")
    served.device.on_power, tell = (
        lambda on: (neighbours.update({PORT: spine}) if on else None, tell(on)),
        served.device.on_power,
    )
    with pytest.raises(Unreachable, match="not seen by LLDP again: spine1:Ethernet8 at 1/1/1"):
        served.impatient(reload_within=4.0).apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"
