"""The command line: what exists, what does not, and the errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.eos import rpc
from ansible_collections.jumbo.fabric.lab.eos.cli import RequestFailed
from ansible_collections.jumbo.fabric.lab.eos.commands import COMMANDS, find
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.plane import MacEntry
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

Data = Callable[..., Any]
Text = Callable[..., str]


def fails(device: EosDevice, *commands: str | dict[str, Any], encoding: str = "json") -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        device.run(list(commands), encoding=encoding)
    return caught.value


def test_an_unknown_command_stops_the_request(device: EosDevice) -> None:
    failed = fails(device, "enable", "show version", "show bogus", "write memory")
    assert failed.code == 1002
    assert str(failed) == "CLI command 3 of 4 'show bogus' failed: invalid command"
    results = [json.loads(result) for result in failed.results]
    assert results[0] == {}
    assert results[1]["modelName"] == "vEOS-lab"
    assert results[2] == {"errors": ["Invalid input (at token 1: 'bogus')"]}
    assert device.writes == []


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("shw version", "Invalid input (at token 0: 'shw')"),
        ("show", "Incomplete command (at token 0: 'show')"),
        ("show interfaces Ethernet1 foo", "Invalid input (at token 3: 'foo')"),
        ("show interfaces bogus", "Invalid input (at token 2: 'bogus')"),
        ("show interfaces Ethernet77", "Interface does not exist"),
        ("show running-config interfaces bogus", "Invalid input (at token 3: 'bogus')"),
        ("interface Ethernet1", "Invalid input (at token 0: 'interface')"),
        ("commit", "Invalid input (at token 0: 'commit')"),
        ("end", "Invalid input (at token 0: 'end')"),
    ],
)
def test_invalid_commands(device: EosDevice, command: str, error: str) -> None:
    failed = fails(device, "enable", command)
    assert failed.code == 1002
    assert json.loads(failed.results[-1])["errors"] == [error]


@pytest.mark.parametrize(
    "command",
    ["show running-config", "configure", "write memory", "show startup-config", "copy startup-config flash:x"],
)
def test_some_commands_want_enable(device: EosDevice, command: str) -> None:
    failed = fails(device, command)
    assert json.loads(failed.results[-1])["errors"] == ["Invalid input (privileged mode required)"]


def test_enable_with_and_without_input(device: EosDevice) -> None:
    assert device.run([{"cmd": "enable", "input": "secret"}, "show hostname"])[0] == "{}"
    assert json.loads(device.run(["enable"], encoding="text")[0]) == {"output": ""}


@pytest.mark.parametrize(
    "command",
    [
        "show running-config diffs",
        "show startup-config",
        "show running-config all",
        "show running-config | section interface",
    ],
)
def test_commands_without_a_json_form(device: EosDevice, command: str) -> None:
    failed = fails(device, "enable", command)
    assert failed.code == 1003
    assert str(failed) == f"CLI command 2 of 2 '{command}' failed: unconverted command"
    assert json.loads(device.run(["enable", command], encoding="text")[1])["output"] is not None


def test_blank_lines_and_comments_do_no_harm(device: EosDevice) -> None:
    device.run(["enable", "", "configure", "", "! a comment", "interface Ethernet1", "mtu 9000", "end", ""])
    assert device.plane.mtus["Ethernet1"] == 9000  # type: ignore[attr-defined]


def test_configure_terminal_takes_effect_line_by_line(device: EosDevice, plane: StaticPlane) -> None:
    fails(device, "enable", "configure terminal", "interface Ethernet1", "mtu 9000", "bogus")
    assert plane.mtus["Ethernet1"] == 9000


def test_leaving_modes(device: EosDevice) -> None:
    device.run(["enable", "configure", "interface Ethernet1", "exit", "vlan 20", "exit", "exit", "show hostname"])
    fails(device, "enable", "configure", "exit", "vlan 30")
    assert "vlan 20" in device.running.root.children
    assert "vlan 30" not in device.running.root.children


def test_show_works_in_configuration_modes(data: Data) -> None:
    assert data("configure session s", "interface Ethernet1", "show hostname")["hostname"] == "leaf1"


def test_a_session_with_its_own_commands(data: Data, text: Text) -> None:
    diff = text("configure session s", "interface Ethernet1", "mtu 9000", "show session-config diffs")
    assert diff.startswith("--- system:/running-config\n+++ session:/s-session-config\n@@")
    data("configure session s", "commit")
    assert data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]["mtu"] == 9000
    data("configure session t", "interface Ethernet1", "mtu 8000", "abort")
    assert data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]["mtu"] == 9000


def test_banner_input(device: EosDevice, text: Text) -> None:
    device.run(["enable", "configure", {"cmd": "banner login", "input": "one\n two\n"}])
    assert "banner login\none\n two\nEOF\n" in text("show running-config")


def test_running_config_forms(text: Text, data: Data, device: EosDevice) -> None:
    device.edit(["username admin secret sha512 $6$abc", "snmp-server community hush ro"])
    whole = text("show running-config")
    assert whole.startswith("! Command: show running-config\n! device: leaf1 (vEOS-lab, EOS-4.32.2F)\n!\n")
    assert whole.endswith("!\nend\n")
    sanitized = text("show running-config sanitized")
    assert "$6$abc" not in sanitized
    assert "hush" not in sanitized
    assert text("show running-config section Ethernet1").startswith("interface Ethernet1\n")
    assert text("show running-config interfaces Ethernet1").splitlines()[0] == "interface Ethernet1"
    assert text("show running-config | section Vlan10").splitlines() == [
        "interface Vlan10",
        "   ip address 10.1.0.1/24",
    ]
    assert text("show running-config | include ip routing") == "ip routing\n"
    assert data("show running-config")["cmds"]["interface Vlan10"]["cmds"] == {"ip address 10.1.0.1/24": None}
    assert json.loads(text("show hostname | json")) == {"fqdn": "leaf1", "hostname": "leaf1"}


def test_startup_config(text: Text) -> None:
    assert text("show startup-config").startswith("! Command: show startup-config\n! Startup-config last modified at ")
    assert text("show running-config diffs") == ""


def test_files(data: Data, text: Text, device: EosDevice) -> None:
    assert data("copy startup-config flash:rollback-0") == {"messages": ["Copy completed successfully."]}
    assert text("copy running-config startup-config") == "Copy completed successfully.\n"
    device.edit(["interface Ethernet1", "mtu 9000"])
    data("configure replace flash:rollback-0")
    assert data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]["mtu"] == 1500
    assert fails(device, "enable", "configure replace flash:missing").code == 1000
    assert fails(device, "enable", "copy running-config flash:../x").code == 1000
    assert fails(device, "enable", "copy running-config tftp:x").code == 1002


def test_checkpoints(data: Data, device: EosDevice) -> None:
    data("configure checkpoint save before")
    device.edit(["interface Ethernet1", "mtu 9000"])
    data("configure replace checkpoint:before")
    assert data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]["mtu"] == 1500
    assert fails(device, "enable", "configure replace checkpoint:ghost").code == 1000


def test_a_replace_with_a_bad_line_changes_nothing(data: Data, device: EosDevice) -> None:
    device.flash.write("bad", "interface Ethernet1\n   mtu 9000\n   mtu 99999\n")
    assert fails(device, "enable", "configure replace flash:bad").code == 1000
    assert data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]["mtu"] == 1500


def test_a_file_into_a_session(text: Text, device: EosDevice) -> None:
    device.flash.write("snippet", "interface Ethernet1\n   mtu 9000\n")
    assert "+   mtu 9000" in text(
        "configure session s", "copy flash:snippet session-config", "show session-config diffs"
    )


def test_lldp(data: Data, text: Text) -> None:
    found = data("show lldp neighbors  detail")["lldpNeighbors"]
    assert found["Ethernet2"] == {"lldpNeighborInfo": []}
    info = found["Ethernet1"]["lldpNeighborInfo"][0]
    assert info["systemName"] == "spine1"
    assert info["neighborInterfaceInfo"]["maxFrameSize"] == 9236
    assert info["neighborInterfaceInfo"]["interfaceId"] == '"Ethernet7"'
    assert info["neighborInterfaceInfo"]["interfaceId_v2"] == "Ethernet7"
    assert list(data("show lldp neighbors Ethernet1 detail")["lldpNeighbors"]) == ["Ethernet1"]
    assert "  - IEEE802.3 Maximum Frame Size: 9236 bytes" in text("show lldp neighbors detail")
    assert data("show lldp neighbors")["lldpNeighbors"][0]["neighborDevice"] == "spine1"


def test_lldp_hears_nothing_on_a_dead_port(data: Data, plane: StaticPlane) -> None:
    plane.unplugged.add("Ethernet1")
    assert data("show lldp neighbors detail")["lldpNeighbors"]["Ethernet1"] == {"lldpNeighborInfo": []}


def test_mac_table(make: Callable[..., EosDevice], data: Data, text: Text) -> None:
    assert data("show mac address-table")["unicastTable"]["tableEntries"] == []
    device = make(plane=StaticPlane(macs=[MacEntry("02:00:00:00:00:01", 10, "Ethernet2")]))
    (entry,) = data("show mac address-table", of=device)["unicastTable"]["tableEntries"]
    assert (entry["macAddress"], entry["vlanId"], entry["interface"]) == ("02:00:00:00:00:01", 10, "Ethernet2")
    assert "0200.0000.0001    DYNAMIC     Et2" in text("show mac address-table", of=device)


def test_routes(data: Data, text: Text) -> None:
    found = data("show ip route")["vrfs"]["default"]["routes"]
    assert found["10.0.0.0/31"]["routeType"] == "connected"
    assert found["10.9.0.0/16"]["vias"] == [{"nexthopAddr": "10.0.0.1", "interface": "Ethernet1"}]
    assert "10.9.0.0/16 [1/0] via 10.0.0.1, Ethernet1" in text("show ip route vrf default")


def test_vrfs(device: EosDevice) -> None:
    assert fails(device, "cli vrf RED").code == 1000
    device.edit(["vrf instance RED"])
    device.run(["cli vrf RED", "cli vrf default"])


def test_every_row_of_the_table_can_be_reached() -> None:
    samples = {"<timer>": "00:01:00", "<words...>": "10.0.0.1", "<options...>": "all", "<detail>": "detail"}
    for row in COMMANDS:
        words = [word.strip("[]") for word in row.pattern.split()]
        line = " ".join(samples.get(word, "sanitized" if word == "<sanitized>" else word.strip("<>")) for word in words)
        found, _rest = find(line)
        assert found is row, line


def test_the_envelope(device: EosDevice) -> None:
    def ask(body: object) -> Any:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            return json.loads(rpc.answer(device, rpc.Request(raw), "admin"))
        except rpc.Malformed as error:
            return json.loads(rpc.malformed(error))

    good = {"jsonrpc": "2.0", "method": "runCmds", "params": {"version": 1, "cmds": ["show hostname"]}, "id": "7"}
    assert ask(good) == {"jsonrpc": "2.0", "id": "7", "result": [{"hostname": "leaf1", "fqdn": "leaf1"}]}
    assert ask(b"{")["error"]["code"] == -32700
    assert ask([])["error"]["code"] == -32600
    assert ask({**good, "method": "other"})["error"]["code"] == -32601
    assert ask({**good, "params": {}})["error"]["code"] == -32602
    assert ask({**good, "params": {"cmds": [1]}})["error"]["code"] == -32602
    failed = ask({**good, "params": {"version": "latest", "cmds": ["show bogus"], "format": "text"}, "id": 9})
    assert failed["id"] == 9
    assert failed["error"]["code"] == 1002
    assert failed["error"]["data"] == [{"errors": ["Invalid input (at token 1: 'bogus')"]}]
