"""The fabric as Ansible's inventory has it: which hosts belong to it, and what they say of themselves."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import Intent, read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_values import LISTS, SCALARS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, State
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import open_driver
from ansible_collections.jumbo.fabric.plugins.plugin_utils.access import platform_of
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import everywhere, failed
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

PER_HOST = ("jumbo_rack", "jumbo_addresses", "jumbo_excluded_interfaces")
WANTED = (*SCALARS, *LISTS, *PER_HOST)


def inventory_of(hostvars: Mapping[str, Any], hosts: Iterable[str]) -> dict[str, Any]:
    """Return what read_intent wants: {host: {platform, groups, variables}} of the hosts that see `jumbo_links`.

    A fixed short list of variables is fetched: each access to hostvars renders templates.
    """
    found = {}
    for host in hosts:
        variables = hostvars[host]
        if "jumbo_links" not in variables:
            continue
        groups = to_plain(variables["group_names"])
        found[host] = {
            "platform": platform_of(variables, groups),
            "groups": groups,
            "variables": {name: to_plain(variables[name]) for name in WANTED if name in variables},
        }
    if not found:
        raise JumboError(
            "no host of this inventory sees jumbo_links",
            variable="jumbo_links",
            advice="Describe the cabling in group_vars/all: inventory/example shows every variable.",
        )
    return found


def topology_of(hostvars: Mapping[str, Any], hosts: Iterable[str]) -> Topology:
    """Return the topology of the inventory as it is now."""
    return Topology(read_intent(inventory_of(hostvars, hosts)))


def hosts_of(run: Run) -> list[str]:
    """Return the hosts of the fabric that this run was planned for."""
    return list(run.load("intent"))


def read_states(
    accesses: Iterable[Access],
    *,
    only_interfaces: bool = False,
    interfaces: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, State]:
    """Read all devices at once; one that could not be read is {"host", "error", "unreachable"} and nothing else.

    `interfaces`: {host: those that matter}, for hosts where not all do.
    """

    def read(access: Access) -> State:
        wanted = (interfaces or {}).get(access.host)
        begun, at = time.monotonic(), time.time()
        try:
            state = open_driver(access).read(only_interfaces=only_interfaces, interfaces=wanted)
            return {**state, "read_at": at, "read_seconds": round(time.monotonic() - begun, 3)}
        except JumboError as error:
            outcome = failed(access.host, error)
            return {"host": access.host, "error": outcome.error, "unreachable": outcome.unreachable}

    wanted = list(accesses)
    return {access.host: state for access, state in zip(wanted, everywhere(read, wanted), strict=True)}


def not_read(states: Mapping[str, State]) -> dict[str, State]:
    """Return the devices that could not be read."""
    return {host: state for host, state in states.items() if "error" in state}


def intent_of(run: Run) -> tuple[Intent, Topology]:
    """Return the intent and topology that this run was planned with."""
    inventory = run.load("intent")
    if inventory is None:
        raise JumboError("this roll-out has no plan", advice="Call jumbo.fabric.mtu_plan first.")
    intent = read_intent(inventory)
    return intent, Topology(intent)
