"""The traffic program as a program, two of them on loopback addresses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import wait_until

PROGRAM = Path(__file__).resolve().parents[3] / "lab/traffic.py"
BLOCK = f"127.99.{os.getpid() % 256}"


class Talker:
    """A host's traffic program and what it has said."""

    def __init__(self, name: str, number: int, peer: str, peer_number: int) -> None:
        peers = {peer: f"{BLOCK}.{peer_number}"}
        config = {"name": name, "addresses": [f"{BLOCK}.{number}"], "peers": peers, "interval": 0.05}
        command = [sys.executable, "-I", "-S", str(PROGRAM), json.dumps(config)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.lines: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(map(json.loads, self.process.stdout))

    def transfers(self) -> int:
        return max((line.get("transfers", 0) for line in self.lines), default=0)

    def stalls(self) -> list[dict[str, Any]]:
        return [line["stall"] for line in self.lines if "stall" in line]


@pytest.fixture
def pair() -> Iterator[tuple[Talker, Talker]]:
    talkers = Talker("a", 1, "b", 2), Talker("b", 2, "a", 1)
    yield talkers
    for talker in talkers:
        talker.process.kill()
        talker.process.wait()


def test_transfers_flow_until_the_peer_is_gone_which_is_an_outage(pair: tuple[Talker, Talker]) -> None:
    one, other = pair
    wait_until(lambda: one.transfers() > 20 and other.transfers() > 20, what="transfers both ways")
    assert max(line.get("largest_segment", 0) for line in one.lines) > 1448
    assert one.stalls() == []
    other.process.kill()
    other.process.wait()
    stall = wait_until(one.stalls, what="a stall")[0]
    assert (stall["from"], stall["to"], stall["old_size_passes"]) == ("a", "b", False)


def test_a_frozen_peer_is_a_stall_with_its_size(pair: tuple[Talker, Talker]) -> None:
    one, other = pair
    wait_until(lambda: one.transfers() > 5, what="transfers")
    other.process.send_signal(19)  # SIGSTOP: its kernel acknowledges, its program does not answer
    try:
        kinds = wait_until(lambda: {s["kind"] for s in one.stalls()} >= {"tcp", "udp"}, what="stalls of both kinds")
    finally:
        other.process.send_signal(18)
    assert kinds
    assert all(stall["size"] >= 0 and stall["segment"] > 0 for stall in one.stalls())
