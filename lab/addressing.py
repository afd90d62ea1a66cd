"""Addresses of the lab's interfaces: the inventory's own, else by the order of a segment's members, in each family."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Intent, Link, Segment

from .fabric import Pair

# Routed links have IPv6 where any segment has.
LINK_POOLS = {4: ipaddress.ip_network("10.255.0.0/16"), 6: ipaddress.ip_network("fd00:10:255::/112")}

Addresses = dict[End, tuple[str, ...]]
PAIR_POOL = ipaddress.ip_network("10.254.0.0/16")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def assign_addresses(intent: Intent, routed: tuple[Link, ...]) -> Addresses:
    """Return every interface's addresses with their prefix lengths."""
    found = _given(intent)
    for segment in intent.segments:
        for end, address in _of_segment(segment):
            if end.interface not in intent.devices[end.device].addresses:
                found[end] = (*found.get(end, ()), address)
    families = sorted({network.version for segment in intent.segments for network in networks(segment)} | {4})
    for number, link in enumerate(routed):
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
            found.update({end: tuple(_of_link(number, side, families)) for side, end in enumerate(link.ends)})
    return found


def pair_addresses(pairs: Iterable[Pair]) -> Addresses:
    """Return the addresses by which paired switches talk to each other; no route leads there."""
    found: Addresses = {}
    for number, pair in enumerate(pairs):
        for side, end in enumerate(pair.ends):
            found[End(end.device, pair.svi)] = (f"{PAIR_POOL[2 * number + side]}/31",)
    return found


def networks(segment: Segment) -> list[Network]:
    """Return the segment's subnets."""
    return [ipaddress.ip_network(subnet) for subnet in segment.subnets]


def first_address(addresses: tuple[str, ...], family: int = 4) -> str | None:
    """Return the first address of a family without its prefix length."""
    plain = (prefix.partition("/")[0] for prefix in addresses)
    return next((address for address in plain if family_of(address) == family), None)


def family_of(address: str) -> int:
    """Return the family of an address or a prefix, 4 or 6."""
    return 6 if ":" in address else 4


def _of_link(number: int, side: int, families: list[int]) -> Iterator[str]:
    """Yield the addresses of one end of a routed link: two of each pool for each link (RFC 3021, RFC 6164)."""
    for family in families:
        pool = LINK_POOLS[family]
        yield f"{pool[2 * number + side]}/{pool.max_prefixlen - 1}"


def _given(intent: Intent) -> Addresses:
    found: Addresses = {}
    for device in intent.devices.values():
        for interface, prefixes in device.addresses.items():
            found[End(device.name, interface)] = tuple(prefixes)
    return found


def _of_segment(segment: Segment) -> Iterator[tuple[End, str]]:
    """Yield an address for each member that is ours; a stranger's place is left free."""
    for network in networks(segment):
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
