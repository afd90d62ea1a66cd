"""What lab tests share: waiting for conditions, a handle on a running lab, generated inventories."""

from __future__ import annotations

import base64
import functools
import json
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.folder import LabFolder
from ansible_collections.jumbo.fabric.lab.inventory import design
from ansible_collections.jumbo.fabric.lab.launch import check_machine
from ansible_collections.jumbo.fabric.lab.namespace_plane import NamespacePlane
from ansible_collections.jumbo.fabric.lab.namespaces import ENVIRONMENT, enter
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

ROOT = Path(__file__).resolve().parents[1]
LAB = [sys.executable, "-m", "ansible_collections.jumbo.fabric.lab"]
BUNDLED = ROOT / "inventory/lab"


def need_namespaces() -> None:
    """Skip where this user may not make namespaces; `make lab-tests` fails there before it comes to this."""
    if why := no_namespaces():
        pytest.skip(why)


@functools.cache
def no_namespaces() -> str:
    """Return why this user may not make namespaces, "" where it may."""
    try:
        check_machine(16)
    except JumboError as error:
        return str(error)
    return ""


def wait_until(condition: Callable[[], Any], within: float = 10.0, what: str = "") -> Any:
    """Return the condition's value as soon as it is true; fail when it stays false."""
    give_up = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > give_up:
            raise AssertionError(f"not within {within} s: {what or condition}")
        time.sleep(0.02)
    return value


def environment(folder: Path) -> dict[str, str]:
    venv = str(Path(sys.executable).parent)
    return {
        **ENVIRONMENT,
        "PATH": f"{venv}:{ENVIRONMENT['PATH']}",
        "PYTHONPATH": str(ROOT / "collections"),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "JUMBO_LAB_DIR": str(folder),
        "LC_ALL": "C.UTF-8",
    }


def lab_cli(folder: Path, *arguments: str, within: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LAB, *arguments],
        capture_output=True,
        text=True,
        env=environment(folder),
        timeout=within,
        cwd=ROOT,
        check=False,
    )


@dataclass
class Ping:
    received: int
    text: str


class RunningLab:
    """A lab that is up, seen from outside."""

    def __init__(self, path: Path, sources: Sequence[str]) -> None:
        self.folder = LabFolder(path)
        self.sources = list(sources)
        spec = self.folder.read_spec()
        assert spec is not None
        self.design = design(spec["hosts"])
        self.nodes = self.design.fabric.nodes

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return lab_cli(self.folder.path, *arguments)

    def status(self) -> dict[str, Any]:
        return self.folder.ask("status")

    def violations(self) -> list[dict[str, Any]]:
        """Return what the sentinel has seen: production packets lost for their size."""
        violations: list[dict[str, Any]] = self.folder.ask("violations")["violations"]
        return violations

    def pid(self, node: str) -> int:
        return int(self.status()["nodes"][node]["pid"])

    def plane(self, node: str) -> NamespacePlane:
        return NamespacePlane(self.design.fabric, self.nodes[node], self.pid, int(self.status()["plant"]))

    def run(self, node: str, *command: str) -> str:
        done = subprocess.run(
            [*enter(self.pid(node)), *command], capture_output=True, text=True, env=ENVIRONMENT, timeout=30, check=False
        )
        assert done.returncode == 0, f"{command} in {node}: {done.stdout}{done.stderr}"
        return done.stdout

    def address(self, node: str, interface: str | None = None) -> str:
        """Return the address of an interface, by default of the back end."""
        device = self.nodes[node]
        return device.addresses[interface or device.backend[0]][0].partition("/")[0]

    def ping(self, source: str, destination: str, ip_mtu: int, count: int = 2) -> Ping:
        """Ping with DF and packets of that size; a size learned by an earlier test is forgotten first."""
        self.run(source, "ip", "route", "flush", "cache")
        arguments = ["-M", "do", "-c", str(count), "-i", "0.05", "-W", "0.5", "-s", str(ip_mtu - 28), destination]
        text = self.plane(source).ping(arguments, 20.0)
        found = re.search(r"(\d+) received", text)
        return Ping(int(found[1]) if found else 0, text)

    def raise_all(self, ip_mtu: int = 9000, leave: Sequence[tuple[str, str]] = ()) -> None:
        """Set every back-end interface and routed link by hand, except those to leave."""
        for name, node in self.nodes.items():
            plane = self.plane(name)
            wrong = [
                interface
                for interface in self.jumbo_interfaces(name)
                if (name, interface) not in leave and plane.ip_mtu(interface) != ip_mtu
            ]
            for interface in wrong:
                plane.set_ip_mtu(interface, ip_mtu)
            if node.is_host and wrong:
                wait_until(lambda n=name: self.limits_follow(n), what=f"the port limit of {name} follows its link")

    def restore(self) -> None:
        self.raise_all(1500)

    def jumbo_interfaces(self, name: str) -> list[str]:
        node, topology = self.nodes[name], self.design.topology
        if node.is_host:
            return list(node.backend)
        gateways = [
            end.interface
            for segment in topology.jumbo_segments()
            for end in topology.gateways(segment)
            if end.device == name
        ]
        peerings = [pair.peering for pair in topology.intent.pairs if name in pair.devices and pair.peering]
        aggregates = [aggregate.interface for aggregate in node.aggregates]
        return [port.interface for port in node.ports if port.routes] + aggregates + gateways + peerings

    def limits_follow(self, name: str) -> bool:
        """Tell whether a host's ports take in what their links' MTU says."""
        rules = self.run(name, "nft", "list", "table", "netdev", "jumbo_lab")
        plane = self.plane(name)
        return all(self._limit(rules, port.kernel) == plane.ip_mtu(port.interface) for port in self.nodes[name].ports)

    @staticmethod
    def _limit(rules: str, kernel: str) -> int:
        found = re.search(rf"meta length > (\d+) .*?counter name \"giants_{re.escape(kernel)}\"", rules)
        return int(found[1]) if found else 0

    def ethtool(self, node: str, interface: str, counter: str) -> int:
        found = re.search(rf"^ +{counter}: (\d+)$", self.run(node, "ethtool", "-S", interface), re.MULTILINE)
        assert found, f"{counter} is not among the statistics"
        return int(found[1])

    def ssh_command(self, node: str, *command: str, port: int = 2222, user: str = "root") -> list[str]:
        keys = self.folder.path / "ssh"
        options = [
            f"UserKnownHostsFile={keys}/known_hosts",
            "GlobalKnownHostsFile=/dev/null",
            "IdentitiesOnly=yes",
            "BatchMode=yes",
        ]
        words = [word for option in options for word in ("-o", option)]
        return [
            "ssh",
            "-F",
            "none",
            "-i",
            f"{keys}/id_ed25519",
            "-p",
            str(port),
            *words,
            f"{user}@{self.nodes[node].listen}",
            *command,
        ]

    def ssh(self, node: str, *command: str, **place: Any) -> subprocess.CompletedProcess[str]:
        words = self.ssh_command(node, *command, **place)
        return subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)

    def eapi(self, node: str, *commands: str) -> dict[str, Any]:
        """Run commands on a switch; returns the whole reply."""
        request = {
            "jsonrpc": "2.0",
            "method": "runCmds",
            "params": {"version": 1, "cmds": list(commands), "format": "json"},
            "id": 1,
        }
        token = base64.b64encode(b"admin:jumbo-lab").decode()
        asked = urllib.request.Request(
            f"https://{self.nodes[node].listen}:8443/command-api",
            json.dumps(request).encode(),
            {"Authorization": f"Basic {token}"},
        )
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with urllib.request.urlopen(asked, context=context, timeout=10) as reply:  # noqa: S310 - always https
            return json.load(reply)

    def netconf(self, node: str, timeout: float = 20) -> Any:
        """Return an opened PyEZ device for a Junos box."""
        from jnpr.junos import Device  # noqa: PLC0415 - only some tests have one

        device = Device(self.nodes[node].listen, user="admin", passwd="jumbo-lab", port=8830)
        device.open()
        device.timeout = timeout
        return device

    def ansible(self, pattern: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        sources = [word for source in self.sources for word in ("-i", source)]
        command = ["ansible", *sources, pattern, *arguments]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment(self.folder.path),
            timeout=60,
            cwd=ROOT,
            check=False,
        )


def overlay(folder: Path, hosts: dict[str, dict[str, Any]] | None = None, **variables: Any) -> str:
    """Write an inventory that changes variables of the one before it, fabric-wide and of hosts; returns its path."""
    (folder / "group_vars").mkdir(parents=True)
    (folder / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts or {}}}))
    (folder / "group_vars/all.yml").write_text(json.dumps(variables))
    return str(folder)


def network(block: int) -> str:
    """Return a management network of this test run's own, so that runs side by side don't meet."""
    return f"127.{block}.{os.getpid() % 256}"


def small_inventory(path: Path, junos: Sequence[str] = (), fastiron: Sequence[str] = (), **variables: Any) -> str:
    """Write an inventory of one spine, two leafs and a host each, with other names and numbers than the bundled one.

    junos, fastiron: the switches that are such boxes; the others are EOS.
    """

    def named(device: str, *names: str) -> str:
        return f"{device}:{names[1 if device in junos else 2 if device in fastiron else 0]}"

    def uplink(rack: str, n: int) -> list[str]:
        leaf = named(f"tor-{rack}", "Ethernet49/1", "xe-0/0/48", "10GigabitEthernet1/2/1")
        return [leaf, named("agg", f"Ethernet{n}/1", f"xe-0/0/{n}", f"10GigabitEthernet1/2/{n}")]

    uplinks = [{"ends": uplink(rack, n), "routing": "static"} for n, rack in enumerate("ab", 1)]
    access = [
        [f"db-{rack}:ens3f0np0", named(f"tor-{rack}", "Ethernet5", "xe-0/0/5", "GigabitEthernet1/1/5")] for rack in "ab"
    ]
    segments = [
        {
            "name": f"storage-{rack}",
            "vlan": 300 + n,
            "role": "jumbo",
            "subnets": [f"172.20.{n}.0/26"],
            "members": [named(f"tor-{rack}", f"Vlan{300 + n}", f"irb.{300 + n}", f"Ve{300 + n}"), f"db-{rack}"],
        }
        for n, rack in enumerate("ab")
    ]
    shared = {"jumbo_links": [*uplinks, *access], "jumbo_segments": segments, **variables}
    systems = {
        name: {
            "ansible_network_os": "junipernetworks.junos.junos"
            if name in junos
            else "community.network.icx"
            if name in fastiron
            else "arista.eos.eos"
        }
        for name in ("agg", "tor-a", "tor-b")
    }
    inventory = {
        "all": {
            "vars": shared,
            "children": {
                "spines": {"hosts": {"agg": systems["agg"]}},
                "leafs": {"hosts": {name: systems[name] for name in ("tor-a", "tor-b")}},
                "servers": {"hosts": {"db-a": None, "db-b": None}},
            },
        }
    }
    path.write_text(json.dumps(inventory))
    return str(path)
