"""`show interfaces` and what decides its numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos.cli import RequestFailed
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.plane import PortCounters
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

ntc_templates = pytest.importorskip("ntc_templates.parse")

Data = Callable[..., Any]
Make = Callable[..., EosDevice]
UNAVAILABLE = "Unavailable command (not supported on this hardware platform)"


def interface(data: Data, name: str, of: EosDevice | None = None) -> dict[str, Any]:
    model = data("show interfaces", **({"of": of} if of else {}))
    found: dict[str, Any] = model["interfaces"][name]
    return found


def configure(device: EosDevice, *lines: str) -> None:
    device.run(["enable", "configure", *lines])


def refused(device: EosDevice, *lines: str) -> str:
    with pytest.raises(RequestFailed) as caught:
        configure(device, *lines)
    assert caught.value.code == 1002
    return str(json.loads(caught.value.results[-1])["errors"][0])


@pytest.mark.parametrize(
    ("name", "mtu", "forwarding", "hardware"),
    [
        ("Ethernet1", 1500, "routed", "ethernet"),
        ("Ethernet2", 9214, "bridged", "ethernet"),
        ("Ethernet3", 9214, "dataLink", "ethernet"),
        ("Port-Channel1", 1500, "routed", "portChannel"),
        ("Vlan10", 1500, "routed", "vlan"),
        ("Loopback0", 65535, "routed", "loopback"),
        ("Management1", 1500, "routed", "ethernet"),
        ("Vxlan1", 0, "bridged", "vxlan"),
    ],
)
def test_defaults(data: Data, name: str, mtu: int, forwarding: str, hardware: str) -> None:
    found = interface(data, name)
    assert (found["mtu"], found["forwardingModel"], found["hardware"]) == (mtu, forwarding, hardware)
    assert found["l3MtuConfigured"] is False
    assert found["l2Mru"] == 0


def test_own_mtu_and_system_mtu(data: Data, device: EosDevice, plane: StaticPlane) -> None:
    configure(device, "interface Ethernet1", "mtu 9000", "interface defaults", "mtu 9100")
    assert [interface(data, name)["mtu"] for name in ("Ethernet1", "Vlan10", "Port-Channel1")] == [9000, 9100, 9100]
    assert interface(data, "Ethernet1")["l3MtuConfigured"] is True
    assert interface(data, "Vlan10")["l3MtuConfigured"] is False
    assert interface(data, "Management1")["mtu"] == 9100  # not confirmed for the real thing, so the worse is done
    assert interface(data, "Ethernet2")["mtu"] == 9214
    assert plane.mtus["Vlan10"] == 9100


def test_an_explicit_default_holds_against_interface_defaults(data: Data, device: EosDevice) -> None:
    configure(device, "interface Management1", "mtu 1500", "interface defaults", "mtu 9100")
    assert interface(data, "Management1")["mtu"] == 1500
    assert interface(data, "Management1")["l3MtuConfigured"] is True


def test_mtu_on_a_switchport_waits_until_it_is_routed(data: Data, device: EosDevice, plane: StaticPlane) -> None:
    configure(device, "interface Ethernet2", "mtu 9000")
    assert interface(data, "Ethernet2")["mtu"] == 9214
    configure(device, "interface Ethernet2", "no switchport")
    assert interface(data, "Ethernet2")["mtu"] == 9000
    assert plane.mtus["Ethernet2"] == 9000


def test_a_subinterface_follows_its_parent(data: Data, device: EosDevice) -> None:
    configure(device, "interface Ethernet1.20", "encapsulation dot1q vlan 20", "ip address 10.2.0.0/31")
    configure(device, "interface Ethernet1", "mtu 9000")
    found = interface(data, "Ethernet1.20")
    assert (found["mtu"], found["hardware"], found["l3MtuConfigured"]) == (9000, "subinterface", False)
    assert "interfaceCounters" not in found


def test_a_smaller_box(make: Make, data: Data) -> None:
    device = make(max_mtu=9194)
    configure(device, "interface Ethernet1", "mtu 9194")
    assert refused(device, "interface Ethernet1", "mtu 9195") == "Max MTU for Ethernet1 is 9194"
    assert refused(device, "interface Vlan10", "mtu 9214") == "Max MTU for Vlan10 is 9194"
    assert interface(data, "Ethernet1", of=device)["mtu"] == 9194


def test_boxes_without_per_interface_mtu(make: Make, data: Data) -> None:
    device = make(per_interface_mtu="rejected")
    assert refused(device, "interface Ethernet1", "mtu 9000") == UNAVAILABLE
    configure(device, "interface defaults", "mtu 9000")
    assert interface(data, "Ethernet1", of=device)["mtu"] == 9000


def test_boxes_that_take_the_line_and_do_nothing(make: Make, data: Data) -> None:
    device = make(per_interface_mtu="ignored")
    configure(device, "interface Ethernet1", "mtu 9000")
    assert interface(data, "Ethernet1", of=device)["mtu"] == 1500
    assert "   mtu 9000" in json.loads(device.run(["enable", "show running-config"], encoding="text")[1])["output"]


def test_single_ports_without_mtu(make: Make) -> None:
    device = make(no_mtu_ports=frozenset({"Ethernet1"}))
    assert refused(device, "interface Ethernet1", "mtu 9000") == UNAVAILABLE
    configure(device, "interface Vlan10", "mtu 9000")


def test_l2_mtu_where_the_platform_has_it(make: Make, data: Data) -> None:
    device = make(l2_mtu=True)
    configure(device, "interface Ethernet2", "l2 mtu 9100", "l2 mru 9000")
    assert interface(data, "Ethernet2", of=device)["l2Mru"] == 9000
    assert interface(data, "Ethernet2", of=device)["mtu"] == 9214


@pytest.mark.parametrize(
    ("name", "status", "protocol"),
    [
        ("Ethernet1", "connected", "up"),
        ("Ethernet4", "disabled", "down"),
        ("Ethernet2", "notconnect", "down"),
        ("Port-Channel1", "notconnect", "lowerLayerDown"),
        ("Vlan10", "notconnect", "lowerLayerDown"),
    ],
)
def test_states(data: Data, plane: StaticPlane, name: str, status: str, protocol: str) -> None:
    plane.unplugged = {"Ethernet2", "Ethernet3", "Vlan10"}
    found = interface(data, name)
    assert (found["interfaceStatus"], found["lineProtocolStatus"]) == (status, protocol)


def test_interfaces_that_the_plane_does_not_know(make: Make, data: Data) -> None:
    device = make(plane=StaticPlane(["Ethernet1"]))
    assert interface(data, "Ethernet1", of=device)["interfaceStatus"] == "connected"
    assert interface(data, "Ethernet2", of=device)["interfaceStatus"] == "notconnect"


def test_counters(data: Data, text: Callable[..., str], plane: StaticPlane) -> None:
    plane.seen["Ethernet1"] = PortCounters(
        giants=7, input_packets=100, output_packets=200, input_bytes=9000, output_bytes=8000
    )
    counters = interface(data, "Ethernet1")["interfaceCounters"]
    assert (counters["inOctets"], counters["outOctets"]) == (9000, 8000)
    assert (counters["inUcastPkts"], counters["outUcastPkts"]) == (100, 200)
    assert counters["inputErrorsDetail"]["giantFrames"] == counters["totalInErrors"] == 7
    errors = data("show interfaces counters errors")["interfaceErrorCounters"]["Ethernet1"]
    assert errors == {
        "inErrors": 7,
        "frameTooLongs": 7,
        "frameTooShorts": 0,
        "fcsErrors": 0,
        "alignmentErrors": 0,
        "symbolErrors": 0,
        "outErrors": 0,
    }
    assert "     0 runts, 7 giants" in text("show interfaces Ethernet1").splitlines()
    row = next(line for line in text("show interfaces counters errors").splitlines() if line.startswith("Et1 "))
    assert row.split() == ["Et1", "0", "0", "0", "7", "0", "7", "0"]


def test_clear_counters(data: Data, text: Callable[..., str], plane: StaticPlane, clock: Any) -> None:
    plane.seen["Ethernet1"] = PortCounters(giants=7, input_packets=100)
    data("clear counters Ethernet1")
    plane.seen["Ethernet1"] = PortCounters(giants=9, input_packets=150)
    counters = interface(data, "Ethernet1")["interfaceCounters"]
    assert (counters["inputErrorsDetail"]["giantFrames"], counters["inUcastPkts"]) == (2, 50)
    assert counters["lastClear"] == clock.now
    assert "lastClear" not in interface(data, "Ethernet2")["interfaceCounters"]
    clock.advance(61)
    assert "counters 1 minutes, 1 seconds ago" in text("show interfaces Ethernet1")


def test_port_channel_has_members_and_no_giants(data: Data, text: Callable[..., str]) -> None:
    found = interface(data, "Port-Channel1")
    assert list(found["memberInterfaces"]) == ["Ethernet3"]
    assert "inputErrorsDetail" not in found["interfaceCounters"]
    assert "giants" not in text("show interfaces Port-Channel1")
    assert interface(data, "Ethernet3")["interfaceMembership"] == "Member of Port-Channel1"


def test_text_says_what_kind_of_mtu(text: Callable[..., str], device: EosDevice) -> None:
    configure(device, "interface Vlan10", "mtu 9000")
    assert "  IP MTU 1500 bytes (default), BW 10000000 kbit" in text("show interfaces Ethernet1")
    assert "  IP MTU 9000 bytes\n" in text("show interfaces Vlan10")
    assert "  Ethernet MTU 9214 bytes, BW 10000000 kbit" in text("show interfaces Ethernet2")
    assert "MTU" not in text("show interfaces Vxlan1")


def test_one_interface_or_some(data: Data) -> None:
    assert list(data("show interfaces et1")["interfaces"]) == ["Ethernet1"]
    assert list(data("show interfaces Ethernet1-2")["interfaces"]) == ["Ethernet1", "Ethernet2"]


def test_status_table(data: Data, text: Callable[..., str]) -> None:
    found = data("show interfaces status")["interfaceStatuses"]
    assert set(found) == {"Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4", "Management1", "Port-Channel1"}
    assert found["Ethernet2"]["vlanInformation"]["vlanId"] == 10
    assert found["Ethernet1"]["vlanInformation"]["interfaceForwardingModel"] == "routed"
    assert found["Ethernet4"]["linkStatus"] == "disabled"
    assert "in Po1" in text("show interfaces status")


def test_descriptions(data: Data) -> None:
    found = data("show interfaces description")["interfaceDescriptions"]
    assert found["Ethernet1"] == {"interfaceStatus": "up", "lineProtocolStatus": "up", "description": "to spine1"}
    assert found["Ethernet4"]["interfaceStatus"] == "adminDown"


def test_awkward_descriptions(data: Data, device: EosDevice) -> None:
    configure(device, "interface Ethernet1", 'description 100% "sure" \\ é')
    assert interface(data, "Ethernet1")["description"] == '100% "sure" \\ é'


@pytest.mark.parametrize(
    "command",
    [
        "show interfaces",
        "show interfaces status",
        "show interfaces description",
        "show version",
        "show hostname",
        "show lldp neighbors",
    ],
)
def test_public_templates_parse_the_text(text: Callable[..., str], command: str) -> None:
    rows = ntc_templates.parse_output(platform="arista_eos", command=command, data=text(command))
    assert rows


def test_public_templates_read_the_interfaces(text: Callable[..., str]) -> None:
    rows = ntc_templates.parse_output("arista_eos", "show interfaces", text("show interfaces"))
    found = {row["interface"]: row for row in rows}
    assert found["Ethernet1"]["mtu"] == "1500"
    assert found["Ethernet1"]["ip_address"] == "10.0.0.0/31"
    assert found["Ethernet1"]["description"] == "to spine1"
    assert found["Ethernet4"]["link_status"] == "administratively down"


def fixture(name: str) -> str:
    folder = os.environ.get("JUMBO_FIXTURES")
    path = Path(folder or "", "eos", name)
    if not folder or not path.is_file():
        pytest.skip("JUMBO_FIXTURES is not set")
    return path.read_text()


def shape(value: Any) -> Any:
    """Reduce JSON to its keys and types; an integer may stand for a float."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def assert_covers(ours: Any, real: Any, path: str) -> None:
    if isinstance(real, dict):
        for key, item in real.items():
            if key == "lastClear":  # only there after `clear counters`
                continue
            assert key in ours, f"{path}.{key}"
            assert_covers(ours[key], item, f"{path}.{key}")
    elif isinstance(real, list):
        assert isinstance(ours, list), path
    else:
        assert ours == real, path


def test_a_real_device_has_no_field_that_we_lack(data: Data) -> None:
    real = json.loads(fixture("show_interfaces.json"))["interfaces"]
    for found in real.values():
        ours = interface(data, "Ethernet2" if found["forwardingModel"] == "bridged" else "Management1")
        assert_covers(shape(ours), shape(found), found["name"])
        assert ours["mtu"] == found["mtu"]
        assert ours["hardware"] == found["hardware"]


def test_real_text_and_ours_parse_alike(text: Callable[..., str]) -> None:
    rows = ntc_templates.parse_output("arista_eos", "show interfaces", fixture("show_interfaces.txt"))
    real = {row["interface"]: row for row in rows}
    rows = ntc_templates.parse_output("arista_eos", "show interfaces", text("show interfaces"))
    ours = {row["interface"]: row for row in rows}
    for name in ("Ethernet1", "Management1", "Loopback0"):
        for key in ("link_status", "protocol_status", "hardware_type", "mtu"):
            assert ours[name][key] == real[name][key], (name, key)
