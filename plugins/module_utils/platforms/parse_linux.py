"""What Linux hosts print: `ip link`, `ip -j`, and ping of iputils (which EOS runs too)."""

from __future__ import annotations

import json
import re
from typing import Any, Iterable

from ..mtu.errors import JumboError

_HEADER = re.compile(
    r"^\d+: (?P<name>[^:@\s]+)(?:@(?P<parent>\S+?))?: <(?P<flags>[^>]*)> .*?\bmtu (?P<mtu>\d+)", re.MULTILINE
)
_SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
# iputils writes "mtu=1500" for IPv4 and "mtu: 1500" for IPv6.
_LOCAL = re.compile(r"local error: message too long,? mtu[=:] ?(\d+)", re.IGNORECASE)
_REMOTE = re.compile(r"From (\S+?):? icmp_seq=\d+ (?:Frag needed and DF set \(mtu = (\d+)\)|Packet too big: mtu=(\d+))")


def parse_ping(text: str) -> dict[str, Any]:
    """Read stdout and stderr of iputils ping.

    {sent, received, loss_percent, too_big_local, too_big_reported_by, reported_mtu}: `too_big_local` is true where the
    sender's own kernel refused; `reported_mtu` is in bytes of IP packet. All null where the output has no summary.
    """
    summary = _SUMMARY.search(text)
    local, remote = _LOCAL.search(text), _REMOTE.search(text)
    if summary is None:
        sent, received, loss = None, None, None
    else:
        sent, received = int(summary.group(1)), int(summary.group(2))
        loss = round(100 * (sent - received) / sent, 2) if sent else None
    reported = local.group(1) if local else (remote.group(2) or remote.group(3)) if remote else None
    return {
        "sent": sent,
        "received": received,
        "loss_percent": loss,
        "too_big_local": None if summary is None and local is None else local is not None,
        "too_big_reported_by": remote.group(1) if remote else None,
        "reported_mtu": int(reported) if reported else None,
    }


def parse_interfaces(output: Any) -> list[dict[str, Any]]:
    """Read `ip -j -d -s -s link` or `ip -j -d -s -s addr` (text or data), or their plain text forms."""
    data = output
    if isinstance(output, str):
        if not output.lstrip().startswith("["):
            return [_from_text(match, block) for match, block in _blocks(output)]
        try:
            data = json.loads(output)
        except ValueError as error:
            raise JumboError(f"this is no JSON output of ip: {error}") from None
    if not isinstance(data, (list, tuple)):
        raise JumboError("the output of ip is a list of interfaces", wish=type(data).__name__)
    return [_from_json(entry) for entry in data if entry]


def _interface(name: str, kind: str | None, mtu: int | None, **known: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "ip_mtu": mtu,
        "mru": None,  # a driver accepts at least its MTU; how much more it does not tell
        "device_mtu": mtu,
        "configured_mtu": None,
        "persisted_mtu": None,
        "max_ip_mtu": known.get("max_ip_mtu"),
        "parent": known.get("parent"),
        "members": known.get("members"),
        "oper_up": known.get("oper_up"),
        "addresses": known.get("addresses"),
        "counters": known.get("counters") or _counters({}),
        "neighbours": None,
    }


def _counters(receive: dict[str, Any]) -> dict[str, Any]:
    """Receive errors of the kernel; too-long frames are told by the driver only (`ethtool -S`)."""
    return {
        "oversize": None,
        "runts": None,
        "crc": receive.get("crc_errors"),
        "input_errors": receive.get("errors"),
        "length_errors": receive.get("length_errors"),
        "input_packets": receive.get("packets"),
    }


def _from_json(entry: Any) -> dict[str, Any]:
    flags = entry.get("flags") or []
    info = entry.get("linkinfo") or {}
    addresses = [f"{a['local']}/{a['prefixlen']}" for a in entry.get("addr_info") or [] if "local" in a]
    highest = entry.get("max_mtu") or None  # 0: the driver sets no limit
    return _interface(
        entry.get("ifname", ""),
        info.get("info_kind") or ("loopback" if entry.get("link_type") == "loopback" else "ethernet"),
        entry.get("mtu"),
        max_ip_mtu=highest,
        parent=entry.get("link") or entry.get("master"),
        oper_up=_is_up(entry.get("operstate"), flags),
        addresses=addresses if "addr_info" in entry else None,
        counters=_counters((entry.get("stats64") or entry.get("stats") or {}).get("rx") or {}),
    )


def _is_up(state: str | None, flags: Iterable[str]) -> bool | None:
    if state in (None, "UNKNOWN"):  # drivers without carrier detection
        return "UP" in flags
    return state == "UP"


def _blocks(text: str) -> list[tuple[re.Match[str], str]]:
    found = list(_HEADER.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [(match, text[match.start() : end]) for match, end in zip(found, ends)]


def _from_text(match: re.Match[str], block: str) -> dict[str, Any]:
    state = re.search(r"\bstate (\S+)", block)
    master = re.search(r"\bmaster (\S+)", block)
    highest = re.search(r"\bmaxmtu (\d+)", block)
    addresses = re.findall(r"^\s+inet6? (\S+)", block, re.MULTILINE)
    loopback = "link/loopback" in block
    return _interface(
        match["name"],
        "loopback" if loopback else "vlan" if re.search(r"\bvlan protocol", block) else "ethernet",
        int(match["mtu"]),
        max_ip_mtu=(int(highest.group(1)) or None) if highest else None,
        parent=match["parent"] or (master.group(1) if master else None),
        oper_up=_is_up(state.group(1) if state else None, match["flags"].split(",")),
        addresses=addresses or None,
        counters=_counters(_text_statistics(block)),
    )


def _text_statistics(block: str) -> dict[str, Any]:
    """Read the RX table of `ip -s -s link`: a line of names, a line of numbers, then the same for errors."""
    lines = [line.split() for line in block.splitlines()]
    receive: dict[str, Any] = {}
    for names, numbers in zip(lines, lines[1:]):
        if names[:1] == ["RX:"]:
            row = {name: number for name, number in zip(names[1:], numbers) if number.isdigit()}
            receive.update({key: int(value) for key, value in row.items() if key in {"packets", "errors"}})
        elif names[:2] == ["RX", "errors:"]:
            row = {name: number for name, number in zip(names[2:], numbers) if number.isdigit()}
            receive["length_errors"] = int(row["length"]) if "length" in row else None
            receive["crc_errors"] = int(row["crc"]) if "crc" in row else None
    return receive
