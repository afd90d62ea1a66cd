"""What a person is told, and who is blamed: whole runs of the playbooks against devices in memory."""

import json
from typing import Any, ClassVar

import pytest
from ansible.utils.display import Display
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, NotReadAgain, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import GateResult
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import action, judging, summary
from ansible_collections.jumbo.fabric.plugins.plugin_utils.ssh import LinuxShell
from controller_doubles import DoubleDriver

NO_KEY = {
    "host": "h1",
    "unreachable": True,
    "error": {"text": "h1: Permission denied (publickey)", "unreachable": True},
}


def everywhere(player, **variables):
    for host in player.world.hosts.values():
        host["variables"].update(variables)


def evidence(player, name):
    (path,) = {path.resolve() for path in player.evidence.glob(f"*/{name}.json")}
    return json.loads(path.read_text())


# ---------------------------------------------------------------- new connections


class NoWayBackIn:
    def __init__(self, *_arguments):
        pass

    def of(self, _step):
        return {"before": {}, "after": {"h1": NO_KEY}}


def test_what_refuses_a_new_connection_is_no_matter_of_packets(player, monkeypatch):
    monkeypatch.setattr(judging, "Measurement", NoWayBackIn)
    with pytest.raises(NotReadAgain, match="no new connection to h1") as met:
        judging_baseline(player.world.topology, {}, {}, 1500)
    assert "Permission denied (publickey)" in str(met.value)
    assert "bytes cross the fabric" not in str(met.value)


judging_baseline = judging.baseline  # before the player's doubles take its place


def test_the_device_that_refuses_is_to_blame_and_unreachable(player, monkeypatch):
    def refuse(*_arguments):
        raise NotReadAgain({"h1": NO_KEY["error"]}, "Look.")

    monkeypatch.setattr(judging, "baseline", refuse)
    assert player.play(check=True) == "failed"
    assert player.report["troubles"] == {"h1": {"unreachable": True, "message": "h1: Permission denied (publickey)"}}
    assert player.status() == 4


class GoneAtTheGate:
    """h3, of another rack, is away while the canary's gateway is measured."""

    evidence: ClassVar[dict[str, Any]] = {}

    def __init__(self, *_arguments):
        pass

    def of(self, step):
        return {"before": {}, "after": {}, **(self.evidence if step["id"] == "canary.1.svi" else {})}


@pytest.mark.parametrize(
    ("seen", "reason", "status"),
    [
        ({"after": {"h3": {**NO_KEY, "host": "h3"}}}, "Permission denied", 4),
        ({"probes": {"h3:eth1": {"error": "h3: python3 is missing"}}}, "it could not be asked to probe", 2),
    ],
)
def test_who_is_gone_at_a_gate_of_others_is_found_and_counts(player, monkeypatch, seen, reason, status):
    monkeypatch.setattr(GoneAtTheGate, "evidence", seen)
    monkeypatch.setattr(judging, "Measurement", GoneAtTheGate)
    assert player.play() == "reverted"
    (finding,) = evidence(player, "report")["findings"]
    assert finding["host"] == "h3"
    assert reason in finding["reason"]
    assert player.status() == status


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'Data could not be sent to remote host "h". Make sure this host can be reached over ssh:',
            "ssh gave no reason",
        ),
        (
            'Data could not be sent to remote host "h". Make sure this host can be reached over ssh: connect: refused',
            "SSH to 192.0.2.7: connect: refused.",
        ),
        ("ssh: connect to host 192.0.2.7 port 22: No route to host", "No route to host"),
    ],
)
def test_ssh_says_why_and_what_to_look_at(said, told):
    error = LinuxShell("h3", {"ansible_host": "192.0.2.7"})._unreachable(said)
    assert isinstance(error, Unreachable)
    assert told in str(error)
    assert "ansible_port" in str(error)
    assert "Make sure" not in str(error)


# ---------------------------------------------------------------- findings and gates


def test_findings_of_gates_stand_in_the_result_of_a_run_that_passed(player, monkeypatch):
    finding = {"host": "leaf1", "interface": None, "reason": "its ICMP does not arrive", "evidence": "x"}

    def judge(step, *arguments):
        result = player.world.judge(step, *arguments)
        return GateResult(result.name, result.verdict, result.expected, result.actual, (finding,))

    monkeypatch.setattr(judging.gates, "judge", judge)
    assert player.play() == "passed"
    assert player.said.index("finding: leaf1: its ICMP does not arrive") > player.said.index("verdict: passed")


def test_who_could_not_be_taken_back_stands_in_the_result(player, monkeypatch):
    def lost(self, *_arguments):
        raise Unreachable("no answer", host=self.host)

    player.world.bad_gates = {"canary.1.svi"}
    monkeypatch.setattr(DoubleDriver, "revert", lost)
    assert player.play() == "failed"
    assert any(line.startswith("finding: ") and "its own dead-man takes back" in line for line in player.said)


def test_what_was_expected_and_what_was_found_are_two_sentences():
    gate = {"name": "leg", "verdict": "failure", "expected": "6 pairs carry 9214 bytes", "actual": "4 of 6 pairs do"}
    assert summary.gate_line("fabric.1.link", gate).splitlines() == [
        "gate leg (fabric.1.link): failure",
        "  expected: 6 pairs carry 9214 bytes",
        "  found: 4 of 6 pairs do",
    ]


def test_link_steps_say_who_has_confirmed_and_how_the_wave_ended(player):
    assert player.play() == "passed"
    begin = next(number for number, line in enumerate(player.said) if "spine1 Ethernet1:" in line)
    rest = player.said[begin:]
    assert rest.index("spine1 confirmed") < rest.index("wave passed")


# ---------------------------------------------------------------- bad input


def reads(player, monkeypatch):
    asked = []
    read = DoubleDriver.read

    def counted(self, **arguments):
        asked.append(self.host)
        return read(self, **arguments)

    monkeypatch.setattr(DoubleDriver, "read", counted)
    return asked


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"jumbo_ip_mtu": "9000"}, "this MTU (bytes of IP packet) is text"),
        ({"jumbo_underlay_ip_mtu": 8000}, "the underlay must carry"),
        ({"jumbo_links": [["h1:eth1", "coreb:Ethernet3"]]}, "h1:eth1 - coreb:Ethernet3: the device 'coreb'"),
        ({"jumbo_pairs": [{"name": "p", "devices": ["leaf1", "leaf7"]}]}, "p: a pair needs a name and two switches"),
    ],
)
def test_a_fabric_wide_mistake_is_no_hosts_and_is_told_before_anything_is_read(player, monkeypatch, variables, said):
    asked = reads(player, monkeypatch)
    everywhere(player, **variables)
    assert player.play(check=True) == "failed"
    assert asked == []
    assert player.report["reason"].startswith(said)
    assert player.report["troubles"] == {}
    assert player.status() == 2


def test_a_device_that_is_not_read_is_told_when_it_is_read_and_at_the_end(player):
    player.world.unreachable = {"spine1"}
    assert player.play(check=True) == "failed"
    told = [line for text in player.said for line in text.splitlines() if "no answer" in line]
    assert len(told) == 2
    assert any("not read: spine1" in text for text in player.said)


# ---------------------------------------------------------------- dry runs


def test_a_dry_run_counts_a_change_on_each_device_that_would_change(player, monkeypatch):
    changed = {}
    act = type(player)._act

    def counted(self, name, host, arguments):
        result = act(self, name, host, arguments)
        changed[host] = changed.get(host, 0) + bool(result.get("changed"))
        return result

    monkeypatch.setattr(type(player), "_act", counted)
    assert player.play(check=True) == "planned"
    assert changed == dict.fromkeys(player.world.hosts, 1)
    assert evidence(player, "differences")["h1"].endswith("changes on h1")
    player.play()
    changed.clear()
    assert player.play("rollback", check=True) == "planned"
    assert changed == dict.fromkeys(player.world.hosts, 1)
    changed.clear()
    assert player.play("rollback") == "passed"
    assert changed == dict.fromkeys(player.world.hosts, 1)


def test_a_dry_roll_back_says_what_goes_back_in_the_order_of_lowering(player):
    assert player.play() == "passed"
    assert player.play("rollback", check=True) == "planned"
    lines = [line for line in player.said if line.startswith(("h1 eth1", "leaf1 ", "spine1 "))]
    assert lines.index("h1 eth1 10.10.2.0/24: pinned at 1500") < lines.index("leaf1 Vlan10: 9000 -> 1500")
    assert lines.index("leaf1 Vlan10: 9000 -> 1500") < lines.index("spine1 Ethernet1: 9214 -> 1500")
    assert lines.index("spine1 Ethernet1: 9214 -> 1500") < lines.index("h1 eth1: 9000 -> 1500")
    (path,) = [path for path in player.evidence.glob("*/differences.json") if "rollback" not in path.name]
    difference = json.loads(path.read_text())["h1"].splitlines()
    assert difference.index("-eth1 IP MTU 9000") + 1 == difference.index("+eth1 IP MTU 1500")
    assert player.world.lifted()


# ---------------------------------------------------------------- the canary


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"leaf2": ["leafs", "canary"]}, "the canary is leaf2, the rack of leaf2 in the group canary"),
        ({"leaf2": ["leafs", "cannary"]}, "the canary is leaf1, the smallest rack: no device is in the group canary"),
    ],
)
def test_the_rack_that_goes_first_is_told_with_the_reason(player, groups, said):
    for name, names in groups.items():
        player.world.hosts[name]["groups"] = names
    assert player.play(check=True) == "planned"
    (line,) = [line for line in player.said if line.startswith("the canary is")]
    assert line.startswith(said)
    assert ("there is a group cannary" in line) == ("cannary" in str(groups))


# ---------------------------------------------------------------- any callback


@pytest.mark.parametrize(
    ("callback", "shown"),
    [("default", [("  verdict: passed", False)]), ("json", [("  verdict: passed", True)]), (action.PROGRESS, [])],
)
def test_progress_is_shown_with_any_callback(monkeypatch, callback, shown):
    told = []
    monkeypatch.setattr(action.constants, "DEFAULT_STDOUT_CALLBACK", callback)
    monkeypatch.setattr(Display, "display", lambda _self, line, stderr=False, **_more: told.append((line, stderr)))
    action._tell(["verdict: passed"])
    assert told == shown


def test_a_wrong_key_is_no_access():
    shell = LinuxShell("h1", {})
    with pytest.raises(AccessDenied, match="Permission denied"):
        shell._judge(255, "", "u@h1: Permission denied (publickey).\n")
    assert Access("h1", "linux", "192.0.2.1").secrets == ()
