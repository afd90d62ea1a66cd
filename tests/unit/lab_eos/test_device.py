"""The device as a whole: data plane, record of changes, hooks, files on disk, ping."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.audit import PREPARES, WRITES, Entry
from ansible_collections.jumbo.fabric.lab.eos.cli import RequestFailed
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

Data = Callable[..., Any]
MTU = ("interface Ethernet1", "mtu 9000", "end")


def test_it_boots_its_startup_config_into_the_plane(device: EosDevice, plane: StaticPlane) -> None:
    assert device.boot_errors == []
    assert plane.mtus == {
        "Ethernet1": 1500,
        "Ethernet2": 9214,
        "Ethernet3": 9214,
        "Ethernet4": 9214,
        "Port-Channel1": 1500,
        "Vlan10": 1500,
    }
    assert plane.down == {"Ethernet4"}
    assert device.writes == []


def test_only_what_changed_goes_to_the_plane(data: Data, plane: StaticPlane) -> None:
    plane.calls.clear()
    data("configure session s", *MTU)
    data("configure session s commit")
    data("write memory")
    assert plane.calls == [("mtu", "Ethernet1", 9000)]


def test_shutdown_reaches_the_plane_and_counts_as_a_flap(
    data: Data, device: EosDevice, plane: StaticPlane, clock: Any
) -> None:
    clock.advance(60)
    device.edit(["interface Ethernet1", "shutdown"])
    assert "Ethernet1" in plane.down
    device.edit(["interface Ethernet1", "no shutdown"])
    found = data("show interfaces Ethernet1")["interfaces"]["Ethernet1"]
    assert found["interfaceCounters"]["linkStatusChanges"] == 3
    assert found["lastStatusChangeTimestamp"] == clock.now


def test_an_svi_that_is_deleted_goes_down(device: EosDevice, plane: StaticPlane) -> None:
    device.edit(["no interface Vlan10"])
    assert "Vlan10" in plane.down
    device.edit(["interface Vlan10", "mtu 9000"])
    assert "Vlan10" not in plane.down
    assert plane.mtus["Vlan10"] == 9000


def test_a_dry_run_leaves_no_write_and_no_session(data: Data, device: EosDevice) -> None:
    data("configure session s", *MTU)
    data("configure session s abort")
    audit = device.audit()
    assert audit["written"] is False
    assert audit["open_sessions"] == []
    assert audit["aborted_sessions"] == ["s"]
    assert [entry["kind"] for entry in audit["entries"]] == [
        "session-open",
        "session-line",
        "session-line",
        "session-abort",
    ]
    assert json.dumps(audit)


@pytest.mark.parametrize(
    ("commands", "kind"),
    [
        (["configure session s commit"], "commit"),
        (["configure session s commit timer 00:01:00"], "commit-timer"),
        (["configure session s commit timer 00:01:00", "configure session s commit"], "confirm"),
        (["configure session s commit timer 00:01:00", "configure session s abort"], "revert"),
        (["configure", "interface Ethernet2", "description x"], "config-line"),
        (["write memory"], "write-startup"),
        (["copy running-config startup-config"], "write-startup"),
        (["copy running-config flash:x"], "write-file"),
        (["copy running-config flash:x", "configure replace flash:x"], "config-replace"),
        (["configure checkpoint save x"], "checkpoint"),
    ],
)
def test_every_way_to_write_is_recorded(data: Data, device: EosDevice, commands: list[str], kind: str) -> None:
    data("configure session s", *MTU)
    data(*commands)
    assert device.writes[-1].kind == kind
    assert device.writes[-1].user == "admin"
    assert device.audit()["written"] is True


def test_a_line_that_changes_nothing_is_no_write(data: Data, device: EosDevice) -> None:
    data("configure", "interface Ethernet1", "no switchport", "description to spine1", "no mtu", "default mtu")
    audit = device.audit()
    assert audit["written"] is False
    assert {entry["kind"] for entry in audit["entries"]} == {"config-no-change"}


def test_a_failing_plane_does_not_stop_a_commit(data: Data, device: EosDevice, plane: StaticPlane, clock: Any) -> None:
    def fail(_interface: str, _ip_mtu: int) -> None:
        raise RuntimeError("the kernel refuses")

    plane.set_ip_mtu = fail  # type: ignore[method-assign]
    data("configure session s", *MTU)
    data("configure session s commit timer 00:01:00")
    assert device.due == clock.now + 60


def test_the_record_knows_all_its_kinds() -> None:
    assert not WRITES & PREPARES


def test_first_write_hook(data: Data, device: EosDevice, plane: StaticPlane) -> None:
    seen: list[tuple[Entry, int]] = []
    device.on_first_write = lambda entry: seen.append((entry, plane.mtus["Ethernet1"]))
    data("configure session s", *MTU)
    assert seen == []
    data("configure session s commit")
    data("write memory")
    ((entry, mtu),) = seen
    assert (entry.kind, entry.session, mtu) == ("commit", "s", 9000)


def test_deadline_is_told_when_it_moves(data: Data, device: EosDevice, clock: Any) -> None:
    told: list[float | None] = []
    device.on_deadline = lambda: told.append(device.due)
    data("configure session s", *MTU)
    data("configure session s commit timer 00:02:00")
    data("show version")
    data("configure session s commit")
    assert told == [clock.now + 86400, clock.now + 120, None]


def test_uptime_starts_anew_with_a_reboot(data: Data, device: EosDevice, clock: Any) -> None:
    clock.advance(500)
    assert data("show version")["uptime"] == 500
    device.reboot()
    version = data("show version")
    assert version["uptime"] == 0
    assert version["bootupTimestamp"] == clock.now
    assert device.writes[-1].kind == "reboot"


def test_ports_outlive_a_startup_that_does_not_name_them(device: EosDevice, data: Data) -> None:
    device.flash.write("startup-config", "hostname leaf1\n")
    device.reboot()
    assert "Ethernet1" in data("show interfaces")["interfaces"]


def test_what_was_saved_outlives_the_process(make: Callable[..., EosDevice], data: Data, tmp_path: Path) -> None:
    first = make(state_dir=tmp_path / "leaf1")
    data("configure session s", *MTU, of=first)
    data("configure session s commit", of=first)
    data("write memory", of=first)
    data("copy startup-config flash:backup", of=first)
    second = make(state_dir=tmp_path / "leaf1")
    assert data("show interfaces", of=second)["interfaces"]["Ethernet1"]["mtu"] == 9000
    assert "backup" in second.flash


def test_a_box_that_rejects_mtu_drops_the_line_at_boot(make: Callable[..., EosDevice], data: Data) -> None:
    device = make("interface Ethernet1\n   no switchport\n   mtu 9000\n", per_interface_mtu="rejected")
    assert device.boot_errors == ["mtu 9000: Unavailable command (not supported on this hardware platform)"]
    assert data("show interfaces", of=device)["interfaces"]["Ethernet1"]["mtu"] == 1500


def pinged(device: EosDevice, plane: StaticPlane, command: str, *before: str) -> list[str]:
    lines: list[Sequence[str]] = []

    def answer(arguments: Sequence[str]) -> str:
        lines.append(arguments)
        return "PING\n"

    plane.answer = answer
    assert json.loads(device.run([*before, command])[-1]) == {"messages": ["PING\n"]}
    return list(lines[0])


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("ping 10.0.0.1", "-A -i 0.01 -c 5 -W 2 -s 72 -M dont 10.0.0.1"),
        ("ping 10.0.0.1 size 9000 df-bit repeat 2", "-A -i 0.01 -c 2 -W 2 -s 8972 -M do 10.0.0.1"),
        ("ping 10.0.0.1 timeout 2 size 1500 repeat 3 df-bit", "-A -i 0.01 -c 3 -W 2 -s 1472 -M do 10.0.0.1"),
        ("ping vrf default 10.0.0.1 source 10.1.0.1", "-A -i 0.01 -c 5 -W 2 -s 72 -M dont -I 10.1.0.1 10.0.0.1"),
        ("ping 10.0.0.1 source Vlan10", "-A -i 0.01 -c 5 -W 2 -s 72 -M dont -I 10.1.0.1 10.0.0.1"),
        ("ping 10.0.0.1 source lo0", "-A -i 0.01 -c 5 -W 2 -s 72 -M dont -I 10.255.0.1 10.0.0.1"),
        ("ping 10.0.0.1 interface Ethernet2", "-A -i 0.01 -c 5 -W 2 -s 72 -M dont -I Ethernet2 10.0.0.1"),
        ("ping fd00::1 size 9000 df-bit", "-A -i 0.01 -c 5 -W 2 -s 8952 -M do fd00::1"),
    ],
)
def test_ping_words(device: EosDevice, plane: StaticPlane, command: str, arguments: str) -> None:
    assert pinged(device, plane, command) == arguments.split()


@pytest.mark.parametrize(
    ("command", "token"),
    [
        ("ping -f", "at token 1: '-f'"),
        ("ping 10.0.0.1 size", "at token 2: 'size'"),
        ("ping 10.0.0.1 size 70000", "at token 3: '70000'"),
        ("ping 10.0.0.1 sizes 100", "at token 2: 'sizes'"),
        ("ping 10.0.0.1 source -x", "at token 3: '-x'"),
    ],
)
def test_ping_errors(device: EosDevice, command: str, token: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        device.run([command])
    assert token in json.loads(caught.value.results[-1])["errors"][0]


def test_ping_in_another_vrf_reaches_nobody(device: EosDevice) -> None:
    device.edit(["vrf instance MGMT"])
    assert json.loads(device.run(["cli vrf MGMT", "ping 10.0.0.1"])[1])["messages"] == [
        "connect: Network is unreachable"
    ]


def test_ping_speaks_as_eos_does(device: EosDevice, plane: StaticPlane) -> None:
    plane.answer = lambda _: "ping: local error: Message too long, mtu=1500\n"
    output = json.loads(device.run(["ping 10.0.0.1 size 9000 df-bit"], encoding="text")[0])["output"]
    assert output == "ping: local error: message too long, mtu=1500\n"
