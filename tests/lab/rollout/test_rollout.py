"""The main job: up, again, and all the way back; and a dry run that leaves no trace."""

import contextlib
import json
import re

import pytest
from rollout_helpers import never_both

pytestmark = pytest.mark.lab


def test_up_again_and_all_the_way_back(fabric):
    lab = fabric()
    with up_again_and_back(lab):
        now = lab.ip_mtus()
        assert {mtu for n in range(1, 7) for mtu in now[f"h{n}"].values()} == {9000}
        assert {mtu for spine in ("spine1", "spine2") for mtu in now[spine].values()} == {9214}
        assert lab.lab.ping("h1", lab.lab.address("h5"), 9000).received == 2
    assert lab.stalls() == []


@pytest.mark.long  # molecule raises the bundled fabric, and raises it again
def test_the_bundled_fabric_goes_all_the_way_back_too(fabric):
    lab = fabric(bundled=True)
    with up_again_and_back(lab) as journal:
        now = lab.ip_mtus()
        assert {mtu for n in range(1, 9) for mtu in now[f"h{n}"].values()} == {9000}
        assert {(now[leaf]["Vlan10"], now[leaf]["Vlan4094"]) for leaf in ("leaf3", "leaf4")} == {(9000, 9214)}
        assert (set(now["spine1"].values()), set(now["spine2"].values())) == ({9214, 9202}, {9202}), (
            "Junos clamps its links"
        )
        assert (now["leaf5"]["Ve10"], set(now["border1"].values())) == (9000, {9214, 9202, 1500})
        assert all(lab.lab.ping("h1", lab.lab.address(far), 9000).received == 2 for far in ("h5", "h8"))
        assert "mtu 1500" in lab.lab.run("h8", "ip", "route", "get", lab.lab.address("inet", "eth0"))
    never_both(journal(), ("leaf3", "leaf4"))
    away = [stall for stall in lab.stalls() if not {"h7", "h8"} & {stall["from"], stall["to"].partition("/")[0]}]
    assert away == [], "only a box that reloads cuts anybody off"


@contextlib.contextmanager
def up_again_and_back(lab):
    """Roll out; yield what reads the whole journal; again, which changes nothing; and back to where it was."""
    hosts = [name for name in lab.lab.nodes if name.startswith("h")]
    before = {host: lab.routes(host) for host in hosts}

    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert [stage["verdict"] for stage in outcome.report["stages"]] == ["passed"] * 4
    assert {gate["verdict"] for stage in outcome.report["stages"] for gate in stage["gates"]} == {"success"}
    check_journal(outcome.journal)
    check_files(outcome)
    yield lambda: outcome.journal

    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (0, "passed"), again.output
    assert not re.search(r"changed=[1-9]", again.output)
    assert all(not stage["changes"] for stage in again.report["stages"])

    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    check_lowering_order(outcome.journal)
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert {host: lab.routes(host) for host in before} == before
    assert lab.lab.run("h1", "cat", "/etc/jumbo-lab.json").split() == ['{"links":', "{},", '"routes":', "[]}"]
    nothing = lab.play("rollback")
    assert nothing.status == 0
    assert f"nothing to take back: no journal in {lab.evidence}" in nothing.output


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


def check_lowering_order(lines):
    """Senders are pinned and read back before hops are lowered, hops before host links."""
    kinds = {
        "lift": "lift",
        "persist": "persist",
        "svi": "hop",
        "link": "hop",
        "drain": "hop",
        "undrain": "hop",
        "host_link": "host",
        "l2": "port",
        "reload": "box",
    }
    reverts = [(kinds[line["step"].rpartition(".")[2]], line) for line in lines if line["verb"] == "revert"]

    def first(kind):
        return min(line["seq"] for name, line in reverts if name == kind)

    def last_done(kind):
        return max(line["seq"] for name, line in reverts if name == kind and line["event"] == "done")

    assert last_done("lift") < first("hop")
    assert last_done("hop") < first("host")


def check_files(outcome):
    folder = outcome.run.parent / "latest"
    assert folder.resolve() == outcome.run
    html = (folder / "report.html").read_text()
    assert "passed" in html
    assert "spine1" in html
    assert (folder / "journal.jsonl").stat().st_mode & 0o077 == 0


def test_a_dry_run_shows_the_plan_and_each_devices_own_difference_and_writes_nothing(fabric):
    lab = fabric(junos=["spine2", "leaf2"], routing="bgp")
    routes = {host: lab.routes(host) for host in ("h1", "h4")}
    before = lab.ip_mtus()
    outcome = lab.play("rollout", "--check", "--diff")
    assert (outcome.status, outcome.report["verdict"]) == (0, "planned"), outcome.output
    assert "step canary.1.host_link" in outcome.output
    assert "leaf1 Vlan10: 1500 -> 9000" in outcome.output
    assert "--- spine1" in outcome.output
    assert "+   mtu 9214" in outcome.output
    assert "+link eth1 mtu 9000" in outcome.output
    assert "+route 224.0.0.0/4 dev eth1 mtu 1500" in outcome.output
    assert outcome.output.index("step soak.persist") < outcome.output.index("--- spine1")
    assert len(re.findall(r"changed=1 ", outcome.output)) == len(before)
    assert lab.ip_mtus() == before
    assert {host: lab.routes(host) for host in routes} == routes
    assert not (lab.evidence / "latest").exists()
    assert not (lab.evidence / "lock").exists()
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert not audit["written"], (name, audit["entries"])
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None)
        discarded = any(entry["kind"] == "discard" for entry in audit["entries"])  # as a Junos box is asked
        assert audit["aborted_sessions"] or discarded, f"{name} was not asked for its difference"


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
    assert lab.stalls() == []
