"""fleet_facts beside nornir with napalm, over the same EOS front ends, in one run: wall and CPU seconds, peak memory.

The front ends are the lab's eAPI part alone, without namespaces. Both sides read `show interfaces` of 56 ports each.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDRESS, PORT, PORTS = "127.78.0.1", 20000, 56
COUNTS = (50, 200, 1000)
TOOLS = Path(sys.executable).parent


def main() -> None:
    """Print one table."""
    say(f"{'devices':>8} {'tool':<22} {'wall s':>8} {'CPU s':>8} {'peak MB':>8} {'CPU ratio':>10}")
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            server = serve(count)
            try:
                rows = [
                    ("jumbo.fabric.fleet_facts", *measured(fleet_facts(folder, count))),
                    ("nornir + napalm", *measured(nornir_napalm(folder, count))),
                ]
            finally:
                server.terminate()
                server.wait()
            for name, wall, cpu, memory in rows:
                ratio = cpu / rows[0][2]
                say(f"{count:>8} {name:<22} {wall:>8.1f} {cpu:>8.1f} {memory:>8.0f} {ratio:>10.1f}")


def say(line: str) -> None:
    """Print a row as soon as it is known."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def serve(count: int) -> subprocess.Popen[str]:
    """Start the front ends and wait until all of them listen."""
    module = "ansible_collections.jumbo.fabric.lab.eos"
    command = [sys.executable, "-m", module, "--count", str(count), "--ports", str(PORTS), "--address", ADDRESS]
    process = subprocess.Popen(
        [*command, "--base-port", str(PORT)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise SystemExit("the front ends did not start")
    return process


def measured(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return wall seconds, CPU seconds of it and its children, peak MB of its largest process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment(), file_actions=quiet())
    _pid, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    if status != 0:
        raise SystemExit(f"{command[0]} failed with {os.waitstatus_to_exitcode(status)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, usage.ru_maxrss / 1024


def quiet() -> list[tuple[int, int, str, int, int]]:
    """Return the file actions that send standard output nowhere."""
    return [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]


def environment() -> dict[str, str]:
    """Return this environment with the checkout's collection on the path."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "collections"),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.minimal",
    }


def fleet_facts(folder: Path, count: int) -> list[str]:
    """Return the command that reads all devices with the module."""
    lines = ["[all]", *(f"sw{n} ansible_httpapi_port={PORT + n}" for n in range(count)), "[all:vars]"]
    variables = {
        "ansible_host": ADDRESS,
        "ansible_network_os": "eos",
        "ansible_user": "admin",
        "ansible_password": "admin",
        "ansible_httpapi_validate_certs": "false",
    }
    lines += [f"{name}={value}" for name, value in variables.items()]
    (folder / "inventory.ini").write_text("\n".join(lines) + "\n")
    play = {
        "hosts": "all",
        "gather_facts": False,
        "vars": {"ansible_connection": "ansible.builtin.local", "ansible_become": False},
        "tasks": [
            {
                "jumbo.fabric.fleet_facts": {"to": str(folder / "fleet.json"), "gather": "interfaces"},
                "run_once": True,
                "register": "fleet",
                "failed_when": f"fleet.summary.read != {count}",
            }
        ],
    }
    (folder / "read.yml").write_text(json.dumps([play]))
    return [str(TOOLS / "ansible-playbook"), "-i", str(folder / "inventory.ini"), str(folder / "read.yml")]


def nornir_napalm(folder: Path, count: int) -> list[str]:
    """Return the command that reads all devices with nornir and napalm's get_interfaces."""
    options = {"optional_args": {"transport": "https"}}
    hosts = {
        f"sw{n}": {
            "hostname": ADDRESS,
            "port": PORT + n,
            "username": "admin",
            "password": "admin",
            "platform": "eos",
            "connection_options": {
                "napalm": {"extras": {"optional_args": {**options["optional_args"], "port": PORT + n}}}
            },
        }
        for n in range(count)
    }
    (folder / "hosts.yaml").write_text(json.dumps(hosts))
    program = folder / "read.py"
    program.write_text(f'''
from nornir import InitNornir
from nornir_napalm.plugins.tasks import napalm_get
nornir = InitNornir(
    runner={{"plugin": "threaded", "options": {{"num_workers": 64}}}},
    inventory={{"plugin": "SimpleInventory", "options": {{"host_file": "{folder}/hosts.yaml"}}}},
    logging={{"enabled": False}},
)
result = nornir.run(task=napalm_get, getters=["get_interfaces"])
assert not result.failed and len(result) == {count}, result.failed_hosts
''')
    return [sys.executable, str(program)]


if __name__ == "__main__":
    main()
