"""Reads `jumbo_segments`: the broadcast domains, their subnets and who speaks in them."""

from __future__ import annotations

import ipaddress
from typing import Any, Mapping

from .intent_lists import known, read_end
from .intent_types import Device, End, Member, Segment, port_under
from .intent_values import IP_MTU_RANGE, ROLES, Where, choice, integer, ip_mtu, items, mapping, text

SHAPE = "{name, vlan, subnets, role, ip_mtu, members}"
_KEYS = ("name", "vlan", "subnets", "subnet", "role", "ip_mtu", "members")


def _subnet(where: Where, prefix: Any) -> str | None:
    try:
        return str(ipaddress.ip_network(str(prefix)))
    except ValueError as error:
        where.bad(f"this is no subnet: {error}", prefix, "such as 10.0.0.0/24 or fd00:1::/64")
        return None


class SegmentReader:
    """Reads the entries with what is known of the devices and their interfaces.

    `interfaces`: {device: names known from links, LAGs and addresses}. `sizes`: (jumbo, baseline), bytes of IP packet.
    """

    def __init__(
        self, where: Where, devices: Mapping[str, Device], interfaces: Mapping[str, set[str]], sizes: tuple[int, int]
    ) -> None:
        self.where = where
        self.devices = devices
        self.interfaces = interfaces
        self.jumbo, self.baseline = sizes
        self.named: set[tuple[str, str]] = set()  # ends that some segment names in full

    def read(self, value: Any) -> tuple[Segment, ...]:
        """Return the segments whose entries are good."""
        entries = [entry for entry in (mapping(self.where, e, _KEYS, SHAPE) for e in items(self.where, value)) if entry]
        for entry in entries:
            for member in entry.get("members") or ():
                name = member.get("name") if isinstance(member, Mapping) else member
                device, colon, interface = str(name).partition(":")
                if colon:
                    self.named.add((device, interface))
        segments = tuple(segment for segment in map(self._segment, entries) if segment)
        self._check_unique(segments)
        return segments

    def _segment(self, entry: Mapping[str, Any]) -> Segment | None:
        name = text(self.where, entry.get("name"), "the name of a segment")
        if name is None:
            return None
        here = self.where.inside(name)
        role = choice(here, entry.get("role"), "other", ROLES)
        vlan = entry.get("vlan")
        if vlan is not None:
            vlan = integer(here, vlan, 1, (1, 4094), "the VLAN")
        default = self.jumbo if role == "jumbo" else self.baseline
        size = default if entry.get("ip_mtu") is None else ip_mtu(here, entry["ip_mtu"], default)
        subnets = self._subnets(here, entry)
        if role == "jumbo" and not (entry.get("subnets") or entry.get("subnet")):
            here.bad("a jumbo segment needs its subnet: routes are lifted by prefix", subnets, "subnets: [10.0.0.0/24]")
        members = self._members(here, entry.get("members"))
        return Segment(name, vlan, subnets, role, size, members)

    def _subnets(self, here: Where, entry: Mapping[str, Any]) -> tuple[str, ...]:
        if "subnet" in entry and "subnets" in entry:
            here.bad("both subnet and subnets are given", entry["subnet"], "one of them")
        given = [entry["subnet"]] if "subnet" in entry else items(here, entry.get("subnets", []))
        return tuple(subnet for subnet in (_subnet(here, prefix) for prefix in given) if subnet)

    def _members(self, here: Where, value: Any) -> tuple[Member, ...]:
        given = items(here, [] if value is None else value)
        if not given:
            here.bad(
                "this segment has no members",
                given,
                "at least one, such as 'h1:eth1'",
                "List them or remove the segment",
            )
        members = [member for member in (self._member(here, item) for item in given) if member]
        return tuple(members)

    def _member(self, here: Where, item: Any) -> Member | None:
        if isinstance(item, str):
            return self._managed(here, item)
        given = mapping(
            here, item, ("name", "managed", "ip_mtu"), "'device:interface', a host, or {name, managed: false, ip_mtu}"
        )
        if given is None:
            return None
        name = text(here, given.get("name"), "the name of a member")
        if name is None:
            return None
        if given.get("managed", True) is not False:
            return self._managed(here, name)
        size = self.baseline
        if given.get("ip_mtu") is not None:
            limits = (IP_MTU_RANGE[0], 65535)
            size = integer(here, given["ip_mtu"], size, limits, f"the MTU of {name} (bytes of IP packet)")
        device, colon, interface = name.partition(":")
        return Member(device, interface if colon else None, False, size)

    def _managed(self, here: Where, name: str) -> Member | None:
        if ":" not in name:
            return self._bare(here, name)
        end = read_end(here, name, self.devices)
        if end is None:
            return None
        names = self.interfaces.get(end.device, set())
        # A VLAN interface such as eth1.10 is as good as its parent. SVIs of a switch can't be known from the inventory.
        if (
            self.devices[end.device].is_host
            and names
            and port_under(end.interface) not in {port_under(n) for n in names}
        ):
            advice = "Correct the name, or add the interface to jumbo_links or jumbo_addresses"
            here.bad(
                f"{end.device} has no interface {end.interface!r} in the inventory", str(name), known(names), advice
            )
            return None
        return Member(end.device, end.interface)

    def _bare(self, here: Where, name: str) -> Member | None:
        device = self.devices.get(name)
        if device is None:
            advice = "Add it, or write {name, managed: false, ip_mtu} if it is not ours"
            here.bad(f"the member {name!r} is not in the inventory", str(name), known(self.devices, name), advice)
            return None
        if not device.is_host:
            here.bad(f"{name} is a switch: its gateway interface must be named", str(name), f"such as {name}:Vlan10")
            return None
        free = sorted(i for i in self.interfaces.get(name, set()) if (name, i) not in self.named)
        if len(free) != 1:
            found = "no interface" if not free else "several interfaces"
            choices = ", ".join(f"{name}:{interface}" for interface in free) or f"{name}:<interface>"
            here.bad(f"{found} of {name} could be meant", str(name), choices, "Name the interface")
            return None
        return Member(name, free[0])

    def _check_unique(self, segments: tuple[Segment, ...]) -> None:
        names: set[str] = set()
        ends: dict[End, str] = {}
        for segment in segments:
            here = self.where.inside(segment.name)
            if segment.name in names:
                here.bad("two segments have this name", segment.name, "one")
            names.add(segment.name)
            for end in (member.end for member in segment.members if member.end):
                if end in ends:
                    here.bad(f"{end} is a member twice, in {ends[end]} and {segment.name}", str(end), "one segment")
                ends[end] = segment.name
        self._check_overlap([segment for segment in segments if segment.role == "jumbo"])

    def _check_overlap(self, segments: list[Segment]) -> None:
        """Refuse subnets of which one holds another: sorted, it stands right behind it."""
        found = [(ipaddress.ip_network(subnet), segment.name) for segment in segments for subnet in segment.subnets]
        found.sort(key=lambda each: (each[0].version, each[0].network_address, each[0].prefixlen))
        widest: tuple[Any, str] | None = None
        for network, name in found:
            if widest and widest[0].version == network.version and widest[0].overlaps(network):
                message = f"its subnet overlaps {widest[0]} of {widest[1]}"
                self.where.inside(name).bad(message, str(network), "subnets apart from each other")
            else:
                widest = (network, name)
