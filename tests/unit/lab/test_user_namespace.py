"""Who may make namespaces, what others are told, and that nothing is begun then."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab import user_namespace
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from lab_helpers import LAB, environment

NO_CAPABILITIES, ALL_CAPABILITIES = "CapEff:\t0000000000000000\n", "CapEff:\t000001ffffffffff\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of files: status and setgroups of this process, sysctl values by path. It refuses every namespace."""
    monkeypatch.setattr(user_namespace, "_SELF", tmp_path)
    monkeypatch.setattr(user_namespace, "_SYSCTL", tmp_path)
    monkeypatch.setattr(user_namespace, "NEW_NAMESPACES", ("sh", "-c", "echo Operation not permitted >&2; exit 1"))
    monkeypatch.setattr(user_namespace, "own_namespace", lambda: ("env",))
    (tmp_path / "status").write_text(NO_CAPABILITIES)
    return tmp_path


def put(machine: Path, name: str, value: object) -> None:
    path = machine / name.replace(".", "/")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{value}\n")


@pytest.mark.parametrize(
    ("setting", "value", "advice"),
    [
        ("user.max_user_namespaces", 0, "Run: sudo sysctl -w user.max_user_namespaces=10000"),
        ("user.max_net_namespaces", 5, "Run: sudo sysctl -w user.max_net_namespaces=10000"),
        ("kernel.unprivileged_userns_clone", 0, "Run: sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            1,
            "Run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("kernel.something_else", 1, "sudo make demo"),
    ],
)
def test_what_forbids_namespaces_is_named_with_the_line_to_type(
    machine: Path, setting: str, value: int, advice: str
) -> None:
    put(machine, setting, value)
    with pytest.raises(JumboError) as caught:
        user_namespace.check_kernel(11, os.environ)
    assert str(caught.value).endswith(advice)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("capabilities", "user", "setgroups", "own"),
    [
        (ALL_CAPABILITIES, 0, "allow", None),
        (ALL_CAPABILITIES, 1000, "deny", None),  # inside of such a namespace already
        (NO_CAPABILITIES, 1000, "allow", "--map-user=1000"),
        (NO_CAPABILITIES, 0, "allow", "--map-user=1000"),  # root of a container
        (ALL_CAPABILITIES, 0, "deny", "--map-user=1000"),  # root of a user namespace: sshd could not run as it
        ("CapEff:\t0000000000001000\n", 501, "allow", "--map-user=501"),
    ],
)
def test_a_user_namespace_is_made_where_it_is_needed_and_nobody_is_user_0_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capabilities: str, user: int, setgroups: str, own: str | None
) -> None:
    monkeypatch.setattr(user_namespace, "_SELF", tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: user)
    (tmp_path / "status").write_text(f"Name:\tpytest\n{capabilities}")
    (tmp_path / "setgroups").write_text(setgroups)
    words = user_namespace.own_namespace()
    assert own in words if own else words == ()


def test_a_real_kernel_that_allows_no_user_namespace_is_explained(tmp_path: Path) -> None:
    """The limit is set for a user namespace of the test only."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is missing")
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespace can be made here")
    environ = environment(tmp_path / "lab")
    done = subprocess.run([*inside, *LAB, "up"], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 1
    assert "the kernel allows 0 namespaces of the kind user" in done.stderr
    assert done.stderr.endswith("Run: sudo sysctl -w user.max_user_namespaces=10000\n")
    assert not (tmp_path / "lab").exists()


def test_a_command_from_outside_has_all_capabilities_inside() -> None:
    """As an ordinary user has them who comes into the namespace of the own lab."""
    own = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps")
    start = [*own, "sh", "-c", "echo ready; read _"]
    with subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        if holder.stdout.readline() != "ready\n":
            pytest.skip("no user namespace can be made here")
        words = user_namespace.join(holder.pid)
        assert words[0] == sys.executable
        done = subprocess.run([*words, "cat", "/proc/self/status"], capture_output=True, text=True, check=True)
        holder.communicate("")
    effective = next(line for line in done.stdout.splitlines() if line.startswith("CapEff"))
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    assert int(effective.split()[1], 16) == (1 << (last + 1)) - 1


def test_a_process_of_the_same_namespace_is_just_entered() -> None:
    assert user_namespace.join(os.getpid()) == ()
