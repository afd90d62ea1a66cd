"""A Junos box in the lab: what is committed over NETCONF changes what its namespace forwards, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, network, small_inventory, wait_until

pytest.importorskip("jnpr.junos")

from jnpr.junos.exception import RpcTimeoutError
from jnpr.junos.utils.config import Config

pytestmark = pytest.mark.lab

PORT, ACCESS, IRB = "xe-0/0/48", "xe-0/0/5", "irb.301"
RAISED = (
    f"set interfaces {PORT} mtu 9014",
    f"set interfaces {ACCESS} mtu 9014",
    "set interfaces irb mtu 9014",
    "set interfaces irb unit 301 family inet mtu 9000",
)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    need_namespaces()
    folder = tmp_path_factory.mktemp("mixed") / "lab"
    known = {"jumbo_lab_network": network(81), "jumbo_lab_traffic": 0}
    inventory = small_inventory(folder.with_name("mixed.json"), ["tor-b"], **known)
    done = lab_cli(folder, "up", "-i", inventory)
    assert done.returncode == 0, done.stderr
    yield RunningLab(folder, [inventory])
    lab_cli(folder, "down")


def commit(lab: RunningLab, *lines: str, minutes: int | None = None) -> None:
    device = lab.netconf("tor-b")
    config = Config(device)
    config.load("\n".join(lines), format="set")
    config.commit(**({"confirm": minutes} if minutes else {}))
    device.close()


@pytest.fixture
def lab(mixed: RunningLab) -> Iterator[RunningLab]:
    """The lab with everything but the box raised; the box is back at its start afterwards."""
    mixed.raise_all(9000, leave=[("tor-b", PORT), ("tor-b", IRB)])
    yield mixed
    commit(mixed, *(re.sub(r"^set (.*) \d+$", r"delete \1", line) for line in reversed(sent)))
    sent.clear()


sent: list[str] = []


def raise_box(lab: RunningLab, lines: Sequence[str] = RAISED) -> None:
    sent.extend(lines)
    commit(lab, *lines)


def test_it_routes_at_1500_and_no_more(lab: RunningLab) -> None:
    assert lab.ping("db-a", lab.address("db-b"), 1500).received == 2
    too_large = lab.ping("db-a", lab.address("db-b"), 9000)
    assert too_large.received == 0
    assert "Frag needed" not in too_large.text, "what a port does not take in, nobody answers"


def test_what_it_does_not_take_in_is_counted(lab: RunningLab) -> None:
    before = lab.plane("tor-b").counters(PORT).giants
    lab.ping("agg", lab.address("tor-b", PORT), 9000)
    assert lab.plane("tor-b").counters(PORT).giants == before + 2
    device = lab.netconf("tor-b")
    reply = device.rpc.get_interface_information(extensive=True, interface_name=PORT, normalize=True)
    assert int(reply.findtext(".//input-oversized-frames")) == before + 2
    device.close()


def test_raised_it_carries_9000(lab: RunningLab) -> None:
    raise_box(lab)
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 2
    assert lab.ping("tor-b", lab.address("db-b"), 9000).received == 2
    assert lab.ping("tor-b", lab.address("tor-b", IRB), 1500).received == 2


def test_a_family_mtu_below_the_media_answers_what_it_took_in(lab: RunningLab) -> None:
    raise_box(lab, [*RAISED[:3], "set interfaces irb unit 301 family inet mtu 1500"])
    answered = lab.ping("db-a", lab.address("db-b"), 9000)
    assert "Frag needed and DF set (mtu = 1500)" in answered.text


def test_an_interface_is_gone_for_a_moment_and_comes_back(lab: RunningLab) -> None:
    before = lab.netconf("tor-b")
    flapped = before.rpc.get_interface_information(interface_name=PORT, normalize=True)
    before.close()
    raise_box(lab)
    after = lab.netconf("tor-b")
    again = after.rpc.get_interface_information(interface_name=PORT, normalize=True)
    after.close()
    old, new = (found.findtext(".//interface-flapped")[:19] for found in (flapped, again))
    assert new > old
    assert lab.ping("agg", lab.address("tor-b", PORT), 1500).received == 2


def test_neighbours_tell_each_other_their_sizes(lab: RunningLab) -> None:
    device = lab.netconf("tor-b")
    reply = device.rpc.get_lldp_interface_neighbors(interface_device=PORT)
    device.close()
    assert (reply.findtext(".//lldp-remote-system-name"), reply.findtext(".//lldp-remote-subtype-mtu-size")) == (
        "agg",
        "9236",
    )
    (found,) = lab.eapi("agg", "enable", "show lldp neighbors Ethernet2/1 detail")["result"][1:]
    (info,) = found["lldpNeighbors"]["Ethernet2/1"]["lldpNeighborInfo"]
    assert info["neighborInterfaceInfo"]["maxFrameSize"] == 1514


def test_ping_from_the_box(lab: RunningLab) -> None:
    device = lab.netconf("tor-b")
    raised = {"host": lab.address("agg", "Ethernet2/1"), "rapid": True, "do_not_fragment": True, "count": "2"}
    fits = device.rpc.ping(size="1472", **raised)
    assert fits.findtext("probe-results-summary/responses-received") == "2"
    too_long = device.rpc.ping(size="1473", **raised)
    assert "Message too long" in too_long.findtext("rpc-error/error-message")
    device.close()


def test_a_reboot_boots_what_was_committed(lab: RunningLab) -> None:
    raise_box(lab)
    assert lab.cli("reboot", "tor-b").returncode == 0
    assert lab.ping("db-a", lab.address("db-b"), 9000).received == 2


def test_management_is_cut_and_mended(lab: RunningLab) -> None:
    assert lab.cli("cut", "tor-b").returncode == 0
    assert lab.status()["nodes"]["tor-b"]["reachable"] is False
    assert lab.cli("mend", "tor-b").returncode == 0
    lab.netconf("tor-b").close()


def test_the_labs_key_opens_it(lab: RunningLab) -> None:
    done = lab.ssh("tor-b", "show", "version", port=8830, user="admin")
    assert "Hostname: tor-b" in done.stdout, done.stderr


def test_a_commit_that_is_done_and_not_answered(tmp_path: Any) -> None:
    need_namespaces()
    inventory = small_inventory(tmp_path / "mixed.json", ["tor-b"], jumbo_lab_network=network(82), jumbo_lab_traffic=0)
    done = lab_cli(tmp_path / "lab", "up", "-i", inventory, "--fault", "commit-lost-reply,commit-slow")
    assert done.returncode == 0, done.stderr
    lab = RunningLab(tmp_path / "lab", [inventory])
    try:
        device = lab.netconf("tor-b", timeout=1)
        config = Config(device)
        config.load("\n".join(RAISED), format="set")
        with pytest.raises(RpcTimeoutError):
            config.commit(confirm=2)
        assert lab.plane("tor-b").ip_mtu(PORT) == 1500, "it takes its time"
        wait_until(lambda: lab.plane("tor-b").ip_mtu(PORT) == 9000, within=15, what="the commit is done all the same")
    finally:
        lab_cli(tmp_path / "lab", "down")
