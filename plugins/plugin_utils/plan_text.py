"""The plan for a person to read before saying yes: every step, and what is left by a run that stops after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import End, Link
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import Proof
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.plugin_utils import summary

FILE = "plan.txt"

RELOADED = "reload_timer"

SESSIONS = ("bgp", "ospf", "isis")
"""Kinds of routing that keep a session over their link."""

DEAD_MEN = {"commit_timer": "the device's own timer", "guard": "the guard on the host", "at_job": "its at(1) job"}

ALWAYS_UNKNOWN = (
    "sessions other than the routing that jumbo_links gives a link: BGP over several hops, BFD, storage, tunnels",
    "what the gates will measure: packets of full size are sent only when a step is carried out",
)

OFFLINE_UNKNOWN = (
    "what has changed on devices since these facts were written",
    "whether devices accept the values: no wish was loaded, and one that is refused makes another plan",
    "whether packets of today's size cross the fabric, and who sends what no pin bounds: hosts were not asked",
    "whether an earlier roll-out of this evidence directory has to be taken back first",
)

Step = Mapping[str, Any]


def verdict_line(proof: Proof) -> str:
    """Return the proof's verdict; a plan that is not proven is refused before anybody reads it."""
    return f"proven for {summary.counted(proof.pairs, 'pair')} in {summary.counted(proof.moments, 'moment')}"


def lines_of(
    plan: Mapping[str, Any], topology: Topology, proof: Proof, head: Iterable[str], saved: str | None
) -> list[str]:
    """Return the whole text. `head`: the lines of a summary; `saved`: where facts that were read earlier come from."""
    lines = [f"the plan is {saved or 'made from what devices say now'}", *head]
    if plan["steps"] and not any(step["outage"] for step in plan["steps"]):
        lines.append("no link flaps: no step declares an outage")
    unknown = (*(OFFLINE_UNKNOWN if saved else ()), *ALWAYS_UNKNOWN)
    lines += ["this plan does not know:", *(f"  - {text}" for text in unknown)]
    return [*lines, *step_lines(plan, topology, excepted=bool(proof.notes))]


def step_lines(plan: Mapping[str, Any], topology: Topology, *, excepted: bool = False) -> list[str]:
    """Return the plan by stage, wave and step. `excepted`: whether the proof has notes of what it leaves out."""
    lines: list[str] = []
    place, stopped, sessions = None, _Stopped(plan["exposures"], excepted), _sessions(topology)
    for step in plan["steps"]:
        if place != (step["stage"], step["wave"]):
            place = (step["stage"], step["wave"])
            lines.append(f"stage {step['stage']}, wave {step['wave']}")
        gate = f", then gate {step['gate']['name']}" if step["gate"] else ""
        lines.append(f"step {step['id']} ({step['phase']}){gate}")
        stopped.confirm(step)
        about = [_change(change) for change in step["changes"]] + _touched(step, sessions)
        lines += [f"  {text}" for text in (*about, *stopped.lines())]
    return lines


class _Stopped:
    """Who loses what, and who sends large, if the run ends when the steps so far are confirmed.

    The proof is about routed packets of hosts that honour their route. What it does not cover is listed by the plan's
    exposures: from their first step on such packets may be large, and stay so.
    """

    def __init__(self, exposures: Iterable[Mapping[str, Any]], excepted: bool) -> None:
        self._begin: dict[str, list[Mapping[str, Any]]] = {}
        for exposure in exposures:
            self._begin.setdefault(exposure["from_step"], []).append(exposure)
        self._segments: dict[tuple[str, int], dict[str, None]] = {}
        self._lifted: dict[str, int] = {}
        self._persisted: set[str] = set()
        self._proven = "proven, but see the notes" if excepted else "proven"

    def confirm(self, step: Step) -> None:
        """Count one step more as confirmed."""
        for exposure in self._begin.get(step["id"], ()):
            self._segments.setdefault((exposure["class"], exposure["ip_mtu"]), {})[exposure["segment"]] = None
        for change in step["changes"]:
            host = change["host"]
            if change["field"] == "route_mtu" and " " in change["object"] and change["to"] > change["from"]:
                self._lifted[host] = max(self._lifted.get(host, 0), change["to"])
            if change["field"] == "persisted" and change["to"]:
                self._persisted.add(host)

    def lines(self) -> list[str]:
        """Return what a person should know of stopping here."""
        kinds: dict[tuple[int, tuple[str, ...]], list[str]] = {}
        for (kind, ip_mtu), segments in self._segments.items():
            kinds.setdefault((ip_mtu, tuple(segments)), []).append(kind)
        lost = [
            f"not covered: {', '.join(names)} packets of {_some(segments)} up to {ip_mtu} bytes are lost where a "
            "receiver or a hop is still at less"
            for (ip_mtu, segments), names in kinds.items()
        ]
        used = "no host is lifted by this plan yet"
        if self._lifted:
            used = f"{_some(list(self._lifted))} may send up to {max(self._lifted.values())} bytes to lifted prefixes"
            used += ", also after a reboot" if set(self._lifted) <= self._persisted else ""
        return [
            f"stopped after it: what keeps to its routes loses nothing for its size ({self._proven}); {used}",
            *lost,
        ]


def _change(change: Mapping[str, Any]) -> str:
    """Return one change, with the device's own numbers where it has such."""
    numbers = (change["from_device_mtu"], change["to_device_mtu"])
    if change["field"] != "ip_mtu" or numbers == (None, None):
        return summary.change_line(change)
    before, after = ("not known" if number is None else number for number in numbers)
    return f"{summary.change_line(change)} (the device's own number: {before} -> {after})"


def _touched(step: Step, sessions: Mapping[End, list[Link]]) -> list[str]:
    """Return what the step does besides its changes: declared outages, sessions on its links, its dead-man."""
    lines = [
        f"flaps: {outage['link']} loses packets of every size for up to {outage['seconds']} s"
        for outage in step["outage"]
    ]
    changed = [End(change["host"], change["object"]) for change in step["changes"] if change["field"] == "ip_mtu"]
    links = dict.fromkeys(link for end in changed for link in sessions.get(end, ()))
    lines += [f"session: {link.routing} over {link}, whose MTU changes" for link in links]
    return [*lines, *(_taken_back(step) if step["dead_man"] and step["changes"] else ())]


def _taken_back(step: Step) -> Iterator[str]:
    """Yield what takes a step back that is stopped within, once for each kind of its devices."""
    kind, others = step["dead_man"]["kind"], step["dead_man"].get("others") or {}
    hosts: dict[str, list[str]] = {}
    for host in dict.fromkeys(change["host"] for change in step["changes"]):
        hosts.setdefault(others.get(host, kind), []).append(host)
    after = f"after {step['dead_man']['seconds']} s, unless it is confirmed"
    for found, names in hosts.items():
        on = f" on {', '.join(names)}" if len(hosts) > 1 else ""
        if found == RELOADED:
            sentence = (
                f"nothing takes it back{on}; only where management crosses what changes, a reload of the whole box"
            )
            yield f"stopped within it: {sentence} does, {after}"
        else:
            yield f"stopped within it: {DEAD_MEN.get(found, found)}{on} takes it back {after}"


def _sessions(topology: Topology) -> dict[End, list[Link]]:
    """Return the links that carry a routing session, by each interface that they end on."""
    found: dict[End, list[Link]] = {}
    for link in topology.intent.links:
        if link.routing in SESSIONS:
            for end in link.ends:
                found.setdefault(topology.logical(end), []).append(link)
    return found


def _some(hosts: Sequence[str]) -> str:
    shown = 4
    more = f" and {len(hosts) - shown} more" if len(hosts) > shown else ""
    return ", ".join(hosts[:shown]) + more
