"""Addresses of the lab's interfaces: the inventory's own, else by the order of a segment's members. IPv4 only."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Intent, Link, Segment

LINK_POOL = ipaddress.IPv4Network("10.255.0.0/16")

Addresses = dict[End, tuple[str, ...]]


def assign_addresses(intent: Intent, routed: tuple[Link, ...]) -> Addresses:
    """Return every interface's addresses with their prefix lengths."""
    found = _given(intent)
    for segment in intent.segments:
        for end, address in _of_segment(segment):
            if end.interface not in intent.devices[end.device].addresses:
                found[end] = (*found.get(end, ()), address)
    for link, pair in zip(routed, LINK_POOL.subnets(new_prefix=31), strict=False):
        given = [end for end in link.ends if end in found]
        if len(given) == 1:
            raise JumboError(
                "one end of this routed link has an address, the other has none",
                host=link.a.device,
                object=str(link),
                variable="jumbo_addresses",
                wish=list(found[given[0]]),
                advice=f"Add the address of {link.other(given[0])}, or give none and let the lab choose",
            )
        if not given:
            found.update({end: (f"{address}/31",) for end, address in zip(link.ends, pair, strict=True)})
    return found


def ipv4_networks(segment: Segment) -> list[ipaddress.IPv4Network]:
    """Return the segment's IPv4 subnets."""
    networks = map(ipaddress.ip_network, segment.subnets)
    return [network for network in networks if isinstance(network, ipaddress.IPv4Network)]


def first_address(addresses: tuple[str, ...]) -> str | None:
    """Return the first address without its prefix length."""
    return addresses[0].partition("/")[0] if addresses else None


def _given(intent: Intent) -> Addresses:
    found: Addresses = {}
    for device in intent.devices.values():
        for interface, prefixes in device.addresses.items():
            ipv4 = tuple(prefix for prefix in prefixes if ipaddress.ip_interface(prefix).version == 4)  # noqa: PLR2004
            found[End(device.name, interface)] = ipv4
    return found


def _of_segment(segment: Segment) -> Iterator[tuple[End, str]]:
    """Yield an address for each member that is ours; a stranger's place is left free."""
    for network in ipv4_networks(segment):
        hosts = iter(network.hosts())
        for member in segment.members:
            address = next(hosts, None)
            if address is None:
                raise JumboError(
                    f"the segment has {len(segment.members)} members, its subnet {network} has fewer addresses",
                    object=segment.name,
                    variable="jumbo_segments",
                    wish=str(network),
                    advice="Choose a larger subnet",
                )
            if member.managed and member.end:
                yield member.end, f"{address}/{network.prefixlen}"
