"""Proof that probes took every way that they should: ports that must have received some, and those that have not.

Flows are spread by a hash that nobody sees. Enough of them miss a leg or a member of a LAG hardly ever by chance, but
always where a hash is broken or a leg is out of use; then its packet counter stands still.
"""

from __future__ import annotations

from typing import Any, Collection, Iterator, Mapping

from .coverage import Between, ways_between
from .intent_types import End
from .proof_rules import PROBES
from .topology import Topology


def ports_to_cross(gate: Mapping[str, Any], topology: Topology, drained: Collection[str] = ()) -> list[str]:
    """Return "device:interface" of the switches' ports at which a gate's probes must arrive; none for other gates.

    These are the ports that the sources are cabled to, and those of every equal-cost way between their switches, but
    for the `drained` ones: traffic is led around them.
    """
    if gate["name"] not in PROBES:
        return []
    return [port for port in dict.fromkeys(map(str, _ports(gate, topology))) if port not in drained]


def drained_by(step: Mapping[str, Any]) -> list[str]:
    """Return "device:interface" of what a step drains."""
    changes = (change for change in step["changes"] if change["field"] == "drained" and change["to"])
    return [f"{change['host']}:{change['object']}" for change in changes]


def _ports(gate: Mapping[str, Any], topology: Topology) -> Iterator[End]:
    sources: dict[End, None] = {}
    ways: dict[Between, None] = {}
    for pair in gate["pairs"]:
        here, there = (End(*end.split(":", 1)) for end in pair)
        sources[here] = None
        ways.update((way, None) for way in ways_between(topology, here, there))
    for source in sources:
        yield from (link.other(link.end_on(source.device)) for link in topology.access_links(source))
    for way in ways:
        yield from (link.other(link.end_on(device)) for link, device in way.crossed(topology))


def not_crossed(
    gate: Mapping[str, Any], topology: Topology, packets: Mapping[str, int], drained: Collection[str] = ()
) -> list[str]:
    """Return the ports of `ports_to_cross` that have received nothing; `packets`: {port: received since}."""
    return [port for port in ports_to_cross(gate, topology, drained) if packets.get(port) == 0]
