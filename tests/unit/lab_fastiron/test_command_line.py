"""The command line of an emulated FastIron box, without SSH and without a data plane."""

from __future__ import annotations

import re

import pytest
from ansible_collections.jumbo.fabric.lab.fastiron.cli import Cli
from ansible_collections.jumbo.fabric.lab.fastiron.device import FastironDevice
from ansible_collections.jumbo.fabric.lab.plane import Neighbour, PortCounters
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane
from served_loop import Clock

PORTS = [f"GigabitEthernet1/1/{number}" for number in (1, 2, 3, 4, 10)]
STARTUP = """
lag core dynamic id 1
 ports ethe 1/1/3 to 1/1/4
!
vlan 10 name back by port
 untagged ethe 1/1/2 ethe 1/1/10
 router-interface ve 10
!
interface ethernet 1/1/1
 port-name to spine1
 ip address 10.0.0.0 255.255.255.254
!
interface ve 10
 ip address 10.1.0.1 255.255.255.0
 ipv6 address fd00:1::1/64
!
hostname leaf5
lldp run
"""


class Box:
    def __init__(self, **options):
        self.clock = Clock()
        self.plane = StaticPlane([*PORTS, "Ve10"], {PORTS[0]: Neighbour("spine1", "Ethernet7", 9236)})
        self.plane.seen[PORTS[0]] = PortCounters(3, 100, 200, 9000, 8000)
        self.device = FastironDevice("leaf5", STARTUP, PORTS, self.plane, clock=self.clock, **options)
        self.cli = self.session()

    def session(self, user="admin"):
        cli = Cli(self.device, user)
        cli.run("enable")
        return cli

    def type(self, *lines):
        return [self.cli.run(line) for line in lines]

    def reload(self):
        self.type("reload", "y")
        self.pass_time(4)

    def pass_time(self, seconds):
        self.clock.ahead += seconds
        self.device.tick()
        self.cli = self.session()


@pytest.fixture
def box():
    return Box()


def test_prompts_tell_the_mode():
    box = Box(enable="secret")
    assert box.cli.prompt == "Password:"
    assert box.cli.run("wrong") == "Error - incorrect username or password."
    assert box.cli.prompt == "SSH@leaf5>"
    assert box.cli.run("configure terminal").startswith("Invalid input")
    box.type("enable", "secret")
    prompts = []
    for line in ("configure terminal", "interface ethernet 1/1/1", "interface ve 10", "exit", "vlan 10", "end"):
        box.cli.run(line)
        prompts.append(box.cli.prompt)
    assert prompts == [
        "SSH@leaf5(config)#",
        "SSH@leaf5(config-if-e1000-1/1/1)#",
        "SSH@leaf5(config-vif-10)#",
        "SSH@leaf5(config)#",
        "SSH@leaf5(config-vlan-10)#",
        "SSH@leaf5#",
    ]


def test_enable_may_ask_for_a_user_or_for_nothing():
    asked = Box(enable="secret", enable_user=True)
    assert asked.cli.prompt == "User Name:"
    asked.type("admin", "secret")
    assert asked.cli.prompt == "SSH@leaf5#"
    assert Box().cli.prompt == "SSH@leaf5#"
    assert Box(privileged=True).cli.run("enable").startswith("Invalid input"), "as on a box that is enabled already"


def test_jumbo_becomes_active_only_by_a_reload_after_a_save(box):
    assert box.device.jumbo_state() == "absent"
    box.type("configure terminal", "jumbo", "end")
    assert (box.device.jumbo_state(), box.plane.receives[PORTS[1]]) == ("configured", 1500)
    box.reload()
    assert box.device.jumbo_state() == "absent", "what was not saved is lost"
    box.type("configure terminal", "jumbo", "end", "write memory")
    assert (box.device.jumbo_state(), box.plane.receives[PORTS[1]]) == ("saved", 1500)
    box.reload()
    assert (box.device.jumbo_state(), box.plane.receives[PORTS[1]]) == ("active", 10178)
    assert "MTU 10200 bytes" in box.cli.run("show interfaces ethernet 1/1/2")
    box.type("configure terminal", "no jumbo", "end", "write memory")
    assert box.plane.receives[PORTS[1]] == 10178
    box.reload()
    assert box.plane.receives[PORTS[1]] == 1500


def test_a_global_word_inside_an_interface_does_nothing(box):
    box.type("configure terminal", "interface ve 10", "jumbo", "end")
    assert box.device.jumbo_state() == "absent"


def test_ip_mtu_has_a_least_and_a_most_that_jumbo_raises(box):
    box.type("configure terminal", "interface ve 10")
    assert [text[:5] for text in box.type("ip mtu 1279", "ip mtu 1501", "ip mtu", "ip mtu big")] == [
        "Error",
        "Error",
        "Incom",
        "Error",
    ]
    box.type("ip mtu 1400", "exit", "jumbo", "end", "write memory")
    assert box.plane.mtus["Ve10"] == 1400
    box.reload()
    assert (
        box.type("configure terminal", "interface ve 10", "ip mtu 9000", "interface ethernet 1/1/1", "ip mtu 9214")
        == [""] * 5
    )
    assert (box.plane.mtus["Ve10"], box.plane.mtus[PORTS[0]]) == (9000, 9214)
    shown = box.cli.run("show interfaces ve 10"), box.cli.run("show interfaces ethernet 1/1/1")
    assert "IP MTU 9000 bytes" in shown[0]
    assert "Internet address is 10.0.0.0/31, MTU 9214 bytes, encapsulation ethernet" in shown[1]
    assert box.type("no ip mtu") == [""]
    assert box.plane.mtus[PORTS[0]] == 1500


def test_a_size_that_the_box_can_do_no_more_does_not_count(box):
    box.type("configure terminal", "jumbo", "end", "write memory")
    box.reload()
    box.type("configure terminal", "interface ve 10", "ip mtu 9000", "exit", "no jumbo", "end", "write memory")
    box.reload()
    assert box.plane.mtus["Ve10"] == 1500


def test_a_box_that_reloads_is_away_with_all_its_ports(box):
    up = set(box.plane.down)
    box.type("reload", "y")
    assert (set(PORTS) <= box.plane.down, up, box.device.is_on) == (True, set(), False)
    assert box.cli.done
    box.pass_time(2)
    assert not box.device.is_on
    box.pass_time(2)
    assert (box.device.is_on, box.plane.down) == (True, set())
    assert 'started=warm start   reloaded=by "reload"' in box.cli.run("show version")


def test_a_reload_asks_once_or_twice_and_takes_no_for_an_answer():
    box = Box(reload_questions=2)
    assert box.cli.run("reload") == ""
    assert (box.cli.prompt, box.cli.key) == ("Are you sure? (enter 'y' or 'n'): ", True)
    assert box.cli.run("y") == "Could not verify if the Running Config data has been changed."
    assert box.cli.prompt == "Do you want to continue the reload anyway? (enter 'y' or 'n'): "
    assert (box.cli.run("n"), box.device.is_on, box.cli.prompt) == ("", True, "SSH@leaf5#")


def test_counters_begin_again_with_a_reload(box):
    assert "0 runts, 3 giants" in box.cli.run("show interfaces ethernet 1/1/1")
    assert re.search(r"InGiantPkts +3", box.cli.run("show statistics ethernet 1/1/1"))
    box.reload()
    assert "0 runts, 0 giants" in box.cli.run("show interfaces ethernet 1/1/1")


def test_a_scheduled_reload_loses_what_is_not_saved_and_can_be_cancelled(box):
    box.type("configure terminal", "interface ve 10", "ip mtu 1400", "end")
    box.type("reload after 00:00:05")
    assert "(300 seconds)" in box.cli.run("show reload")
    box.type("reload cancel")
    assert box.cli.run("show reload") == "No reload is scheduled"
    box.type("reload after 00:00:01")
    box.pass_time(61)
    assert not box.device.is_on
    box.pass_time(5)
    assert box.plane.mtus["Ve10"] == 1500
    assert "after" in box.cli.run("reload ?")
    assert "after" not in Box(schedules=False).cli.run("reload ?")
    assert Box(schedules=False).cli.run("reload after 00:00:05").startswith("Invalid input")


def test_saving_has_its_texts(box):
    box.device.trouble.flash_busy = 1
    busy, done = box.type("write memory", "write memory")
    assert busy == "Flash access in progress. Please try later"
    assert done.endswith("Write startup-config done.\nCopy Done.")
    box.device.trouble.save_refused = True
    assert "Copy Done" not in box.type("write memory")[0]


def test_running_and_saved_differ_only_in_their_header(box):
    running, saved = box.type("show running-config", "show configuration")
    assert running.partition("ver ")[2] == saved.partition("ver ")[2]
    assert " ip address 10.0.0.0 255.255.255.254" in running


def test_one_session_configures_at_a_time_and_readers_never(box):
    other = box.session("someone")
    assert other.run("configure terminal") == ""
    assert box.cli.run("configure terminal").startswith("Error")
    assert box.device.audit()["open_sessions"] == ["someone"]
    other.end()
    assert box.cli.run("configure terminal") == ""
    reader = Box(readers={"admin"})
    assert [reader.cli.run(line)[:7] for line in ("configure terminal", "write memory", "reload")] == ["Invalid"] * 3


def test_a_member_of_a_lag_has_no_size_of_its_own(box):
    box.type("configure terminal", "interface ethernet 1/1/3")
    assert box.cli.run("ip mtu 1400").startswith("Error")
    assert box.cli.run("end") == ""
    shown = box.cli.run("show interfaces")
    assert "Lag Interface is lg1" in shown
    block = shown.partition("Lag lg1 is up")[2].partition("Ve10")[0]
    assert "MTU" not in block, "a LAG has no MTU line"


@pytest.mark.parametrize(
    ("style", "line"),
    [("icx", "  MTU 1500 bytes, encap"), ("icx-older", "  MTU 1500 bytes\n"), ("fesx", "  IP MTU 1500 by")],
)
def test_the_line_with_the_size_has_its_variants(style, line):
    assert line in Box(mtu_line=style).cli.run("show interfaces ethernet 1/1/2")


def test_neighbours_and_a_box_without_lldp(box):
    text = box.cli.run("show lldp neighbors detail")
    assert "Local port: 1/1/1" in text
    assert '+ System name         : "spine1"' in text
    assert "+ Maximum frame size: 9236 octets" in text
    assert Box(lldp=False).cli.run("show lldp neighbors detail") == "LLDP is not running"


PINGED = """PING 10.0.0.1 (10.0.0.1) 8972(9000) bytes of data.
8980 bytes from 10.0.0.1: icmp_seq=1 ttl=63 time=0.043 ms
"""


def test_ping(box):
    asked = []
    box.plane.answer = lambda line: asked.append(line) or PINGED
    text = box.cli.run("ping 10.0.0.1 source 10.1.0.1 count 2 size 8972 no-fragment")
    assert text.startswith("Sending 2, 8972-byte ICMP Echo to 10.0.0.1, timeout 5000 msec, TTL 64\n")
    assert "Success rate is 50 percent (1/2)" in text
    assert (asked[0][asked[0].index("-M") + 1], asked[0][asked[0].index("-I") + 1]) == ("do", "10.1.0.1")
    box.plane.answer = lambda _line: ""
    assert box.cli.run("ping 10.0.0.1").endswith("Request timed out.\nNo reply from remote host.")
    assert box.cli.run("ping 10.0.0.1 size 10001") == "Invalid size - valid range (0-10000)"


def test_what_is_not_known_is_said(box):
    assert box.cli.run("show nonsense") == "Invalid input -> show nonsense\nType ? for a list"
    box.cli.run("configure terminal")
    assert box.cli.run("interface ethernet 9/9/9").startswith("Error")
    assert box.cli.run("no hostname other").startswith("Error")
