"""Drained links, judged by what both ends tell of their sessions: is traffic led around them, and does it come back.

Sessions over links that are not drained must stay as they are: a change of one link that costs another one its session
was not planned. Times are seconds.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterable, Iterator, Mapping, Sequence

from .intent_types import End, Link
from .topology import Topology

ESTABLISHED = "established"
QUIET = 25.0
"""Packets a second that a drained interface may still receive: LLDP, LACP, ARP and BFD go on, traffic does not."""
SLACK = 5.0
"""Seconds by which two readings of when a session came up may differ: some devices tell it as an age."""

States = Mapping[str, Mapping[str, Any]]
Finding = Dict[str, str]  # {host, interface, reason, evidence}


def sessions_over(states: States, end: End) -> Sequence[Mapping[str, Any]]:
    """Return the adjacencies that a device tells over one of its interfaces."""
    interface = (states.get(end.device) or {}).get("interfaces", {}).get(end.interface) or {}
    return interface.get("adjacencies") or ()


def not_back(states: States, ends: Iterable[End]) -> list[Finding]:
    """Return the sessions over these interfaces that are not up again; what somebody else has shut down is left out."""
    found = []
    for end in ends:
        sessions = sessions_over(states, end)
        if not sessions:
            found.append(_finding(end, "no session is told over it", "it was undrained"))
        for one in sessions:
            if not one["shut"] and one["state"] != ESTABLISHED:
                text = f"{one['neighbour']} is {one['state'] or 'not told'}"
                found.append(_finding(end, f"its {one['protocol']} session has not come back", text))
    return found


def not_drained(before: States, after: States, ends: Iterable[End]) -> list[Finding]:
    """Return what shows that traffic still goes over these interfaces: sessions, routes, packets."""
    found = []
    for end in ends:
        for one in sessions_over(after, end):
            if one["state"] == ESTABLISHED or one["routes"]:
                text = f"{one['neighbour']} is {one['state']} with {one['routes']} routes"
                found.append(_finding(end, "it is not drained", text))
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


def flapped(preflight: States, now: States, topology: Topology, predicted: Collection[Link]) -> list[Finding]:
    """Return sessions that were up at preflight and went down since, on links where nobody planned it."""
    found = []
    for link in topology.uplinks():
        for end in map(topology.logical, link.ends) if link not in predicted else ():
            known = {one["neighbour"]: one for one in sessions_over(preflight, end) if one["state"] == ESTABLISHED}
            for one in sessions_over(now, end):
                old = known.get(one["neighbour"])
                if old and _went_down(old, one):
                    text = f"{one['neighbour']} is {one['state']} since another time than at preflight"
                    found.append(_finding(end, "a session went down on a link that was not drained", text))
    return found


def _went_down(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if new["state"] != ESTABLISHED:
        return True
    return None not in (old["since"], new["since"]) and abs(new["since"] - old["since"]) > SLACK


def no_other_way(states: States, topology: Topology, drained: Collection[Link]) -> str | None:
    """Return why these links cannot be drained now: switches that only they connect, by what is up at this moment."""
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
            return (
                f"{other} and {leaf} would have no other way: {', '.join(sorted(map(str, down - set(drained))))} down"
            )
    return None


def is_up(states: States, topology: Topology, link: Link) -> bool:
    """Tell whether traffic may go over a link, as far as its ends tell: it is up, and so are its sessions."""
    for end in map(topology.logical, link.ends):
        interface = (states.get(end.device) or {}).get("interfaces", {}).get(end.interface)
        if interface is None or interface.get("oper_up") is False:
            return False
        if any(one["state"] != ESTABLISHED for one in interface.get("adjacencies") or ()):
            return False
    return True


def links_of(topology: Topology, changes: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Return the links that changes of `drained` are about."""
    ends = set(ends_of(changes))
    return [link for link in topology.uplinks() if ends & {topology.logical(port) for port in link.ends}]


def ends_of(changes: Iterable[Mapping[str, Any]]) -> list[End]:
    """Return the interfaces of changes of `drained`."""
    return [End(change["host"], change["object"]) for change in changes if change["field"] == "drained"]


def predicted(steps: Iterable[Mapping[str, Any]], topology: Topology) -> set[Link]:
    """Return the links that a plan drains, or declares an outage of: sessions over them may go down."""
    found: set[Link] = set()
    declared: set[str] = set()
    for step in steps:
        found.update(links_of(topology, step["changes"]))
        declared.update(outage["link"] for outage in step["outage"])
    return found | {link for link in topology.uplinks() if str(link) in declared}


def _finding(end: End, reason: str, evidence: str) -> Finding:
    return {"host": end.device, "interface": end.interface, "reason": reason, "evidence": evidence}


def sentences(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield each finding as a sentence."""
    return (f"{f['host']}:{f['interface']} {f['reason']} ({f['evidence']})" for f in findings)
