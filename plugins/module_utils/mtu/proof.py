"""Shows that no state of a plan loses packets because of their size, or names the pair, the path, the hop and the step.

Every quantity is the set of values it may have at that moment (see moments.py), and each check takes the worst of both
sides, so every subset of a step's changes, every timer that fires and every reboot is covered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .intent_types import End, Intent, Link, Member, Segment
from .live import Live, v4_subnets
from .moments import Moment, Values, moments
from .proof_caps import BLACKHOLE, PTB, Cap, Caps
from .proof_rules import PROBES, NotProven, check_rules
from .steps import Plan
from .supported import refuse_unsupported
from .topology import Hop, Topology

__all__ = ["NotProven", "Proof", "prove"]

_ADJACENCY = ("ospf", "isis")


@dataclass(frozen=True)
class Proof:
    """What was shown: how many moments and ordered pairs were looked at, and what a reader should know besides."""

    moments: int
    pairs: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return {moments, pairs, notes}."""
        return {"moments": self.moments, "pairs": self.pairs, "notes": list(self.notes)}


@dataclass(frozen=True)
class Packet:
    """The largest packet that `source` may send to a member of `target` at one moment, and why it may."""

    source: End
    member: Member
    target: Segment
    size: int
    why: str


def prove(plan: Plan, intent: Intent, topology: Topology, states: Mapping[str, Mapping[str, Any]]) -> Proof:
    """Return the proof that no state of the plan is a BLACKHOLE (or a new PTB) for any pair, or raise NotProven."""
    live = Live(intent, topology, states)
    refuse_unsupported(intent, topology)
    check_rules(plan, live)
    return _Prover(live, plan).run()


class _Prover:
    def __init__(self, live: Live, plan: Plan) -> None:
        self.live = live
        self.plan = plan
        self.topology = live.topology
        self.intent = live.intent
        self.values = Values(live, plan)
        self.moments = moments(plan)
        self.start = self.moments[0]
        self.notes: dict[str, None] = {}
        self.caps = Caps(live, self.values)
        self.segments = self.topology.jumbo_segments()
        self._gateways = {end for segment in self.segments for end in self.topology.gateways(segment)}
        self.hosts = {segment.name: self.topology.hosts_in(segment) for segment in self.segments}

    def run(self) -> Proof:
        """Check every moment."""
        pairs = 0
        for moment in self.moments:
            self.caps.at(moment)
            for segment in self.segments:
                for gateway in self.topology.gateways(segment):
                    self._check_gateway(moment, gateway, segment)
                for end in self.hosts[segment.name]:
                    self._check_elsewhere(moment, end)
                    for target in self.segments:
                        pairs += len(target.members)
                        self._check_sender(moment, end, segment, target)
            for link in self.topology.uplinks():
                self._check_adjacency(moment, link)
        self._check_gates()
        self._note_reboots()
        return Proof(len(self.moments), pairs, tuple(self.notes))

    def _check_sender(self, moment: Moment, end: End, source: Segment, target: Segment) -> None:
        """Hold a host's largest packet towards a segment against every path to every member of it."""
        for subnet in v4_subnets(target):
            sizes = {sender.size(subnet): why for sender, why in self.values.sender(end, moment).items()}
            size = max(sizes)
            if size > self.caps.floor() and size > self.caps.quick(end, source, target):
                for member in target.members:
                    if member.end != end:
                        self._check_pair(moment, Packet(end, member, target, size, sizes[size]))

    def _check_pair(self, moment: Moment, packet: Packet) -> None:
        """Follow one packet along every path, then along what it may cross after failures."""
        member = packet.member
        if not member.managed or not member.end:
            for cap in self.caps.destination(member):
                self._judge(moment, packet, cap)
            return
        for path in self.topology.paths(packet.source, member.end):
            caps = [(cap, hop) for hop in path for cap in self.caps.hop(hop)]
            self._follow(moment, packet, [*caps, *((cap, None) for cap in self.caps.destination(member))], path)
        for link in self.caps.failover(packet.source, member.end):
            for way in self.caps.ways(link):
                self._follow(moment, packet, [(cap, None) for cap in way], ())

    def _follow(
        self, moment: Moment, packet: Packet, caps: Sequence[tuple[Cap, Hop | None]], path: tuple[Hop, ...]
    ) -> None:
        """Hold a packet against one limit after the other, as far as it gets."""
        for cap, hop in caps:
            self._judge(moment, packet, cap, path, hop)
            if cap.verdict == PTB and cap.stops(packet.size):
                return

    def _judge(
        self, moment: Moment, packet: Packet, cap: Cap, path: tuple[Hop, ...] = (), hop: Hop | None = None
    ) -> None:
        if packet.size <= cap.size:
            return
        # What a gateway itself accepts isn't told: its own MTU stands for it, and hosts may have sent more before.
        at_gateway = cap.end in self._gateways and cap.end == packet.member.end
        if (cap.verdict == PTB or at_gateway) and self._was_so(packet, cap):
            fate = "may not be taken" if at_gateway else "are answered"
            note = f"{packet.source} to {packet.target.name}: packets above {cap.size} {fate} at {cap.name} already"
            self.notes[note] = None
            return
        raise _not_proven(moment, packet, cap, path, hop)

    def _was_so(self, packet: Packet, cap: Cap) -> bool:
        """Tell whether the devices, as read, already send this size into this limit."""
        senders = self.values.sender(packet.source, self.start)
        before = max(sender.size(subnet) for sender in senders for subnet in v4_subnets(packet.target))
        return packet.size <= before and cap.end is not None and cap.size >= min(self.values.size(cap.end, self.start))

    def _check_gateway(self, moment: Moment, gateway: End, segment: Segment) -> None:
        """Refuse a gateway that may send more than a member receives: it sends what it routes, and for itself."""
        values = self.values.size(gateway, moment)
        size = max(values)
        for member in segment.members:
            if member.end is None or member.device != gateway.device:
                self._check_delivery(moment, Packet(gateway, member, segment, size, values[size]))

    def _check_delivery(self, moment: Moment, packet: Packet) -> None:
        """Hold a gateway's largest packet against what leads to one member; what was so before is only noted."""
        gateway, member = packet.source, packet.member
        paths = self.topology.paths(gateway, member.end) if member.managed and member.end else []
        caps = [cap for path in paths for hop in path for cap in self.caps.hop(hop)]
        for cap in [*caps, *self.caps.destination(member)]:
            if cap.end == gateway or packet.size <= cap.size:
                continue
            before = max(self.values.size(gateway, self.start))
            if packet.size <= before and cap.end and min(self.values.receive(cap.end, self.start)) <= cap.size:
                self.notes[f"{gateway} sends up to {packet.size} to {member}, which receives {cap.size}, already"] = (
                    None
                )
                continue
            raise _not_proven(moment, packet, cap, paths[0] if paths else ())

    def _check_elsewhere(self, moment: Moment, end: End) -> None:
        """Hold what a host sends to everywhere else against its old size: the default route is never lifted."""
        sizes = {sender.size(None): why for sender, why in self.values.sender(end, moment).items()}
        before = max(sender.size(None) for sender in self.values.sender(end, self.start))
        size = max(sizes)
        if size > max(before, self.intent.baseline_ip_mtu):
            message = f"{moment.name}: {end} would send {size} bytes to everywhere ({sizes[size]}), {before} before"
            raise NotProven(
                message,
                step=moment.name,
                verdict=BLACKHOLE,
                pair=(str(end), "everywhere else"),
                host=end.device,
                object=end.interface,
                advice="Pin its routes before its link is raised, and lift explicit prefixes only",
            )

    def _check_adjacency(self, moment: Moment, link: Link) -> None:
        """Refuse unequal ends of a link with OSPF or IS-IS: its adjacency would not come up again."""
        if link.routing not in _ADJACENCY:
            return
        ends = [self.topology.logical(port) for port in link.ends]
        sizes = [set(self.values.size(end, moment)) for end in ends]
        if len(sizes[0] | sizes[1]) == 1 or sizes == [set(self.values.size(end, self.start)) for end in ends]:
            return
        message = (
            f"{moment.name}: the ends of {link} may differ ({sorted(sizes[0] | sizes[1])}) while {link.routing} runs"
        )
        raise NotProven(message, step=moment.name, pair=(str(link.a), str(link.b)), advice="Drain the link first")

    def _check_gates(self) -> None:
        """Refuse a gate that would probe paths which aren't raised yet, or may still change: it could not pass."""
        ends = {str(end): end for ends in self.hosts.values() for end in ends}
        for moment in self.moments:
            for step in (step for step in moment.flying if step.gate and step.gate.name in PROBES):
                others = tuple(other for other in moment.flying if other is not step)
                probed = Moment(step.id, (*moment.settled, step), others)
                self.caps.at(probed)
                for pair in step.gate.pairs if step.gate else ():
                    source, target = ends.get(pair[0]), ends.get(pair[1])
                    if source and target and step.gate:
                        self._check_probe(probed, source, target, max(step.gate.ip_mtus))

    def _check_probe(self, moment: Moment, source: End, target: End, size: int) -> None:
        here, there = self.topology.segment_of(source), self.topology.segment_of(target)
        if here is None or there is None or size <= self.caps.quick(source, here, there):
            return
        for path in self.topology.paths(source, target):
            for cap in (cap for hop in path for cap in self.caps.hop(hop)):
                if cap.size < size:
                    text = (
                        f"{moment.name}: its gate cannot pass from {source} to {target}: {cap.name} carries {cap.size}"
                    )
                    advice = "Raise every path before it is proven"
                    raise NotProven(text, step=moment.name, pair=(str(source), str(target)), advice=advice)

    def _note_reboots(self) -> None:
        for segment in self.segments:
            for end in self.hosts[segment.name]:
                if self.caps.forgiven(end):
                    self.notes[
                        f"{end} is not covered after a reboot (waiver no_dead_man): it comes back at its old size"
                    ] = None


def _not_proven(
    moment: Moment, packet: Packet, cap: Cap, path: tuple[Hop, ...] = (), hop: Hop | None = None
) -> NotProven:
    names = tuple(f"{each.egress} -> {each.ingress}" for each in path)
    where = f"{hop.egress} -> {hop.ingress}" if hop else names[-1] if names else cap.name
    fate = "is lost in silence" if cap.verdict == BLACKHOLE else "is answered with fragmentation needed"
    message = (
        f"{moment.name}: a packet of {packet.size} bytes from {packet.source} ({packet.why}) to {packet.member} {fate}"
        f" at {where}: {cap.name} is only sure to carry {cap.size} ({cap.why})"
    )
    if names:
        message += f"; path {', '.join(names)}"
    return NotProven(
        message,
        step=moment.name,
        verdict=cap.verdict,
        pair=(str(packet.source), str(packet.member)),
        path=names,
        hop=where,
        host=cap.end.device if cap.end else None,
        object=cap.end.interface if cap.end else cap.name,
    )
