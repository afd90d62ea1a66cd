"""The soak: a violation takes everything back, whoever lifted it; a long one is a state that the next run judges."""

import json

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal

pytestmark = pytest.mark.lab


def everything_is_back(lab):
    return {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}


def test_a_violation_in_the_soak_takes_everything_back(fabric):
    lab = fabric()

    def soaking(line):
        return line["step"] == "soak.gate" and line["verb"] == "probe"

    def narrow():  # somebody's change behind our back: the switch still says 9214
        lab.lab.plane("spine1").set_ip_mtu("Ethernet2", 1500)

    outcome = lab.play_and("rollout", soaking, narrow)
    assert (outcome.status, outcome.report["verdict"]) == (2, "reverted"), outcome.output
    assert outcome.stage("soak")["gates"][0]["verdict"] == "failure"
    assert everything_is_back(lab)
    assert not [line for line in outcome.journal if line["verb"] == "persist"]
    assert lab.lab.run("h1", "cat", "/etc/jumbo-lab.json").split() == ['{"links":', "{},", '"routes":', "[]}"]


def test_a_long_soak_is_a_state_that_a_later_roll_out_judges(fabric):
    lab = fabric(jumbo_stages=["canary", "soak"])
    hour = ("-e", "jumbo_soak=1h")
    first = lab.play("rollout", *hour)
    assert (first.status, first.report["verdict"]) == (0, "soaking"), first.output
    again = lab.play("rollout", *hour)
    assert (again.status, again.report["verdict"]) == (0, "soaking"), again.output
    boot = json.loads(lab.lab.run("h1", "cat", "/etc/jumbo-lab.json"))
    assert boot["links"] == {"eth1": 9000}
    assert [route for route in boot["routes"] if "10.10.1.0/24" in route and "mtu 1500" in route]  # not the lift
    refused = lab.play("rollout", *hour, "-e", "jumbo_ip_mtu=0")
    assert refused.status == 2  # and does not restart the hour
    end_the_hour(lab)
    last = lab.play("rollout", *hour)
    assert (last.status, last.report["verdict"]) == (0, "passed"), last.output
    boot = json.loads(lab.lab.run("h1", "cat", "/etc/jumbo-lab.json"))
    assert not [route for route in boot["routes"] if "10.10.1.0/24" in route and "mtu 1500" in route]


@pytest.mark.long
def test_a_violation_that_a_later_roll_out_finds_takes_back_what_an_earlier_one_lifted(fabric):
    lab = fabric(jumbo_stages=["canary", "soak"])
    hour = ("-e", "jumbo_soak=1h")
    assert lab.play("rollout", *hour).report["verdict"] == "soaking"
    end_the_hour(lab)
    add_a_giant(lab, "h1")
    last = lab.play("rollout", *hour)
    assert (last.status, last.report["verdict"]) == (2, "reverted"), last.output
    assert ("h1", "eth1") in [(finding["host"], finding["interface"]) for finding in last.report["findings"]]
    assert everything_is_back(lab)


def end_the_hour(lab):
    """Write the newest soak's journal anew, as if its hour had begun long ago."""
    path = max(path for path in lab.evidence.glob("*/soak.json") if not path.parent.is_symlink())
    journal = Journal(path.with_name("journal.jsonl"))
    lines = journal.lines()
    journal.path.unlink()
    journal.head.unlink()
    for line in lines:
        data = {**line["data"], "until": "2020-01-01T00:00:00+00:00"} if line["verb"] == "soak" else line["data"]
        journal.write(**{key: line[key] for key in ("step", "host", "event", "verb")}, data=data)


def add_a_giant(lab, host):
    """Let the host's port meet a frame that is too long for it: its peer sends 9000 bytes to a port of 1400."""
    limit = "meta length > 1400 counter name giants_eth1 drop"
    rule = f"insert rule netdev jumbo_lab in_eth1 {limit}"
    lab.lab.run(host, "nft", rule)
    peer = {"h1": "h2", "h2": "h1"}[host]
    assert lab.lab.ping(peer, lab.lab.address(host), 1500).received == 0
    handle = lab.lab.run(host, "nft", "-a", "list", "chain", "netdev", "jumbo_lab", "in_eth1")
    number = next(line.rpartition("handle ")[2] for line in handle.splitlines() if "> 1400" in line)
    lab.lab.run(host, "nft", "delete", "rule", "netdev", "jumbo_lab", "in_eth1", "handle", number)
