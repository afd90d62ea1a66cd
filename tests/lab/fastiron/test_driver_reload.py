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


@pytest.mark.parametrize("options", [{}, {"reload_questions": 2}, {"reload_questions": 2, "any_key": False}])
def test_jumbo_is_saved_reloaded_and_read_back(start: Any, options: Any) -> None:
    served = start(**options)
    assert served.driver.diff(JUMBO).startswith("+jumbo\n")
    handle = served.driver.apply(JUMBO, 0, NAME)
    assert (handle["changed"], served.device.jumbo_state()) == (True, "active")
    assert served.kinds() == ["config-line", "write-startup", "reboot"]
    assert served.driver.confirm(handle) == {"confirmed": True, "persisted": True}
    found = served.driver.revert(handle)
    assert (found["reverted"], served.device.jumbo_state()) == (True, "active")
    assert "stays on" in found["notes"][0]
    assert served.driver.apply(JUMBO, 0, NAME)["changed"] is False


def test_what_somebody_configured_and_never_reloaded_is_finished(start: Any) -> None:
    served = start()
    served.type("jumbo")
    assert served.driver.diff(JUMBO).startswith("(a save and a reload")
    served.save()
    served.driver.apply(JUMBO, 0, NAME)
    assert served.device.jumbo_state() == "active"
    assert served.kinds() == ["config-line", "reboot"]


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


def test_a_save_without_an_answer_is_read_back(start: Any) -> None:
    served = start()
    trouble = served.device.trouble
    trouble.hangs, trouble.hang_at, trouble.hang_seconds = 1, "write memory", 3
    served.impatient().apply(JUMBO, 0, NAME)
    assert served.kinds() == ["config-line", "write-startup", "reboot"]


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
