"""Reboots of a random node at a random entry of the journal, and what must be true whatever was drawn."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from rollout_helpers import Fabric, Outcome

# How a roll-out may end, with its exit status: nothing between "all of it" and "taken back, or told what is not".
ALLOWED_ENDS = {("passed", 0), ("reverted", 2), ("reverted", 4), ("failed", 2), ("failed", 4)}

# Entries of the journal of a whole roll-out over three racks, and what its way back adds to them; a little less
# than there are, so that every draw meets one.
ROLLOUT_ENTRIES, ROLLBACK_ENTRIES = 180, 60


@dataclass(frozen=True)
class Draw:
    """Which node reboots, and at which entry: a share of the roll-out's journal, or of what a way back adds to it."""

    playbook: str  # rollout | rollback
    node: str
    share: float

    def entry(self, begin: int, entries: int) -> int:
        """Return the entry's number, where the playbook writes so many after `begin`."""
        return begin + 1 + int(self.share * (entries - 1))


def draw(seed: int, nodes: list[str]) -> Draw:
    """Return the draw of a seed: the same for the same fabric, on every machine."""
    chance = random.Random(seed)  # noqa: S311 - it chooses tests
    playbook = chance.choice(("rollout", "rollout", "rollback"))
    return Draw(playbook, chance.choice(sorted(nodes)), chance.random())


def reboot_at(lab: Fabric, drawn: Draw, before: Outcome | None, entries: int) -> Outcome:
    """Run the playbook; as soon as the journal has the entry that was drawn, pull the node's plug and boot it.

    before: the roll-out that a rollback takes back; its journal is the one that grows. entries: how many are expected.
    """
    begin = len(before.journal) if before else 0
    entry = drawn.entry(begin, entries)
    met: list[bool] = []

    def is_there(line: dict[str, Any]) -> bool:
        if (line["seq"] if before is None else len(before.journal)) >= entry:
            met.append(True)
        return bool(met)

    outcome = lab.play_and(drawn.playbook, is_there, lambda: lab.lab.folder.ask("reboot", node=drawn.node))
    assert met, f"it ended before entry {entry} of its journal: {outcome.output}"
    return outcome


def check_end(lab: Fabric, outcome: Outcome) -> None:
    """Fail unless the playbook ended in an allowed end, and the fabric is what its verdict says."""
    end = (outcome.report["verdict"], outcome.status)
    assert end in ALLOWED_ENDS, (end, outcome.output)
    assert "Traceback" not in outcome.output, outcome.output
    assert lab.lab.violations() == [], outcome.output
    if end[0] != "passed":
        gates = [gate for stage in outcome.report["stages"] for gate in stage["gates"] if gate["verdict"] != "success"]
        assert outcome.report["findings"] or outcome.report["reason"] or gates, outcome.output
    if end[0] == "reverted":
        check_stage_is_back(lab, outcome)


def check_stage_is_back(lab: Fabric, outcome: Outcome) -> None:
    """Fail unless every interface that the failing stage changed has the size of before."""
    sizes = lab.ip_mtus()
    (stage,) = (stage for stage in outcome.report["stages"] if stage["verdict"] == "reverted")
    changed = [change for change in stage["changes"] if change["interface"] in sizes.get(change["host"], {})]
    for change in changed:
        assert sizes[change["host"]][change["interface"]] == change["from_ip_mtu"], (change, outcome.output)


def check_passed(lab: Fabric) -> None:
    """Fail unless every interface has its size, and every host has persisted its lifts and runs with them."""
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {9000, 9214}
    for name, node in lab.lab.nodes.items():
        if node.is_host:
            (backend,) = node.backend
            boot = json.loads(lab.lab.run(name, "cat", "/etc/jumbo-lab.json"))
            assert boot["links"] == {backend: 9000}, name
            assert lifted(lab, name) == {True}, (name, lab.routes(name))


def lifted(lab: Fabric, host: str) -> set[bool]:
    """Tell, of every other host's back end, whether this host would send it 9000 bytes at once."""
    nodes = lab.lab.nodes
    peers = [name for name, node in nodes.items() if node.is_host and node.backend and name != host]
    return {"mtu" not in lab.lab.run(host, "ip", "route", "get", lab.lab.address(peer)).split() for peer in peers}


def check_all_the_way_back(lab: Fabric, outcome: Outcome) -> None:
    """Fail unless nothing is left of the roll-out, on any device."""
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}, outcome.output
    for name, audit in lab.lab.folder.ask("audit")["audit"].items():
        assert (audit["open_sessions"], audit["commit_timer"]) == ([], None), name
    for name, node in lab.lab.nodes.items():
        if node.is_host:
            boot = json.loads(lab.lab.run(name, "cat", "/etc/jumbo-lab.json"))
            assert (boot["links"], boot["routes"]) == ({}, []), name


def reboot_in_a_rollout(lab: Fabric, drawn: Draw, entries: int = ROLLOUT_ENTRIES) -> None:
    """Do what was drawn in a roll-out, check how it ends, then take everything back."""
    outcome = reboot_at(lab, drawn, None, entries)
    check_end(lab, outcome)
    if outcome.report["verdict"] == "passed":
        check_passed(lab)
    check_all_the_way_back(lab, lab.play("rollback"))
    assert lab.lab.violations() == []


def reboot_in_a_rollback(lab: Fabric, drawn: Draw, entries: int = ROLLBACK_ENTRIES) -> None:
    """Do what was drawn while a whole roll-out is taken back; what could not be, the next attempt takes back."""
    before = lab.play("rollout")
    assert (before.status, before.report["verdict"]) == (0, "passed"), before.output
    outcome = reboot_at(lab, drawn, before, entries)
    check_end(lab, outcome)
    check_all_the_way_back(lab, outcome if outcome.status == 0 else lab.play("rollback"))
    assert lab.lab.violations() == []


def reboot(lab: Fabric, drawn: Draw) -> None:
    """Do what was drawn."""
    (reboot_in_a_rollout if drawn.playbook == "rollout" else reboot_in_a_rollback)(lab, drawn)
