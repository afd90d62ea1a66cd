"""What `lab status`, `lab events` and `lab violations` print."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def status_text(status: Mapping[str, Any]) -> str:
    """Return the nodes as a table, then the faults and the traffic."""
    head = ("NODE", "PLATFORM", "MANAGEMENT", "IP MTU")
    rows = [(name, node["platform"], _management(node), _sizes(node)) for name, node in status["nodes"].items()]
    traffic = status["traffic"]
    lines = [*_table([head, *rows]), ""]
    lines += [f"fault: {fault}" for fault in status["faults"]]
    lines.append(
        f"traffic: {traffic['transfers']} transfers, {traffic['stall_count']} stalls, "
        f"largest TCP segment {traffic['largest_segment']} bytes"
    )
    return "\n".join(lines) + "\n" + violations_text(status["violations"])


def events_text(events: Iterable[Mapping[str, Any]]) -> str:
    """Return one line per event."""
    rows = [(_clock(event["time"]), event["node"], event["kind"], event["text"]) for event in events]
    return "".join(f"{line}\n" for line in _table(rows))


def violations_text(violations: Sequence[Mapping[str, Any]]) -> str:
    """Return one line per violation that the sentinel has seen, as Violations.all gives them."""
    head = ("VIOLATION", "PACKETS", "PAIR", "PROTOCOL", "SIZE", "LINK", "WHY")
    rows = [
        (
            _clock(entry["time"]),
            str(entry["packets"]),
            f"{entry['from']} -> {entry['to']}",
            entry["protocol"],
            str(entry["size"] or "unknown"),
            entry["link"],
            entry["reason"],
        )
        for entry in violations
    ]
    if not rows:
        return "violations: none\n"
    return "".join(f"{line}\n" for line in _table([head, *rows]))


def _management(node: Mapping[str, Any]) -> str:
    return f"{node['address']}:{node['port']}{'' if node['reachable'] else ' (refused)'}"


def _sizes(node: Mapping[str, Any]) -> str:
    """Return the interfaces grouped by size: `1500: Ethernet1 Ethernet2`."""
    groups: dict[str, list[str]] = {}
    for name, interface in node["interfaces"].items():
        size = interface["ip_mtu"] if interface["up"] else "down"
        groups.setdefault(str(size), []).append(name)
    return "  ".join(f"{size}: {' '.join(names)}" for size, names in groups.items())


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _clock(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%H:%M:%S.%f")[:-3]
