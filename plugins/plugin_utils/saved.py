"""States that were read earlier and kept in a file: a plan from them asks no device."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import State

VARIABLE = "jumbo_saved_facts"

READ_IT = (
    "Give a file that jumbo.fabric.fleet_facts wrote (gather: all, scope: fabric), or the directory of an earlier "
    "roll-out or plan, which holds fleet.json"
)

NAMED = 5
"""So many hosts are named in a message; the rest is counted."""


@dataclass(frozen=True)
class SavedFacts:
    """States by host, the file they come from, and when it was written: nothing older is known of its age."""

    path: Path
    written: str
    states: dict[str, State]

    @property
    def source(self) -> str:
        """Return where the states come from, as one sentence without a full stop."""
        return f"made from {self.path}, written {self.written}; no device was asked"


def load(path: str, inventory: Iterable[str]) -> SavedFacts:
    """Return the states of the inventory's hosts; others in the file are left aside.

    `path`: a file of fleet_facts, or an evidence directory with its fleet.json. JumboError where it is not there, is no
    JSON, is something else, does not know a host of the inventory, or holds interfaces only.
    """
    file = Path(path) / "fleet.json" if Path(path).is_dir() else Path(path)
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        written = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC).isoformat(timespec="seconds")
    except OSError as error:
        raise _error(f"{file} cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise _error(f"{file} is not JSON: {error}", path) from None
    if not isinstance(found, dict) or not found or not all(_is_state(value) for value in found.values()):
        raise _error(f"{file} does not hold the states of devices by host name", path)
    hosts = list(inventory)
    _refuse_other_inventory(file, path, found, hosts)
    partial = [host for host in hosts if "error" not in found[host] and "pending" not in found[host]]
    if partial:
        raise _error(f"{file} holds only the interfaces of {_named(partial)}: it was read for something else", path)
    return SavedFacts(file, written, {host: found[host] for host in hosts})


def _refuse_other_inventory(file: Path, path: str, found: Mapping[str, Any], hosts: list[str]) -> None:
    missing = [host for host in hosts if host not in found]
    if missing:
        others = [host for host in found if host not in hosts]
        text = f"{file} is of another inventory, or of a part of this one: it does not know {_named(missing)}"
        raise _error(
            text + (f"; it knows {_named(others)}, which this inventory does not have" if others else ""), path
        )


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and (
        isinstance(value.get("interfaces"), dict)
        or (isinstance(value.get("error"), dict) and "text" in value["error"] and "unreachable" in value)
    )


def _named(hosts: list[str]) -> str:
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    return ", ".join(hosts[:NAMED]) + more


def _error(message: str, path: str) -> JumboError:
    return JumboError(message, variable=VARIABLE, wish=path, advice=READ_IT)
