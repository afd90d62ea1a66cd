"""What must be true before anything is touched: pure checks over the inventory and the devices' states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Collection, Iterator, Mapping

from . import boxes
from .defects import defects_of
from .drains import ESTABLISHED
from .intent_types import NETWORK_GROUPS, End, Intent, Link, Waiver
from .live import Live
from .speakers import strangers
from .topology import Topology


@dataclass(frozen=True)
class Finding:
    """One fact about an interface, or a whole device (`interface` None). `blocking`: it must be mended first."""

    host: str
    interface: str | None
    reason: str
    evidence: str
    blocking: bool

    def as_dict(self) -> dict[str, Any]:
        """Return {host, interface, reason, evidence, blocking}."""
        return {
            "host": self.host,
            "interface": self.interface,
            "reason": self.reason,
            "evidence": self.evidence,
            "blocking": self.blocking,
        }


def check(
    intent: Intent,
    topology: Topology,
    states: Mapping[str, Mapping[str, Any]],
    touchable: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Return [{host, interface, reason, evidence, blocking}]: what stands in the way comes first, then what to know.

    Devices outside `touchable` (None: no limit) don't block by what is pending or unsaved on them: nobody touches them.
    """
    checker = _Checker(Live(intent, topology, states), touchable)
    yielded = [finding for findings in checker.checks() for finding in findings]
    order = {device: index for index, device in enumerate(intent.devices)}
    unique = {(f.host, f.interface, f.reason): f for f in yielded}
    found = sorted(unique.values(), key=lambda f: (not f.blocking, order.get(f.host, len(order)), str(f.interface)))
    return [finding.as_dict() for finding in found]


class _Checker:
    def __init__(self, live: Live, touchable: Collection[str] | None) -> None:
        self.live = live
        self.intent = live.intent
        self.topology = live.topology
        self.touchable = touchable

    def checks(self) -> Iterator[Iterator[Finding]]:
        yield self.unread()
        yield self.pending()
        yield self.unsaved()
        yield self.interfaces()
        yield self.inherited()
        yield self.sessions()
        yield self.neighbours()
        yield self.speakers()
        yield self.baseline()
        yield self.hosts()
        yield self.routers()
        yield self.guards()
        yield self.boxes()
        yield self.gateways()
        yield self.capabilities()
        yield self.defects()

    def _touched(self, host: str) -> bool:
        return self.touchable is None or host in self.touchable

    def _used(self) -> set[str]:
        """Devices that take part: with a link or a managed membership in a segment."""
        ends = {end.device for link in self.intent.links for end in link.ends}
        return ends | {m.device for segment in self.intent.segments for m in segment.members if m.managed}

    def unread(self) -> Iterator[Finding]:
        """Yield devices that have told nothing."""
        for host in sorted(self._used()):
            if not self.live.is_read(host):
                text = "it did not answer, so nothing that depends on it can be proven"
                yield Finding(host, None, "state is missing", text, self._touched(host))

    def pending(self) -> Iterator[Finding]:
        """Yield commits that wait for a confirmation, somebody else's or ours from an earlier run."""
        for host, state in self.live.states.items():
            pending = state.get("pending") or {}
            owner = pending.get("owner", "none")
            if owner == "none":
                continue
            left = pending.get("seconds_left")
            text = f"{pending.get('name') or 'unnamed'}" + ("" if left is None else f", {left} s left")
            text += f"; {pending['advice']}" if pending.get("advice") else ""
            reason = "somebody else's change is pending" if owner == "foreign" else "a change of ours is still pending"
            yield Finding(host, None, reason, text, self._touched(host))

    def unsaved(self) -> Iterator[Finding]:
        """Yield devices whose running configuration isn't saved: we never save for others."""
        for host, state in self.live.states.items():
            if state.get("saved") is False:
                reason = "running and saved configuration differ"
                yield Finding(
                    host, None, reason, str(state.get("unsaved_diff") or "no difference told"), self._touched(host)
                )

    def _wanted_ends(self) -> Iterator[tuple[End, str]]:
        """Yield every interface that jumbo packets will cross, and what it is."""
        for link in self.topology.uplinks():
            for port in link.ends:
                yield self.topology.logical(port), f"end of the link {link}"
        for pair in self.intent.pairs:
            peering = self.topology.peering(pair)
            yield from ((end, f"peering of {pair.name}") for end in (peering.ends if peering else ()))
        for segment in self.topology.jumbo_segments():
            for end in [*self.topology.hosts_in(segment), *self.topology.gateways(segment)]:
                yield end, f"member of {segment.name}"
                for link in self.topology.access_links(end):
                    far = link.other(link.end_on(end.device))
                    yield self.topology.logical(far), f"port of {end}"

    def interfaces(self) -> Iterator[Finding]:
        """Yield interfaces that are missing or down."""
        for end, role in self._wanted_ends():
            if not self.live.is_read(end.device) or self.intent.is_excluded(end):
                continue
            found = self.live.interface(end)
            if found is None:
                yield Finding(end.device, end.interface, "interface not found", role, blocking=True)
            elif found.get("oper_up") is False:
                yield Finding(end.device, end.interface, "interface is down", role, blocking=True)
            elif not _has_ipv4(found) and self.topology.segment_of(end):
                yield Finding(end.device, end.interface, "interface has no IPv4 address", role, blocking=True)

    def inherited(self) -> Iterator[Finding]:
        """Yield interfaces whose MTU is stated elsewhere: theirs will go before it, and nobody else should wonder."""
        for end, _role in self._wanted_ends():
            source = (self.live.interface(end) or {}).get("mtu_from")
            if source:
                text = (
                    "an own statement will go before that, and is deleted on the way back: change the source in the end"
                )
                yield Finding(end.device, end.interface, f"its MTU comes from {source}", text, blocking=False)

    def sessions(self) -> Iterator[Finding]:
        """Yield routing sessions over links between switches that are down before anything is touched."""
        for end in (self.topology.logical(port) for link in self.topology.uplinks() for port in link.ends):
            for one in (self.live.interface(end) or {}).get("adjacencies") or ():
                if one["shut"]:
                    text = f"{one['neighbour']}: it stays so, and nothing is proven over this link but its own pings"
                    yield Finding(end.device, end.interface, f"its {one['protocol']} session is shut down", text, False)
                elif one["state"] != ESTABLISHED and not self._shut_at_the_far_end(end):
                    text = f"{one['neighbour']} is {one['state'] or 'not told'}: others could not be drained meanwhile"
                    yield Finding(end.device, end.interface, f"its {one['protocol']} session is down", text, True)

    def _shut_at_the_far_end(self, end: End) -> bool:
        fars = (
            self.topology.logical(link.other(port))
            for link in self.topology.uplinks()
            for port in link.ends
            if self.topology.logical(port) == end
        )
        told = (one for far in fars for one in (self.live.interface(far) or {}).get("adjacencies") or ())
        return any(one["shut"] for one in told)

    def neighbours(self) -> Iterator[Finding]:
        """Yield links whose ends see another neighbour than the inventory says; none told is no contradiction."""
        renamed = self._renamed()
        for device, (name, ends) in renamed.items():
            reason = f"all its neighbours call it {name}"
            text = (
                f"told by {', '.join(map(str, ends))}; an inventory name is the device's own, short or with its "
                f"domain: rename it in the inventory to {name}, its address goes into ansible_host"
            )
            yield Finding(device, None, reason, text, blocking=True)
        for link in self.intent.links:
            for end in link.ends:
                if link.other(end).device not in renamed:
                    yield from self._neighbour(link, end)

    def _renamed(self) -> dict[str, tuple[str, list[End]]]:
        """Return {device: (the one other name that each port cabled to it tells, those ports)}, where ports agree."""
        told: dict[str, dict[str, list[End]]] = {}
        for link in self.intent.links:
            for end in link.ends:
                far = link.other(end)
                for seen in (self.live.interface(end) or {}).get("neighbours") or ():
                    if seen.get("host"):
                        name = str(seen["host"]) if _fits(seen, far) else ""
                        told.setdefault(far.device, {}).setdefault(name, []).append(end)
        known = self.intent.devices
        return {
            device: (name, ends)
            for device, names in told.items()
            for name, ends in names.items()
            if len(names) == 1 and name and not any(_same_device(name, other) for other in known)
        }

    def _neighbour(self, link: Link, end: End) -> Iterator[Finding]:
        far = link.other(end)
        seen = [n for n in (self.live.interface(end) or {}).get("neighbours") or [] if n.get("host")]
        if not seen or any(_same_device(n["host"], far.device) and _fits(n, far) for n in seen):
            return
        told = ", ".join(f"{n['host']}:{n.get('interface')}" for n in seen)
        reason = f"the cable ends elsewhere: the inventory says {far}"
        text = f"neighbours told: {told}; correct jumbo_links or the cabling"
        yield Finding(end.device, end.interface, reason, text, blocking=True)

    def speakers(self) -> Iterator[Finding]:
        """Yield who speaks in a jumbo segment without being its member: it would lose what it is sent."""
        for one in strangers(self.live):
            touched = any(self._touched(member.device) for member in one.segment.members)
            waived = next((w for w in self.intent.waivers if _names_one_of(w, one.objects)), None)
            if waived:
                text = f"{one.evidence}; waived: {waived.reason}"
            else:
                text = (
                    f"{one.evidence}; add it to the members of {one.segment.name}, there as {{name, managed: false, "
                    f"ip_mtu}} if it is not ours, or waive unmanaged_member of {one.objects[0]}"
                )
            yield Finding(one.host, one.interface, one.reason, text, one.certain and touched and not waived)

    def baseline(self) -> Iterator[Finding]:
        """Yield interfaces on a jumbo path that don't even carry the old size."""
        for end, role in self._wanted_ends():
            size = self.live.ip_mtu(end)
            if size is not None and size < self.intent.baseline_ip_mtu:
                reason = f"carries less than the baseline of {self.intent.baseline_ip_mtu}"
                yield Finding(end.device, end.interface, reason, f"IP MTU {size}, {role}", blocking=True)

    def hosts(self) -> Iterator[Finding]:
        """Yield hosts that must not be pinned, or can't persist what is set."""
        for end in self.topology.endpoints():
            if not self.live.is_read(end.device):
                continue
            if self.live.forwards(end.device):
                reason = "this host forwards packets and must not be pinned"
                by = ", ".join(self.live.states[end.device].get("forwarding_by") or ["IP forwarding"])
                text = f"{by} is on: pinned, it would answer transit packets with the old size"
                yield Finding(end.device, end.interface, reason, text, self._touched(end.device))
            yield from self._link_readers(end, "which must not be pinned", ": treat the host as a router")
            for route in self.live.unpersistable(end):
                reason = "this route cannot be written to the host's boot configuration"
                text = f"{route}: after a reboot it would come back unpinned beside a raised link"
                yield Finding(end.device, end.interface, reason, text, self._touched(end.device))
            if not self.live.persists(end.device):
                yield self._running_only(end)

    def _link_readers(self, end: End, why: str, advice: str = "") -> Iterator[Finding]:
        for name, system in (self.live.states[end.device].get("link_readers") or {}).items():
            reason = f"{name} ({system}) reads link MTUs on this host, {why}"
            text = f"it gives a raised link's MTU to guests whom no pin binds{advice}"
            yield Finding(end.device, end.interface, reason, text, self._touched(end.device))

    @staticmethod
    def _running_only(end: End) -> Finding:
        text = "no known place for its boot configuration: after a reboot it is at its old size"
        return Finding(end.device, end.interface, "running only", text, blocking=False)

    def routers(self) -> Iterator[Finding]:
        """Yield machines that route by their group but do not forward, have readers of their MTU, or keep nothing."""
        for end, role in self._wanted_ends():
            state = self.live.states.get(end.device, {})
            if self.topology.is_host(end) or "forwarding" not in state or self.intent.is_excluded(end):
                continue
            if not self.live.forwards(end.device):
                groups = ", ".join(sorted(self.intent.devices[end.device].groups & NETWORK_GROUPS))
                reason = "it forwards nothing, so its routes would have to be pinned"
                text = f"{role}, in the group {groups}: switch forwarding on, or put it in the group servers"
                yield Finding(end.device, end.interface, reason, text, self._touched(end.device))
            yield from self._link_readers(end, "whose link is to be raised")
            if not self.live.keeps(end.device):
                yield self._running_only(end)

    def guards(self) -> Iterator[Finding]:
        """Yield hosts whose guard has died: nobody pins again what they lose."""
        for host, state in self.live.states.items():
            guard = state.get("guard")
            if isinstance(guard, Mapping) and guard.get("state") == "dead":
                text = f"guard {guard.get('id')}: pins that vanish stay away until the next run"
                yield Finding(host, None, "the guard of its pins has died", text, blocking=False)

    def boxes(self) -> Iterator[Finding]:
        """Yield boxes whose ports do not do what the configuration says: only a reload brings it."""
        for host, state in self.live.states.items():
            now, then = self.live.box(host), self.live.box_after_reboot(host)
            if now is None or then is None:
                continue
            stage = boxes.stage_of(state)
            if stage in {boxes.CONFIGURED, boxes.SAVED}:
                reason = f"large frames are {stage}, not active: a reload is pending"
                text = f"its ports take {now} until it restarts, {then} from then on"
                yield Finding(host, None, reason, text, blocking=False)
            elif now > then:
                text = f"its ports take {now}, and {then} once it restarts"
                yield Finding(host, None, "large frames are active, but not saved", text, blocking=False)
            for end in (End(host, name) for name in state["interfaces"]):
                size = self.live.ip_mtu(end)
                if size is not None and size > now:
                    text = f"IP MTU {size}, its box takes {now}: once that is more, the interface sends more at once"
                    yield Finding(host, end.interface, "its IP MTU is above what its box takes", text, blocking=False)

    def gateways(self) -> Iterator[Finding]:
        """Yield gateways that send more than a member of their segment receives, and segments without a gateway."""
        for segment in self.topology.jumbo_segments():
            gateways = self.topology.gateways(segment)
            if not gateways:
                text = "no switch interface among its members: its hosts are only raised towards each other"
                yield Finding(segment.name, None, "the segment has no gateway", text, blocking=False)
            for gateway in gateways:
                size = self.live.ip_mtu(gateway)
                for end in self.topology.hosts_in(segment):
                    accepted = (self.live.interface(end) or {}).get("mru") or self.live.ip_mtu(end)
                    if size is not None and accepted and size > accepted:
                        text = f"{gateway} sends up to {size}, {end} receives {accepted}"
                        reason = "the gateway sends more than a host receives"
                        yield Finding(gateway.device, gateway.interface, reason, text, blocking=False)
                        break

    def capabilities(self) -> Iterator[Finding]:
        """Yield interfaces that cannot be set or taken back, and cards that carry less than they accept."""
        for end, role in self._wanted_ends():
            size = self.live.ip_mtu(end)
            why = self.live.unsettable(end)
            if why and size is not None and size < self.intent.ip_mtu:
                reason = "this interface has no MTU of its own to raise: what needs it is left out"
                yield Finding(end.device, end.interface, reason, f"IP MTU {size}, {role}. {why}", blocking=False)
            unguarded = (self.live.interface(end) or {}).get("no_dead_man")
            if unguarded and size is not None and size < self.intent.ip_mtu:
                reason = "nothing would bring management back that its change may cost"
                yield Finding(end.device, end.interface, reason, str(unguarded), self._touched(end.device))
            card = self.live.card(end)
            if card:
                reason = f"this card carries {card.ip_mtu} at most, whatever MTU it accepts"
                text = f"{card.name} {card.harm} ({card.source}); if that is mended, waive known_limit"
                yield Finding(end.device, end.interface, reason, text, blocking=False)

    def defects(self) -> Iterator[Finding]:
        """Yield what boxes whose large frames are to be switched on are known to do wrong with them."""
        for host, state in self.live.states.items():
            then = self.live.box_after_reboot(host)
            if then is None or not self._touched(host):
                continue
            for one in defects_of(self.intent.devices[host].platform, state.get("model"), state.get("version")):
                text = f"{state.get('model')}, release {state.get('version')}: {one.advice} ({one.source})"
                yield Finding(host, None, f"with large frames this release {one.harm}", text, blocking=False)


def _names_one_of(waiver: Waiver, objects: Collection[str]) -> bool:
    return waiver.kind == "unmanaged_member" and waiver.object in objects


def _has_ipv4(interface: Mapping[str, Any]) -> bool:
    """Tell whether an interface has an address that probes can use; where addresses are not told, believe so."""
    addresses = interface.get("addresses")
    return addresses is None or any(":" not in str(address) for address in addresses)


def _same_device(told: str, name: str) -> bool:
    """Compare names as people write them: short or fully qualified, in any case."""
    one, other = told.lower(), name.lower()
    return one == other or one.split(".")[0] == other.split(".")[0]


def _fits(neighbour: Mapping[str, Any], far: End) -> bool:
    interface = neighbour.get("interface")
    return interface is None or str(interface) == far.interface
