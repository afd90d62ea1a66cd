"""The configuration model: lines in, text out."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.lab.eos.config import as_model, render, unified_diff
from ansible_collections.jumbo.fabric.lab.eos.editor import Editor, load
from ansible_collections.jumbo.fabric.lab.eos.errors import CliError
from ansible_collections.jumbo.fabric.lab.eos.hardware import Hardware
from ansible_collections.jumbo.fabric.lab.eos.names import canonical, expand, numbers, short, sort_key

HARDWARE = Hardware()
BASE = "interface Ethernet1\ninterface Ethernet2\ninterface Ethernet3\ninterface Management1\n"


def edited(*lines: str, base: str = BASE) -> list[str]:
    config, errors = load(base, HARDWARE)
    assert errors == []
    editor = Editor(config, HARDWARE)
    for line in lines:
        editor.enter(line)
    return render(config)


def block(lines: list[str], header: str) -> list[str]:
    start = lines.index(header) + 1
    return [line.strip() for line in lines[start : lines.index("!", start)]]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Ethernet1", "Ethernet1"),
        ("ethernet1", "Ethernet1"),
        ("Et1/1", "Ethernet1/1"),
        ("po10", "Port-Channel10"),
        ("Port-Channel2.20", "Port-Channel2.20"),
        ("Vlan 10", "Vlan10"),
        ("lo0", "Loopback0"),
        ("ma1", "Management1"),
        ("vx1", "Vxlan1"),
        ("v1", None),
        ("Ethernet", None),
        ("defaults", None),
        ("Foo1", None),
    ],
)
def test_interface_names(written: str, name: str | None) -> None:
    assert canonical(written) == name


def test_ranges_and_order() -> None:
    assert expand("Ethernet1-3,5") == ["Ethernet1", "Ethernet2", "Ethernet3", "Ethernet5"]
    assert expand("Ethernet1-x") == []
    assert numbers("10,20-22") == [10, 20, 21, 22]
    assert short("Port-Channel10") == "Po10"
    names = ["Vlan9", "Ethernet10", "Management1", "Ethernet2", "Port-Channel1", "Loopback0"]
    assert sorted(names, key=sort_key) == [
        "Port-Channel1",
        "Ethernet2",
        "Ethernet10",
        "Loopback0",
        "Management1",
        "Vlan9",
    ]


def test_a_rendered_configuration_reads_back_as_itself() -> None:
    source = """
hostname leaf1
vlan 10,20
interface Ethernet1
   description one  two
   mtu 9000
   no switchport
   ip address 10.0.0.0/31
interface Ethernet2
   shutdown
   switchport mode trunk
   switchport trunk allowed vlan 10,20
ip access-list EDGE
   10 permit icmp any any
   20 deny ip any any
ip icmp rate-limit-unreachable 0
ip routing
ip route 10.9.0.0/16 10.0.0.1
ip route 10.9.0.0/16 10.0.0.3
system control-plane
   ip access-group EDGE in
router bgp 65001
   router-id 10.255.0.1
   neighbor 10.0.0.1 remote-as 65000
   neighbor 10.0.0.1 shutdown
   !
   address-family ipv4
      neighbor 10.0.0.1 activate
management api http-commands
   no shutdown
banner login
Hello
  there
EOF
end
"""
    config, errors = load(source, HARDWARE)
    assert errors == []
    lines = render(config)
    again, errors = load("\n".join(lines), HARDWARE)
    assert errors == []
    assert render(again) == lines
    assert unified_diff(config, again, ("a", "b")) == ""
    assert "   neighbor 10.0.0.1 shutdown" in lines
    assert "      neighbor 10.0.0.1 activate" in lines
    assert "  there" in lines


@pytest.mark.parametrize("form", ["no mtu", "default mtu", "no mtu 9000"])
def test_back_to_the_default_mtu(form: str) -> None:
    assert block(edited("interface Ethernet1", "mtu 9000"), "interface Ethernet1") == ["mtu 9000"]
    assert block(edited("interface Ethernet1", "mtu 9000", form), "interface Ethernet1") == []


def test_a_second_line_replaces_the_first_of_its_kind() -> None:
    lines = edited("interface Ethernet1", "mtu 9000", "mtu 9100", "description a", "description b")
    assert block(lines, "interface Ethernet1") == ["description b", "mtu 9100"]


def test_the_default_mtu_is_hidden_unless_asked_for() -> None:
    config, _refused = load(BASE + "interface Ethernet1\n   mtu 1500\n", HARDWARE)
    assert "   mtu 1500" not in render(config)
    assert "   mtu 1500" in render(config, every=True)


def test_with_interface_defaults_the_old_default_is_no_longer_hidden() -> None:
    lines = edited(
        "interface defaults", "mtu 9214", "interface Ethernet1", "mtu 1500", "interface Ethernet2", "mtu 9214"
    )
    assert block(lines, "interface defaults") == ["mtu 9214"]
    assert block(lines, "interface Ethernet1") == ["mtu 1500"]
    assert block(lines, "interface Ethernet2") == []


def test_flat_lines_leave_a_block_by_themselves() -> None:
    lines = edited("interface Ethernet1", "mtu 9000", "vlan 10", "name blue", "interface Ethernet2", "shutdown")
    assert block(lines, "vlan 10") == ["name blue"]
    assert block(lines, "interface Ethernet2") == ["shutdown"]


def test_switchport_and_shutdown() -> None:
    assert block(edited("interface Ethernet1", "no switchport"), "interface Ethernet1") == ["no switchport"]
    assert block(edited("interface Ethernet1", "no switchport", "switchport"), "interface Ethernet1") == []
    assert block(edited("interface Ethernet1", "shutdown", "no shutdown"), "interface Ethernet1") == []


def test_addresses() -> None:
    lines = ["interface Ethernet1", "ip address 10.0.0.1/24", "ip address 10.0.1.1/24 secondary"]
    assert block(edited(*lines), "interface Ethernet1") == lines[1:]
    assert block(edited(*lines, "no ip address"), "interface Ethernet1") == []


def test_removing_blocks() -> None:
    assert "interface Vlan10" not in edited("interface Vlan10", "mtu 9000", "no interface Vlan10")
    assert "interface Vlan10" in edited("interface Vlan10", "mtu 9000", "default interface Vlan10")
    assert block(edited("interface Ethernet1", "mtu 9000", "no interface Ethernet1"), "interface Ethernet1") == []
    assert "router bgp 65001" not in edited("router bgp 65001", "router-id 1.1.1.1", "no router bgp")
    assert "vlan 10" not in edited("vlan 10", "no vlan 10")


def test_ranges_of_interfaces() -> None:
    lines = edited("interface Ethernet1-2", "mtu 9000")
    assert block(lines, "interface Ethernet1") == block(lines, "interface Ethernet2") == ["mtu 9000"]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["ruter bgp 1"], "Invalid input (at token 0: 'ruter')"),
        (["interface Ethernet99"], "Invalid input (at token 1: 'Ethernet99')"),
        (["interface Ethernet1", "mtu abc"], "Invalid input (at token 1: 'abc')"),
        (["interface Ethernet1", "mtu 67"], "Invalid input (at token 1: '67')"),
        (["interface Ethernet1", "mtu 65536"], "Invalid input (at token 1: '65536')"),
        (["interface Ethernet1", "mtu"], "Incomplete command (at token 0: 'mtu')"),
        (["interface Ethernet1", "ip addres 10.0.0.1/24"], "Invalid input (at token 1: 'addres')"),
        (["interface Ethernet1", "mtu 9215"], "Max MTU for Ethernet1 is 9214"),
        (["interface defaults", "mtu 9215"], "Invalid input (at token 1: '9215')"),
        (["interface Loopback0", "mtu 9000"], "Unavailable command (not supported on this hardware platform)"),
        (["interface Vxlan1", "mtu 9000"], "Unavailable command (not supported on this hardware platform)"),
        (["interface Ethernet1.20", "mtu 9000"], "mtu  not supported on this hardware platform"),
        (["interface Ethernet1", "l2 mtu 9000"], "Unavailable command (not supported on this hardware platform)"),
        (["interface Vlan10", "no switchport"], "Invalid input (at token 0: 'switchport')"),
        (["no"], "Incomplete command (at token 0: 'no')"),
    ],
)
def test_errors(lines: list[str], error: str) -> None:
    with pytest.raises(CliError) as caught:
        edited(*lines)
    assert str(caught.value) == error


def test_at_boot_a_bad_line_is_skipped_and_told() -> None:
    config, errors = load("interface Ethernet1\n   mtu 9999\n   description kept\nbogus\n", HARDWARE)
    assert errors == ["mtu 9999: Max MTU for Ethernet1 is 9214", "bogus: Invalid input (at token 0: 'bogus')"]
    assert block(render(config), "interface Ethernet1") == ["description kept"]


def test_the_json_model() -> None:
    config, _refused = load("hostname a\ninterface Ethernet1\n   mtu 9000\ninterface Ethernet2\n", HARDWARE)
    cmds = as_model(config)["cmds"]
    assert cmds == {
        "hostname a": None,
        "interface Ethernet1": {"comments": [], "cmds": {"mtu 9000": None}},
        "interface Ethernet2": {"comments": [], "cmds": {}},
    }


def test_a_diff_is_a_unified_diff_with_three_lines_around() -> None:
    before, _refused = load("hostname a\ninterface Ethernet1\n   no switchport\n   ip address 10.0.0.0/31\n", HARDWARE)
    after = before.copy()
    Editor(after, HARDWARE).enter("hostname a")
    editor = Editor(after, HARDWARE)
    editor.enter("interface Ethernet1")
    editor.enter("mtu 9000")
    assert unified_diff(before, after, ("system:/running-config", "session:/s-session-config")).splitlines() == [
        "--- system:/running-config",
        "+++ session:/s-session-config",
        "@@ -2,6 +2,7 @@",
        " hostname a",
        " !",
        " interface Ethernet1",
        "+   mtu 9000",
        "    no switchport",
        "    ip address 10.0.0.0/31",
        " !",
    ]
