"""pyeapi, unchanged, over HTTPS."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyeapi")

from pyeapi.eapilib import CommandError


def test_commands_in_json_and_text(pyeapi: Any) -> None:
    (version,) = pyeapi.enable("show version")
    assert version["result"]["version"] == "4.32.2F"
    (text,) = pyeapi.enable("show version", encoding="text")
    assert "Software image version: 4.32.2F" in text["result"]["output"]
    assert (pyeapi.version, pyeapi.model) == ("4.32.2F", "vEOS-lab")


def test_it_falls_back_to_text_by_the_error_code(pyeapi: Any) -> None:
    (result,) = pyeapi.enable("show startup-config")
    assert result["encoding"] == "text"
    assert result["result"]["output"].startswith("! Command: show startup-config")


def test_errors(pyeapi: Any) -> None:
    with pytest.raises(CommandError) as caught:
        pyeapi.enable("show bogus")
    assert caught.value.error_code == 1002
    assert "Invalid input (at token 1: 'bogus')" in str(caught.value)
    assert caught.value.output == [{}, {"errors": ["Invalid input (at token 1: 'bogus')"]}]


def test_configuration_line_by_line(pyeapi: Any, served: Any) -> None:
    assert pyeapi.config(["interface Ethernet1", "mtu 9000"]) == [{}, {}]
    assert served.mtu() == 9000
    assert "mtu 9000" in pyeapi.section("^interface Ethernet1$")


def test_configuration_session(pyeapi: Any, served: Any) -> None:
    pyeapi.configure_session()
    pyeapi.config(["interface Ethernet1", "mtu 9000"])
    diff = pyeapi.diff()
    assert diff.startswith("--- system:/running-config\n+++ session:/")
    assert "+   mtu 9000" in diff
    assert served.mtu() == 1500
    pyeapi.commit()
    assert served.mtu() == 9000


def test_aborted_session(pyeapi: Any, served: Any) -> None:
    pyeapi.configure_session()
    pyeapi.config(["interface Ethernet1", "mtu 9000"])
    pyeapi.abort()
    audit = served.device.audit()
    assert (audit["written"], audit["open_sessions"]) == (False, [])


def test_its_resource_apis(pyeapi: Any, served: Any) -> None:
    ipinterfaces = pyeapi.api("ipinterfaces")
    assert ipinterfaces.get("Ethernet1") == {"name": "Ethernet1", "address": "10.0.0.0/31", "mtu": 1500}
    assert ipinterfaces.get("Ethernet2") is None
    assert ipinterfaces.set_mtu("Ethernet1", 9000)
    assert ipinterfaces.get("Ethernet1")["mtu"] == 9000
    assert served.mtu() == 9000
    interfaces = pyeapi.api("interfaces")
    found = interfaces.get("Ethernet1")
    assert (found["description"], found["shutdown"], found["sflow"]) == ("to spine1", False, True)
    assert interfaces.get("Ethernet3")["shutdown"] is True
    assert interfaces.set_description("Ethernet1", "changed")
    assert pyeapi.api("vlans").get("10")["name"] == "blue"


def test_configurations(pyeapi: Any) -> None:
    assert "interface Ethernet1" in pyeapi.running_config
    assert "interface Ethernet1" in pyeapi.startup_config
