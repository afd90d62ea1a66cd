"""LLDP neighbours and MAC addresses: who is at the other end."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ..plane import LearnsMacs, MacEntry, Neighbour
from .answers import Answer
from .names import dotted, short
from .ports import Port
from .show_ports import named_ports

if TYPE_CHECKING:
    from .cli import Cli
    from .device import EosDevice

_TTL = 120


def _mac_of(host: str) -> str:
    digest = hashlib.sha256(host.encode()).hexdigest()
    return f"001c.73{digest[0:2]}.{digest[2:6]}"


def _neighbours(cli: Cli, arguments: dict[str, str]) -> list[tuple[Port, Neighbour | None]]:
    ports = [port for port in named_ports(cli, arguments, token=3) if port.kind == "Ethernet" and "." not in port.name]
    return [(port, cli.device.neighbour(port) if cli.device.live(port).up else None) for port in ports]


def lldp_detail(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show lldp neighbors [X] detail`."""
    found = _neighbours(cli, arguments)

    def data() -> dict[str, Any]:
        ports = {port.name: [_lldp_entry(cli.device, far)] if far else [] for port, far in found}
        return {"lldpNeighbors": {name: {"lldpNeighborInfo": info} for name, info in ports.items()}}

    return Answer(lambda: "\n".join(_lldp_text(port, far) for port, far in found), data)


def _lldp_entry(device: EosDevice, far: Neighbour) -> dict[str, Any]:
    since = device.booted_at
    interface = {
        "interfaceIdType": "interfaceName",
        "interfaceId": f'"{far.interface}"',
        "interfaceId_v2": far.interface,
        "interfaceDescription": "",
        "portAndProtocolVlanSupported": {},
        "portAndProtocolVlanEnabled": {},
        "vlanNames": {},
        "protocolIdentityInfo": [],
        "unknownTlvs": [],
        "unknownOrgDefinedTlvs": [],
        "linkAggregationStatus": "capableAndDisabled",
        "linkAggregationInterfaceId": 0,
        "maxFrameSize": far.max_frame,  # 0: the neighbour does not send it
    }
    return {
        "chassisIdType": "macAddress",
        "chassisId": _mac_of(far.host),
        "systemName": far.host,
        "systemDescription": "",
        "systemCapabilities": {"bridge": True, "router": True},
        "managementAddresses": [],
        "neighborDiscoveryTime": since,
        "lastChangeTime": since,
        "lastContactTime": device.now(),
        "ttl": _TTL,
        "neighborInterfaceInfo": interface,
    }


def _lldp_text(port: Port, far: Neighbour | None) -> str:
    lines = [f"Interface {port.name} detected {int(far is not None)} LLDP neighbors:", ""]
    if far is None:
        return "\n".join(lines)
    mac = _mac_of(far.host)
    lines += [
        f'  Neighbor {mac}/"{far.interface}", age 12 seconds',
        "  Discovered 0:01:11 ago; Last changed 0:01:11 ago",
        "  - Chassis ID type: MAC address (4)",
        f"    Chassis ID     : {mac}",
        "  - Port ID type: Interface name (5)",
        f'    Port ID     : "{far.interface}"',
        f"  - Time To Live: {_TTL} seconds",
        f'  - System Name: "{far.host}"',
        "  - System Capabilities : Bridge, Router",
        "    Enabled Capabilities: Bridge, Router",
    ]
    if far.max_frame:
        lines.append(f"  - IEEE802.3 Maximum Frame Size: {far.max_frame} bytes")
    return "\n".join([*lines, ""])


def _lldp_row(port: Port, far: Neighbour) -> dict[str, Any]:
    return {"port": port.name, "neighborDevice": far.host, "neighborPort": far.interface, "ttl": _TTL}


def lldp(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show lldp neighbors [X]`."""
    found = [(port, far) for port, far in _neighbours(cli, arguments) if far]
    rows = [_lldp_row(port, far) for port, far in found]
    data = {
        "tablesLastChangeTime": cli.device.booted_at,
        "tablesInserts": len(rows),
        "tablesDeletes": 0,
        "tablesDrops": 0,
        "tablesAgeOuts": 0,
        "lldpNeighbors": rows,
    }
    line = "{:<10} {:<24} {:<19} {}".format
    text = [
        "Last table change time   : 0:01:11 ago",
        f"Number of table inserts  : {len(rows)}",
        "Number of table deletes  : 0",
        "Number of table drops    : 0",
        "Number of table age-outs : 0",
        "",
        line("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL"),
        line("-" * 10, "-" * 24, "-" * 19, "---"),
        *(line(short(port.name), far.host, far.interface, _TTL) for port, far in found),
    ]
    return Answer("\n".join(text), data)


def mac_table(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Answer `show mac address-table`; empty where the data plane does not tell."""
    plane = cli.device.plane
    entries = list(plane.mac_addresses()) if isinstance(plane, LearnsMacs) else []
    since = cli.device.booted_at
    rows = [
        {
            "vlanId": entry.vlan,
            "macAddress": entry.mac,
            "entryType": "dynamic",
            "interface": entry.interface,
            "moves": 1,
            "lastMove": since,
        }
        for entry in entries
    ]
    text = [
        "          Mac Address Table",
        "-" * 66,
        "",
        "Vlan    Mac Address       Type        Ports      Moves   Last Move",
        "----    -----------       ----        -----      -----   ---------",
        *(_mac_row(entry) for entry in entries),
        f"Total Mac Addresses for this criterion: {len(entries)}",
    ]
    return Answer("\n".join(text), {"unicastTable": {"tableEntries": rows}, "multicastTable": {"tableEntries": []}})


def _mac_row(entry: MacEntry) -> str:
    return f"{entry.vlan:>4}    {dotted(entry.mac)}    DYNAMIC     {short(entry.interface):<10} 1       0:01:11 ago"
