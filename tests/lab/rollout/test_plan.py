"""The plan alone: from what devices say and from what they said, the same; and who loses what wherever it stops."""

import json

import pytest

pytestmark = pytest.mark.lab


def test_live_and_offline_plans_are_the_same_and_tell_who_loses_what_after_each_step(fabric):
    lab = fabric()

    def plan(*arguments):
        known = set(lab.evidence.glob("*/plan.json"))
        outcome = lab.play("plan", *arguments)
        assert outcome.status == 0, outcome.output
        (written,) = set(lab.evidence.glob("*/plan.json")) - known
        return written, (written.parent / "plan.txt").read_text(), outcome.output

    live, told, shown = plan()
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    offline, told_again, _shown = plan("-e", f"jumbo_saved_facts={live.parent}")
    assert offline.read_bytes() == live.read_bytes()
    first = "stage canary, wave 1"
    assert told[told.index(first) :] == told_again[told_again.index(first) :]

    steps = json.loads(live.read_text())["steps"]
    parts = told[told.index(first) :].split("\nstep ")[1:]
    assert [part.split(" ")[0] for part in parts] == [step["id"] for step in steps]
    for part in parts:
        assert "stopped after it: what keeps to its routes loses nothing for its size (proven)" in part
        assert "not covered: multicast, broadcast, pmtu_ignoring packets of backend1" in part
    lifted = [part for part in parts if "no host is lifted by this plan yet" not in part]
    assert lifted[0].startswith("canary.1.lift ")
    assert "h1, h2 may send up to 9000 bytes to lifted prefixes" in lifted[0]
    assert lifted[-1].startswith("soak.persist")
    assert "also after a reboot" in lifted[-1]
    assert all(part.splitlines()[0] in shown for part in parts)
