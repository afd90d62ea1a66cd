"""Reads an Ansible inventory into what the lab is built from."""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import natural_key
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import short_name

from .build import build_fabric
from .fabric import Fabric, Node
from .stations import MANAGEMENT, InBand, find_in_band

DEFAULT_NETWORK = "127.77.0"
# Whether switches send router advertisements, and whether these tell an MTU.
ADVERTISE = ("none", "plain", "mtu")
ADVERTISE_INTERVAL = 1.0
_HIGHEST_NUMBER = 254
_LEAST_UNBOUND, _MOST_UNBOUND = 64, 9000
Hosts = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Design:
    """An inventory, read and checked: what `lab up` builds. in_band: who is managed across the fabric."""

    topology: Topology
    fabric: Fabric
    knobs: dict[str, dict[str, Any]]
    in_band: dict[str, InBand]

    def knob(self, node: str, name: str, default: Any) -> Any:
        """Return the lab-only variable `jumbo_lab_<name>` of a node."""
        value = self.knobs[node].get(f"jumbo_lab_{name}")
        return default if value is None else value


def load_hosts(sources: Sequence[str]) -> Hosts:
    """Return {name: {"platform", "groups", "variables"}} of an inventory, as ansible-inventory lists it."""
    listing = _list(sources)
    groups = _groups_by_host(listing)
    hosts = {}
    for name, variables in listing.get("_meta", {}).get("hostvars", {}).items():
        ours = {key: value for key, value in variables.items() if key.startswith("jumbo_")}
        member_of = sorted(groups.get(name, ()))
        platform = short_name(variables.get("ansible_network_os"), member_of)
        hosts[name] = {"platform": platform, "groups": member_of, "variables": ours}
    if not hosts:
        raise JumboError(f"no hosts in the inventory {', '.join(sources)}", advice="Give another one with -i")
    return hosts


def design(hosts: Hosts) -> Design:
    """Return what the inventory asks for; raises JumboError, or InvalidIntent with everything that is wrong."""
    _refuse_templates(hosts)
    intent = read_intent(hosts)
    topology = Topology(intent)
    knobs = {
        name: {key: value for key, value in entry["variables"].items() if key.startswith("jumbo_lab_")}
        for name, entry in hosts.items()
    }
    _check_knobs(knobs)
    fabric = build_fabric(intent, topology, _listen(knobs))
    return Design(topology, fabric, knobs, find_in_band(fabric, topology, knobs))


def advertise_config(design: Design, node: Node) -> dict[str, Any] | None:
    """Return what a switch's advertising program is told; None for a node that sends none."""
    wanted = design.knob(node.name, "advertise", "none")
    interfaces = {
        bridge.kernel: [str(ipaddress.ip_interface(prefix).network) for prefix in prefixes if ":" in prefix]
        for bridge in node.bridges
        if (prefixes := node.addresses.get(bridge.interface or "", ()))
    }
    interfaces = {kernel: prefixes for kernel, prefixes in interfaces.items() if prefixes}
    if node.is_host or wanted == "none" or not interfaces:
        return None
    return {"interfaces": interfaces, "mtu": wanted == "mtu", "interval": ADVERTISE_INTERVAL}


def _list(sources: Sequence[str]) -> dict[str, Any]:
    program = Path(sys.executable).with_name("ansible-inventory")
    command = [str(program) if program.exists() else shutil.which("ansible-inventory") or "ansible-inventory", "--list"]
    for source in sources:
        if not Path(source).exists():
            raise JumboError(f"there is no inventory {source}", advice="Give an existing file or folder with -i")
        command += ["-i", source]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    except FileNotFoundError:
        raise JumboError("ansible-inventory is not installed", advice="Run make setup") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise JumboError(f"ansible-inventory cannot read {', '.join(sources)}: {said[-1] if said else 'no message'}")
    listing: dict[str, Any] = json.loads(done.stdout)
    return listing


def _groups_by_host(listing: Mapping[str, Any]) -> dict[str, set[str]]:
    def members(group: str) -> Iterator[str]:
        entry = listing.get(group, {})
        yield from entry.get("hosts", ())
        for child in entry.get("children", ()):
            yield from members(child)

    found: dict[str, set[str]] = {}
    for group in listing:
        for host in members(group) if group != "_meta" else ():
            found.setdefault(host, set()).add(group)
    return found


def _refuse_templates(hosts: Hosts) -> None:
    """Refuse templates where the lab needs the value: ansible-inventory lists them as they are written."""
    for name, entry in hosts.items():
        for variable, value in entry["variables"].items():
            if "{{" in json.dumps(value) and variable != "jumbo_lab_dir":
                advice = "Write the value itself into the inventory"
                message = "the lab does not render templates"
                raise JumboError(message, host=name, variable=variable, wish=value, advice=advice)


def _listen(knobs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return each device's management address: its number in the lab's network, else the next free number."""
    numbers = {name: variables.get("jumbo_lab_number") for name, variables in knobs.items()}
    free = iter(sorted(set(range(1, _HIGHEST_NUMBER + 1)) - set(numbers.values())))
    found: dict[str, str] = {}
    for name in sorted(knobs, key=natural_key):
        number = next(free, None) if numbers[name] is None else numbers[name]
        address = f"{knobs[name].get('jumbo_lab_network', DEFAULT_NETWORK)}.{number}"
        if number is None or not _is_loopback(address):
            limit = f"127.x.y and a number from 1 to {_HIGHEST_NUMBER}, for at most {_HIGHEST_NUMBER} devices"
            raise JumboError(
                "no address to listen on", host=name, variable="jumbo_lab_network", wish=address, limit=limit
            )
        if address in found.values():
            raise JumboError("two devices have this number", host=name, variable="jumbo_lab_number", wish=number)
        found[name] = address
    return found


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.IPv4Address(address).is_loopback
    except ValueError:
        return False


def _check_knobs(knobs: Mapping[str, Mapping[str, Any]]) -> None:
    for name, variables in knobs.items():
        for variable, (is_good, limit) in _KNOBS.items():
            value = variables.get(variable)
            if value is not None and not is_good(value):
                raise JumboError("the lab cannot use this value", host=name, variable=variable, wish=value, limit=limit)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _HIGHEST_NUMBER


def _is_interval(value: Any) -> bool:
    return isinstance(value, (int, float)) and value >= 0


def _is_size(value: Any) -> bool:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole and (value == 0 or _LEAST_UNBOUND <= value <= _MOST_UNBOUND)


# What the lab's own variables may be; the rest of jumbo_lab_* is text.
_KNOBS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "jumbo_lab_advertise": (lambda value: value in ADVERTISE, ", ".join(ADVERTISE)),
    "jumbo_lab_management": (lambda value: value in MANAGEMENT, ", ".join(MANAGEMENT)),
    "jumbo_lab_number": (_is_number, f"1-{_HIGHEST_NUMBER}"),
    "jumbo_lab_reload_seconds": (_is_interval, "seconds that a FastIron box is away when it reloads"),
    "jumbo_lab_unbound": (_is_size, f"0 for none, or {_LEAST_UNBOUND}-{_MOST_UNBOUND} bytes of IP packet"),
    "jumbo_lab_traffic": (_is_interval, "seconds between two transfers of a host, 0 for none"),
}
