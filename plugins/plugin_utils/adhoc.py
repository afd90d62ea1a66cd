"""Changes that a playbook author asks for outside a roll-out: same drivers, no plan, no journal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import open_driver
from ansible_collections.jumbo.fabric.plugins.plugin_utils import summary


def change(host: str, name: str, field: str, old: int | None, new: int) -> dict[str, Any]:
    """Return one change in the plan's shape; MTU values in bytes of IP packet."""
    return {"host": host, "object": name, "field": field, "from": old, "to": new}


def apply(access: Access, changes: Sequence[Change], within: int, *, check_mode: bool) -> dict[str, Any]:
    """Apply the changes with the dead-man armed, or show the device's own difference in check mode.

    The result's `handle` is what jumbo.fabric.pending_change confirms or reverts; without it the device goes back by
    itself after `within` seconds.
    """
    if not changes:
        return {"changed": False, "handle": None}
    driver = open_driver(access)
    if check_mode:
        difference = driver.diff(changes)
        return {
            "changed": bool(difference),
            "handle": None,
            "diff": [{"prepared": summary.titled(access.host, difference)}],
        }
    handle = driver.apply(changes, within, f"adhoc-{time.time_ns() // 1000 % 10**10}")
    return {
        "changed": handle["changed"],
        "handle": handle,
        "diff": [{"prepared": summary.titled(access.host, handle.get("diff", ""))}],
    }
