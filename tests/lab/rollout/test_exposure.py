"""Senders that no pin bounds and whose datagrams are large: refused in preflight, raised with a waiver.

That the sentinel hears what is lost of them: test_unbound.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_helpers import lab_cli, need_namespaces, wait_until
from lab_inventories import one_rack
from rollout_helpers import Fabric

pytestmark = pytest.mark.lab

SIZE = 4000  # bytes of IP packet


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Fabric]:
    """A rack whose hosts send 4000-byte datagrams to a group, to all, and to each other with the path's MTU ignored."""
    need_namespaces()
    source = one_rack(tmp_path / "inventory", 95, jumbo_lab_traffic=0.02, jumbo_lab_unbound=SIZE)
    done = lab_cli(tmp_path / "lab", "up", "-i", source)
    assert done.returncode == 0, done.stderr
    try:
        yield Fabric(tmp_path / "lab", [source], tmp_path / "evidence")
    finally:
        lab_cli(tmp_path / "lab", "down")


@pytest.mark.long
def test_such_a_segment_is_refused_and_raised_with_a_waiver(fabric: Fabric) -> None:
    refused = fabric.play("rollout")
    assert (refused.status, refused.report["verdict"]) == (2, "failed"), refused.output
    for host in ("h1", "h2"):
        for kind in ("multicast", "broadcast"):
            assert f"{host}:eth0: sends {kind} datagrams that no pin bounds" in refused.output
    assert "a waiver of the kind exposure for back1 accepts that" in refused.output
    assert {mtu for ports in fabric.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert fabric.lab.violations() == []

    waiver = {"kind": "exposure", "object": "back1", "reason": "these senders may lose what they send"}
    waived = fabric.play("rollout", "-e", json.dumps({"jumbo_waivers": [waiver], "jumbo_stages": ["canary"]}))
    assert (waived.status, waived.report["verdict"]) == (0, "passed"), waived.output
    # What was lost while one link was up before the other's is theirs: whether any was is a matter of milliseconds.
    assert {violation["size"] for violation in fabric.lab.violations()} <= {SIZE}
    arrived = heard(fabric)
    wait_until(lambda: heard(fabric) > arrived + 20, what="they still arrive")
    assert [host for host in ("h1", "h2") if fabric.ip_mtus()[host]["eth0"] != 9000] == []


def heard(fabric: Fabric) -> int:
    """Return how many of these datagrams have arrived."""
    return int(sum(fabric.lab.status()["traffic"]["unbound"].values()))
