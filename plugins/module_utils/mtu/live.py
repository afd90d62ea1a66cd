"""Questions about the devices' states: sizes, limits, pins, lifts. Sizes are bytes of IP packet."""

from __future__ import annotations

import functools
import ipaddress
from typing import Any, Iterator, Mapping

from .capability import Limit, card_of, limit_of, told_limit, unsettable
from .capability_table import Card
from .intent_types import End, Intent, Link, Segment
from .topology import Topology
from .units import frame_to_ip_mtu

DEFAULT_ROUTE = "0.0.0.0/0"


@functools.lru_cache(maxsize=None)
def network(prefix: str) -> Any:
    """Return a prefix as a network; "default" is the IPv4 default route."""
    return ipaddress.ip_network(DEFAULT_ROUTE if prefix == "default" else prefix, strict=False)


@functools.lru_cache(maxsize=None)
def covers(outer: str, inner: str) -> bool:
    """Tell whether one prefix contains another of the same family."""
    one, other = network(outer), network(inner)
    return bool(one.version == other.version and one.supernet_of(other))


def v4_subnets(segment: Segment) -> list[str]:
    """Return the IPv4 subnets of a segment."""
    return [subnet for subnet in segment.subnets if network(subnet).version == 4]  # noqa: PLR2004


class Live:
    """The states of the devices, beside what is wanted of them. A device that was not read has no state."""

    def __init__(self, intent: Intent, topology: Topology, states: Mapping[str, Mapping[str, Any]]) -> None:
        self.intent = intent
        self.topology = topology
        self.states = {host: state for host, state in states.items() if state.get("interfaces") is not None}
        self._tagging = {topology.logical(port): link.tagging for link in intent.links for port in link.ends}
        self._jumbo_subnets = {
            subnet: segment for segment in topology.jumbo_segments() for subnet in v4_subnets(segment)
        }

    def is_read(self, device: str) -> bool:
        """Tell whether the device has told its state."""
        return device in self.states

    def interface(self, end: End) -> Mapping[str, Any] | None:
        """Return what the device says of an interface, None where it doesn't know it or was not read."""
        found: Mapping[str, Any] | None = self.states.get(end.device, {}).get("interfaces", {}).get(end.interface)
        return found

    def ip_mtu(self, end: End) -> int | None:
        """Return what the interface sends at most, None where that isn't told."""
        interface = self.interface(end)
        return None if interface is None else interface.get("ip_mtu")

    def device_mtu(self, end: End) -> int | None:
        """Return the platform's own number."""
        interface = self.interface(end)
        return None if interface is None else interface.get("device_mtu")

    def tagging(self, end: End) -> str:
        """Return how frames are tagged on the interface's cable; what has no cable (an SVI) is untagged."""
        return self._tagging.get(end, "untagged")

    def capability(self, end: End) -> Limit | None:
        """Return the most that an interface can be given and who says so: the device, else what is known of its model.

        None where the interface wasn't read. The waiver `known_limit` says that the table is wrong of a device.
        """
        interface, device = self.interface(end), self.intent.devices[end.device]
        if interface is None:
            return None
        tagging, told = self.tagging(end), interface.get("max_ip_mtu")
        if self.intent.waived("known_limit", end.device, str(end)):
            return None if told is None else told_limit(device.platform, tagging, told)
        return limit_of(device.platform, self._model(end), end.interface, tagging, told)

    def limit(self, end: End) -> int | None:
        """Return the largest IP MTU that the interface can be given, None where nothing is known."""
        found = self.capability(end)
        return None if found is None else found.ip_mtu

    def unsettable(self, end: End) -> str | None:
        """Return why the interface has no MTU of its own to set, None where it has one."""
        return unsettable(self.intent.devices[end.device].platform, self._model(end), end.interface)

    def card(self, end: End) -> Card | None:
        """Return the card behind an interface that is known to carry less than it accepts, unless that is waived."""
        if self.intent.waived("known_limit", end.device, str(end)):
            return None
        return card_of(self.intent.devices[end.device].platform, end.interface)

    def _model(self, end: End) -> str | None:
        model = self.states.get(end.device, {}).get("model")
        return None if model is None else str(model)

    def parent(self, end: End) -> End | None:
        """Return the interface below, where the device names one that it has itself."""
        name = (self.interface(end) or {}).get("parent")
        below = End(end.device, name) if name else None
        return below if below and self.interface(below) is not None else None

    def persists(self, host: str) -> bool:
        """Tell whether a host's link MTU and pins can be written to its boot configuration."""
        return bool(self.states.get(host, {}).get("persistence"))

    def unpersistable(self, end: End) -> list[str]:
        """Return the routes of an interface that its host's boot configuration cannot hold (a daemon's, DHCP's)."""
        routes = self.states.get(end.device, {}).get("unpersistable_routes") or {}
        return [str(route) for route in routes.get(end.interface, [])]

    def forwards(self, host: str) -> bool:
        """Tell whether a host routes for others: it must never be pinned."""
        return bool(self.states.get(host, {}).get("forwarding"))

    def routes(self, end: End) -> list[Mapping[str, Any]] | None:
        """Return the IPv4 routes that leave by an interface, None where the state has no routes at all."""
        routes = self.states.get(end.device, {}).get("routes")
        if routes is None:
            return None
        name = end.interface
        return [r for r in self._unicast(routes) if r.get("interface") == name or name in (r.get("nexthops") or ())]

    @staticmethod
    def _unicast(routes: Any) -> Iterator[Mapping[str, Any]]:
        for route in routes:
            net = network(route["prefix"])
            if route.get("type", "unicast") != "unicast" or route.get("table") == "local":
                continue
            if net.version == 4 and not net.is_loopback and not (net.prefixlen and net.is_multicast):  # noqa: PLR2004
                yield route

    def lifts(self, end: End) -> dict[str, int]:
        """Return {prefix: MTU} of the interface's routes to jumbo segments that are above the old size."""
        found = {}
        for route in self.routes(end) or []:
            # A route without an MTU of its own sends as much as its link does.
            prefix, mtu = str(network(route["prefix"])), route.get("mtu") or self.ip_mtu(end)
            if prefix in self._jumbo_subnets and mtu is not None and mtu > self.intent.baseline_ip_mtu:
                found[prefix] = int(mtu)
        return found

    def pin(self, end: End) -> int | None:
        """Return the MTU that bounds every route which isn't lifted, None where one is not bounded by the old size."""
        routes = self.routes(end)
        if not routes:
            return None
        lifted = self.lifts(end)
        sizes = [route.get("mtu") for route in routes if str(network(route["prefix"])) not in lifted]
        bounded = [size for size in sizes if size is not None and size <= self.intent.baseline_ip_mtu]
        if len(bounded) < len(sizes):
            return None
        return max(bounded, default=self.intent.baseline_ip_mtu)

    def pin_wanted(self, end: End) -> int:
        """Return the size that production keeps while the link is raised: what was read, at most the baseline."""
        return min(self.ip_mtu(end) or self.intent.baseline_ip_mtu, self.intent.baseline_ip_mtu)

    def leaves_by(self, end: End, prefix: str) -> str | None:
        """Return the interface by which a host reaches a prefix, None where it has no route; its own where not told."""
        routes = self.states.get(end.device, {}).get("routes")
        if routes is None:
            return end.interface
        main = [route for route in self._unicast(routes) if str(route.get("table", "main")) in {"main", "254"}]
        fitting = [route for route in main if covers(route["prefix"], prefix)]
        best = max(fitting, key=lambda route: network(route["prefix"]).prefixlen, default=None)
        return best.get("interface") if best else None

    def unpersisted_lifts(self, end: End) -> bool:
        """Tell whether the guard still holds lifts of this host that its boot configuration doesn't have."""
        guard = self.states.get(end.device, {}).get("guard")
        holds = isinstance(guard, Mapping) and guard.get("state") in {"armed", "confirmed", "dead"}
        return holds and bool(self.lifts(end))

    @staticmethod
    def through_limit(link: Link) -> tuple[int, str] | None:
        """Return (largest IP packet, name) of the tightest box inside a cable, None where nothing limits."""
        boxes = [
            (frame_to_ip_mtu(box.max_frame, link.tagging), box.name)
            for box in link.through
            if box.max_frame is not None
        ]
        return min(boxes, default=None)
