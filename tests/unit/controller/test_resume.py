"""What a roll-out does about those before it: says where they stand, refuses what it cannot trust, asks a person."""

import json

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils import lock
from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.plugin_utils import interrupted, resume, run, soak
from controller_player import go_to, lines, moments


def said(player):
    return "\n".join(player.said)


def killed(monkeypatch, player, label, **variables):
    """Leave the fabric as it is when the controller is killed at this line."""
    [moment] = moments(monkeypatch, player, "rollout", only=label, **variables)
    go_to(player, moment)
    return max(path for path in player.evidence.iterdir() if path.is_dir() and not path.is_symlink())


def test_it_says_where_the_killed_one_stands_and_what_it_does(player, monkeypatch):
    left = killed(monkeypatch, player, "before leaf.1.host_link h4 done apply")
    assert player.world.pending().keys() == {"h3", "h4"}
    assert player.play() == "passed"
    assert f"roll-out {left.name} was interrupted in leaf.0: 7 changes of it confirmed" in said(player)
    assert "not confirmed, or not read back: leaf.1.host_link on h3, h4" in said(player)
    assert "h4 eth1: 9000 -> 1500, read back" in said(player)
    assert "it goes on from what is confirmed" in said(player)
    report = json.loads((left / "report.json").read_text())  # which the killed one could not write
    assert (report["verdict"], "resumed by" in report["reason"]) == ("stopped", True)
    assert "leaf: 1 wave" in said(player)
    assert "canary: 1 wave" not in said(player)  # what is confirmed is not made again


def test_check_mode_says_what_would_be_taken_back_and_touches_nothing(player, monkeypatch):
    killed(monkeypatch, player, "before leaf.1.host_link h4 done apply")
    acts = player.world.acts
    assert player.play(check=True) == "planned"
    assert "would be taken back on h3, h4" in player.report["reason"]
    assert player.world.acts == acts


def test_new_leaves_it_alone_and_is_refused_as_long_as_something_is_pending(player, monkeypatch):
    killed(monkeypatch, player, "before leaf.1.host_link h4 done apply")
    assert player.play(jumbo_resume="new") == "failed"
    assert "a change of ours is still pending" in player.report["reason"]
    player.world.fire()
    assert player.play(jumbo_resume="new") == "passed"


@pytest.mark.parametrize("mode", ["resume", "revert"])
def test_there_must_be_something_to_resume(player, mode):
    assert player.play(jumbo_resume=mode) == "failed"
    assert "no roll-out of this evidence directory is unfinished" in player.report["reason"]
    assert player.world.is_as_before()


def test_what_was_raised_together_is_not_taken_back_in_part(player, monkeypatch):
    killed(monkeypatch, player, "before leaf.1.host_link h4 done apply")
    assert player.play(limit=["h1", "h2", "h3"]) == "failed"
    assert "--limit leaves out h4" in player.report["reason"]


def test_a_host_that_is_still_away_keeps_it_open(player, monkeypatch):
    killed(monkeypatch, player, "before leaf.1.host_link h4 done apply")
    player.world.unreachable = {"h4"}
    assert (player.play(), player.status()) == ("failed", 4)
    assert player.world.size(player.world.topology.endpoints()[2]) == 1500  # h3 is taken back
    player.world.unreachable = set()
    assert player.play() in ("passed", "reverted")
    assert player.play() == "passed"


# ---------------------------------------------------------------------- evidence that cannot be trusted


def edit(path):
    text = path.read_text().replace('"to": 9000', '"to": 1500', 1)
    path.write_text(text)


def cut_off(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-3]))


def drop_a_line(path):
    kept = path.read_text().splitlines(keepends=True)
    path.write_text("".join(kept[:5] + kept[6:]))


def lose_the_head(path):
    path.with_name("journal.jsonl.head").unlink()


def lose_it(path):
    path.unlink()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (edit, "is not what was written"),
        (cut_off, "it ends at line"),
        (drop_a_line, "line 6 is not what was written, or a line before it is missing"),
        (lose_the_head, "which names its last line, is missing"),
        (lose_it, "it is gone"),
    ],
)
@pytest.mark.parametrize("playbook", ["rollout", "rollback"])
def test_a_damaged_journal_is_refused_with_the_reason(player, monkeypatch, damage, reason, playbook):
    left = killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply")
    damage(left / "journal.jsonl")
    acts = player.world.acts
    assert player.play(playbook) == "failed"
    assert reason in player.report["reason"]
    assert str(left) in player.report["reason"]
    assert player.world.acts == acts


@pytest.mark.parametrize("name", ["plan", "intent"])
def test_a_plan_that_is_not_the_one_of_the_journal_is_refused(player, monkeypatch, name):
    left = killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply")
    path = left / f"{name}.json"
    path.write_text(path.read_text().replace("leaf2", "leaf3"))
    assert player.play() == "failed"
    assert f"{name}.json is not the one" in player.report["reason"]


def test_a_torn_last_line_is_no_damage(player, monkeypatch):
    left = killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply")
    with (left / "journal.jsonl").open("a") as file:
        file.write('{"seq": 99, "half')
    assert player.play() == "passed"


def test_a_roll_out_of_another_inventory_is_refused_by_what_differs(player, monkeypatch):
    left = killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply")
    for entry in player.world.hosts.values():
        entry["variables"] = {**entry["variables"], "jumbo_links": entry["variables"]["jumbo_links"][::-1]}
    assert player.play() == "failed"
    assert f"{left.name} is not finished, and was planned for another inventory" in player.report["reason"]
    assert "jumbo_links changed" in player.report["reason"]


def test_a_finished_roll_out_of_another_inventory_is_nobodys_concern(tmp_path):
    then = {"h1": {"platform": "linux", "variables": {"jumbo_links": [1]}}}
    now = {"h1": {"platform": "eos", "variables": {"jumbo_links": [1], "jumbo_soak": "1h"}}, "h2": {}}
    assert resume._differences(then, now) == ["new: h2", "another platform: h1"]
    assert resume._differences(then, then) == []


# ---------------------------------------------------------------------- a person


def test_a_stage_waits_for_a_person_and_goes_on_when_it_is_approved(player):
    asked = {"jumbo_approve": ["leaf", "soak"]}
    assert (player.play(jumbo_approved="leaf", **asked), player.status()) == ("stopped", 2)
    assert "stage leaf waits for approval" in player.report["reason"]
    assert "nobody has been asked yet" in player.report["reason"]
    assert player.world.pending() == {}
    assert player.play(**asked) == "stopped"
    assert "waits for approval of stage leaf" in said(player)
    assert player.play(jumbo_approved="leaf", **asked) == "stopped"
    assert "stage soak waits for approval" in player.report["reason"]
    approvals = [line for line in lines(player.evidence)[-1] if line["verb"] == "approve" and line["event"] == "done"]
    assert [(line["step"], "@" in line["data"]["by"]) for line in approvals] == [("leaf", True)]
    assert player.play(jumbo_approved=["soak"], **asked) == "passed"
    assert player.world.lifted()


def test_an_approval_counts_for_what_was_shown(player):
    asked = {"jumbo_approve": ["leaf"]}
    assert player.play(**asked) == "stopped"
    somebody_pins(player.world.devices["h3"].state)
    assert player.play(jumbo_approved="leaf", **asked) == "stopped"
    assert "no longer those that were shown" in player.report["reason"]


def somebody_pins(state):
    """Change what the stage would begin with: the link by hand, its routes pinned so that nothing is lost."""
    state["interfaces"]["eth1"].update(ip_mtu=1600, device_mtu=1600, persisted_mtu=1600)
    for route in state["routes"]:
        route["mtu"] = 1500


def test_an_approved_stage_that_was_killed_is_not_asked_for_again(player, monkeypatch):
    asked = {"jumbo_approve": ["leaf"]}
    assert player.play(**asked) == "stopped"
    killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply", jumbo_approved="leaf", **asked)
    assert player.play(**asked) == "passed"


def test_what_waits_can_be_taken_back_instead(player):
    assert player.play(jumbo_approve=["leaf"]) == "stopped"
    assert player.play(jumbo_approve=["leaf"], jumbo_resume="revert") == "reverted"
    assert player.world.is_as_before()


# ---------------------------------------------------------------------- the soak


def test_a_long_soak_is_a_state_in_the_journal(player, monkeypatch):
    assert player.play(jumbo_soak="1h") == "soaking"
    assert "soaking until" in said(player)
    until = soak.until(lines(player.evidence)[-1])
    assert player.play(jumbo_soak="1h", limit=["h1", "h2"]) == "soaking"
    assert f"is soaking until {until}" in said(player)
    assert soak.until(lines(player.evidence)[-1]) == until
    monkeypatch.setattr(soak, "is_over", lambda end: end == until)
    assert player.play(jumbo_soak="1h") == "passed"


def test_a_roll_out_that_is_refused_in_between_does_not_begin_the_soak_again(player):
    assert player.play(jumbo_soak="1h") == "soaking"
    until = soak.until(lines(player.evidence)[-1])
    player.world.unreachable = {"leaf2"}
    assert player.play(jumbo_soak="1h") == "failed"
    player.world.unreachable = set()
    assert player.play(jumbo_soak="1h") == "soaking"
    assert soak.until(lines(player.evidence)[-1]) == until


def test_a_violation_in_a_soak_of_several_roll_outs_takes_all_of_them_back(player, monkeypatch):
    assert player.play(jumbo_stages=["canary"]) == "passed"
    assert player.play(jumbo_soak="1h") == "soaking"
    monkeypatch.setattr(soak, "is_over", lambda _end: True)
    player.world.bad_gates = {"soak.gate"}
    assert player.play(jumbo_soak="1h") == "reverted"
    assert player.world.is_as_before()


def test_counters_of_the_soaks_beginning_that_were_edited_are_refused(player, monkeypatch):
    assert player.play(jumbo_soak="1h") == "soaking"
    path = next(path for path in player.evidence.glob("*/soak.json") if not path.parent.is_symlink())
    path.write_text(json.dumps({"states": {}}))
    monkeypatch.setattr(soak, "is_over", lambda _end: True)
    assert player.play(jumbo_soak="1h") != "passed"
    assert "growth cannot be told" in said(player)


# ---------------------------------------------------------------------- two operators


def test_a_guard_of_another_evidence_directory_is_named_with_its_owner(player, tmp_path):
    assert player.play(jumbo_stages=["canary"]) == "passed"
    theirs = lines(player.evidence)[0][0] and next(path.name for path in player.evidence.glob("2*"))
    player.evidence = tmp_path / "mine"
    assert player.play() == "failed"
    assert f"held by roll-out {theirs} of test@here, which is not of this evidence directory" in player.report["reason"]
    assert player.play(jumbo_resume="new") in ("passed", "reverted", "failed")  # the doubles' guards are exclusive
    assert not [line for line in player.said if "nothing was changed" in line]


def test_a_live_lock_names_owner_and_age(player, monkeypatch):
    player.play(check=True)
    player.process += 1
    monkeypatch.setattr(lock, "_process_start", lambda _pid: "the same")
    lock.Lock(player.evidence / "lock").take("20260101T000000Z-0000", 1)
    with pytest.raises(JumboError, match=r"20260101T000000Z-0000 of \S+ on \S+, process 1, since .* \(0 min ago\)"):
        run.Run.open(player.evidence, process=2, exclusive=True)


def test_a_worker_whose_ansible_playbook_was_killed_begins_nothing_more(player):
    player.play(jumbo_stages=["canary"])
    one = run.Run(next(path for path in player.evidence.glob("2*") if path.is_dir()))
    one.lock.take("20260101T000000Z-0000", 1)
    line = {"step": "leaf.1.svi", "host": "leaf2", "verb": "apply", "data": {}}
    with pytest.raises(JumboError, match="ansible-playbook is gone"):
        one.journal.write(event="intent", **line)
    one.journal.write(event="done", **line)  # what it had begun is written down


# ---------------------------------------------------------------------- ended by a signal


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        ("before leaf.1.host_link h4 done apply", "failed"),  # something is armed
        ("after leaf.0  done close", "stopped"),
        ("after rollout  done plan", "stopped"),
    ],
)
def test_ended_from_outside_a_report_is_written_and_the_lock_given_back(player, monkeypatch, label, verdict):
    left = killed(monkeypatch, player, label)
    one = run.Run(left)
    assert one.lock.holder() is not None
    interrupted.end(one)
    report = json.loads((left / "report.json").read_text())
    assert report["verdict"] == verdict
    assert "ended from outside" in report["reason"]
    assert one.lock.holder() is None
    assert player.play() == "passed"


def test_a_roll_out_that_was_closed_is_left_alone_at_the_end(player):
    player.play()
    [path] = [path for path in player.evidence.glob("2*") if path.is_dir()]
    before = (path / "report.json").read_text()
    assert interrupted.end(run.Run(path)) == []
    assert (path / "report.json").read_text() == before


def test_a_roll_back_that_is_killed_is_told(player, monkeypatch):
    player.play()
    [moment] = moments(monkeypatch, player, "rollback", only="after rollout  intent revert")
    go_to(player, moment)
    assert player.play() == "passed"
    assert "was interrupted: rollback.yml takes back the rest" in said(player)


def test_killed_in_a_roll_back_the_next_roll_back_ends_it(player, monkeypatch):
    player.play()
    for moment in moments(monkeypatch, player, "rollback")[::6]:
        go_to(player, moment)
        assert player.play("rollback") == "passed", moment.label
        assert player.world.is_as_before(), moment.label
        assert all(Journal(path).lines() for path in player.evidence.glob("2*/journal.jsonl"))


def test_what_was_rolled_back_is_not_told_again(player, monkeypatch):
    killed(monkeypatch, player, "after leaf.1.svi leaf2 done apply")
    assert player.play("rollback") == "passed"
    assert player.play(check=True) == "planned"
    assert "interrupted" not in said(player)
