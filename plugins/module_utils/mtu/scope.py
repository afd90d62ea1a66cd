"""Decides what a roll-out may raise: what must change, what stands in its way, and what each link can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Collection, Mapping

from .encapsulation import LEAST_INSIDE, left_inside, underlay_needs
from .errors import JumboError
from .intent_types import End, Link, Pair, Segment
from .link_limit import LinkEnd, largest_common
from .live import Live
from .stacked import child_allows, parent_needs
from .steps import Change
from .traits import traits_of
from .units import device_mtu


@dataclass(frozen=True)
class SegmentWork:
    """The changes that make a segment's members receive and its gateways send the segment's size."""

    segment: Segment
    reload: tuple[str, ...]  # boxes whose ports do not take the size before they are reloaded
    joins: tuple[Change, ...]  # both ends of the peer links of pairs
    peering: tuple[Change, ...]  # both ends of what the members of pairs talk to each other by
    l2: tuple[Change, ...]
    hosts: tuple[Change, ...]
    svi: tuple[Change, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All of them, in the order of their phases."""
        return (*self.joins, *self.peering, *self.l2, *self.hosts, *self.svi)


@dataclass(frozen=True)
class LinkTarget:
    """What a routed link shall carry, and what keeps it from the wished size (None: nothing)."""

    link: Link
    ip_mtu: int
    limited_by: str | None
    sentence: str | None = None


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
        largest = max([segment.ip_mtu for segment in jumbo], default=self.intent.ip_mtu)
        self.needed = self.outer(largest)
        self.overhead = self.needed - largest

    def outer(self, size: int) -> int:
        """Return the IP MTU that a routed link needs for packets of that size, encapsulated."""
        return underlay_needs(size, self.intent.encapsulations)

    def reassembles(self, device: str) -> bool:
        """Tell whether a device sends what it has reassembled, as large as its egress allows."""
        return traits_of(self.intent.devices[device].platform).reassembles

    def goes_last(self, segment: Segment) -> bool:
        """Tell whether a gateway of a segment reassembles: it is raised after everything behind it."""
        return any(self.reassembles(gateway.device) for gateway in self.topology.gateways(segment))

    def fabric_segments(self) -> list[Segment]:
        """Return the jumbo segments that something else than a firewall routes for: these are behind a firewall."""
        return [
            segment
            for segment in self.topology.jumbo_segments()
            if any(not self.reassembles(gateway.device) for gateway in self.topology.gateways(segment))
        ]

    def inner(self, size: int) -> int:
        """Return the largest packet that a routed link of that size carries, encapsulated."""
        return left_inside(size, self.intent.encapsulations, least=-size)

    def after(self, states: Mapping[str, Mapping[str, Any]]) -> Scope:
        """Return the same scope over other states; notes and refusals are kept in one place."""
        later = Scope(Live(self.intent, self.topology, states), self.touchable)
        later.notes, later.problems = self.notes, self.problems
        return later

    def note(self, sentence: str) -> None:
        """Remember a sentence for the reader, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def may_change(self, end: End) -> bool:
        """Tell whether an interface may appear in a change at all."""
        allowed = self.touchable is None or end.device in self.touchable
        known = self.live.is_read(end.device) and not self.live.unsettable(end)
        return allowed and known and not self.intent.is_excluded(end)

    def size_change(self, end: End, to: int, tagging: str = "untagged") -> Change:
        """Return the change of an interface's IP MTU, the platform's own numbers beside it."""
        number = device_mtu(to, self._platform(end), tagging)
        return Change(end.device, end.interface, "ip_mtu", self.live.ip_mtu(end), to, self.live.device_mtu(end), number)

    # ------------------------------------------------------------------ segments

    def work_on(self, segment: Segment) -> SegmentWork:
        """Return what a segment still lacks; empty where it is at its target."""
        l2: dict[End, Change] = {}
        hosts: list[Change] = []
        for end in [*self.topology.hosts_in(segment), *self.topology.gateways(segment)]:
            for link in self.topology.access_links(end):  # a router on a port of its own has one too
                port = self.topology.logical(link.other(link.end_on(end.device)))
                l2.update(self._port_change(port, segment.ip_mtu, link.tagging))
        for end in self.topology.hosts_in(segment):
            hosts += self._pin(end, segment.ip_mtu) + self._raise(end, segment.ip_mtu)
        for link in self.topology.domains.trunks_in(segment):
            for port in link.ends:
                l2.update(self._port_change(self.topology.logical(port), segment.ip_mtu, link.tagging))
        joins: dict[End, Change] = {}
        peering: list[Change] = []
        for pair in self.topology.pairs_in(segment):
            for link in self.topology.peer_links(pair):
                for port in link.ends:
                    joins.update(self._port_change(self.topology.logical(port), segment.ip_mtu, link.tagging))
            peering += self._peering_changes(pair, segment.ip_mtu)
        svi: list[Change] = []
        for gateway in self.topology.gateways(segment):
            svi += self._raise(gateway, segment.ip_mtu)
        lacking = tuple(d for d in self.topology.leafs_in(segment) if self.live.box_lacks(d, segment.ip_mtu))
        ports = (tuple(joins.values()), tuple(peering), tuple(l2.values()))
        return SegmentWork(segment, lacking, *ports, tuple(hosts), tuple(svi))

    def _peering_changes(self, pair: Pair, size: int) -> list[Change]:
        """Return the changes of both ends of a peering: to what their peer link carries, at least the segment's size.

        Pings between the two then prove the peer link, which no host's packets cross before a failure.
        """
        link = self.live.peering(pair)
        if link is None:
            if pair.peering:
                why = f"{pair.peering} was not read, is excluded, or has no MTU to set"
                self.note(f"The peer link of {pair.name} is not probed on its own: {why}.")
            return []
        ports = [self.topology.logical(port) for cable in self.topology.peer_links(pair) for port in cable.ends]
        most = max(size, min([self.link_target(link).ip_mtu, *filter(None, map(self.live.limit, ports))]))
        sizes = {end: self.live.ip_mtu(end) or 0 for end in link.ends}
        if min(sizes.values()) >= size:
            return []
        return [self.size_change(end, most) for end, found in sizes.items() if found < most]

    def _port_change(self, port: End, size: int, tagging: str) -> dict[End, Change]:
        """Return the change of a switched port that is too small: to as much as it can do."""
        found = self.live.ip_mtu(port)
        if found is None or found >= size:
            return {}
        most = min(self.intent.underlay_ip_mtu, self.live.limit(port) or self.intent.underlay_ip_mtu)
        return {port: self.size_change(port, max(most, size), tagging)}

    def _pin(self, end: End, size: int) -> list[Change]:
        """Return the pin that comes before the link: raised first, a host would send large packets at once."""
        wanted = self.live.pin_wanted(end)
        if self.live.is_read(end.device) and self.live.pin(end) is None and size > wanted:
            return [Change(end.device, end.interface, "route_mtu", None, wanted)]
        return []

    def _raise(self, end: End, size: int) -> list[Change]:
        """Return the changes of an interface and of what it stands on, parents before children."""
        stack = self.live.stack(end)
        wishes = [(each, parent_needs(self._platform(end), self._kind(end), size)) for each in stack[:-1]]
        sizes = [(each, wish, self.live.ip_mtu(each)) for each, wish in (*wishes, (end, size))]
        return [self.size_change(each, wish) for each, wish, found in sizes if found is not None and found < wish]

    def _platform(self, end: End) -> str:
        return self.intent.devices[end.device].platform

    def _kind(self, end: End) -> str | None:
        return (self.live.interface(end) or {}).get("kind")

    def obstacles(self, work: SegmentWork) -> list[str]:
        """Return what keeps a segment from being raised and used, as sentences; empty where nothing does."""
        segment = work.segment
        found = [self._unmanaged(segment)] if self._unmanaged(segment) else []
        for end in self.topology.hosts_in(segment):
            found += self._host_obstacles(end)
        for end in self.topology.gateways(segment):
            if self.live.ip_mtu(end) is None:
                found.append(f"the gateway {end} was not read")
            elif not self.may_keep(end.device):
                found.append(f"the gateway {end.device} cannot persist its MTU (waiver: no_dead_man)")
        found += [text for device in work.reload for text in self.reload_obstacles(device)]
        ends = dict.fromkeys(End(change.host, change.interface) for change in work.changes)
        blocked = [end for end in ends if not self.may_change(end)]
        return [*found, *(f"{end} is at {self.live.ip_mtu(end)} and may not be touched" for end in blocked)]

    def may_keep(self, device: str) -> bool:
        """Tell whether a device comes back from a reboot with what it was given, or is waived if it does not."""
        return self.live.keeps(device) or self.intent.waived("no_dead_man", device)

    def reload_obstacles(self, device: str) -> list[str]:
        """Return what keeps a box from being reloaded, as sentences."""
        takes = f"{device} takes {self.live.box(device)} until it is reloaded with large frames"
        if self.live.box(device) != self.live.box_after_reboot(device):
            takes = f"{device} takes {self.live.box(device)}, and {self.live.box_after_reboot(device)} once it restarts"
        if not self.intent.allow_reload:
            return [f"{takes}, which jumbo_allow_reload does not allow"]
        if self.touchable is not None and device not in self.touchable:
            return [f"{takes}, and it may not be touched"]
        return []

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
        guests = ", ".join(map(str, self.live.guests(end)))
        if guests and not self.intent.waived("unmanaged_member", host, str(end)):
            found.append(f"guests are bridged to {end} by {guests} and receive what they are set to (unmanaged_member)")
        if self.live.forwards(host):
            found.append(f"{host} forwards packets for others, so it must not be pinned")
        if not self.live.persists(host) and not self.intent.waived("no_dead_man", host, str(end)):
            sentence = f"{host} cannot persist its MTU: after a reboot it would not receive what its peers send"
            found.append(f"{sentence} (waiver: no_dead_man)")
        for link in self.topology.access_links(end):
            port = self.topology.logical(link.other(link.end_on(host)))
            if self.live.carries(port) is None:
                found.append(f"the port {port} of {end} was not read")
        return found

    # ------------------------------------------------------------------ limits

    def refuse_unreachable(self, work: SegmentWork) -> None:
        """Note a problem for every interface or cable of a segment that can't do the segment's exact size."""
        wanted = work.segment.ip_mtu
        for change in work.changes:
            end = End(change.host, change.interface)
            most = self.live.capability(end)
            if change.field == "ip_mtu" and most is not None and most.ip_mtu < change.to:
                below = f" and {change.to} are needed below its child" if change.to > wanted else ""
                self.refuse(
                    end.device, end.interface, f"it can do {most.ip_mtu} at most{below} ({most.source})", wanted
                )
        for end in self.topology.hosts_in(work.segment):
            for link in self.topology.access_links(end):
                box = self.live.through_limit(link)
                if box is not None and box[0] < wanted:
                    self.refuse(end.device, end.interface, f"{box[1]} in its cable carries {box[0]} at most", wanted)

    def refuse(self, host: str, name: str, reason: str, wish: int) -> None:
        """Note that `jumbo_ip_mtu` can't be reached, with the largest value that could."""
        common = self.largest_common()
        if common >= LEAST_INSIDE:
            limit, advice = (
                f"{LEAST_INSIDE}-{common}",
                f"The largest common value of all that carries jumbo packets is {common}",
            )
        else:
            limit = f"nothing: {common} would be left, less than {LEAST_INSIDE}"
            advice = f"Leave {host}:{name} out of jumbo_segments and jumbo_links, or shorten jumbo_encapsulations"
        message = f"jumbo_ip_mtu cannot be reached: {reason}"
        self.problems.append(
            JumboError(message, host=host, object=name, variable="jumbo_ip_mtu", wish=wish, limit=limit, advice=advice)
        )

    def largest_common(self) -> int:
        """Return the largest size that every host, gateway, port and link of the jumbo segments can do."""
        limits = [self.inner(self.intent.underlay_ip_mtu)]
        for segment in self.topology.jumbo_segments():
            for end in [*self.topology.hosts_in(segment), *self.topology.gateways(segment)]:
                limits += [self._most(end, limits[0]), self._most_on_parent(end, limits[0])]
                for link in self.topology.access_links(end) if end in self.topology.endpoints() else []:
                    port = self.topology.logical(link.other(link.end_on(end.device)))
                    limits += [self._most(port, limits[0]), *(self.live.through_limit(link) or ())[:1]]
        limits += [self.inner(self.link_target(link).ip_mtu) for link in self.topology.uplinks()]
        return min(limits)

    def _most(self, end: End, unknown: int) -> int:
        limit = self.live.limit(end)
        return unknown if limit is None else limit

    def _most_on_parent(self, end: End, unknown: int) -> int:
        parent = self.live.parent(end)
        limit = self.live.limit(parent) if parent else None
        return unknown if limit is None else child_allows(self._kind(end), limit)

    def link_target(self, link: Link) -> LinkTarget:
        """Return what a routed link shall carry: the wish, clamped by either end and by what is in the cable.

        A firewall that reassembles sends up to its own size, so it gets no more than everything behind it receives.
        """
        ends = [self._link_end(self.topology.logical(port), link.tagging) for port in link.ends]
        wish = self.intent.underlay_ip_mtu
        if any(self.reassembles(end.device) for end in link.ends):
            wish = min([wish, *(segment.ip_mtu for segment in self.fabric_segments())])
        found = largest_common(str(link), wish, ends, self.live.through_limit(link))
        return LinkTarget(link, found.ip_mtu, found.limited_by, found.sentence)

    def _link_end(self, end: End, tagging: str) -> LinkEnd:
        return LinkEnd(str(end), self._platform(end), tagging, self.live.capability(end))

    def clamps(self) -> tuple[dict[str, Any], ...]:
        """Return the links that can't carry the wished size, each with the reason as a sentence."""
        targets = [target for target in map(self.link_target, self.topology.uplinks()) if target.limited_by]
        return tuple(
            {
                "link": str(target.link),
                "ip_mtu": target.ip_mtu,
                "limited_by": target.limited_by,
                "sentence": target.sentence,
            }
            for target in targets
        )
