"""Real packets: ping(8) in a namespace of its own, through the front end, to napalm and to the eye."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.static_plane import StaticPlane

pytestmark = pytest.mark.lab


class RealPing:
    """A namespace whose loopback device has an MTU of 1500."""

    def __init__(self) -> None:
        command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
        script = "ip link set lo mtu 1500 up && echo ready && exec sleep 600"
        self._node = subprocess.Popen([*command, script], stdout=subprocess.PIPE, text=True)
        assert self._node.stdout is not None
        if self._node.stdout.readline() != "ready\n":
            pytest.skip("no network namespace can be made here")

    def __call__(self, arguments: Sequence[str]) -> str:
        enter = ["nsenter", "-t", str(self._node.pid), "--user", "--net", "--preserve-credentials"]
        line = [*enter, "ping", *arguments]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def close(self) -> None:
        self._node.kill()
        self._node.wait()
        if self._node.stdout:
            self._node.stdout.close()


@pytest.fixture
def ping() -> Iterator[RealPing]:
    if not all(shutil.which(program) for program in ("ping", "unshare", "nsenter")):
        pytest.skip("ping, unshare or nsenter is missing")
    real = RealPing()
    yield real
    real.close()


@pytest.fixture
def driver(start: Callable[..., Any], napalm: Any, ping: RealPing) -> Any:
    return napalm(start(plane=StaticPlane(answer=ping)))


def test_the_size_is_the_whole_packet(driver: Any) -> None:
    output = driver.cli(["ping 127.0.0.1 size 1500 df-bit repeat 3"])["ping 127.0.0.1 size 1500 df-bit repeat 3"]
    assert "PING 127.0.0.1 (127.0.0.1) 1472(1500) bytes of data." in output
    assert "1480 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=" in output
    assert "3 packets transmitted, 3 received, 0% packet loss" in output
    assert "ipg/ewma" in output


def test_one_byte_more_is_too_long(driver: Any) -> None:
    command = "ping 127.0.0.1 size 1501 df-bit repeat 3"
    output = driver.cli([command])[command]
    assert output.count("ping: local error: message too long, mtu=1500") == 3
    assert "3 packets transmitted, 0 received, +3 errors, 100% packet loss" in output


def test_without_df_it_is_cut_to_pieces(driver: Any) -> None:
    result = driver.ping("127.0.0.1", size=1501, count=3)["success"]
    assert (result["probes_sent"], result["packet_loss"]) == (3, 0)


def test_as_data_it_is_one_message(driver: Any) -> None:
    command = "ping 127.0.0.1 size 1500 df-bit repeat 1"
    (message,) = driver.cli([command], encoding="json")[command]["messages"]
    assert "1 received" in message
