"""The controller dies in the middle: hosts and switches keep their dead-man, and a roll-back knows what was begun."""

import signal

import pytest

pytestmark = pytest.mark.lab


def test_a_killed_controller_leaves_a_lock_that_is_taken_over_and_a_journal_that_is_taken_back(fabric):
    lab = fabric()

    def lifted(line):
        return line["step"] == "leaf.1.svi" and line["verb"] == "apply" and line["event"] == "done"

    died = lab.play_and("rollout", lifted, lambda: None, then_kill=signal.SIGKILL)
    assert died.status == -signal.SIGKILL
    assert (lab.evidence / "lock").exists()
    now = lab.ip_mtus()
    assert (now["h1"]["eth1"], now["h3"]["eth1"]) == (9000, 9000)

    refused = lab.play("rollout")
    assert (refused.status, refused.report["verdict"]) == (2, "failed"), refused.output
    assert "still pending" in refused.output

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None), name
    assert lab.lab.run("h3", "sh", "-c", "ls /run/jumbo-fabric/*").count("reverted") >= 1
    assert (lab.stalls(), lab.lost()) == ([], {})


def test_a_roll_back_from_the_wrong_directory_does_not_say_that_all_is_well(fabric, tmp_path):
    lab = fabric(jumbo_stages=["canary"])
    assert lab.play("rollout").report["verdict"] == "passed"
    wrong = lab.play("rollback", "-e", f"jumbo_evidence_dir={tmp_path / 'elsewhere'}")
    assert wrong.status == 2, wrong.output
    assert "held by guards of ours" in wrong.output
    assert lab.ip_mtus()["h1"]["eth1"] == 9000


def test_an_older_roll_out_is_not_taken_back_from_under_a_newer_one(fabric):
    lab = fabric()
    first = lab.play("rollout", "-e", '{"jumbo_stages": ["canary"]}')
    assert first.report["verdict"] == "passed"
    older = first.report["rollout"]
    newer = lab.play("rollout").report["rollout"]
    refused = lab.play("rollback", "-e", f"jumbo_rollout={older}")
    assert refused.status == 2, refused.output
    assert newer in refused.output
    assert lab.ip_mtus()["leaf1"]["Vlan10"] == 9000
    assert lab.play("rollback").report["verdict"] == "passed"
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert (lab.stalls(), lab.lost()) == ([], {})
