"""One moment looked at closely: the packets of one sender followed along every path, limit by limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .intent_types import End, Member, Segment
from .limits import BLACKHOLE, PTB, Cap, Limit, Limits
from .live import Live
from .moments import START, Moments
from .proof_rules import PROBES, NotProven
from .routes import covers
from .topology import Hop

Way = Sequence[tuple[Limit, "Hop | None"]]


@dataclass(frozen=True)
class Packet:
    """The largest packet that `source` may send to a member of `target` at one moment, and why it may."""

    source: End
    member: Member
    target: Segment
    size: int
    why: str


class Examiner:
    """Raises NotProven for what no state may hold; what was so before the plan is only noted."""

    def __init__(self, live: Live, limits: Limits, moments: Moments) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.limits = limits
        self.values = limits.values
        self.moments = moments
        self.notes: dict[str, None] = {}
        self._gateways = {end for s in self.topology.jumbo_segments() for end in self.topology.gateways(s)}

    def note(self, sentence: str) -> None:
        """Keep a sentence for the reader, once."""
        self.notes[sentence] = None

    # ------------------------------------------------------------------ hosts

    def sender(self, moment: int, end: End, source: Segment, target: Segment) -> None:
        """Hold a host's largest packet towards a segment against every path to every member of it."""
        values = self.values.track(end).at(moment)
        lifted = {prefix for value in values for prefix, _mtu in value.lifts}
        inside = [prefix for prefix in sorted(lifted) if any(covers(subnet, prefix) for subnet in target.subnets)]
        for subnet in dict.fromkeys((*target.subnets, *inside)):
            sizes = {sender.size(subnet): why for sender, why in values.items()}
            size = max(sizes)
            if size <= self.limits.floor().at(moment):
                continue
            for member in target.members:
                if member.end != end:
                    self._check_pair(moment, Packet(end, member, target, size, sizes[size]), source)

    def _check_pair(self, moment: int, packet: Packet, source: Segment) -> None:
        """Follow one packet along every path, then along what it may cross after failures."""
        member = packet.member
        last = [(limit, None) for limit in self.limits.destination(member)]
        if not member.managed or not member.end:
            self._follow(moment, packet, last, ())
            return
        paths = self.topology.paths(packet.source, member.end)
        if not paths and source is not packet.target:  # nobody knows how it gets there: by any gateway, then
            self._follow(moment, packet, [(limit, None) for limit in self.limits.exits(packet.target)], ())
        for path in paths:
            ways = [(limit, hop) for hop in path for limit in self.limits.hop(hop)]
            self._follow(moment, packet, [*ways, *last], path)
        domains = [source, packet.target] if source is not packet.target else [source]
        for segment in domains:
            for limit in self.limits.domain(segment):
                self._follow(moment, packet, [(limit, None)], ())
        if source is not packet.target:
            leafs = (self.topology.leafs_in(segment) for segment in domains)
            for link in self.topology.links_among(*leafs):
                for way in self.limits.ways(link):
                    self._follow(moment, packet, [(limit, None) for limit in way], ())

    def _follow(self, moment: int, packet: Packet, way: Way, path: tuple[Hop, ...]) -> None:
        """Hold a packet against one limit after the other, as far as it gets."""
        for limit, hop in way:
            if packet.size > limit.curve.at(moment):
                cap = limit.at(moment)
                self._judge(moment, packet, cap, path, hop)
                if cap.verdict == PTB and cap.stops(packet.size):
                    return

    def _judge(self, moment: int, packet: Packet, cap: Cap, path: tuple[Hop, ...], hop: Hop | None) -> None:
        # What a gateway itself accepts isn't told: its own MTU stands for it, and hosts may have sent more before.
        at_gateway = cap.end in self._gateways and cap.end == packet.member.end
        if (cap.verdict == PTB or at_gateway) and self._was_so(packet, cap):
            fate = "may not be taken" if at_gateway else "are answered"
            self.note(f"{packet.source} to {packet.target.name}: packets above {cap.size} {fate} at {cap.name} already")
            return
        raise self._not_proven(moment, packet, cap, path, hop)

    def _was_so(self, packet: Packet, cap: Cap) -> bool:
        """Tell whether the devices, as read, already send this size into this limit."""
        track = self.values.track(packet.source)
        before = max(track.sends(subnet).at(START) for subnet in packet.target.subnets)
        if packet.size > before or cap.end is None:
            return False
        least = self.values.track(cap.end).carries().at(START)
        return cap.size >= min(least, self.limits.inside(least, outer=True))

    def elsewhere(self, moment: int, end: End) -> None:
        """Refuse what a host would send to everywhere else above its old size."""
        sizes = {sender.size(None): why for sender, why in self.values.track(end).at(moment).items()}
        before = self.values.track(end).sends(None).at(START)
        name, size = self.moments.name(moment), max(sizes)
        raise NotProven(
            f"{name}: {end} would send {size} bytes to everywhere ({sizes[size]}), {before} before",
            step=name,
            verdict=BLACKHOLE,
            pair=(str(end), "everywhere else"),
            host=end.device,
            object=end.interface,
            advice="Pin its routes before its link is raised, and lift explicit prefixes only",
        )

    # ------------------------------------------------------------------ gateways

    def gateway(self, moment: int, gateway: End, segment: Segment) -> None:
        """Hold a gateway's largest packet against what leads to each member."""
        sizes = {value.carried: why for value, why in self.values.track(gateway).at(moment).items()}
        size = max(sizes)
        for member in segment.members:
            if not member.managed or (member.end and self.topology.is_host(member.end)):
                self._check_delivery(moment, Packet(gateway, member, segment, size, sizes[size]))
        for limit in self.limits.domain(segment):
            if limit.curve.at(moment) < size:
                self._judge_delivery(moment, Packet(gateway, segment.members[0], segment, size, sizes[size]), limit, ())

    def _check_delivery(self, moment: int, packet: Packet) -> None:
        gateway, member = packet.source, packet.member
        paths = self.topology.paths(gateway, member.end) if member.managed and member.end else []
        limits = [limit for path in paths for hop in path for limit in self.limits.hop(hop)]
        for limit in [*limits, *self.limits.destination(member)]:
            if packet.size > limit.curve.at(moment):
                self._judge_delivery(moment, packet, limit, paths[0] if paths else ())

    def _judge_delivery(self, moment: int, packet: Packet, limit: Limit, path: tuple[Hop, ...]) -> None:
        """Refuse what a gateway would send into a smaller limit; what was so before is only noted."""
        cap, gateway = limit.at(moment), packet.source
        if cap.end == gateway:
            return
        before = self.values.track(gateway).most().at(START)
        if packet.size <= before and cap.end and limit.curve.at(START) <= cap.size:
            self.note(f"{gateway} sends up to {packet.size} to {packet.member}, which receives {cap.size}, already")
            return
        raise self._not_proven(moment, packet, cap, path, None)

    # ------------------------------------------------------------------ gates

    def check_gates(self) -> None:
        """Refuse a gate that would probe paths which aren't raised yet, or may still change: it could not pass."""
        ends = {str(end): end for s in self.topology.jumbo_segments() for end in self.topology.hosts_in(s)}
        for position, step in enumerate(self.moments.steps):
            if step.gate and step.gate.name in PROBES:
                pairs = [(ends[a], ends[b]) for a, b in step.gate.pairs if a in ends and b in ends]
                self._check_gate(step.id, self.moments.end_of(position), pairs, max(step.gate.ip_mtus))

    def _check_gate(self, step: str, moment: int, pairs: list[tuple[End, End]], size: int) -> None:
        couples: dict[tuple[str, str], list[tuple[End, End]]] = {}
        for source, target in pairs:
            here, there = self.topology.segment_of(source), self.topology.segment_of(target)
            if here and there:
                couples.setdefault((here.name, there.name), []).append((source, target))
        small = {end for pair in pairs for end in pair if min(c.at(moment) for c in self.limits.own(end)) < size}
        for couple in couples.values():
            here, there = (self.topology.segment_of(end) for end in couple[0])
            enough = here and there and size <= self.limits.reach(here, there, everybody=False).at(moment)
            for source, target in couple:
                if not enough or source in small or target in small:
                    self._check_probe(step, moment, source, target, size)

    def _check_probe(self, step: str, moment: int, source: End, target: End, size: int) -> None:
        for path in self.topology.paths(source, target):
            for limit in (limit for hop in path for limit in self.limits.hop(hop)):
                if limit.curve.at(moment) < size:
                    cap = limit.at(moment)
                    raise NotProven(
                        f"{step}: its gate cannot pass from {source} to {target}: {cap.name} carries {cap.size}",
                        step=step,
                        pair=(str(source), str(target)),
                        advice="Raise every path before it is proven",
                    )

    def _not_proven(
        self, moment: int, packet: Packet, cap: Cap, path: tuple[Hop, ...] = (), hop: Hop | None = None
    ) -> NotProven:
        step = self.moments.name(moment)
        names = tuple(f"{each.egress} -> {each.ingress}" for each in path)
        where = f"{hop.egress} -> {hop.ingress}" if hop else names[-1] if names else cap.name
        fate = "is lost in silence" if cap.verdict == BLACKHOLE else "is answered with fragmentation needed"
        message = (
            f"{step}: a packet of {packet.size} bytes from {packet.source} ({packet.why}) to {packet.member} {fate}"
            f" at {where}: {cap.name} is only sure to carry {cap.size} ({cap.why})"
        )
        if names:
            message += f"; path {', '.join(names)}"
        return NotProven(
            message,
            step=step,
            verdict=cap.verdict,
            pair=(str(packet.source), str(packet.member)),
            path=names,
            hop=where,
            host=cap.end.device if cap.end else None,
            object=cap.end.interface if cap.end else cap.name,
        )
