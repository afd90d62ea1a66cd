"""What the guards and responders of this host are doing, as their files tell.

A module of its own: most requests only read, and the program is compiled anew each time.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Dict

from .files import boot_time, is_locked, read_json
from .record import GUARDED, ROOT, Record, known_ids

Json = Dict[str, Any]


def guard_status(record: Record) -> Json:
    """Return what is known of one guard: `state` is the verdict, or `dead` where a guard should run but does not."""
    data, report, verdict, alive = record.load(), record.report(), record.verdict(), record.guard_lives()
    return {
        "id": record.id,
        "state": "dead" if verdict in GUARDED and not alive else verdict,
        "verdict": verdict,
        "alive": alive,
        "pid": report.get("pid"),
        "unit": report.get("unit"),
        "no_unit": report.get("no_unit"),
        "adopted": bool(data.get("adopted")),
        "by": data.get("by"),
        "seconds_left": record.seconds_left(),
        "interfaces": {
            name: {"ip_mtu": entry.get("ip_mtu"), "pin": entry.get("pin"), "lifts": lifted(entry)}
            for name, entry in data.get("interfaces", {}).items()
        },
        "repinned": report.get("repinned", []),
        "link_changed": report.get("link_changed", []),
        "exposed": report.get("exposed", []),
        "problems": report.get("problems", []),
        "undone": report.get("undone", []),
        "complete": report.get("complete"),
    }


def lifted(entry: Json) -> dict[str, int]:
    """Return the lifted prefixes of one interface with their sizes (bytes of IP packet)."""
    return {prefix: lift["mtu"] for prefix, lift in entry.get("lifts", {}).items()}


def guard_statuses() -> list[Json]:
    """Return what is known of all guards, those that matter most first."""
    weight = {"dead": 0, "armed": 1, "confirmed": 2, "fired": 3}
    found = [guard_status(record) for record in map(Record, known_ids()) if record.verdict()]
    return sorted(found, key=lambda one: weight.get(str(one["state"]), len(weight)))


def responders() -> list[Json]:
    """Return the responders that run on this host."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(ROOT)):
            settings = read_json(os.path.join(ROOT, name, "responder.json")) if name.startswith(".responder-") else None
            if settings is not None and is_locked(os.path.join(ROOT, name, "alive")):
                left = round(max(0.0, settings["deadline"] - boot_time()), 1)
                found.append({"port": settings["port"], "addresses": settings["addresses"], "seconds_left": left})
    return found
