"""What holds for every configuration that can be typed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab.eos.config import Config, render, unified_diff
from ansible_collections.jumbo.fabric.lab.eos.device import EosDevice
from ansible_collections.jumbo.fabric.lab.eos.editor import Editor, load
from ansible_collections.jumbo.fabric.lab.eos.errors import CliError
from ansible_collections.jumbo.fabric.lab.eos.hardware import Hardware
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from hypothesis import given, settings
from hypothesis import strategies as st

HARDWARE = Hardware(subinterface_mtu=True, l2_mtu=True)
PORTS = frozenset({"Ethernet1", "Ethernet2", "Management1"})
INTERFACES = ["Ethernet1", "Ethernet2", "Ethernet1.20", "Port-Channel1", "Vlan10", "Loopback0", "Management1", "Vxlan1"]
BODIES = [
    "mtu 68",
    "mtu 1500",
    "mtu 9000",
    "mtu 9214",
    "no mtu",
    "no switchport",
    "switchport",
    "switchport access vlan 10",
    "shutdown",
    "no shutdown",
    "ip address 10.0.0.1/24",
    "ip address 10.0.1.1/24 secondary",
    "no ip address",
    "channel-group 1 mode active",
    "description a b",
    "no description",
    "l2 mru 9000",
    "exit",
]
GLOBALS = [
    "hostname x",
    "no hostname",
    "vlan 10,20",
    "no vlan 20",
    "name blue",
    "interface defaults",
    "no interface defaults",
    "ip routing",
    "ip route 10.0.0.0/8 10.0.0.2",
    "ip route 10.0.0.0/8 10.0.0.3",
    "no ip route 10.0.0.0/8 10.0.0.2",
    "router bgp 65001",
    "neighbor 10.0.0.2 remote-as 65000",
    "neighbor 10.0.0.2 shutdown",
    "address-family ipv4",
    "no router bgp 65001",
]
LINES = st.one_of(
    st.sampled_from(BODIES),
    st.sampled_from(GLOBALS),
    st.sampled_from([f"{verb}interface {name}" for name in INTERFACES for verb in ("", "", "no ", "default ")]),
)
SCRIPTS = st.lists(LINES, max_size=40)


def typed(lines: list[str], start: Config | None = None) -> Config:
    """Type lines as a person would: what is refused is skipped."""
    config = start.copy() if start else Config(PORTS)
    editor = Editor(config, HARDWARE)
    for line in lines:
        try:
            editor.exit() if line == "exit" else editor.enter(line)
        except CliError:
            continue
    return config


@given(SCRIPTS)
def test_what_is_rendered_reads_back(lines: list[str]) -> None:
    config = typed(lines)
    again, errors = load("\n".join(render(config)), HARDWARE, PORTS)
    assert errors == []
    assert render(again) == render(config)


@given(SCRIPTS)
def test_a_line_says_rightly_whether_it_changed_anything(lines: list[str]) -> None:
    config = Config(PORTS)
    editor = Editor(config, HARDWARE)
    for line in lines:
        before = render(config, every=True)
        try:
            changed = (not editor.exit() and False) if line == "exit" else editor.enter(line)
        except CliError:
            changed = False
        if not changed:
            assert render(config, every=True) == before


@given(SCRIPTS, SCRIPTS)
@settings(max_examples=30)
def test_a_diff_adds_and_removes_what_it_should(first: list[str], second: list[str]) -> None:
    before = typed(first)
    after = typed(second, before)
    diff = unified_diff(before, after, ("a", "b"))
    assert bool(diff) == (render(before) != render(after))
    if diff:
        added = sum(line.startswith("+") for line in diff.splitlines()[2:])
        removed = sum(line.startswith("-") for line in diff.splitlines()[2:])
        assert len(render(after)) - len(render(before)) == added - removed


@given(SCRIPTS, SCRIPTS)
@settings(max_examples=50, deadline=None)
def test_after_the_timer_all_is_as_before(change: list[str], meanwhile: list[str]) -> None:
    now = [0.0]
    plane = StaticPlane()
    start = "interface Ethernet1\n   no switchport\n   mtu 2000\ninterface Ethernet2\ninterface Management1\n"
    device = EosDevice("leaf1", start, plane, clock=lambda: now[0])
    running, mtus, down = render(device.running), dict(plane.mtus), set(plane.down)
    commands = ["enable", "configure session s", "end", "configure session s commit timer 00:01:00"]
    device.run(commands[:3])
    device.sessions.known["s"].config = typed(change, device.running)
    device.run(["enable", commands[3]])
    device.replace_running(typed(meanwhile, device.running))
    now[0] = 61.0
    device.tick()
    assert render(device.running) == running
    assert {name: plane.mtus[name] for name in mtus} == mtus
    assert {name for name in plane.down if name in mtus} == down


@pytest.mark.skipif(not Path("/usr/bin/patch").exists(), reason="the patch program is missing")
def test_the_patch_program_takes_our_diffs(tmp_path: Path) -> None:
    before = typed(["hostname a", "interface Ethernet1", "no switchport", "ip address 10.0.0.1/24"])
    after = typed(["interface Ethernet1", "mtu 9000", "interface Vlan10", "mtu 9000"], before)
    (tmp_path / "config").write_text("\n".join(render(before)) + "\n")
    diff = unified_diff(before, after, ("config", "config")) + "\n"
    subprocess.run(["/usr/bin/patch", "-p0"], input=diff, text=True, cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert (tmp_path / "config").read_text().splitlines() == render(after)
