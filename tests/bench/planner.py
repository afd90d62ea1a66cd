"""What planning and proving cost: a fabric of 8 planes, from 1,000 to 10,000 hosts, on one core.

Each size runs in a process of its own, so that peak memory is that of this size. The inventory and the states are made
before the clock starts; reading the inventory, planning and proving are timed apart.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

ROOT = Path(__file__).resolve().parents[2]
HOSTS = (1000, 2000, 5000, 10000)
PER_RACK, SPINES = 20, 8
LIMIT_SECONDS, LIMIT_MB = 10.0, 500


def main() -> None:
    """Print one row per size, then the growth from the smallest to the largest beside n log n."""
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure(int(sys.argv[1]))) + "\n")
        return
    say(
        f"{'hosts':>7} {'switches':>8} {'steps':>6} {'read s':>7} {'plan s':>7} {'proof s':>8} {'total s':>8} {'MB':>5}"
    )
    rows = [apart(hosts) for hosts in HOSTS]
    first, last = rows[0], rows[-1]
    expected = last["hosts"] * math.log(last["hosts"]) / (first["hosts"] * math.log(first["hosts"]))
    say(f"growth {last['total'] / first['total']:.1f}, n log n would be {expected:.1f}")
    if last["total"] > LIMIT_SECONDS or last["mb"] > LIMIT_MB:
        raise SystemExit(f"above the limit of {LIMIT_SECONDS:.0f} s and {LIMIT_MB} MB")


def say(line: str) -> None:
    """Print a row as soon as it is known."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def apart(hosts: int) -> dict[str, float]:
    """Measure one size in a process of its own, and print its row."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "collections"), "PYTHONHASHSEED": "0"}
    command = [sys.executable, __file__, str(hosts)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    row: dict[str, float] = json.loads(done.stdout)
    say(
        f"{row['hosts']:>7} {row['switches']:>8} {row['steps']:>6} {row['read']:>7.2f} {row['plan']:>7.2f}"
        f" {row['proof']:>8.2f} {row['total']:>8.2f} {row['mb']:>5.0f}"
    )
    return row


def measure(hosts: int) -> dict[str, float]:
    """Return what reading, planning and proving a fabric of so many hosts costs: CPU seconds, peak MB."""
    inventory, states = fabric(hosts)
    times = [time.process_time()]
    intent = read_intent(inventory)
    topology = Topology(intent)
    times.append(time.process_time())
    plan = make_plan(intent, topology, states)
    times.append(time.process_time())
    prove(plan, intent, topology, states)
    times.append(time.process_time())
    return {
        "hosts": hosts,
        "switches": len(inventory) - hosts,
        "steps": len(plan.steps),
        "read": times[1] - times[0],
        "plan": times[2] - times[1],
        "proof": times[3] - times[2],
        "total": times[3] - times[0],
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def fabric(hosts: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (inventory, states): racks of one leaf and 20 hosts under 8 spines, everything at 1500."""
    variables: dict[str, Any] = {"jumbo_links": [], "jumbo_segments": [], "jumbo_soak": "30s", "jumbo_max_wave": 16}
    inventory: dict[str, Any] = {}
    states: dict[str, Any] = {}
    for spine in range(1, SPINES + 1):
        add(inventory, states, f"spine{spine}", "eos", ["spines"], variables)
    racks = math.ceil(hosts / PER_RACK) - (SPINES if hosts >= HOSTS[-1] else 0)
    for rack in range(1, racks + 1):
        leaf, net = f"leaf{rack}", f"10.{16 + rack // 256}.{rack % 256}"
        add(inventory, states, leaf, "eos", ["leafs"], variables)
        for spine in range(1, SPINES + 1):
            ends = [f"{leaf}:Ethernet{spine}", f"spine{spine}:Ethernet{rack}"]
            variables["jumbo_links"].append({"ends": ends, "routing": "bgp"})
            port(states, leaf, f"Ethernet{spine}", 1500)
            port(states, f"spine{spine}", f"Ethernet{rack}", 1500)
        port(states, leaf, "Vlan10", 1500)
        members = [f"{leaf}:Vlan10"]
        for number in range(rack, hosts + 1, racks):
            host, name = f"h{number}", f"Ethernet{20 + number // racks}"
            add(inventory, states, host, "linux", ["servers"], variables)
            variables["jumbo_links"].append([f"{host}:eth1", f"{leaf}:{name}"])
            port(states, leaf, name, 9214)
            port(states, host, "eth1", 1500)
            states[host].update(persistence="lab-file", forwarding=False, guard={"state": "none"})
            states[host]["routes"] = [
                {"prefix": f"{net}.0/24", "gateway": None, "interface": "eth1", "mtu": None},
                {"prefix": "0.0.0.0/0", "gateway": f"{net}.1", "interface": "eth1", "mtu": None},
            ]
            members.append(f"{host}:eth1")
        segment = {"name": f"back{rack}", "vlan": 10, "subnets": [f"{net}.0/24"], "role": "jumbo", "members": members}
        variables["jumbo_segments"].append(segment)
    return inventory, states


def add(
    inventory: dict[str, Any], states: dict[str, Any], name: str, platform: str, groups: list[str], shared: Any
) -> None:
    """Add a device to the inventory, and its state without interfaces."""
    inventory[name] = {"platform": platform, "groups": groups, "variables": shared}
    pending = {"owner": "none", "name": None, "seconds_left": None}
    states[name] = {"host": name, "platform": platform, "interfaces": {}, "pending": pending, "saved": True}


def port(states: dict[str, Any], device: str, name: str, size: int) -> None:
    """Add an interface to a device's state."""
    states[device]["interfaces"][name] = {
        "name": name,
        "kind": None,
        "ip_mtu": size,
        "mru": None,
        "device_mtu": size,
        "configured_mtu": None,
        "persisted_mtu": size,
        "max_ip_mtu": None,
        "parent": None,
        "members": None,
        "addresses": None,
    }


if __name__ == "__main__":
    main()
