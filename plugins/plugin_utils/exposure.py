"""Preflight asks hosts for what no pin bounds: senders to groups and to all whose datagrams exceed the old size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import everywhere

LISTEN_SECONDS = 1.0
"""A sample: what is sent less often is met by the guard, which watches each host as long as it is pinned."""

Findings = list[dict[str, Any]]


def exposures(topology: Topology, states: Mapping[str, Any], accesses: Mapping[str, Access]) -> Findings:
    """Return findings of preflight's shape; blocking unless the waiver `exposure` names the segment.

    Hosts that have never sent a fragment need not be listened to: nothing of theirs was ever larger than the link.
    """
    wanted: dict[str, dict[str, str]] = {}
    for segment in topology.jumbo_segments():
        for end in topology.hosts_in(segment):
            state = states.get(end.device, {})
            watchable = end.device in accesses and state.get("fragments_sent") != 0
            if watchable and end.interface in (state.get("interfaces") or {}):
                wanted.setdefault(end.device, {})[end.interface] = segment.name
    answers = everywhere(lambda host: _ask(accesses[host], list(wanted[host]), topology.intent.baseline_ip_mtu), wanted)
    return [
        _finding(host, entry, wanted[host][entry["interface"]], topology)
        for host, entries in zip(wanted, answers, strict=True)
        for entry in entries
    ]


def _ask(access: Access, interfaces: list[str], limit: int) -> Findings:
    if access.run_program is None:
        return []
    request = {"verb": "senders", "interfaces": interfaces, "limit": limit, "seconds": LISTEN_SECONDS}
    try:
        return list(access.run_program(request, False)["exposed"])
    except JumboError as error:
        return [{"interface": interfaces[0], "kind": None, "error": str(error)}]


def _finding(host: str, entry: Mapping[str, Any], segment: str, topology: Topology) -> dict[str, Any]:
    if entry["kind"] is None:
        reason, evidence = "what it sends to groups could not be watched", str(entry["error"])
        return {"host": host, "interface": entry["interface"], "reason": reason, "evidence": evidence, "blocking": True}
    waived = topology.intent.waived("exposure", segment)
    reason = f"sends {entry['kind']} datagrams that no pin bounds" + (" (waiver: exposure)" if waived else "")
    evidence = (
        f"{entry['packets']} to {entry['destination']} in {LISTEN_SECONDS:g} s, up to {entry['ip_mtu']} bytes: once "
        f"the link is raised they leave whole; a waiver of the kind exposure for {segment} accepts that"
    )
    return {
        "host": host,
        "interface": entry["interface"],
        "reason": reason,
        "evidence": evidence,
        "blocking": not waived,
    }
