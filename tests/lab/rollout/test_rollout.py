"""The main job: up, again, and all the way back; and a dry run that leaves no trace."""

import json
import re

import pytest

pytestmark = pytest.mark.lab


def test_up_again_and_all_the_way_back(fabric):
    lab = fabric()
    before = {host: lab.routes(host) for host in ("h1", "h5")}

    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert [stage["verdict"] for stage in outcome.report["stages"]] == ["passed"] * 4
    assert {gate["verdict"] for stage in outcome.report["stages"] for gate in stage["gates"]} == {"success"}
    now = lab.ip_mtus()
    assert {now[f"h{n}"]["eth1"] for n in range(1, 7)} == {9000}
    assert {mtu for host in ("spine1", "spine2") for mtu in now[host].values()} == {9214}
    assert lab.lab.ping("h1", lab.lab.address("h5"), 9000).received == 2
    assert "mtu 1500" in lab.routes("h1") or "default via" in lab.routes("h1").split("eth0")[0]
    check_journal(outcome.journal)
    check_files(outcome)

    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert not re.search(r"changed=[1-9]", again.output)
    assert all(not stage["changes"] for stage in again.report["stages"])

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert {host: lab.routes(host) for host in before} == before
    assert lab.lab.run("h1", "cat", "/etc/jumbo-lab.json").split() == ['{"links":', "{},", '"routes":', "[]}"]
    nothing = lab.play("rollback")
    assert nothing.status == 0
    assert "nothing to take back" in nothing.output
    assert (lab.stalls(), lab.lost()) == ([], {})


def check_journal(lines):
    """Each act is on disk before it is acted on: an intent comes before every done of a device."""
    begun = set()
    for line in lines:
        key = (line["step"], line["host"], line["verb"])
        if line["event"] == "intent":
            begun.add(key)
        elif line["host"]:
            assert key in begun, line
    verbs = {line["verb"] for line in lines}
    assert {"arm", "apply", "probe", "confirm", "lift", "persist"} <= verbs
    first_lift = next(line["seq"] for line in lines if line["verb"] == "lift")
    receive = next(
        line["seq"] for line in lines if line["verb"] == "probe" and line["data"].get("name") == "rack_receive"
    )
    assert receive < first_lift


def check_files(outcome):
    folder = outcome.evidence / "latest"
    assert folder.is_symlink()
    html = (folder / "report.html").read_text()
    assert "passed" in html
    assert "spine1" in html
    assert (folder / "journal.jsonl").stat().st_mode & 0o077 == 0


def test_a_dry_run_shows_the_plan_and_each_devices_own_difference_and_writes_nothing(fabric):
    lab = fabric()
    routes = {host: lab.routes(host) for host in ("h1", "h4")}
    before = lab.ip_mtus()
    outcome = lab.play("rollout", "--check", "--diff")
    assert (outcome.status, outcome.report["verdict"]) == (0, "planned"), outcome.output
    assert "step canary.1.host_link" in outcome.output
    assert "leaf1 Vlan10: 1500 -> 9000" in outcome.output
    assert "--- spine1" in outcome.output
    assert "+   mtu 9214" in outcome.output
    assert "+link eth1 mtu 9000" in outcome.output
    assert lab.ip_mtus() == before
    assert {host: lab.routes(host) for host in routes} == routes
    assert not (lab.evidence / "latest").exists()
    assert not (lab.evidence / "lock").exists()
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert not audit["written"], (name, audit["entries"])
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None)
        assert audit["aborted_sessions"], f"{name} was not asked for its difference"


def test_a_limit_bounds_who_is_touched_and_the_proof_still_sees_all(fabric):
    lab = fabric()
    outcome = lab.play("rollout", "--limit", "leaf1,h1,h2")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["h1"]["eth1"], now["leaf1"]["Vlan10"], now["leaf1"]["Ethernet1"]) == (9000, 9000, 1500)
    assert {mtu for host in ("h3", "h5", "leaf2", "spine1") for mtu in now[host].values()} == {1500}
    touched = {line["host"] for line in outcome.journal if line["host"]}
    assert touched == {"leaf1", "h1", "h2"}
    assert json.dumps(outcome.report["notes"]).count("left out") >= 1
    assert (lab.stalls(), lab.lost()) == ([], {})


def test_a_long_soak_is_a_state_that_the_next_roll_out_judges(fabric):
    lab = fabric(jumbo_stages=["canary", "soak"])
    first = lab.play("rollout", "-e", "jumbo_soak=1h")
    assert (first.status, first.report["verdict"]) == (0, "soaking"), first.output
    assert "soaking until" in first.output
    again = lab.play("rollout", "-e", "jumbo_soak=1h")
    assert (again.status, again.report["verdict"]) == (0, "soaking"), again.output
    assert lab.lab.run("h1", "cat", "/etc/jumbo-lab.json").count("9000") == 1  # link and pins, not the lift
    soak = max(lab.evidence.glob("*/soak.json"))
    data = json.loads(soak.read_text())
    soak.write_text(json.dumps({**data, "until": "2020-01-01T00:00:00+00:00"}))
    last = lab.play("rollout", "-e", "jumbo_soak=1h")
    assert (last.status, last.report["verdict"]) == (0, "passed"), last.output
    assert last.stage("soak")["gates"][0]["verdict"] == "success"
