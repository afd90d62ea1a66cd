"""A host that goes away in mid-wave: its wave is taken back, nothing after it begins, and the exit status says so."""

import pytest

pytestmark = pytest.mark.lab


@pytest.mark.parametrize(
    "host",  # the first of its batch, on whom run_once tasks run, and another
    ["h3", pytest.param("h4", marks=pytest.mark.long)],
)
def test_a_host_that_is_lost_before_it_can_confirm(fabric, host):
    lab = fabric(jumbo_max_wave=1)

    def proven(line):
        return line["step"] == "leaf.1.host_link" and line["verb"] == "probe" and line["event"] == "done"

    outcome = lab.play_and("rollout", proven, lambda: lab.lab.folder.ask("cut", node=host))
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert [finding["host"] for finding in outcome.report["findings"]] == [host]
    confirms = {
        line["host"]: line["data"] for line in outcome.journal if line["verb"] == "confirm" and line["event"] == "done"
    }
    assert confirms[host]["error"]["unreachable"]
    now = lab.ip_mtus()
    others = {"h3": "h4", "h4": "h3"}
    assert now[others[host]]["eth1"] == 1500  # had confirmed, and was taken back all the same
    assert (now["h1"]["eth1"], now["h5"]["eth1"], now["leaf2"]["Vlan10"]) == (9000, 1500, 1500)
    assert "armed" in lab.lab.run(host, "sh", "-c", "ls /run/jumbo-fabric/*")  # its own dead-man takes it back
    assert not [line for line in outcome.journal if line["step"].startswith(("leaf.2", "fabric"))]
    lab.lab.folder.ask("mend", node=host)
    again = lab.play("rollout")
    assert (again.status, again.report["verdict"]) == (2, "reverted"), again.output
    assert f"leaf.1.host_link on {host}" in again.output
    assert lab.ip_mtus()[host]["eth1"] == 1500
    assert lab.stalls() == []


def test_a_host_that_is_dead_from_the_start_stops_everything(fabric):
    lab = fabric()
    lab.lab.folder.ask("cut", node="h5")
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert "h5" in outcome.report["reason"]
    lab.lab.folder.ask("mend", node="h5")
    assert lab.play("rollout", "--check").report["verdict"] == "planned"


@pytest.mark.long
def test_every_host_of_a_wave_dead_still_ends_with_evidence_and_without_a_lock(fabric):
    lab = fabric(jumbo_max_wave=1)

    def opened(line):
        return line["step"].startswith("leaf.") and line["verb"] == "open" and line["event"] == "intent"

    def cut_all():
        for node in ("h3", "h4", "leaf2"):
            lab.lab.folder.ask("cut", node=node)

    outcome = lab.play_and("rollout", opened, cut_all)
    assert (outcome.status, outcome.report["verdict"]) == (4, "failed"), outcome.output
    assert {finding["host"] for finding in outcome.report["findings"]} >= {"h3", "h4"}
    now = lab.ip_mtus()
    assert (now["h1"]["eth1"], now["h5"]["eth1"], now["leaf2"]["Vlan10"]) == (9000, 1500, 1500)
    assert not (lab.evidence / "lock").exists()
    assert lab.stalls() == []
