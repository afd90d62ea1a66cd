"""What the FastIron driver makes of what boxes print, and what it types. Real outputs where there are some."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import boxes
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.counters import counter_delta
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import (
    fastiron_dead_man,
    fastiron_state,
    parse_fastiron,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config
from unit.filter.outputs import fixture, real

EMPTY = Config.read("")
CONFIG = Config.read("""Current configuration:
!
ver 08.0.95
!
lag core dynamic id 1
 ports ethe 1/1/3 to 1/1/4 ethe 2/1/3
!
vlan 10 name back by port
 tagged ethe 1/1/1 lag 1 to 2
 untagged ethe 1/1/9 to 1/1/11
 router-interface ve 10
!
jumbo
hostname leaf5
interface ethernet 1/1/2
 ip address 10.0.0.0 255.255.255.254
 ip mtu 9000
!
interface ve 10
 ip address 10.1.0.1/24
 ipv6 address fd00::1/64
 jumbo
!
end
""")


def of_fixture(name):
    return fastiron_state.interfaces_of(fixture(f"fastiron/show_interfaces_{name}.txt"), EMPTY, EMPTY)


@real
def test_each_port_of_an_icx_has_its_own_size():
    found = of_fixture("icx")
    assert {name: (one["kind"], one["device_mtu"], one["mru"], one["oper_up"]) for name, one in found.items()} == {
        "40GigabitEthernet2/3/3": ("switched", 1500, 1500, True),
        "40GigabitEthernet2/3/4": ("switched", 1500, 1500, False),
        "lg10": ("lag", None, 1500, True),
        "GigEthernetmgmt1": ("management", 1500, None, True),
    }
    assert {name: one["counters"]["input_packets"] for name, one in found.items()} == {
        "40GigabitEthernet2/3/3": 130393421,
        "40GigabitEthernet2/3/4": 0,
        "lg10": 42361177,
        "GigEthernetmgmt1": 12656202,
    }
    assert found["GigEthernetmgmt1"]["addresses"] == ["10.203.35.106/24"]
    assert fastiron_state.is_active(found) is False


@real
def test_each_port_of_a_fesx_has_its_own_counters():
    found = of_fixture("fesx")
    assert len(found) == 24
    assert {(one["device_mtu"], one["mru"], one["ip_mtu"]) for one in found.values()} == {(10240, 10178, None)}
    errors = [found[f"GigabitEthernet{number}"]["counters"]["input_errors"] for number in (1, 2, 3, 5, 17)]
    assert errors == [8, 2, 0, 50639, 550394678]
    assert {one["counters"]["oversize"] for one in found.values()} == {0}
    assert fastiron_state.is_active(found) is True


def test_a_configuration_is_read_by_stanza():
    assert CONFIG.has_jumbo
    assert not Config.read("interface ve 10\n jumbo\n").has_jumbo, "inside a stanza it does nothing"
    assert (CONFIG.ip_mtu("GigabitEthernet1/1/2"), CONFIG.ip_mtu("Ve10")) == (9000, None)
    assert CONFIG.lags() == {"lg1": ["1/1/3", "1/1/4", "2/1/3"]}
    assert CONFIG.vlans() == {"1/1/1": [10], "1/1/9": [10], "1/1/10": [10], "1/1/11": [10], "lg1": [10], "lg2": [10]}
    assert Config.read("vlan 1 name DEFAULT-VLAN by port\n!\n").default_vlan == 1
    assert Config.read("default-vlan-id 900\n").default_vlan == 900
    assert CONFIG.addresses("GigabitEthernet1/1/2") == ["10.0.0.0/31"]
    assert CONFIG.addresses("Ve10") == ["10.1.0.1/24", "fd00::1/64"]
    assert (CONFIG.is_routed("GigabitEthernet1/1/2"), CONFIG.is_routed("GigabitEthernet1/1/9")) == (True, False)


PRINTED = "".join(
    f"{name} is up, line protocol is up\n  MTU 1500 bytes\n"
    for name in ("GigabitEthernet1/1/1", "GigabitEthernet1/1/3", "GigabitEthernet1/1/5", "Lag lg1")
)
OF_LAG = "lag core dynamic id 1\n ports ethe 1/1/3\n"


@pytest.mark.parametrize(
    ("vlans", "port", "idle", "lag"),
    [
        ("vlan 10 by port\n tagged ethe 1/1/1 lag 1\n", [[10, 10]], None, [[10, 10]]),
        ("vlan 10 by port\n tagged ethe 1/1/1 ethe 1/1/3\n", [[10, 10]], None, [[10, 10]]),
        ("vlan 1 name DEFAULT-VLAN by port\n", [[1, 1]], [[1, 1]], [[1, 1]]),
        ("", None, None, None),
    ],
)
def test_vlans_of_ports_and_lags_are_told_or_not_known(vlans, port, idle, lag):
    config = Config.read(OF_LAG + vlans)
    found = {name: one["vlans"] for name, one in fastiron_state.interfaces_of(PRINTED, config, config).items()}
    assert found == {
        "GigabitEthernet1/1/1": port,
        "GigabitEthernet1/1/3": [],
        "GigabitEthernet1/1/5": idle,
        "lg1": lag,
    }


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("GigabitEthernet1/1/2", "ethernet 1/1/2"),
        ("40GigabitEthernet2/3/3", "ethernet 2/3/3"),
        ("GigabitEthernet5", "ethernet 5"),
        ("Ve10", "ve 10"),
        ("lg3", "lag 3"),
        ("GigEthernetmgmt1", None),
    ],
)
def test_names_of_the_command_line(name, command):
    assert words.command_of(name) == command


def test_what_is_typed_and_what_is_told():
    assert words.mtu_lines("Ve10", None, 9000) == ["interface ve 10", "ip mtu 9000", "exit"]
    assert words.mtu_lines("Ve10", 9000, None) == ["interface ve 10", "no ip mtu 9000", "exit"]
    assert words.mtu_lines("Ve10", 9000, 9000) == []
    assert words.told_size("Ve10", 1400, 9000) == " interface ve 10\n-  ip mtu 1400\n+  ip mtu 9000"
    assert [words.after(seconds) for seconds in (120, 121, 3600, 90000)] == [
        "reload after 00:00:02",
        "reload after 00:00:03",
        "reload after 00:01:00",
        "reload after 01:01:00",
    ]


def test_lines_of_ours_are_told_from_those_of_others():
    saved = Config.read("hostname leaf5\n")
    ours = Config.read("hostname leaf5\njumbo\ninterface ve 10\n ip mtu 9000\n")
    assert words.difference(saved, ours.without(["Ve10"])) == ""
    assert fastiron_state.unsaved_of(saved, Config.read("hostname leaf5\njumbo\n")) == ""
    assert fastiron_state.unsaved_of(saved, ours) == "+interface ve 10\n+ ip mtu 9000"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("Invalid input -> foo\nType ? for a list", "Invalid input -> foo"),
        ("Error - IP MTU 9216 is out of range (1280-1500)", "Error - IP MTU 9216 is out of range (1280-1500)"),
        ("Incomplete command.", "Incomplete command."),
        ("Flash access in progress. Please try later", "Flash access in progress. Please try later"),
        ("  0 input errors, 0 CRC", None),
        ("Write startup-config done.", None),
    ],
)
def test_a_refusal_is_a_line_that_begins_so(text, refusal):
    assert words.refusal_of(text) == refusal


@pytest.mark.parametrize(
    ("line", "allowed"),
    [("out of range (1280-1500)", (1280, 1500)), ("valid range 576 to 10178", (576, 10178)), ("no", None)],
)
def test_a_refusal_may_name_what_is_allowed(line, allowed):
    assert words.allowed_in(line) == allowed


@pytest.mark.parametrize(
    ("uptime", "seconds"),
    [("71 days 2 hours 3 minutes 4 seconds", 6141784), ("5 minutes 1 seconds", 301), ("1 hour(s) 0 minute(s)", 3600)],
)
def test_the_version_tells_model_and_uptime(uptime, seconds):
    text = f"""  Copyright (c) Ruckus Networks, Inc. All rights reserved.
    UNIT 1: compiled on Jan 10 2023 at 10:00:00 labeled as SPR08095
        SW: Version 08.0.95pT213
  HW: Stackable ICX7150-24-POE
==========================================================================
UNIT 1: SL 1: ICX7150-24P POE 24-port Management Module
STACKID 1  system uptime is {uptime}
"""
    assert parse_fastiron.parse_version(text) == {
        "model": "ICX7150-24P",
        "version": "08.0.95pT213",
        "up_seconds": seconds,
    }


WHO = """SSH server status: Enabled
SSH connections:
 1      established, client ip address 192.0.2.7, user is bob
        1 minutes 7 seconds in idle
 2      established, client ip address 198.51.100.9, user is admin
        you are connecting to this session
 3      established, client ip address 192.0.2.8, user is eve
"""


@pytest.mark.parametrize(
    ("text", "address"), [(WHO, "198.51.100.9"), (WHO.replace("you are", "who is"), None), ("", None)]
)
def test_whom_the_box_sees(text, address):
    assert parse_fastiron.parse_client(text) == address


NEIGHBOUR = """Local port: 1/1/1
  Neighbor: 0024.38a5.5f31, TTL 101 seconds
    + Chassis ID (MAC address): 0024.38a5.5f00
    + Port ID (MAC address): 0024.38a5.5f31
    + System name         : "mlx1"
    + Port description    : "GigabitEthernet2/2"
    + Link aggregation: aggregated (aggregated port ifIndex: 66)
    + Maximum frame size: 9216 octets
    + Management address (IPv4): 192.0.2.48
Local port: 1/1/2
  Neighbor: 0024.38a5.5f32, TTL 101 seconds
    + System name         : "quiet"
"""


def test_neighbours_tell_their_largest_frame_or_nothing():
    assert parse_fastiron.parse_neighbours(NEIGHBOUR) == {
        "1/1/1": [{"host": "mlx1", "interface": "GigabitEthernet2/2", "max_frame": 9216}],
        "1/1/2": [{"host": "quiet", "interface": None, "max_frame": None}],
    }
    assert parse_fastiron.parse_neighbours("") == {}


def test_frames_that_disagree_are_not_active():
    port = {"kind": "switched", "ip_mtu": None}
    assert fastiron_state.is_active({"a": {**port, "device_mtu": 10200}, "b": {**port, "device_mtu": 1500}}) is False


@pytest.mark.parametrize("stated", [1500, 9000])
def test_a_box_whose_ports_are_all_routed_does_not_tell_whether_large_frames_are_active(stated):
    found = {"a": {"kind": "routed", "ip_mtu": stated, "device_mtu": stated}}
    config = Config.read("jumbo\n")
    jumbo = fastiron_state.jumbo_of(found, config, config)
    assert (jumbo["active"], boxes.stage_of({"jumbo": jumbo})) == (None, "saved")


@pytest.mark.parametrize(
    ("answer", "owner"),
    [
        ("", "none"),
        ("\nNo reload is scheduled.\n", "none"),
        ("Invalid input -> reload\nType ? for a list", "none"),
        ("Reload is scheduled in 00:00:05", "foreign"),
        ("Scheduled reload in 5 minutes, not saved", "foreign"),
        ("Scheduled: 00:05:00 (no warm reload)", "foreign"),
        ("No reload is scheduled in the next hour; one is at 10:00", "foreign"),
        ("Error - not authorized", "foreign"),
    ],
)
def test_only_a_sentence_that_says_so_means_that_no_reload_is_scheduled(answer, owner):
    assert fastiron_state.pending_of(words.scheduled_in(answer))["owner"] == owner


ROUTES = """Total number of IP routes: 3
Type Codes - B:BGP D:Connected O:OSPF R:RIP S:Static; Cost - Dist/Metric
        Destination        Gateway         Port          Cost          Type Uptime
1       0.0.0.0/0          10.100.0.1      ve 100        1/1           S    62d14h
        0.0.0.0/0          192.168.1.1     1/1/4         1/1           S    62d14h
2       10.100.0.0/24      DIRECT          ve 100        0/0           D    62d14h
3       192.0.2.0/24       DIRECT          mgmt1         0/0           D    62d14h
4       198.51.100.0/24    10.9.0.1        lg2           110/2         O    62d14h
"""


@pytest.mark.parametrize(
    ("address", "ports"),
    [
        ("203.0.113.9", {"ve 100", "ethernet 1/1/4"}),
        ("10.100.0.7", {"ve 100"}),
        ("192.0.2.4", {"mgmt 1"}),
        ("198.51.100.1", {"lag 2"}),
        ("2001:db8::1", set()),
    ],
)
def test_routes_tell_the_ports_by_which_an_address_is_reached(address, ports):
    assert fastiron_dead_man.ports_to(ROUTES, address) == ports


class Shell:
    """A terminal that answers the help for `reload`."""

    base_prompt = "SSH@leaf5"

    def __init__(self, text):
        self.text, self.typed, self.is_cut = text, [], False

    def write_channel(self, keys):
        self.typed.append(keys)

    def read_until_pattern(self, _pattern):
        return self.text

    def paramiko_cleanup(self):
        self.is_cut = True


@pytest.mark.parametrize(("line", "knows"), [("  after   Reload after specified time", True), ("  <cr>", False)])
def test_the_help_for_reload_is_left_without_enter(line, knows):
    fastiron_session = pytest.importorskip(f"{words.__name__.removesuffix('words')}session")
    session = fastiron_session.Session(Access("leaf5", "fastiron", "192.0.2.15"))
    shell = session._shell = Shell(f"reload ?\n{line}\nSSH@leaf5#reload ")
    assert session.schedules() is knows
    assert (shell.typed, shell.is_cut) == (["reload ?"], True)


def test_counters_that_a_reload_set_to_zero_have_not_wrapped():
    before, after = {"oversize": 70_000}, {"oversize": 3}
    assert counter_delta(after, before)["oversize"] == {"delta": 3, "reset": True, "wrapped": False}
    assert counter_delta({"oversize": 3}, {"oversize": 2**32 - 2})["oversize"]["wrapped"] is True
