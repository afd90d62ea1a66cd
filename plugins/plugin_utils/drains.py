"""Looking at sessions around a drain: may links be drained now, have they come back. mtu/drains.py judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import drains
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import Link
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import DRAINED, Outcome, failed

COMES_BACK_WITHIN = 45.0
"""Seconds within which a session must be up again: a neighbour that was refused is tried again after half a minute."""
BETWEEN_READS = 1.0

AGAIN = "Nothing is lowered before it has: look at its neighbours, then take it back again."

Acts = list[tuple[Outcome, Handle]]


def refusal(links: Collection[Link], topology: Topology, accesses: Mapping[str, Access]) -> str | None:
    """Return why these links cannot be, or stay, drained at this moment, None where others carry their traffic."""
    hosts = dict.fromkeys(end.device for link in topology.uplinks() for end in link.ends)
    states = fabric.read_states([accesses[host] for host in hosts if host in accesses])
    return drains.no_other_way(states, topology, links)


def wait_until_back(
    changes: Sequence[Mapping[str, Any]], accesses: Mapping[str, Access], within: float = COMES_BACK_WITHIN
) -> list[drains.Finding]:
    """Wait until the sessions of undrained links are up; return what has not come back by then."""
    ends = drains.ends_of(changes)
    give_up = time.monotonic() + within
    while ends:
        states = fabric.read_states([accesses[host] for host in dict.fromkeys(end.device for end in ends)])
        missing = drains.not_back({}, states, ends)
        if not missing or time.monotonic() > give_up:
            return missing
        time.sleep(BETWEEN_READS)
    return []


def not_to_be_drained(
    group: Iterable[tuple[str, Handle]], topology: Topology, access_to: Callable[[str], Access]
) -> Acts:
    """Return failed acts where taking these undrains back would cut switches off, none where it may go on."""
    wanted = [(host, handle) for host, handle in group if _of(handle, to=False)]
    if not wanted:
        return []
    changes = [change for _host, handle in wanted for change in _of(handle, to=False)]
    hosts = dict.fromkeys(end.device for link in topology.uplinks() for end in link.ends)
    reason = refusal(drains.links_of(topology, changes), topology, {host: access_to(host) for host in hosts})
    if reason is None:
        return []
    message = f"its links are not drained again to be lowered: {reason}"
    advice = "They stay as they are, which loses nothing. Take it back again when the other links are up."
    return [(failed(host, JumboError(message, host=host, advice=advice)), handle) for host, handle in wanted]


def not_come_back(group: Iterable[tuple[str, Handle]], accesses: Mapping[str, Access]) -> Acts:
    """Return failed acts where drains were taken back and sessions have not come up again."""
    wanted = [(host, handle) for host, handle in group if _of(handle, to=True)]
    changes = [change for _host, handle in wanted for change in _of(handle, to=True)]
    missing = wait_until_back(changes, accesses)
    handles = dict(wanted)
    found = []
    for finding in missing:
        host, reason = finding["host"], f"{finding['reason']}: {finding['evidence']}"
        error = JumboError(reason, host=host, object=finding["interface"], advice=AGAIN)
        found.append((failed(host, error), handles[host]))
    return found


def _of(handle: Handle, *, to: bool) -> list[Mapping[str, Any]]:
    """Return the changes of a handle that have drained links, or undrained them."""
    if handle.get("changed") is False:
        return []
    return [change for change in handle["changes"] if change["field"] == DRAINED and bool(change["to"]) is to]
