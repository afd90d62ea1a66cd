"""What is above its wanted size: interfaces of jumbo segments, ends of routed links; and what keeps them there.

Sizes are bytes of IP packet.
"""

from __future__ import annotations

from dataclasses import dataclass

from .adjacency import ADJACENCY
from .curves import UNBOUNDED
from .intent_types import End, Link, Segment, natural_key
from .scope import LinkTarget, Scope
from .senders import Sender, Senders


@dataclass(frozen=True)
class HighLink:
    """A routed link, what it shall carry, and its ends that are above that."""

    target: LinkTarget
    ends: tuple[End, ...]

    @property
    def link(self) -> Link:
        """The link."""
        return self.target.link


class High:
    """The segments and links that come down; what cannot is taken out again, with a note that names the cause."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.topology = scope.topology
        self.segments = [s for s in self.topology.jumbo_segments() if self.above(s)]
        targets = map(scope.link_target, self.topology.uplinks())
        links = (HighLink(target, tuple(self._ends_above(target))) for target in targets)
        self.links = [high for high in links if high.ends]
        self._limits: dict[str, dict[str, int]] = {}

    def __bool__(self) -> bool:
        return bool(self.segments or self.links)

    def above(self, segment: Segment) -> list[End]:
        """Return the interfaces of a segment that are above its size."""
        ends = [*self.topology.gateways(segment), *self.topology.hosts_in(segment)]
        return [end for end in ends if (self.scope.live.ip_mtu(end) or 0) > segment.ip_mtu]

    def _ends_above(self, target: LinkTarget) -> list[End]:
        sizes = {end: self.scope.live.ip_mtu(end) for end in map(self.topology.logical, target.link.ends)}
        above = [end for end, size in sizes.items() if (size or 0) > target.ip_mtu]
        # With an IGP both ends change in one step: where one is still to be raised, the other comes down then.
        later = target.link.routing in ADJACENCY and min(size or 0 for size in sizes.values()) < target.ip_mtu
        return [] if later else above

    def leave(self, reason: str) -> None:
        """Note that all of it stays as it is."""
        for segment in self.segments:
            self._leave_segment(segment, reason)
        self.segments = []
        self.links = []  # plan_links.py notes each of them

    def _leave_segment(self, segment: Segment, reason: str) -> None:
        ends = sorted(map(str, self.above(segment)), key=natural_key)
        sizes = sorted({self.scope.live.ip_mtu(end) or 0 for end in self.above(segment)})
        verb = "is" if len(ends) == 1 else "are"
        self.scope.note(
            f"{', '.join(ends)} {verb} at {', '.join(map(str, sizes))}, above the {segment.ip_mtu} of {segment.name},"
            f" and {'stays' if len(ends) == 1 else 'stay'} so: {reason}."
        )

    # ------------------------------------------------------------------ what must stay

    def keep_what_is_in_use(self, senders: Senders) -> None:
        """Take out what a sender that cannot be pinned may still need, and what may not be touched."""
        for segment in list(self.segments):
            reason = self._segment_obstacle(segment, senders)
            if reason:
                self._leave_segment(segment, reason)
                self.segments.remove(segment)
        for high in list(self.links):
            reason = self._link_obstacle(high, senders)
            if reason:
                self.scope.note(f"{high.link} stays above its {high.target.ip_mtu}: {reason}.")
                self.links.remove(high)

    def _segment_obstacle(self, segment: Segment, senders: Senders) -> str | None:
        untouchable = self._untouchable(self.above(segment))
        if untouchable:
            return untouchable
        for member in segment.members:
            foreign = not member.managed and (member.ip_mtu or 0) > segment.ip_mtu
            if foreign and not self.scope.intent.waived("unmanaged_member", str(member), member.device, segment.name):
                return f"{member} is not managed and may send {member.ip_mtu}"
        firewall = self._firewall_above(segment.ip_mtu)
        if firewall:
            return firewall
        return self._stuck(next(senders.stuck(segment.ip_mtu, [segment]), None))

    def _link_obstacle(self, high: HighLink, senders: Senders) -> str | None:
        untouchable = self._untouchable(high.ends)
        if untouchable:
            return untouchable
        limit = self.scope.inner(high.target.ip_mtu)
        firewall = self._firewall_above(limit)
        if firewall:
            return firewall
        gateway = self._gateway_across(high.link, limit)
        if gateway:
            return f"{gateway} stays above that and sends across it to its own segment"
        for source in self.topology.jumbo_segments():
            targets = [s for s in self.topology.jumbo_segments() if high.link in self._between(source, s)]
            found = next(senders.stuck(limit, targets, source), None)
            if found:
                return self._stuck(found)
        return None

    def _firewall_above(self, limit: int) -> str | None:
        """Return which firewall reassembles and so sends up to its own size, whatever its senders are pinned to."""
        ports = [self.topology.logical(port) for link in self.topology.uplinks() for port in link.ends]
        for port in [*ports, *(g for s in self.topology.jumbo_segments() for g in self.topology.gateways(s))]:
            size = self.scope.live.ip_mtu(port) or 0
            if size > limit and self.scope.reassembles(port.device):
                return f"{port} reassembles and may send {size}; lower it by hand first"
        return None

    def _gateway_across(self, link: Link, limit: int) -> End | None:
        """Return a gateway of a stretched segment that stays at more than `limit` and reaches its members by a link."""
        for segment in self.topology.jumbo_segments():
            if len(self.topology.units_in(segment)) > 1 and link in self._between(segment, segment):
                coming = segment.ip_mtu if segment in self.segments else UNBOUNDED
                for end in self.topology.gateways(segment):
                    if min(self.scope.live.ip_mtu(end) or 0, coming) > limit:
                        return end
        return None

    def _between(self, source: Segment, target: Segment) -> list[Link]:
        return self.topology.links_among(self.topology.leafs_in(source), self.topology.leafs_in(target))

    def _untouchable(self, ends: list[End] | tuple[End, ...]) -> str | None:
        blocked = [str(end) for end in ends if not self.scope.may_change(end)]
        return f"{', '.join(blocked)} may not be touched" if blocked else None

    @staticmethod
    def _stuck(sender: Sender | None) -> str | None:
        return f"{sender.first} may send more than that, and it {sender.why_not}" if sender else None

    # ------------------------------------------------------------------ what senders are held to

    def limits(self, source: Segment) -> dict[str, int]:
        """Return {segment: the most that hosts of `source` may send to it from now on} for all that comes down."""
        if source.name not in self._limits:
            found = {segment.name: segment.ip_mtu for segment in self.segments}
            if source in self.segments:  # their own links come down: all that is lifted there is bound first
                old = self.scope.intent.baseline_ip_mtu
                found = {segment.name: old for segment in self.topology.jumbo_segments()}
            for target in self.topology.jumbo_segments() if self.links else ():
                between = set(self._between(source, target))
                sizes = [self.scope.inner(high.target.ip_mtu) for high in self.links if high.link in between]
                if sizes:
                    found[target.name] = min([found.get(target.name, sizes[0]), *sizes])
            self._limits[source.name] = found
        return self._limits[source.name]
