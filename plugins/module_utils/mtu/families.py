"""Which IP families a gate measures between two ends: each in which production may send large packets there."""

from __future__ import annotations

import ipaddress
from typing import Any, Callable, Mapping

from .intent_types import End
from .topology import Topology

IPV4, IPV6 = 4, 6

Families = Callable[[str, str], "list[int | None]"]
"""(source, target) -> the families that have to be measured between them; [None] where no address is known."""


def addresses_of(end: str, states: Mapping[str, Any], topology: Topology) -> dict[int, str]:
    """Return {family: address} of "device:interface", from what the device told; link-local ones are left out.

    An end in a segment counts with its addresses inside the segment's subnets: these are what is lifted. Where none is
    inside (or it is in no segment, as a switch's port), the first of each family counts.
    """
    device, _colon, interface = end.partition(":")
    found = ((states.get(device) or {}).get("interfaces") or {}).get(interface) or {}
    known = [ipaddress.ip_interface(str(text)).ip for text in found.get("addresses") or ()]
    known = [address for address in known if not address.is_link_local]
    segment = topology.segment_of(End(device, interface))
    networks = [ipaddress.ip_network(subnet) for subnet in segment.subnets] if segment else []
    inside = [address for address in known if any(address in network for network in networks)]
    chosen: dict[int, str] = {}
    for address in inside or known:
        chosen.setdefault(address.version, str(address))
    return chosen


def families_between(states: Mapping[str, Any], topology: Topology) -> Families:
    """Return what tells the families that two ends have in common."""

    def common(source: str, target: str) -> list[int | None]:
        both = set(addresses_of(source, states, topology)) & set(addresses_of(target, states, topology))
        return [*sorted(both)] or [None]

    return common
