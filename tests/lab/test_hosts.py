"""Lab hosts over SSH: real clients, a machine that cannot be harmed, a NIC that speaks like a real one."""

from __future__ import annotations

import re
import subprocess

import pytest
from ansible_collections.jumbo.fabric.plugins.plugin_utils.program import program_text
from lab_helpers import RunningLab, wait_until

pytestmark = pytest.mark.lab

CHANGES = [
    {"object": "eth1", "field": "ip_mtu", "from": 1500, "to": 9000},
    {"object": "eth1", "field": "route_mtu", "from": None, "to": 1500},
]


def test_a_real_ssh_client_gets_in_with_the_labs_key_only(lab: RunningLab) -> None:
    done = lab.ssh("h3", "id -un; hostname; echo $HOME; for name in nft ip ethtool ping; do command -v $name; done")
    assert done.stderr == ""
    assert done.stdout.splitlines()[:3] == ["root", "h3", "/run/root"]
    assert len(done.stdout.splitlines()) == 7
    keyless = [word for word in lab.ssh_command("h3", "true") if "id_ed25519" not in word and word != "-i"]
    keyless[1:1] = ["-o", "IdentityAgent=none", "-o", "IdentityFile=none"]
    assert subprocess.run(keyless, capture_output=True, check=False).returncode == 255


def test_ansible_reaches_every_host_raw_and_by_module(lab: RunningLab) -> None:
    raw = lab.ansible("servers", "-m", "ansible.builtin.raw", "-a", "hostname")
    assert raw.returncode == 0, raw.stdout
    assert len(re.findall(r"CHANGED \| rc=0", raw.stdout)) == 6
    ping = lab.ansible("servers", "-m", "ansible.builtin.ping")
    assert ping.stdout.count("ping: pong") == 6, ping.stdout


def test_a_host_cannot_harm_the_machine(lab: RunningLab) -> None:
    for path in ("/usr", "/etc/ssh", "/var/lib", "/run/lab/etc"):
        done = lab.ssh("h1", f"touch {path}/harm")
        assert (done.returncode, "Read-only file system" in done.stderr) == (1, True), path
    assert lab.ssh("h1", "touch /etc/own /run/own && rm /etc/own /run/own").returncode == 0


KILL_SSHD = """
for comm in /proc/[0-9]*/comm; do
    read -r name < $comm
    case $name in sshd*) kill -9 ${comm//[!0-9]/};; esac
done
"""


@pytest.mark.parametrize("lost", ["controller", "sshd", "management"])
def test_a_host_goes_back_by_itself_whatever_is_lost_on_the_way(lab: RunningLab, lost: str) -> None:
    """The guard was armed over SSH; then nobody and nothing can reach the host any more, or it lost what served it."""
    plane = lab.plane("h1")
    before = routing(lab)
    program = program_text({"verb": "apply", "id": f"lost-{lost}", "within": 4, "changes": CHANGES})
    client = subprocess.Popen(
        lab.ssh_command("h1", "python3 -; sleep 60"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert client.stdin is not None
    client.stdin.write(program)
    client.stdin.close()
    try:
        wait_until(lambda: plane.ip_mtu("eth1") == 9000, what="the change")
        if lost == "controller":
            client.kill()
        elif lost == "sshd":
            lab.run("h1", "bash", "-c", KILL_SSHD)
        else:
            assert lab.cli("cut", "h1").returncode == 0
        wait_until(lambda: plane.ip_mtu("eth1") == 1500 and routing(lab) == before, what="the way back")
    finally:
        lab.cli("mend", "h1")
        client.kill()
        client.wait()
    names = "cat /proc/[0-9]*/comm; true"
    wait_until(lambda: "jumbo-guard" not in lab.run("h1", "sh", "-c", names), what="the end of the guard")


def routing(lab: RunningLab) -> list[str]:
    """Return what binds h1's back end: its routes of both families and its IPv6 MTU."""
    settings = "/proc/sys/net/ipv6/conf/eth1"
    read = f"ip -4 route show dev eth1; ip -6 route show dev eth1; cat {settings}/mtu {settings}/accept_ra_mtu"
    return lab.run("h1", "sh", "-c", read).splitlines()


def test_hosts_do_not_share_what_they_write(lab: RunningLab) -> None:
    lab.ssh("h1", "touch /run/only-h1 /etc/only-h1")
    assert "only-h1" not in lab.ssh("h2", "ls /run /etc").stdout
    lab.ssh("h1", "rm /run/only-h1 /etc/only-h1")


def test_a_session_may_have_a_terminal_of_its_own(lab: RunningLab) -> None:
    command = lab.ssh_command("h1", "tty; ls /dev/pts")
    command.insert(1, "-tt")
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    assert done.stdout.split() == ["/dev/pts/0", "0", "ptmx"], done.stderr


def test_a_host_knows_its_neighbours_by_name(lab: RunningLab) -> None:
    assert "10.10.2.2" in lab.ssh("h1", "getent hosts h3").stdout


def test_orphans_are_reaped(lab: RunningLab) -> None:
    lab.ssh("h1", "for i in 1 2 3; do (sleep 0.01 & ); done; sleep 0.2")
    assert lab.run("h1", "sh", "-c", "ps -eo stat= | grep -c Z || true").strip() == "0"


def test_ethtool_speaks_as_a_real_driver(lab: RunningLab) -> None:
    driver = lab.ssh("h1", "ethtool -i eth1").stdout
    assert driver.startswith("driver: mlx5_core\n")
    assert "supports-statistics: yes" in driver
    statistics = lab.ssh("h1", "ethtool -S eth1").stdout.splitlines()
    assert statistics[0] == "NIC statistics:"
    assert all(re.fullmatch(r" {5}\w+: \d+", line) for line in statistics[1:])
    assert lab.ethtool("h1", "eth1", "rx_packets") > 0


def test_ethtool_passes_everything_else_on(lab: RunningLab) -> None:
    assert "tcp-segmentation-offload" in lab.ssh("h1", "ethtool -k eth1").stdout
    assert "Link detected: yes" in lab.ssh("h1", "ethtool eth1").stdout
    assert lab.ssh("h1", "ethtool -S lo").returncode != 0
    assert lab.ssh("h1", "ethtool -i eth9").returncode != 0


def test_a_host_starts_at_1500_with_nothing_persisted(lab: RunningLab) -> None:
    assert lab.ssh("h6", "cat /etc/jumbo-lab.json").stdout == '{"links": {}, "routes": []}\n'
    assert "mtu" not in lab.ssh("h6", "ip route").stdout
    assert "10.10.1.0/24 via 10.10.3.1 dev eth1" in lab.ssh("h6", "ip route").stdout
