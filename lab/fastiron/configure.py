"""Configuration mode: global lines, and those of interfaces. Each takes effect at once; only a save keeps it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import execute
from .config import GLOBAL, stanza_name
from .ports import LAG, MANAGEMENT
from .words import CONFIG, Refused, unknown

if TYPE_CHECKING:
    from .cli import Cli

_GLOBALS = re.compile(r"(hostname|ip route|ipv6 route|ip dns|ntp|snmp-server|aaa|lldp|dot1x|banner) .+|jumbo|lldp run")
_INSIDE = re.compile(
    r"(ip address|ipv6 address|port-name|router-interface|untagged|tagged|ports|spanning-tree) ?.*|"
    r"disable|no spanning-tree|enable"
)
_VE_PREFIX = {"ethernet": "if", "ve": "vif", "loopback": "lbif", "lag": "lag-if", "management": "if-mgmt"}


def enter(cli: Cli) -> str:
    """Begin to configure; only one session may at a time, and only who may change anything."""
    device = cli.device
    if cli.user in device.readers:
        raise unknown("configure terminal")
    with device.lock:
        if device.configuring is not None and device.configuring is not cli:
            raise Refused("Error - CONFIG mode is in use by another session")  # wording not confirmed
        device.configuring = cli
    cli.mode, cli.stanza = CONFIG, GLOBAL
    return ""


def mode_of(cli: Cli) -> str:
    """Return what the prompt tells of where in the configuration a session is."""
    words = cli.stanza.split()
    if not words:
        return "config"
    if words[0] == "vlan":
        return f"config-vlan-{words[1]}"
    if words[0] == "lag":
        return f"config-lag-{words[1]}"
    return f"config-{_VE_PREFIX[words[1]]}-{_speed(cli)}{words[-1]}"


def _speed(cli: Cli) -> str:
    interface = next((one for one in cli.device.interfaces.values() if one.stanza == cli.stanza), None)
    return f"e{int(interface.gigabits) * 1000}-" if interface and interface.kind == "ethernet" else ""


def run(cli: Cli, words: str) -> str:
    """Run a line of configuration mode."""
    if words == "end":
        cli.leave_configuration()
        return ""
    if words in ("exit", "quit"):
        if cli.stanza == GLOBAL:
            cli.leave_configuration()
        cli.stanza = GLOBAL
        return ""
    if words.startswith(("show ", "write ", "ping ", "reload")):
        return execute.run(cli, words)
    if re.match(r"(interface|vlan|lag) ", words) and not words.startswith("lag hash"):
        return _open(cli, words)
    positive, line = not words.startswith("no "), words.removeprefix("no ")
    with cli.device.lock:
        _change(cli, line, words, positive=positive)
        cli.device.changed()
    cli.record("config-line", words)
    return ""


def _open(cli: Cli, words: str) -> str:
    name, device = stanza_name(words), cli.device
    kind = name.split()[1] if name.startswith("interface ") else ""
    known = {interface.stanza for interface in device.interfaces.values()}
    if kind and kind not in _VE_PREFIX:
        raise unknown(words)
    if kind in ("ethernet", "lag", "ve") and name not in known and not (kind == "ve" and _has_vlan(cli, name)):
        raise Refused(f"Error - invalid port or virtual interface {name.split()[-1]}")
    if not kind:
        name = next((old for old in device.running.matching(name.split()[0]) if f"{old} ".startswith(f"{name} ")), name)
    with device.lock:
        device.running.stanzas.setdefault(name, [])
        device.changed()
    cli.stanza = name
    return ""


def _has_vlan(cli: Cli, name: str) -> bool:
    running, line = cli.device.running, f"router-interface ve {name.rpartition(' ')[2]}"
    return any(running.has(line, vlan) for vlan in running.matching("vlan"))


def _change(cli: Cli, line: str, words: str, *, positive: bool) -> None:
    device, stanza = cli.device, cli.stanza
    if stanza != GLOBAL and line == "jumbo":
        # Observed on FastIron 10.0: a global word inside a stanza is taken and does nothing.
        return
    if stanza == GLOBAL and not _GLOBALS.fullmatch(line):
        raise unknown(words)
    if stanza != GLOBAL and not line.startswith("ip mtu") and not _INSIDE.fullmatch(line):
        raise unknown(words)
    if line.startswith("ip mtu"):
        _check_mtu(cli, line, words, positive=positive)
        if line == f"ip mtu {device.default_ip_mtu}" and positive and device.hardware.default_line != "kept":
            device.running.remove(stanza, "ip mtu")
            return
    if line == "enable":
        device.running.remove(stanza, "disable")
    elif words.startswith("no spanning-tree"):
        device.running.add(stanza, words)
    elif positive:
        device.running.add(stanza, line)
    elif not device.running.remove(stanza, line):
        raise Refused(f"Error - {line} is not configured")


def _check_mtu(cli: Cli, line: str, words: str, *, positive: bool) -> None:
    device = cli.device
    interface = next((one for one in device.interfaces.values() if one.stanza == cli.stanza), None)
    if interface is None or not device.hardware.interface_mtu or interface.kind == MANAGEMENT:
        raise unknown(words)
    if interface.lag and interface.kind != LAG:
        raise Refused(f"Error - {interface.name} is a member of {interface.lag}")
    size = line.removeprefix("ip mtu").strip()
    if not positive:
        return
    if not size:
        raise Refused("Incomplete command.")
    least, most = device.hardware.ip_mtu[0], device.ip_mtu_limit
    if not size.isdigit() or not least <= int(size) <= most:  # wording not confirmed
        raise Refused(f"Error - IP MTU {size} is out of range ({least}-{most})")
    if int(size) == device.default_ip_mtu and device.hardware.default_line == "refused":
        raise Refused(f"Error - IP MTU {size} is the default")
