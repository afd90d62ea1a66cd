"""Steps that one process conducts on all their devices: both ends of a link together, and every taking back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.journal import Journal
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.lowering import lowering_order
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.traits import traits_of
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Handle
from ansible_collections.jumbo.fabric.plugins.plugin_utils import drains
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import Executor, Outcome, everywhere, handles

AccessTo = Callable[[str], Access]


def apply_everywhere(
    executor: Executor, accesses: Mapping[str, Access], step: Mapping[str, Any], within: int
) -> list[Outcome]:
    """Apply one step on all of its devices at once.

    Where both ends of links change, those whose commits are slow go first, and the others the moment it has taken
    effect there: the shorter both ends differ, the better (design rule 10). Where a slow end fails, they do not begin.
    """
    wanted: dict[str, list[Mapping[str, Any]]] = {}
    for change in step["changes"]:
        wanted.setdefault(change["host"], []).append(change)

    def apply(host: str) -> Outcome:
        return executor.apply(accesses[host], step["id"], wanted[host], within)

    slow = [host for host in wanted if step["phase"] == "link" and traits_of(accesses[host].platform).slow]
    first = everywhere(apply, slow)
    if not all(outcome.ok for outcome in first):
        return first
    return first + everywhere(apply, [host for host in wanted if host not in slow])


def confirm_everywhere(executor: Executor, accesses: Mapping[str, Access], step: str) -> list[Outcome]:
    """Confirm one step on all devices that applied it, each from a new connection."""
    found = [(host, handle) for (name, host), handle in executor.applied().items() if name == step]
    return everywhere(lambda item: executor.confirm(accesses[item[0]], step, item[1]), found)


def lowering_groups(
    applied: Mapping[tuple[str, str], Handle], steps: Mapping[str, str], topology: Topology
) -> Iterator[dict[str, list[str]]]:
    """Yield what is taken back at once, {host: its steps, one after the other}; each group waits for the one before.

    `applied`: {(step, host): handle}, oldest first; `steps`: {step id: phase}.
    """
    hosts: dict[str, list[str]] = {}
    for step, host in reversed(list(applied)):
        hosts.setdefault(step, []).append(host)
    for group in lowering_order({step: steps[step] for step in reversed(hosts)}, hosts, topology):
        yield from _apart({step: hosts[step] for step in group}, topology)


def _apart(of_step: Mapping[str, list[str]], topology: Topology) -> list[dict[str, list[str]]]:
    """Divide steps, {step: hosts}, so that no group touches both members of a pair, but for a step that joins them.

    A step stays whole: both ends of a link go back together. A host keeps the order of its steps.
    """
    groups: list[dict[str, list[str]]] = []
    for step, hosts in of_step.items():
        partners = {topology.partner_of(host) for host in hosts}
        begun = max((at for at, group in enumerate(groups) if not group.keys().isdisjoint(hosts)), default=0)
        fitting = (at for at in range(begun, len(groups)) if partners.isdisjoint(groups[at]))
        place = next(fitting, len(groups))
        if place == len(groups):
            groups.append({})
        for host in hosts:
            groups[place].setdefault(host, []).append(step)
    return groups


def take_back(
    journal: Journal,
    rollout: str,
    access_to: AccessTo,
    steps: Mapping[str, str],
    topology: Topology,
    *,
    only: Collection[tuple[str, str]] | None = None,
) -> list[tuple[Outcome, Handle]]:
    """Take back what the journal says is applied of these steps, {step id: phase}, in the order of mtu.lowering.

    `only`: (step, host) that may be taken back; None: all of these steps.

    Returns each act's outcome with the handle it was about. A group that is not read back as a whole blocks all after
    it: a sender that may still send large keeps the hops high, an SVI that is still high keeps its hosts' links high.
    """
    executor = Executor(journal, rollout)
    applied = {
        key: handle
        for key, handle in handles(journal.lines()).items()
        if key[0] in steps and (only is None or key in only)
    }
    # Before any thread: inventory variables are templates, and Ansible renders them in the main thread only.
    accesses = {host: access_to(host) for _step, host in applied}

    def revert(item: tuple[str, list[str]]) -> list[tuple[Outcome, Handle]]:
        host, its_steps = item  # one after the other: a device has one configuration
        return [(executor.revert(accesses[host], step, applied[step, host]), applied[step, host]) for step in its_steps]

    done: list[tuple[Outcome, Handle]] = []
    for by_host in lowering_groups(applied, steps, topology):
        group = [(host, applied[step, host]) for host, its_steps in by_host.items() for step in its_steps]
        acts = drains.not_to_be_drained(group, topology, access_to)
        if not acts:
            acts = [act for acts in everywhere(revert, by_host.items()) for act in acts]
        if all(outcome.ok for outcome, _handle in acts):
            acts += drains.not_come_back(group, accesses)
        done += acts
        if not all(outcome.ok for outcome, _handle in acts):
            break
    return done
