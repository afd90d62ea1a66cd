"""Decides what a roll-out may raise: what must change, what stands in its way, and what each link can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Collection

from .encapsulation import encapsulation_overhead
from .errors import JumboError
from .intent_types import End, Link, Segment
from .live import Live
from .steps import Change
from .units import device_mtu


@dataclass(frozen=True)
class SegmentWork:
    """The changes that make a segment's members receive and its gateways send the segment's size."""

    segment: Segment
    l2: tuple[Change, ...]
    hosts: tuple[Change, ...]
    svi: tuple[Change, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All of them, in the order of their phases."""
        return (*self.l2, *self.hosts, *self.svi)


@dataclass(frozen=True)
class LinkTarget:
    """What a routed link shall carry, and what keeps it from the wished size (None: nothing)."""

    link: Link
    ip_mtu: int
    limited_by: str | None


class Scope:
    """What may change, given the states and who may be touched. Collects refusals, and notes for the reader."""

    def __init__(self, live: Live, touchable: Collection[str] | None) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.touchable = touchable
        self.notes: list[str] = []
        self.problems: list[JumboError] = []
        jumbo = self.topology.jumbo_segments()
        self.overhead = encapsulation_overhead(self.intent.encapsulations)
        self.needed = max([segment.ip_mtu for segment in jumbo], default=self.intent.ip_mtu) + self.overhead

    def note(self, sentence: str) -> None:
        """Remember a sentence for the reader, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def may_change(self, end: End) -> bool:
        """Tell whether an interface may appear in a change at all."""
        allowed = self.touchable is None or end.device in self.touchable
        return allowed and self.live.is_read(end.device) and not self.intent.is_excluded(end)

    def size_change(self, end: End, to: int, tagging: str = "untagged") -> Change:
        """Return the change of an interface's IP MTU, the platform's own numbers beside it."""
        platform = self.intent.devices[end.device].platform
        number = device_mtu(to, platform, tagging)
        return Change(end.device, end.interface, "ip_mtu", self.live.ip_mtu(end), to, self.live.device_mtu(end), number)

    # ------------------------------------------------------------------ segments

    def work_on(self, segment: Segment) -> SegmentWork:
        """Return what a segment still lacks; empty where it is at its target."""
        l2: dict[End, Change] = {}
        hosts: list[Change] = []
        for end in self.topology.hosts_in(segment):
            for link in self.topology.access_links(end):
                port = self.topology.logical(link.other(link.end_on(end.device)))
                size = self.live.ip_mtu(port)
                if size is not None and size < segment.ip_mtu:
                    most = min(self.intent.underlay_ip_mtu, self.live.limit(port) or self.intent.underlay_ip_mtu)
                    l2[port] = self.size_change(port, max(most, segment.ip_mtu), link.tagging)
            hosts += self._host_changes(end, segment.ip_mtu)
        gateways = self.topology.gateways(segment)
        sizes = {gateway: self.live.ip_mtu(gateway) for gateway in gateways}
        svi = [self.size_change(g, segment.ip_mtu) for g, size in sizes.items() if size not in (None, segment.ip_mtu)]
        return SegmentWork(segment, tuple(l2.values()), tuple(hosts), tuple(svi))

    def _host_changes(self, end: End, size: int) -> list[Change]:
        """Return pin, then link: raised first, a host would send large packets at once."""
        changes = []
        wanted = self.live.pin_wanted(end)
        if self.live.is_read(end.device) and self.live.pin(end) is None and size > wanted:
            changes.append(Change(end.device, end.interface, "route_mtu", None, wanted))
        for interface in (self.live.parent(end), end):
            current = self.live.ip_mtu(interface) if interface else None
            if interface and current is not None and current < size:
                changes.append(self.size_change(interface, size))
        return changes

    def obstacles(self, work: SegmentWork) -> list[str]:
        """Return what keeps a segment from being raised and used, as sentences; empty where nothing does."""
        segment = work.segment
        found = [self._unmanaged(segment)] if self._unmanaged(segment) else []
        for end in self.topology.hosts_in(segment):
            found += self._host_obstacles(end)
        for end in self.topology.gateways(segment):
            if self.live.ip_mtu(end) is None:
                found.append(f"the gateway {end} was not read")
        ends = dict.fromkeys(End(change.host, change.interface) for change in work.changes)
        blocked = [end for end in ends if not self.may_change(end)]
        return [*found, *(f"{end} is at {self.live.ip_mtu(end)} and may not be touched" for end in blocked)]

    def _unmanaged(self, segment: Segment) -> str:
        small = [
            str(member)
            for member in segment.members
            if not member.managed
            and (member.ip_mtu or 0) < segment.ip_mtu
            and not self.intent.waived("unmanaged_member", str(member), member.device, segment.name)
        ]
        return f"{', '.join(small)} is not managed and receives less than {segment.ip_mtu}" if small else ""

    def _host_obstacles(self, end: End) -> list[str]:
        host, found = end.device, []
        if self.live.ip_mtu(end) is None:
            return [f"{end} was not read"]
        if self.live.forwards(host):
            found.append(f"{host} forwards packets for others, so it must not be pinned")
        if not self.live.persists(host) and not self.intent.waived("no_dead_man", host, str(end)):
            sentence = f"{host} cannot persist its MTU: after a reboot it would not receive what its peers send"
            found.append(f"{sentence} (waiver: no_dead_man)")
        for link in self.topology.access_links(end):
            port = self.topology.logical(link.other(link.end_on(host)))
            if self.live.ip_mtu(port) is None:
                found.append(f"the port {port} of {end} was not read")
        return found

    # ------------------------------------------------------------------ limits

    def refuse_unreachable(self, work: SegmentWork) -> None:
        """Note a problem for every interface or cable of a segment that can't do the segment's exact size."""
        wanted = work.segment.ip_mtu
        for change in work.changes:
            end = End(change.host, change.interface)
            limit = self.live.limit(end)
            if change.field == "ip_mtu" and limit is not None and limit < wanted:
                self.refuse(str(end.device), end.interface, f"it can do {limit} at most", wanted)
        for end in self.topology.hosts_in(work.segment):
            for link in self.topology.access_links(end):
                box = self.live.through_limit(link)
                if box is not None and box[0] < wanted:
                    self.refuse(end.device, end.interface, f"{box[1]} in its cable carries {box[0]} at most", wanted)

    def refuse(self, host: str, name: str, reason: str, wish: int) -> None:
        """Note that `jumbo_ip_mtu` can't be reached, with the largest value that could."""
        common = self.largest_common()
        self.problems.append(
            JumboError(
                f"jumbo_ip_mtu cannot be reached: {reason}",
                host=host,
                object=name,
                variable="jumbo_ip_mtu",
                wish=wish,
                limit=f"1280-{common}",
                advice=f"The largest common value of all that carries jumbo packets is {common}",
            )
        )

    def largest_common(self) -> int:
        """Return the largest size that every host, gateway, port and link of the jumbo segments can do."""
        limits = [self.intent.underlay_ip_mtu - self.overhead]
        for segment in self.topology.jumbo_segments():
            for end in [*self.topology.hosts_in(segment), *self.topology.gateways(segment)]:
                limits.append(self.live.limit(end) or limits[0])
                for link in self.topology.access_links(end) if end in self.topology.endpoints() else []:
                    port = self.topology.logical(link.other(link.end_on(end.device)))
                    limits += [self.live.limit(port) or limits[0], *(self.live.through_limit(link) or ())[:1]]
        limits += [self.link_target(link).ip_mtu - self.overhead for link in self.topology.uplinks()]
        return min(limits)

    def link_target(self, link: Link) -> LinkTarget:
        """Return what a routed link shall carry: the wish, clamped by either end and by what is in the cable."""
        wish = self.intent.underlay_ip_mtu
        limits: list[tuple[int, str]] = []
        for port in link.ends:
            limit = self.live.limit(self.topology.logical(port))
            if limit is not None:
                limits.append((limit, str(self.topology.logical(port))))
        box = self.live.through_limit(link)
        limits += [box] if box else []
        size, name = min(limits, default=(wish, ""))
        return LinkTarget(link, size, name) if size < wish else LinkTarget(link, wish, None)

    def clamps(self) -> tuple[dict[str, Any], ...]:
        """Return the links that can't carry the wished size, each with the reason as a sentence."""
        found = []
        for target in map(self.link_target, self.topology.uplinks()):
            if target.limited_by:
                wish = self.intent.underlay_ip_mtu
                sentence = f"{target.link} carries {target.ip_mtu}, not {wish}: {target.limited_by} can do no more"
                found.append(
                    {
                        "link": str(target.link),
                        "ip_mtu": target.ip_mtu,
                        "limited_by": target.limited_by,
                        "sentence": sentence,
                    }
                )
        return tuple(found)
