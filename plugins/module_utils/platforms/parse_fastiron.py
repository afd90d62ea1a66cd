"""What FastIron (Brocade, Ruckus ICX) prints: `show interfaces`, LLDP, version and ping. The texts are templates.

`MTU 10200 bytes` is the frame size of a box with active `jumbo`: it says what is accepted, not what an IP interface
sends. That of a routed port or a virtual interface stands behind its address. A text alone does not tell which port is
switched; what the driver makes of it is in fastiron_state.
"""

from __future__ import annotations

import re
from typing import Any

from ..mtu.capability import box_receives
from . import fastiron_templates as templates

_SENDING = re.compile(r"Sending (\d+), (\d+)-byte")
_SUCCESS = re.compile(r"Success rate is (\d+) percent \((\d+)/(\d+)\)")
_UPTIME = re.compile(r"uptime is\s+(?P<words>[^\n]*)")
_UNITS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
_COUNTED = ("runts", "crc", "input_errors", "input_packets")


def parse_ping(text: str) -> dict[str, Any]:
    """Read `ping ... no-fragment`; the shape of the filter parse_ping. How a too large packet is told isn't known."""
    success, sending = _SUCCESS.search(text), _SENDING.search(text)
    sent = received = None
    if success:
        received, sent = int(success.group(2)), int(success.group(3))
    elif sending and re.search(r"No reply from remote host|Request timed out", text):
        received, sent = 0, int(sending.group(1))
    return {
        "sent": sent,
        "received": received,
        "loss_percent": round(100 * (sent - received) / sent, 2) if sent and received is not None else None,
        "too_big_local": None,
        "too_big_reported_by": None,
        "reported_mtu": None,
    }


def ping_size(text: str) -> int | None:
    """Return the ICMP payload that the box says it sends: older releases round what they do not take."""
    sending = _SENDING.search(text)
    return int(sending.group(2)) if sending else None


def parse_interfaces(output: Any) -> list[dict[str, Any]]:
    """Read the text of `show interfaces`."""
    return [_interface(found) for found in templates.parse(templates.INTERFACES, str(output))]


def _interface(found: dict[str, Any]) -> dict[str, Any]:
    name = found["name"]
    number = _number(found, "l3_mtu") or _number(found, "ip_mtu") or _number(found, "mtu")
    addresses = [found[key] for key in ("address", "ipv6") if key in found]
    is_l3 = "l3_mtu" in found or bool(addresses)
    is_frame = "mtu" in found and not is_l3 and is_jumbo(number)  # no IP interface sends that much
    plain = box_receives(jumbo=False)
    receive = box_receives(jumbo=True) if is_frame else plain if number == plain else None
    return {
        "name": name,
        "kind": _kind(name, bool(addresses)),
        "ip_mtu": None if is_frame else number,
        "mru": None if is_l3 else receive,
        "device_mtu": number,
        "configured_mtu": None,
        "persisted_mtu": None,
        "max_ip_mtu": None,
        "parent": None if name.startswith("Lag ") else found.get("lag"),
        "members": None,
        "oper_up": found["up"] == "up",
        "addresses": addresses,
        "counters": {
            "oversize": _number(found, "giants"),
            "length_errors": None,
            **{key: _number(found, key) for key in _COUNTED},
        },
        "neighbours": None,
    }


def is_jumbo(frame: int | None) -> bool:
    """Tell whether the frame size that a switched port prints is that of a box with active `jumbo`."""
    return frame is not None and frame >= box_receives(jumbo=True)


def _number(found: dict[str, Any], key: str) -> int | None:
    return int(found[key]) if key in found else None


def _kind(name: str, routed: bool) -> str:
    lowered = name.lower()
    if lowered.startswith("ve"):
        return "svi"
    if "mgmt" in lowered:
        return "management"
    if lowered.startswith("lag"):
        return "lag"
    if lowered.startswith("loopback"):
        return "loopback"
    return "routed" if routed else "switched"


def parse_neighbours(text: str) -> dict[str, list[dict[str, Any]]]:
    """Read `show lldp neighbors detail`: {local port's number: [{host, interface, max_frame}]}."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in templates.parse(templates.NEIGHBOURS, text):
        told = [
            {
                "host": one.get("host"),
                "interface": one.get("port_id") or one.get("description"),
                "max_frame": _number(one, "max_frame"),
            }
            for one in entry.get("neighbours", [])
        ]
        found.setdefault(entry["port"], []).extend(told)
    return found


def parse_client(text: str) -> str | None:
    """Read `show who`: the address of the client that asks, None where it is not told."""
    before, mine, _after = text.partition("you are connecting to this session")
    told = re.findall(r"client ip address (\S+?),", before)
    return told[-1] if mine and told else None


def parse_version(text: str) -> dict[str, Any]:
    """Read `show version`: {model, version, up_seconds}, None for what it does not tell."""
    units = templates.parse(templates.VERSION, text)
    first = units[0] if units else {}
    hardware = re.search(r"\b(ICX ?\d{4}\S*|F[EWCL][SX]\S*)", str(first.get("hardware", "")))
    uptime = _UPTIME.search(text)
    parts = re.findall(r"(\d+)\s+(day|hour|minute|second)", uptime.group("words")) if uptime else []
    return {
        "model": first.get("model") or (hardware.group(1) if hardware else None),
        "version": first.get("version"),
        "up_seconds": sum(int(number) * _UNITS[unit] for number, unit in parts) if parts else None,
    }


def parse_statistics(text: str) -> dict[str, int]:
    """Read `show statistics ethernet ...`: {port's number: InGiantPkts}, for those ports that show it."""
    found = templates.parse(templates.STATISTICS, text)
    return {entry["port"]: int(entry["giants"]) for entry in found if "giants" in entry}
