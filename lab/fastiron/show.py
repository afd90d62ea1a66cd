"""`show running-config`, `configuration`, `version`, `lldp neighbors detail` and `lag`."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from typing import TYPE_CHECKING

from .config import GLOBAL, natural
from .ports import ETHERNET, LAG, LOOPBACK, MANAGEMENT, VE
from .words import PORT_TABLE

if TYPE_CHECKING:
    from .cli import Cli

_PORT = {ETHERNET: "", LAG: "lg", VE: "ve ", LOOPBACK: "loopback ", MANAGEMENT: ""}


def running_config(cli: Cli, _words: str) -> str:
    """Answer `show running-config`."""
    device = cli.device
    with device.lock:
        return f"Current configuration:\n!\nver {device.hardware.version}\n{device.running.text()}\n"


def configuration(cli: Cli, _words: str) -> str:
    """Answer `show configuration`: what is saved."""
    device = cli.device
    header = "!\nStartup-config data location is flash memory\n!\nStartup configuration:\n!"
    with device.lock:
        return f"{header}\nver {device.hardware.version}\n{device.startup.text()}\n"


def version(cli: Cli, _words: str) -> str:
    """Answer `show version`."""
    device = cli.device
    seconds = int(device.now() - device.booted_at)
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    uptime = f"{days} days " * bool(days) + f"{hours} hours " * bool(days or hours) + f"{minutes} minutes "
    start = "warm start" if device.reloaded_by == "reload" else "cold start"
    return f"""  Copyright (c) Ruckus Networks, Inc. All rights reserved.
    UNIT 1: compiled on Jan 10 2023 at 10:00:00 labeled as SPR{device.hardware.version.replace(".", "")[:5]}
      (31460865 bytes) from Primary SPR{device.hardware.version.replace(".", "")[:5]}.bin (UFI)
        SW: Version {device.hardware.version}
      Compressed Primary Boot Code size = 786944, Version:10.1.26T225 (mnz10126)
  HW: Stackable {device.hardware.model.replace("ICX7150-24P", "ICX7150-24-POE")}
==========================================================================
UNIT 1: SL 1: {device.hardware.model} POE 24-port Management Module
      Serial  #:{_serial(device.mac)}
==========================================================================
 1000 MHz ARM processor ARMv7 88 MHz bus
 8192 KB boot flash memory
 2048 MB code flash memory
 1024 MB DRAM
STACKID 1  system uptime is {uptime}{seconds % 60} seconds
The system started at 10:00:00 GMT+00 Mon Nov 30 2026

The system : started={start}   reloaded=by "{device.reloaded_by}"
"""


def _serial(mac: str) -> str:
    return f"FEA{mac.replace('.', '')[:8].upper()}"


def who(cli: Cli, _words: str) -> str:
    """Answer `show who`: this terminal, and where its client is."""
    return (
        "SSH server status: Enabled\nSSH connections:\n"
        f" 1      established, client ip address {cli.device.hardware.client}, user is {cli.user}\n"
        "        you are connecting to this session"
    )


def neighbours(cli: Cli, _words: str) -> str:
    """Answer `show lldp neighbors detail`."""
    device = cli.device
    if not device.hardware.lldp:
        return "LLDP is not running"
    parts = []
    ports = [one for one in device.interfaces.values() if one.kind == ETHERNET]
    for port in sorted(ports, key=lambda one: natural(one.number)):
        far = device.neighbour(port) if device.is_up(port) else None
        if far is None:
            continue
        mac = _mac(far.host)
        frame = f"    + Maximum frame size: {far.max_frame} octets\n" if far.max_frame else ""
        parts.append(
            f"Local port: {port.number}\n  Neighbor: {mac}, TTL 101 seconds\n"
            f"    + Chassis ID (MAC address): {mac}\n    + Port ID (MAC address): {mac}\n"
            f'    + Time to live: 120 seconds\n    + System name         : "{far.host}"\n'
            f'    + Port description    : "{far.interface}"\n    + Link aggregation: not capable\n'
            f"{frame}    + Port VLAN ID: none\n"
        )
    return "\n".join(parts)


def route(cli: Cli, words: str) -> str:
    """Answer `show ip route 10.0.0.1`: what is connected, and what the configuration routes."""
    device = cli.device
    target = ipaddress.ip_address(words.rsplit(maxsplit=1)[-1])
    near = {
        ipaddress.ip_interface(address).network: one
        for one in device.interfaces.values()
        for address in one.addresses
        if ":" not in address
    }
    rows = [(subnet, "DIRECT", one, "0/0           D") for subnet, one in near.items() if target in subnet]
    for line in device.running.lines(GLOBAL):
        far = re.fullmatch(r"ip route (\S+) (\S+)", line)
        if far and target in ipaddress.ip_network(far[1]):
            by = [one for subnet, one in near.items() if ipaddress.ip_address(far[2]) in subnet]
            rows += [(ipaddress.ip_network(far[1]), far[2], one, "1/1           S") for one in by]
    longest = max((subnet.prefixlen for subnet, *_rest in rows), default=0)
    best = [row for row in rows if row[0].prefixlen == longest]
    lines = [
        f"{index + 1:<8}{subnet!s:<19}{gateway:<16}{_PORT[one.kind]}{one.number:<10} {cost}    1d2h"
        for index, (subnet, gateway, one, cost) in enumerate(best)
    ]
    codes = "Type Codes - B:BGP D:Connected O:OSPF R:RIP S:Static; Cost - Dist/Metric"
    head = "        Destination        Gateway         Port          Cost          Type Uptime"
    return "\n".join([codes, head, *lines])


def _mac(host: str) -> str:
    digest = hashlib.sha256(host.encode()).hexdigest()
    return f"0024.38{digest[0:2]}.{digest[2:6]}"


def lag(cli: Cli, _words: str) -> str:
    """Answer `show lag`."""
    device = cli.device
    lags = [one for one in device.interfaces.values() if one.kind == LAG]
    head = f"Total number of LAGs:          {len(lags)}\nTotal number of deployed LAGs: {len(lags)}\n"
    parts = []
    for one in lags:
        members = " ".join(f"e {number}" for number in one.members)
        states = "\n".join(_member(cli, number) for number in one.members)
        name = one.name.removeprefix("Lag ")
        parts.append(
            f'\n=== LAG "{name}" ID {name.removeprefix("lg")} (dynamic Deployed) ===\nLAG Configuration:\n'
            f"   Ports:         {members}\n   Port Count:    {len(one.members)}\n   LACP Key:      20001\n"
            f"Deployment: HW Trunk ID 1\n{PORT_TABLE}\n{states}"
        )
    return head + "".join(parts)


def _member(cli: Cli, number: str) -> str:
    device = cli.device
    port = next(one for one in device.interfaces.values() if one.number == number)
    up = device.is_up(port)
    return (
        f"{number:<10} {'Up' if up else 'Down':<7} {'Forward' if up else 'None':<7} Full 1G    1     No  1    0   "
        f"{device.mac}  {port.title}"
    )
