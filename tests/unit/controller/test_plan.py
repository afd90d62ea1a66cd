"""The plan alone: from what devices say and from saved facts; what it writes, what it tells, what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import controller_player
import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils import lock
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import Proof
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import action, judging, plan_text
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric as fabric_states
from controller_doubles import DoubleDriver
from controller_player import go_to, lines, moments
from unit.mtu import fabric

ROOT = Path(__file__).resolve().parents[3]
LEAFS = ("leaf1", "leaf2")


def newest(player):
    return max(path for path in player.evidence.iterdir() if path.is_dir() and not path.is_symlink())


def content(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def text_of(directory):
    return (directory / "plan.txt").read_text().splitlines()


@pytest.fixture
def facts(player, tmp_path):
    """Return a file as fleet_facts writes it: before any limit is learned."""
    path = tmp_path / "facts.json"
    path.write_text(
        json.dumps(fabric_states.read_states(Access(host, "eos", "192.0.2.1") for host in player.world.hosts))
    )
    return path


@pytest.fixture
def untouchable(monkeypatch):
    """Make every way to a device, and every measurement, fail the test."""

    def touched(*_arguments, **_options):
        raise AssertionError("a device was asked")

    def forbid():
        monkeypatch.setattr(DoubleDriver, "__init__", touched)
        monkeypatch.setattr(action.FabricAction, "access", touched)
        monkeypatch.setattr(judging, "baseline", touched)

    return forbid


# ---------------------------------------------------------------- what it makes


@pytest.mark.parametrize("check", [False, True])
def test_a_plan_leaves_devices_the_lock_and_the_latest_as_they_are(player, check):
    assert player.play("plan", check=check) == "planned", player.said
    assert player.world.is_as_before()
    assert player.world.acts == 0
    assert [path for path in player.evidence.iterdir() if not path.is_dir()] == []
    assert not (player.evidence / "latest").is_symlink()
    assert player.status() == 0
    assert player.report["touched"] == []


@pytest.mark.parametrize("check", [False, True])
def test_saved_facts_make_the_same_plan_and_ask_nobody(player, facts, untouchable, check):
    assert player.play("plan") == "planned", player.said
    live = newest(player)
    untouchable()
    assert player.play("plan", check=check, jumbo_saved_facts=str(facts)) == "planned", player.said
    offline = newest(player)
    assert offline != live
    assert (offline / "plan.json").read_bytes() == (live / "plan.json").read_bytes()
    begin = "stage canary, wave 1"
    texts = [text_of(directory) for directory in (live, offline)]
    assert texts[0][texts[0].index(begin) :] == texts[1][texts[1].index(begin) :]
    assert str(facts) in text_of(offline)[0]
    assert "no device was asked" in text_of(offline)[0]
    assert any("no wish was loaded" in line for line in text_of(offline))
    assert not any("no wish was loaded" in line for line in text_of(live))


def test_the_evidence_of_an_earlier_run_is_as_good_as_a_file(player, untouchable):
    assert player.play() == "passed"
    rollout = newest(player)
    untouchable()
    assert player.play("plan", jumbo_saved_facts=str(player.evidence / "latest")) == "planned", player.said
    assert (newest(player) / "plan.json").read_bytes() == (rollout / "plan.json").read_bytes()


def test_what_devices_refused_is_known_from_the_evidence_of_a_run_that_asked_them(player, monkeypatch):
    def refuse(_self, changes):
        for change in changes:
            if change["field"] == "ip_mtu" and change["to"] > 9194:
                raise JumboError("too large", host=change["host"], object=change["object"], limit=9194)
        return ""

    monkeypatch.setattr(DoubleDriver, "diff", refuse)
    assert player.play("plan") == "planned"
    live = newest(player)
    assert any("leaf1 Ethernet1: 1500 -> 9194" in line for line in text_of(live))
    assert player.play("plan", jumbo_saved_facts=str(live)) == "planned"
    assert (newest(player) / "plan.json").read_bytes() == (live / "plan.json").read_bytes()


def test_a_plan_is_what_the_roll_out_does(player):
    assert player.play("plan") == "planned"
    planned = newest(player)
    assert player.play() == "passed", player.said
    assert (newest(player) / "plan.json").read_bytes() == (planned / "plan.json").read_bytes()
    assert player.world.lifted()


def test_everything_printed_is_written(player):
    player.play("plan")
    text = text_of(newest(player))
    said = player.said[player.said.index(text[0]) :]
    assert said[: len(text)] == text
    assert said[len(text)] == "verdict: planned"


def test_a_plan_is_made_while_a_roll_out_runs(player, monkeypatch):
    monkeypatch.setattr(lock, "_process_start", lambda _pid: "alive")
    label = "after canary.1.lift h2 done lift"
    (moment,) = moments(monkeypatch, player, "rollout", only=label)
    go_to(player, moment)
    before = content(player.evidence)
    assert player.play("plan") == "planned", player.said
    assert any("is running: read in the middle of it" in line for line in player.said)
    after = content(player.evidence)
    assert {path: after[path] for path in before} == before
    assert player.play() == "None"
    assert any("another roll-out is running" in line for line in player.said)


@pytest.mark.parametrize("check", [False, True])
def test_a_plan_takes_nothing_back_and_says_what_would_be(player, monkeypatch, check):
    (moment,) = moments(monkeypatch, player, "rollout", only="after canary.1.svi leaf1 done apply")
    go_to(player, moment)
    acts, held = player.world.acts, player.world.pending()
    assert held
    assert player.play("plan", check=check) == "planned"
    assert "would be taken back on leaf1" in player.report["reason"]
    assert (player.world.acts, player.world.pending()) == (acts, held)
    assert not (newest(player) / "plan.json").exists()


def test_a_plan_is_nothing_that_a_later_run_goes_on_from(player):
    player.play("plan")
    assert player.play() == "passed"
    plan, _rollout = lines(player.evidence)
    assert {line["verb"] for line in plan} == {"open", "plan", "close"}
    assert not any("first" in line for line in player.said)


# ---------------------------------------------------------------- what it tells


def shown(hosts, change=None, notes=()):
    """Return the text of a fabric's plan; `change` edits its states."""
    plan = fabric.planned(hosts, change).as_dict()
    return plan_text.lines_of(plan, fabric.load(hosts)[1], Proof(1, 1, notes), [], None)


def block(text, step):
    start = next(index for index, line in enumerate(text) if line.startswith(f"step {step} "))
    ends = (index for index, line in enumerate(text) if index > start and not line.startswith("  "))
    return text[start : next(ends, len(text))]


def small(**shared):
    return fabric.inventory(spines=1, leafs=2, hosts=2, **shared)


def with_a_junos_spine():
    """Return the text for a fabric whose second spine counts Ethernet's header and adds its interfaces anew."""
    waivers = [{"kind": "outage", "object": "spine2", "reason": "seconds are fine"}]
    hosts = fabric.inventory(spines=2, leafs=2, hosts=2, jumbo_waivers=waivers)
    hosts["spine2"]["platform"] = "junos"

    def media(states):
        for port in states["spine2"]["interfaces"].values():
            port["device_mtu"] = 1514

    return shown(hosts, media)


def test_values_stand_in_ip_mtu_and_in_the_device_s_own_number():
    text = with_a_junos_spine()
    assert "  spine1 Ethernet1: 1500 -> 9214 (the device's own number: 1500 -> 9214)" in block(text, "fabric.1.link")
    assert "  spine2 Ethernet1: 1500 -> 9178 (the device's own number: 1514 -> 9192)" in block(text, "fabric.2.link")


def test_declared_outages_are_told_in_their_step_and_only_there():
    text = with_a_junos_spine()
    told = [
        "  flaps: leaf1:Ethernet2 - spine2:Ethernet1 loses packets of every size for up to 10 s",
        "  flaps: leaf2:Ethernet2 - spine2:Ethernet2 loses packets of every size for up to 10 s",
    ]
    assert [line for line in text if "flap" in line] == told
    assert set(told) <= set(block(text, "fabric.2.link"))
    assert [line for line in shown(small()) if "flap" in line] == ["no link flaps: no step declares an outage"]


def test_sessions_on_links_that_change_are_told_and_no_others():
    hosts = small()
    links = hosts["h1"]["variables"]["jumbo_links"]
    next(link for link in links if isinstance(link, dict) and "leaf2:Ethernet1" in link["ends"])["routing"] = "bgp"
    told = [line for line in shown(hosts) if "session:" in line]
    assert told == ["  session: bgp over leaf2:Ethernet1 - spine1:Ethernet2, whose MTU changes"]


def test_what_takes_a_step_back_is_told_for_each_kind_of_its_devices():
    text = shown(fabric.with_boxes(fabric.inventory(), "leaf2"))
    (mixed,) = (
        step
        for step in fabric.planned(fabric.with_boxes(fabric.inventory(), "leaf2")).steps
        if step.phase == "svi" and step.hosts == ("leaf2", "leaf3")
    )
    box, switch = (line for line in block(text, mixed.id) if "stopped within it" in line)
    assert box.startswith("  stopped within it: nothing takes it back on leaf2; only where management crosses what")
    assert box.endswith("a reload of the whole box does, after 300 s, unless it is confirmed")
    assert (
        switch
        == "  stopped within it: the device's own timer on leaf3 takes it back after 300 s, unless it is confirmed"
    )


def test_who_loses_what_and_who_sends_large_is_told_for_every_step():
    text = shown(small())
    first, lift, last = (block(text, step) for step in ("canary.1.host_link", "canary.1.lift", "soak.persist"))
    assert "  stopped within it: the guard on the host takes it back after 300 s, unless it is confirmed" in first
    assert first[-2].endswith("loses nothing for its size (proven); no host is lifted by this plan yet")
    assert first[-1].startswith("  not covered: multicast, broadcast, pmtu_ignoring packets of back1 up to 9000 bytes")
    assert not any("stopped within it" in line for line in lift)
    assert lift[-2].endswith("; h1, h2 may send up to 9000 bytes to lifted prefixes")
    assert last[-2].endswith("; h1, h2, h3, h4 may send up to 9000 bytes to lifted prefixes, also after a reboot")
    assert "of back1, back2 up to" in last[-1]


def test_what_the_proof_leaves_out_is_not_called_proven():
    assert any("(proven, but see the notes)" in line for line in shown(small(), notes=("h1 is not covered",)))


# ---------------------------------------------------------------- what a roll-out would refuse


def with_isis(player):
    """Make spine1 a Junos box over IS-IS: its links must be drained, and no driver does that."""
    variables = next(iter(player.world.hosts.values()))["variables"]
    variables["jumbo_waivers"] = [{"kind": "only_path", "object": leaf, "reason": "a window"} for leaf in LEAFS]
    for link in variables["jumbo_links"]:
        if isinstance(link, dict):
            link["routing"] = "isis"
    player.world.hosts["spine1"]["platform"] = "junos"


@pytest.mark.parametrize("saved", [False, True])
def test_a_plan_shows_what_a_roll_out_does_not_carry_out(player, facts, saved):
    with_isis(player)
    assert player.play("plan", **({"jumbo_saved_facts": str(facts)} if saved else {})) == "planned", player.said
    assert player.status() == 0
    text = (newest(player) / "plan.txt").read_text()
    assert "a roll-out refuses this plan: " in text
    assert "drains no link that runs isis" in text
    assert "stage fabric" in text
    assert player.play() == "failed"
    assert "drains no link that runs isis" in player.report["reason"]
    assert player.play(check=True) == "failed", "a dry roll-out ends as the roll-out would"
    assert player.world.is_as_before()


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda path, _states: None, "No such file or directory"),
        (lambda path, _states: path.mkdir(), "facts.json/fleet.json cannot be read: No such file or directory"),
        (lambda path, _states: path.write_text("leaf1: up"), "is not JSON"),
        (lambda path, _states: path.write_bytes(b"\xff\xfe"), "is not JSON"),
        (lambda path, _states: path.write_text("[]"), "does not hold the states of devices by host name"),
        (lambda path, _states: path.write_text('{"steps": []}'), "does not hold the states of devices by host name"),
        (
            lambda path, states: path.write_text(json.dumps({f"dc2-{host}": each for host, each in states.items()})),
            "it does not know spine1, leaf1, h1, h2, leaf2 and 2 more; it knows dc2-spine1, dc2-leaf1, dc2-h1, ",
        ),
        (
            lambda path, states: path.write_text(json.dumps({k: v for k, v in states.items() if k != "h4"})),
            "it does not know h4 (",
        ),
        (
            lambda path, states: path.write_text(
                json.dumps({k: {"host": k, "interfaces": v["interfaces"]} for k, v in states.items()})
            ),
            "holds only the interfaces of spine1",
        ),
    ],
)
def test_facts_that_are_none_are_named_with_what_to_do(player, facts, untouchable, write, told):
    states = json.loads(facts.read_text())
    facts.unlink()
    write(facts, states)
    untouchable()
    assert player.play("plan", jumbo_saved_facts=str(facts)) == "failed"
    assert player.status() == 2
    assert told in player.report["reason"]
    assert (
        f"(jumbo_saved_facts is '{facts}'). Give a file that jumbo.fabric.fleet_facts wrote" in player.report["reason"]
    )
    assert not (newest(player) / "plan.json").exists()


def test_a_device_that_was_not_read_then_is_named(player, facts, untouchable):
    states = json.loads(facts.read_text())
    states["h3"] = {"host": "h3", "error": {"text": "h3: no answer", "unreachable": True}, "unreachable": True}
    facts.write_text(json.dumps(states))
    untouchable()
    assert player.play("plan", jumbo_saved_facts=str(facts)) == "failed"
    assert "not read: h3" in player.report["reason"]


def test_a_roll_out_is_not_carried_out_from_saved_facts(player, facts, monkeypatch):
    monkeypatch.setitem(player_tasks("preflight")[-1], "jumbo.fabric.mtu_plan", {"facts": str(facts)})
    assert player.play() == "failed"
    assert "a roll-out is not carried out from saved facts" in player.report["reason"]
    assert player.world.is_as_before()


def player_tasks(name):
    return controller_player._yaml(ROOT / f"roles/jumbo/tasks/{name}.yml")


# ---------------------------------------------------------------- with Ansible itself


@pytest.fixture
def ansible(player, tmp_path):
    """Return what runs the playbook with ansible-playbook itself, over devices that do not exist."""
    groups: dict[str, dict[str, None]] = {}
    for host, entry in player.world.hosts.items():
        for group in entry["groups"]:
            groups.setdefault(group, {})[host] = None
    hosts = {
        host: {**entry["variables"], "ansible_network_os": entry["platform"], "ansible_host": "192.0.2.1"}
        for host, entry in player.world.hosts.items()
    }
    children = {group: {"hosts": names} for group, names in groups.items()}
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "children": children}}))
    options = ["-i", str(inventory), "-e", f"jumbo_evidence_dir={tmp_path}/evidence-of-ansible"]

    def run(*more):
        return subprocess.run(
            [str(Path(sys.executable).with_name("ansible-playbook")), "playbooks/plan.yml", *options, *more],
            cwd=ROOT,
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_ansible_plans_from_saved_facts_without_any_device(player, facts, ansible, tmp_path):
    assert player.play("plan") == "planned"
    done = ansible("-e", f"jumbo_saved_facts={facts}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step canary.1.host_link" in done.stdout
    assert "verdict: planned" in done.stdout
    (evidence,) = (tmp_path / "evidence-of-ansible").iterdir()
    assert (evidence / "plan.json").read_bytes() == (newest(player) / "plan.json").read_bytes()


def test_ansible_ends_with_2_where_there_are_no_facts(ansible, tmp_path):
    done = ansible("-e", f"jumbo_saved_facts={tmp_path}/none.json")
    assert done.returncode == 2
    assert "none.json cannot be read: No such file or directory" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
