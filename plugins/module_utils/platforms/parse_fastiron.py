"""What FastIron (Brocade, Ruckus ICX) prints: `show interfaces` and ping.

The MTU line has three forms: `MTU 1500 bytes, encapsulation ethernet`, `IP MTU 10240 bytes`, and `MTU 10200 bytes`. The
last is the frame size of a box with active `jumbo`: it says what is accepted, not what an IP interface sends.
"""

from __future__ import annotations

import re
from typing import Any

from ..mtu.capability import box_receives

_HEADER = re.compile(
    r"^(?P<name>\S.*?) is (?P<state>up|down|disabled|empty|[a-z ]+), line protocol is (?P<line>\w+)", re.MULTILINE
)
_MTU = re.compile(r"\b(?P<ip>IP )?MTU (?P<size>\d+) bytes")
_SENDING = re.compile(r"Sending (\d+), \d+-byte")
_SUCCESS = re.compile(r"Success rate is (\d+) percent \((\d+)/(\d+)\)")


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


def parse_interfaces(output: Any) -> list[dict[str, Any]]:
    """Read the text of `show interfaces`."""
    found = list(_HEADER.finditer(str(output)))
    ends = [match.start() for match in found[1:]] + [len(output)]
    return [_interface(match, output[match.start() : end]) for match, end in zip(found, ends)]


def _interface(header: re.Match[str], block: str) -> dict[str, Any]:
    name = header["name"].strip()
    line = _MTU.search(block)
    number = int(line["size"]) if line else None
    plain, jumbo = box_receives(jumbo=False), box_receives(jumbo=True)
    is_frame = bool(line and not line["ip"] and number and number >= jumbo)  # no IP interface sends that much
    receive = jumbo if is_frame else plain if number == plain else None
    addresses = re.findall(r"Internet address is (\d\S+?),?\s", block)
    trunk = re.search(r"Member of active trunk ports .*Lag Interface is (\S+)", block)
    return {
        "name": name,
        "kind": _kind(name, bool(addresses)),
        "ip_mtu": None if is_frame else number,
        "mru": None if _is_l3(name, addresses) else receive,
        "device_mtu": number,
        "configured_mtu": None,
        "persisted_mtu": None,
        "max_ip_mtu": None,
        "parent": trunk.group(1) if trunk else None,
        "members": None,
        "oper_up": header["line"] == "up",
        "addresses": addresses,
        "counters": {
            "oversize": _search(r"(\d+) giants", block),
            "runts": _search(r"(\d+) runts", block),
            "crc": _search(r"(\d+) CRC", block),
            "input_errors": _search(r"(\d+) input errors", block),
            "length_errors": None,
            "input_packets": _search(r"(\d+) packets input", block),
        },
        "neighbours": None,
    }


def _is_l3(name: str, addresses: list[str]) -> bool:
    return bool(addresses) or name.lower().startswith("ve")


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


def _search(pattern: Any, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match.group(1)) if match else None
