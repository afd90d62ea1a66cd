"""The ports and VLANs of a node, from what the inventory says of its cables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Lag, Link, Segment
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .fabric import UNTAGGED, Aggregate, Bridge, Bundle, Cable, Pair, Port
from .names import kernel_name

# By which two paired switches talk to each other, where the inventory does not say.
PEERING = "Vlan4094"
AGGREGATE = "Port-Channel"


class Wiring:
    """Says what each port is. `topology`: the inventory, checked; see buildable.py."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._intent = topology.intent
        self._lag_of = {End(lag.device, member): lag for lag in self._intent.lags for member in lag.members}
        self.pairs = tuple(self._pairs())
        self.cables = tuple(
            Cable(number, link.a, link.b, link.through, self.vlans_of(link))
            for number, link in enumerate(self._intent.links)
        )
        self.bundles = tuple(self._bundles())

    def is_switch(self, device: str) -> bool:
        """Tell whether a device bridges: neither a host, nor a machine that routes."""
        return not self._intent.devices[device].is_host and self._intent.devices[device].platform != "linux"

    def is_trunk(self, link: Link) -> bool:
        """Tell whether a link is a switched one between two switches."""
        return link.routing == "none" and all(self.is_switch(end.device) for end in link.ends)

    def shared(self, link: Link) -> list[Segment]:
        """Return the broadcast domains that both ends of a trunk are in."""
        here, there = (self._segments_at(end.device) for end in link.ends)
        return [segment for segment in here if segment in there]

    def vlans_of(self, link: Link) -> tuple[int, ...]:
        """Return what a link carries beside its ports' own packets: none unless it is a trunk."""
        if not self.is_trunk(link):
            return ()
        found = [segment.vlan for segment in self.shared(link) if segment.vlan is not None]
        pair = next((pair for pair in self.pairs if {link.a, link.b} == set(pair.ends)), None)
        return (*found, pair.vlan) if pair else tuple(found)

    def ports(self, device: str) -> tuple[Port, ...]:
        """Return a node's ports in the order of the links; a host's aggregate stands where its first member would."""
        found: list[Port] = []
        bundles = {end: bundle for bundle in self.bundles for _cable, end in bundle.cables}
        own = [(cable, end) for cable in self.cables for end in (cable.a, cable.b) if end.device == device]
        for cable, end in own:
            if end not in bundles:
                found += self._ports_of(cable, end)
            elif end == bundles[end].cables[0][1]:
                found.append(_bundled(bundles[end]))
        return tuple(found)

    def aggregates(self, device: str, ports: Sequence[Port]) -> Iterator[Aggregate]:
        """Yield a switch's aggregates that route."""
        tagging = {end: link.tagging for link in self._intent.links for end in link.ends}
        for number, lag in enumerate(self._intent.lags):
            members = tuple(port for port in ports if port.member_of == lag.name)
            if members and lag.device == device:
                yield Aggregate(number, lag.name, members, tagging[End(device, members[0].interface)])

    def bridges(self, device: str, ports: Sequence[Port]) -> Iterator[Bridge]:
        """Yield a switch's VLANs: those it has an address, an access port or a paired switch in."""
        if not self.is_switch(device):
            return
        used = {port.bridge for port in ports}
        for segment in self._intent.segments:
            kernel, svi = self._bridge_name(device, segment), self._svi(device, segment)
            if svi or kernel in used:
                yield Bridge(kernel, segment.vlan, segment.name, svi)
        for pair in self._pairs_of(device):
            yield Bridge(pair.svi, pair.vlan, "peer", pair.svi)

    # ------------------------------------------------------------------ one cable

    def _ports_of(self, cable: Cable, end: End) -> Iterator[Port]:
        peer = cable.b if end == cable.a else cable.a
        lag = self._lag_of.get(end) if self.is_switch(end.device) else None
        if cable.vlans:
            base = cable.plant_end(end)
            name = None if lag is None else lag.name
            yield Port(end.interface, base, peer, cable.through, aggregate=name, vlans=cable.vlans)
            for vlan in cable.vlans:
                lane = f"{end.interface}.{vlan}"
                bridge = self._bridge_of_vlan(end.device, vlan)
                yield Port(lane, cable.lane_end(end, vlan), peer, cable.through, bridge, trunk=end.interface)
            return
        link = self._intent.links[cable.number]
        routed = lag if link.routing != "none" else None
        segment = self._topology.segment_of(self._topology.logical(peer))
        is_access = self.is_switch(end.device) and self._intent.devices[peer.device].is_host
        yield Port(
            interface=end.interface,
            plant_end=cable.plant_end(end),
            peer=peer,
            through=cable.through,
            bridge=self._bridge_name(end.device, segment) if is_access and segment else None,
            aggregate=None if lag is None or routed else lag.name,
            mlag=self._mlag(end, lag),
            member_of=routed.name if routed else None,
            tagging=UNTAGGED if routed else link.tagging,
        )

    def _mlag(self, end: End, lag: Lag | None) -> int | None:
        """Return the number of an aggregate that the paired switch has a part in, None of others."""
        if lag is None or not any(end.device in {far.device for far in pair.ends} for pair in self.pairs):
            return None
        return aggregate_number(lag.name)

    def _bridge_of_vlan(self, device: str, vlan: int) -> str:
        for pair in (pair for pair in self._pairs_of(device) if pair.vlan == vlan):
            return pair.svi
        return next(self._bridge_name(device, segment) for segment in self._segments_at(device) if segment.vlan == vlan)

    def _bridge_name(self, device: str, segment: Segment) -> str:
        return kernel_name(self._svi(device, segment) or f"br-{segment.name}")

    def _svi(self, device: str, segment: Segment) -> str | None:
        return next((end.interface for end in self._topology.gateways(segment) if end.device == device), None)

    def _segments_at(self, device: str) -> list[Segment]:
        """Return the broadcast domains that a switch is in, by an address or by a host behind it."""
        behind = {
            self._topology.segment_of(self._topology.logical(link.other(end)))
            for link in self._intent.links
            for end in link.ends
            if end.device == device and self._intent.devices[link.other(end).device].is_host
        }
        return [segment for segment in self._intent.segments if segment in behind or self._svi(device, segment)]

    # ------------------------------------------------------------------ one of several

    def _bundles(self) -> Iterator[Bundle]:
        ends = {end: cable for cable in self.cables for end in (cable.a, cable.b)}
        lags = [lag for lag in self._intent.lags if self._intent.devices[lag.device].is_host]
        for number, lag in enumerate(lags):
            members = [End(lag.device, member) for member in lag.members]
            yield Bundle(number, End(lag.device, lag.name), tuple((ends[end], end) for end in members))

    def _pairs(self) -> Iterator[Pair]:
        for pair in self._intent.pairs:
            link = next((link for link in self._intent.links if is_peer_link(link, pair.devices)), None)
            if link:
                ends = (link.end_on(pair.devices[0]), link.end_on(pair.devices[1]))
                yield Pair(pair.name, ends, svi_number(pair.peering or PEERING) or 0)

    def _pairs_of(self, device: str) -> list[Pair]:
        return [pair for pair in self.pairs if any(end.device == device for end in pair.ends)]


def is_peer_link(link: Link, devices: Sequence[str]) -> bool:
    """Tell whether a link is the switched one between two paired switches."""
    return link.routing == "none" and {link.a.device, link.b.device} == set(devices)


def svi_number(name: str) -> int | None:
    """Return the VLAN of an EOS SVI's name, None where the name is none."""
    number = name.removeprefix("Vlan")
    return int(number) if name.startswith("Vlan") and number.isdecimal() else None


def aggregate_number(name: str) -> int | None:
    """Return the number in a Port-Channel's name, None where the name is none."""
    number = name.removeprefix(AGGREGATE)
    return int(number) if name.startswith(AGGREGATE) and number.isdecimal() else None


def _bundled(bundle: Bundle) -> Port:
    far = [cable.b if end == cable.a else cable.a for cable, end in bundle.cables]
    return Port(
        interface=bundle.end.interface,
        plant_end=bundle.plant_end,
        peer=End(" or ".join(dict.fromkeys(end.device for end in far)), far[0].interface),
        members=tuple(end.interface for _cable, end in bundle.cables),
        beside=bundle.members,
    )
