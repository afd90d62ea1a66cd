"""Drained links, judged by what both ends tell of their sessions: is traffic led around them, and does it come back.

Sessions over links that are not drained must stay as they are: a change of one link that costs another one its session
was not planned. What is not told is never good: a session that was told at preflight must be told again. Times are
seconds.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, Collection, Dict, Iterable, Iterator, Mapping, Sequence

from .intent_types import End, Link
from .topology import Topology

ESTABLISHED, BGP = "established", "bgp"
NOT_TOLD = "(not told)"
QUIET = 25.0
"""Packets a second that a drained interface may still receive: LLDP, LACP, ARP and BFD go on, traffic does not."""
SLACK = 5.0
"""Seconds by which two readings of when a session came up may differ: some devices tell it as an age."""

States = Mapping[str, Mapping[str, Any]]
Sessions = Sequence[Mapping[str, Any]]
Step = Mapping[str, Any]
Finding = Dict[str, str]  # {host, interface, reason, evidence}


def sessions_over(states: States, end: End) -> Sessions:
    """Return the adjacencies that a device tells over one of its interfaces."""
    interface = (states.get(end.device) or {}).get("interfaces", {}).get(end.interface) or {}
    return interface.get("adjacencies") or ()


def _vanished(preflight: States, now: States, end: End) -> Iterator[Finding]:
    """Yield the sessions that were up at preflight and that nothing is told of any more."""
    told = {one["neighbour"] for one in sessions_over(now, end)}
    for one in sessions_over(preflight, end):
        if one["state"] == ESTABLISHED and one["neighbour"] not in told:
            yield _finding(end, "a session that was up at preflight is not told any more", str(one["neighbour"]))


def not_back(preflight: States, states: States, ends: Iterable[End]) -> list[Finding]:
    """Return the sessions over these interfaces that are not up again; what somebody else has shut down is left out."""
    found: list[Finding] = []
    for end in ends:
        found += _vanished(preflight, states, end)
        sessions = sessions_over(states, end)
        if not sessions:
            found.append(_finding(end, "no session is told over it", "it was undrained"))
        for one in sessions:
            if not one["shut"] and one["state"] != ESTABLISHED:
                text = f"{one['neighbour']} is {one['state'] or 'not told'}"
                found.append(_finding(end, f"its {one['protocol']} session has not come back", text))
    return found


def not_drained(preflight: States, before: States, after: States, ends: Iterable[End]) -> list[Finding]:
    """Return what shows that traffic still goes over these interfaces, or hides whether: sessions, routes, packets."""
    found: list[Finding] = []
    for end in ends:
        found += _vanished(preflight, after, end)
        sessions = sessions_over(after, end)
        if not sessions:
            found.append(_finding(end, "whether it is drained cannot be told", "no session is told over it"))
        for one in sessions:
            if one["state"] in (None, ESTABLISHED) or one["routes"] != 0:
                state, routes = (NOT_TOLD if value is None else value for value in (one["state"], one["routes"]))
                found.append(_finding(end, "it is not drained", f"{one['neighbour']} is {state} with {routes} routes"))
        rate = packets_a_second(before, after, end)
        if rate is None:
            found.append(_finding(end, "whether it is quiet cannot be told", "its packets were not counted twice"))
        elif rate > QUIET:
            found.append(_finding(end, "it is not quiet", f"it receives {rate:.0f} packets a second"))
    return found


def packets_a_second(before: States, after: States, end: End) -> float | None:
    """Return what an interface receives a second between two readings, None where that is not told."""
    first, last = _counted(before, end), _counted(after, end)
    if first is None or last is None or last[0] <= first[0] or last[1] < first[1]:
        return None
    return (last[1] - first[1]) / (last[0] - first[0])


def _counted(states: States, end: End) -> tuple[float, int] | None:
    """Return (when, packets) of a reading, None where either is not told."""
    state = states.get(end.device) or {}
    interface = state.get("interfaces", {}).get(end.interface) or {}
    at, count = state.get("read_at"), (interface.get("counters") or {}).get("input_packets")
    return None if at is None or count is None else (float(at), int(count))


def flapped(known: Mapping[End, Sessions], now: States, expected: Collection[End]) -> list[Finding]:
    """Return sessions that are not up since `known` (see `references`), but for those over `expected` interfaces.

    Only devices that were read `now` are judged.
    """
    found = []
    for end, sessions in known.items():
        if end in expected or "interfaces" not in now.get(end.device, {}):
            continue
        told = {one["neighbour"]: one for one in sessions_over(now, end)}
        for old in sessions:
            why = _went_down(old, told.get(old["neighbour"]))
            if why:
                found.append(_finding(end, "a session went down on a link that was not drained", why))
    return found


def _went_down(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> str | None:
    """Return what shows that a session went down, or hides whether it did; without `since` only its state counts."""
    name = old["neighbour"]
    if new is None:
        return f"{name} is not told any more"
    if new["state"] != ESTABLISHED:
        return f"{name} is {new['state'] or NOT_TOLD}"
    if "since" not in old:
        return None
    if None in (old["since"], new["since"]):
        return f"since when {name} is up is not told"
    return f"{name} is up since another time" if abs(new["since"] - old["since"]) > SLACK else None


def references(
    preflight: States, steps: Sequence[Step], current: str, after: Callable[[str], States | None], topology: Topology
) -> dict[End, Sessions]:
    """Return the sessions over links between switches that must still be up, as they were read last by right.

    That is at preflight, or right after the last step before `current` that undrained the link or declared an outage of
    it; `after` returns the reading of a step's gate, None where it had none: then since when it is up is not known.
    """
    found: dict[End, Sessions] = {
        end: [one for one in sessions_over(preflight, end) if one["state"] == ESTABLISHED]
        for end in _ends_over(topology.uplinks(), topology)
    }
    for step in itertools.takewhile(lambda step: step["id"] != current, steps):
        links = _outages(step, topology) | set(links_of(topology, _undrains(step)))
        reading = (after(step["id"]) or {}) if links else {}
        for end in _ends_over(links, topology):
            again = {one["neighbour"]: one for one in sessions_over(reading, end) if one["state"] == ESTABLISHED}
            found[end] = [again.get(old["neighbour"], _timeless(old)) for old in found[end]]
    return found


def _timeless(session: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in session.items() if name != "since"}


def _ends_over(links: Iterable[Link], topology: Topology) -> list[End]:
    return list(dict.fromkeys(topology.logical(port) for link in links for port in link.ends))


def no_other_way(states: States, topology: Topology, drained: Collection[Link]) -> str | None:
    """Return why these links cannot be drained now: switches that only they connect, by what is up at this moment.

    A link that is not told to be up is down.
    """
    down = {link for link in topology.uplinks() if link in drained or not is_up(states, topology, link)}
    gone = frozenset(
        frozenset((link.a.device, link.b.device))
        for link in down
        if set(topology.between(link.a.device, link.b.device)) <= down
    )
    before, after = topology.graph.parts(), topology.graph.parts(gone)
    first: dict[int, str] = {}
    for leaf in dict.fromkeys(leaf for segment in topology.jumbo_segments() for leaf in topology.leafs_in(segment)):
        if leaf not in before:
            continue
        other = first.setdefault(before[leaf], leaf)
        if after[leaf] != after[other] and not topology.intent.waived("only_path", leaf, other, *map(str, drained)):
            others = ", ".join(sorted(map(str, down - set(drained))))
            return f"{other} and {leaf} would have no other way" + (f": {others} not told to be up" if others else "")
    return None


def is_up(states: States, topology: Topology, link: Link) -> bool:
    """Tell whether traffic may go over a link: both ends say that they are up, and so are the sessions told over it.

    Where it runs BGP one end must tell a session at least: not every platform tells its own.
    """
    told = []
    for end in map(topology.logical, link.ends):
        interface = (states.get(end.device) or {}).get("interfaces", {}).get(end.interface)
        if interface is None or interface.get("oper_up") is not True:
            return False
        told += [one["state"] for one in interface.get("adjacencies") or ()]
    return all(state == ESTABLISHED for state in told) and (bool(told) or link.routing != BGP)


def links_of(topology: Topology, changes: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Return the links that changes of `drained` are about."""
    ends = set(ends_of(changes))
    return [link for link in topology.uplinks() if ends & {topology.logical(port) for port in link.ends}]


def ends_of(changes: Iterable[Mapping[str, Any]]) -> list[End]:
    """Return the interfaces of changes of `drained`."""
    return [End(change["host"], change["object"]) for change in changes if change["field"] == "drained"]


def drained_at(steps: Sequence[Step], current: str, topology: Topology) -> list[Link]:
    """Return the links that are drained in the course of a step of a plan: its own, and those still to be undrained."""
    found: dict[Link, None] = {}
    for step in steps:
        found.update(dict.fromkeys(links_of(topology, step["changes"])))
        if step["id"] == current:
            break
        for link in links_of(topology, _undrains(step)):
            found.pop(link)
    return list(found)


def expected_down(steps: Sequence[Step], current: str, topology: Topology) -> set[End]:
    """Return the interfaces whose sessions may go down in the course of a step: drained, or a declared outage."""
    outages = next((_outages(step, topology) for step in steps if step["id"] == current), set())
    return set(_ends_over([*drained_at(steps, current, topology), *outages], topology))


def _outages(step: Step, topology: Topology) -> set[Link]:
    declared = {outage["link"] for outage in step["outage"]}
    return {link for link in topology.uplinks() if str(link) in declared}


def _undrains(step: Step) -> list[Mapping[str, Any]]:
    return [change for change in step["changes"] if change["field"] == "drained" and not change["to"]]


def _finding(end: End, reason: str, evidence: str) -> Finding:
    return {"host": end.device, "interface": end.interface, "reason": reason, "evidence": evidence}


def sentences(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield each finding as a sentence."""
    return (f"{f['host']}:{f['interface']} {f['reason']} ({f['evidence']})" for f in findings)
