"""Who speaks BGP with whom: the links of the inventory whose routing is `bgp`, a session for each family."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import Link
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import natural_key
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .addressing import LINK_POOLS, Addresses, first_address
from .fabric import Bgp, Peer

BGP = "bgp"
BGP_PLATFORMS = ("eos", "junos")
_FIRST_ASN = 65000  # of the spines, which have one in common; every other switch has the next of its own


def routed_links(topology: Topology) -> tuple[Link, ...]:
    """Return the links that routes go over: of an aggregate one, between the two aggregates."""
    routed = (link for link in topology.uplinks() if link.routing != "none")
    return tuple(dict.fromkeys(_whole(topology, link) for link in routed))


def _whole(topology: Topology, link: Link) -> Link:
    """Return a link by the interfaces that route: for a member, its aggregate."""
    ends = [topology.logical(end) for end in link.ends]
    return link if tuple(ends) == link.ends else replace(link, a=ends[0], b=ends[1], through=())


def bgp_links(topology: Topology) -> tuple[Link, ...]:
    """Return the links that carry BGP sessions."""
    return tuple(link for link in routed_links(topology) if link.routing == BGP)


def bgp_of(topology: Topology, device: str, addresses: Addresses) -> Bgp | None:
    """Return what a device speaks BGP with, None where it does not."""
    numbers = _numbers(topology)
    peers = []
    for link in bgp_links(topology):
        if device in (link.a.device, link.b.device):
            here = link.end_on(device)
            far = link.other(here)
            found = (first_address(addresses.get(far, ()), family) for family in LINK_POOLS)
            peers += [Peer(address, numbers[far.device], far.device, here.interface) for address in found if address]
    return Bgp(numbers[device], tuple(peers)) if peers else None


def _numbers(topology: Topology) -> dict[str, int]:
    devices = topology.intent.devices
    own_numbers = (name for name, device in devices.items() if not device.is_host and "spines" not in device.groups)
    others = sorted(own_numbers, key=natural_key)
    own = {name: _FIRST_ASN + number for number, name in enumerate(others, 1)}
    return {name: own.get(name, _FIRST_ASN) for name in devices}
