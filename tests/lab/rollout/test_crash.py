"""The controller dies or is ended in the middle: the next roll-out says where it stands and goes on.

Every line of the journal, with devices in memory: tests/unit/controller/test_kill.py; here: `make kill-tests`.
"""

import getpass
import signal

import pytest

pytestmark = pytest.mark.lab


@pytest.mark.long
def test_a_killed_controller_leaves_a_lock_that_is_taken_over_and_a_journal_that_is_taken_back(fabric, tmp_path):
    lab = fabric()

    def lifted(line):
        return line["step"] == "leaf.1.svi" and line["verb"] == "apply" and line["event"] == "done"

    died = lab.play_and("rollout", lifted, lambda: None, then_kill=signal.SIGKILL)
    assert died.status == -signal.SIGKILL
    assert (lab.evidence / "lock").exists()
    now = lab.ip_mtus()
    assert (now["h1"]["eth1"], now["h3"]["eth1"]) == (9000, 9000)

    refused = lab.play("rollout", "-e", "jumbo_resume=new")
    assert (refused.status, refused.report["verdict"]) == (2, "failed"), refused.output
    assert "still pending" in refused.output

    other = lab.play("rollout", "-e", f"jumbo_evidence_dir={tmp_path / 'elsewhere'}")
    assert "which is not of this evidence directory" in other.output
    assert f"{getpass.getuser()}@" in other.output

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None), name
    assert lab.lab.run("h3", "sh", "-c", "ls /run/jumbo-fabric/*").count("reverted") >= 1
    assert lab.stalls() == []


@pytest.mark.parametrize(
    ("step", "verb"),
    [
        pytest.param("leaf.1.host_link", "apply", marks=pytest.mark.long),
        ("fabric.1.link", "confirm"),
        pytest.param("fabric.4.lift", "lift", marks=pytest.mark.long),
    ],
)
def test_killed_in_the_middle_the_next_roll_out_goes_on(fabric, step, verb):
    lab = fabric()

    def begun(line):
        return (line["step"], line["verb"], line["event"]) == (step, verb, "done")

    died = lab.play_and("rollout", begun, lambda: None, then_kill=signal.SIGKILL)
    assert died.status == -signal.SIGKILL
    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert "was interrupted in" in again.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {9000, 9214}
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None), name
    assert lab.stalls() == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 99), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_ended_by_a_signal_it_writes_a_report_and_gives_the_lock_back(fabric, number, status):
    lab = fabric(jumbo_stages=["canary"])

    def armed(line):
        return line["step"] == "canary.1.host_link" and line["verb"] == "probe" and line["event"] == "intent"

    ended = lab.play_and("rollout", armed, lambda: None, then_kill=number)
    assert ended.status == status, ended.output
    assert ended.report["verdict"] == "failed", ended.output
    assert "h1, h2 may be in the middle of a change" in ended.report["reason"]
    assert ended.report["reason"] in ended.output
    assert not (lab.evidence / "lock").exists()
    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert "canary.1.host_link on h1, h2" in again.output


def test_a_roll_back_from_the_wrong_directory_does_not_say_that_all_is_well(fabric, tmp_path):
    lab = fabric(jumbo_stages=["canary"])
    assert lab.play("rollout").report["verdict"] == "passed"
    wrong = lab.play("rollback", "-e", f"jumbo_evidence_dir={tmp_path / 'elsewhere'}")
    assert wrong.status == 2, wrong.output
    assert "held by guards of ours" in wrong.output
    assert lab.ip_mtus()["h1"]["eth1"] == 9000


@pytest.mark.long
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
    assert lab.stalls() == []
