"""Who speaks in a jumbo segment without being its member: what devices tell, held against the inventory.

Once a segment is lifted, its members send its size to every address of its subnets. A speaker that the inventory does
not name stays at its old size, and loses what it is sent in silence: no step raises it, no proof or probe looks at it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .intent_types import End, Segment, port_under
from .live import Live, network

LOOPBACK = "loopback"


@dataclass(frozen=True)
class Stranger:
    """One speaker, where it was seen: `host` and `interface` are who tells of it, `objects` the names it is waived by.

    `certain` is False where nobody tells whether it speaks in this segment.
    """

    segment: Segment
    host: str
    interface: str | None
    reason: str
    evidence: str
    objects: tuple[str, ...]
    certain: bool = True


def strangers(live: Live) -> Iterator[Stranger]:
    """Yield every speaker of a jumbo segment that is not its member, by its addresses, by its port, by who knows it."""
    seen = _Strangers(live)
    yield from seen.by_address()
    yield from seen.by_port()
    yield from seen.by_neighbour()


class _Strangers:
    def __init__(self, live: Live) -> None:
        self.live = live
        self.topology = live.topology
        self.segments = self.topology.jumbo_segments()
        self._subnets = {network(subnet): segment for segment in self.segments for subnet in segment.subnets}
        self._lengths = sorted({(net.version, net.prefixlen) for net in self._subnets}, reverse=True)
        self._ends = {s.name: {m.end for m in s.members if m.end} for s in self.segments}
        self._devices = {s.name: {m.device for m in s.members} for s in self.segments}
        self._far = self._far_ends()
        self._memberships: dict[str, list[tuple[Segment, End]]] = {}
        for segment in live.intent.segments:
            for member in segment.members:
                if member.end:
                    self._memberships.setdefault(member.device, []).append((segment, member.end))

    def _far_ends(self) -> dict[str, dict[End, list[End]]]:
        """Return {device: {port or LAG: what the inventory says is at the other end of its cables}}."""
        found: dict[str, dict[End, list[End]]] = {}
        for link in self.live.intent.links:
            for end in link.ends:
                for name in dict.fromkeys((end, self.topology.logical(end))):
                    found.setdefault(end.device, {}).setdefault(name, []).append(link.other(end))
        return found

    def _segment_of(self, address: str) -> Segment | None:
        """Return the jumbo segment whose subnet holds an address (with or without a prefix length)."""
        plain = ipaddress.ip_address(address.partition("/")[0].partition("%")[0])
        for version, length in self._lengths:
            if version == plain.version:
                segment = self._subnets.get(ipaddress.ip_network((plain, length), strict=False))
                if segment is not None:
                    return segment
        return None

    # ------------------------------------------------------------------ by address

    def by_address(self) -> Iterator[Stranger]:
        """Yield interfaces that were read with an address inside a jumbo segment's subnet."""
        for host, state in self.live.states.items():
            for name, interface in state["interfaces"].items():
                found: dict[str, tuple[Segment, list[str]]] = {}
                for address in map(str, interface.get("addresses") or ()):
                    segment = self._segment_of(address)
                    if segment is not None and not self._speaks(segment, End(host, name), interface):
                        found.setdefault(segment.name, (segment, []))[1].append(address)
                for segment, addresses in found.values():
                    reason = f"it speaks in {segment.name} and is not its member"
                    told = f"it has {' and '.join(addresses)}"
                    yield Stranger(segment, host, name, reason, told, (f"{host}:{name}", host))

    def _speaks(self, segment: Segment, end: End, interface: Mapping[str, Any]) -> bool:
        if end in self._ends[segment.name]:
            return True
        if interface.get("kind") == LOOPBACK:  # an address of the device, reached by an interface that is a member
            return end.device in self._devices[segment.name]
        return self._as_a_whole(segment, end.device)

    @staticmethod
    def _as_a_whole(segment: Segment, device: str) -> bool:
        """Tell whether the device is a member that is not ours, whatever its interfaces."""
        return any(m.device == device and m.interface is None for m in segment.members)

    # ------------------------------------------------------------------ by port

    def by_port(self) -> Iterator[Stranger]:
        """Yield what is behind ports that carry a segment's VLAN, as far as switches tell VLANs."""
        for segment in self.segments:
            for switch, vlans in self._vlans_of(segment).items():
                unknown = []
                for name, interface in self.live.states[switch]["interfaces"].items():
                    carried = [vlan for vlan in vlans if carries(interface, vlan)]
                    if not carried or interface.get("oper_up") is False:
                        continue
                    far = self._behind(End(switch, name), interface)
                    if not far:
                        unknown.append((name, carried[0]))
                    for end in far:
                        yield from self._at_port(segment, End(switch, name), interface, carried[0], end)
                yield from self._uncabled(segment, switch, unknown)
            yield from self._untold(segment)

    def _vlans_of(self, segment: Segment) -> dict[str, list[int]]:
        """Return {switch that was read: the segment's VLANs there}: the inventory's, else its members' ports'."""
        found: dict[str, set[int]] = {}
        for end in self.topology.gateways(segment):
            found.setdefault(end.device, set())
        for end in self.topology.hosts_in(segment):
            for link in self.topology.access_links(end):
                port = self.topology.logical(link.other(link.end_on(end.device)))
                ranges = (self.live.interface(port) or {}).get("vlans") or []
                alone = {first for first, last in ranges if len(ranges) == 1 and first == last}
                found.setdefault(port.device, set()).update(alone if segment.vlan is None else ())
        read = {switch: vlans for switch, vlans in found.items() if self.live.is_read(switch)}
        return {s: sorted(vlans | ({segment.vlan} if segment.vlan is not None else set())) for s, vlans in read.items()}

    def _behind(self, port: End, interface: Mapping[str, Any]) -> list[End]:
        """Return the far ends of a port, or of the ports that a LAG is made of."""
        ports = [port, *(End(port.device, name) for name in interface.get("members") or ())]
        far = self._far.get(port.device, {})
        return list(dict.fromkeys(end for name in ports for end in far.get(name, ())))

    def _at_port(
        self, segment: Segment, port: End, interface: Mapping[str, Any], vlan: int, far: End
    ) -> Iterator[Stranger]:
        told = f"{port} carries VLAN {vlan} of it"
        if not self.live.intent.devices[far.device].is_host:
            beyond = (self.live.interface(self.topology.logical(far)) or {}).get("vlans")
            pruned = beyond is not None and not any(first <= vlan <= last for first, last in beyond)
            ours = self._devices[segment.name].union(self.topology.leafs_in(segment))
            if far.device not in ours and not pruned:
                reason = f"it carries {segment.name} to {far}, which is not its member"
                yield Stranger(segment, port.device, port.interface, reason, told, (str(port), str(far), far.device))
            return
        elsewhere = self._segment_at(far)
        several = interface["vlans"][0][0] != interface["vlans"][-1][1]  # a trunk: its host may listen to another VLAN
        trusted = elsewhere is not None and elsewhere is not segment and segment.vlan is None
        if self._member_at(segment, far) or trusted or (several and self.live.is_read(far.device)):
            return
        reason = f"its cable ends in {segment.name} and it is not its member"
        yield Stranger(segment, far.device, far.interface, reason, told, (str(far), far.device))

    def _member_at(self, segment: Segment, far: End) -> bool:
        """Tell whether a host's port is a member's: itself, its LAG, a VLAN on it, or the bridge that it is part of."""
        if self._as_a_whole(segment, far.device):
            return True
        return any(self._stands_on(end, far) for end in self._ends[segment.name] if end.device == far.device)

    def _stands_on(self, end: End, port: End) -> bool:
        names, interface = {port.interface, self.topology.logical(port).interface}, self.live.interface(end) or {}
        below = {end.interface, port_under(end.interface), interface.get("parent"), *(interface.get("members") or ())}
        parent = (self.live.interface(End(end.device, str(interface.get("parent")))) or {}).get("members") or ()
        return bool(names & {*below, *parent})

    def _segment_at(self, port: End) -> Segment | None:
        """Return a segment of any role that a host's port speaks in."""
        memberships = self._memberships.get(port.device, ())
        return next((segment for segment, end in memberships if self._stands_on(end, port)), None)

    def _uncabled(self, segment: Segment, switch: str, ports: list[tuple[str, int]]) -> Iterator[Stranger]:
        """Yield ports that are up without a cable in the inventory; members that are not ours are behind as many."""
        elsewhere = sum(1 for member in segment.members if not member.managed)
        unwaived = [
            port for port in ports if not self.live.intent.waived("unmanaged_member", f"{switch}:{port[0]}", switch)
        ]
        for name, vlan in ports if len(unwaived) > elsewhere else ():
            reason = f"it carries {segment.name}, and jumbo_links has no cable for it"
            told = f"it is up in VLAN {vlan}" + (f"; {elsewhere} members are not ours" if elsewhere else "")
            yield Stranger(segment, switch, name, reason, told, (f"{switch}:{name}", switch))

    def _untold(self, segment: Segment) -> Iterator[Stranger]:
        """Yield hosts' ports in no segment at all on a switch of this one that does not tell its ports' VLANs."""
        for switch in self._vlans_of(segment):
            for port, ends in self._far.get(switch, {}).items():
                if (self.live.interface(port) or {"vlans": []}).get("vlans") is not None:
                    continue
                for end in ends:
                    if self.live.intent.devices[end.device].is_host and self._segment_at(end) is None:
                        reason = "it is in no segment, and its switch does not tell the VLAN of its port"
                        objects = (str(end), end.device)
                        yield Stranger(segment, end.device, end.interface, reason, str(port), objects, certain=False)

    # ------------------------------------------------------------------ by who knows it

    def by_neighbour(self) -> Iterator[Stranger]:
        """Yield addresses that hosts have spoken with inside a jumbo segment's subnet, and nobody of the inventory has.

        The next hop of a route is the gateway's, virtual as it may be. A member that is not ours has one of the others.
        """
        known = self._known_addresses()
        found: dict[str, dict[str, tuple[Segment, End]]] = {}
        for host, state in self.live.states.items():
            hops = {str(route.get("gateway")) for route in state.get("routes") or ()}
            for entry in state.get("arp") or ():
                address = str(entry["address"])
                segment = None if address in known or address in hops else self._segment_of(address)
                if segment is not None:
                    told = (segment, End(host, str(entry["interface"])))
                    found.setdefault(segment.name, {}).setdefault(address, told)
        for addresses in found.values():
            (segment, _end), *_others = addresses.values()
            elsewhere = sum(1 for m in segment.members if not m.managed and m.device not in known)
            unwaived = [a for a in addresses if not self.live.intent.waived("unmanaged_member", a)]
            for address, (_segment, end) in addresses.items() if len(unwaived) > elsewhere else ():
                reason = f"it knows {address}, which speaks in {segment.name} and is nobody of the inventory"
                text = f"its ARP table; {elsewhere} members are not ours" if elsewhere else "its ARP table"
                yield Stranger(segment, end.device, end.interface, reason, text, (address,))

    def _known_addresses(self) -> set[str]:
        live = [
            address
            for state in self.live.states.values()
            for interface in state["interfaces"].values()
            for address in interface.get("addresses") or ()
        ]
        said = [a for d in self.live.intent.devices.values() for given in d.addresses.values() for a in given]
        names = [m.device for segment in self.segments for m in segment.members if not m.managed]
        return {str(address).partition("/")[0] for address in (*live, *said, *names)}


def carries(interface: Mapping[str, Any], vlan: int) -> bool:
    """Tell whether an interface switches a VLAN; one that does not tell its VLANs is not known to."""
    return any(first <= vlan <= last for first, last in interface.get("vlans") or ())
