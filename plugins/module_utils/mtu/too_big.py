"""Does "fragmentation needed" come back? Asked while a hop is still at the old size, when nobody depends on it yet.

A router that drops a DF packet says so with ICMP type 3 code 4 (RFC 1191). Where that is filtered, connections towards
anything smaller hang. The roll-out itself never relies on it, so a silent router is a finding and no failure.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from .intent_types import End
from .observed import address_book, from_probes
from .topology import Hop, Topology

States = Mapping[str, Mapping[str, Any]]


def questions(topology: Topology, states: States, sources: Iterable[str], size: int) -> dict[str, str]:
    """Return {source: target}, both "device:interface": a far host behind a routed hop that cannot carry `size`.

    `size`: bytes of IP packet. Sources for which every path carries it, or is not known, are left out.
    """
    asked = {}
    for source in sources:
        for target in topology.endpoints():
            if reporters(topology, states, source, str(target), size):
                asked[source] = str(target)
                break
    return asked


def reporters(topology: Topology, states: States, source: str, target: str, size: int) -> list[End]:
    """Return the routed egress of each path that must answer a DF packet of `size`, none where a path carries it."""
    device, _colon, interface = source.partition(":")
    far, _colon, far_interface = target.partition(":")
    found = []
    for path in topology.paths(End(device, interface), End(far, far_interface)):
        narrow = next((hop for hop in path[1:] if _too_narrow(hop, states, size)), None)
        if narrow is None or not narrow.routed:
            return []
        found.append(narrow.egress)
    return list(dict.fromkeys(found))


def silent_routers(
    topology: Topology, states: States, asked: Mapping[str, str], replies: Mapping[str, Any], size: int, baseline: int
) -> list[dict[str, Any]]:
    """Return a finding for each router whose answer did not come, from probe replies of one flow each.

    A pair whose packets of the old size did not pass either tells nothing about size and gives no finding.
    """
    gate = {"pairs": list(asked.items()), "ip_mtus": (size, baseline), "flows": 1}
    seen, _refusals = from_probes(gate, replies, address_book(states))
    found: dict[str, dict[str, Any]] = {}
    for source, target in asked.items():
        large, small = seen[(source, target), size], seen[(source, target), baseline]
        if large.errors or not small.carried or not large.lost or large.too_big:
            continue
        for egress in reporters(topology, states, source, target, size):
            found.setdefault(
                egress.device,
                {
                    "host": egress.device,
                    "interface": None,
                    "reason": 'its "fragmentation needed" does not arrive: connections that need it would hang',
                    "evidence": f"{source} sent {size} bytes towards {target} and heard nothing",
                },
            )
    return list(found.values())


def _too_narrow(hop: Hop, states: States, size: int) -> bool:
    interface = (states.get(hop.egress.device, {}).get("interfaces") or {}).get(hop.egress.interface) or {}
    mtu = interface.get("ip_mtu")
    return mtu is not None and mtu < size
