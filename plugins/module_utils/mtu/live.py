"""Questions about the devices' states: sizes, limits, pins, lifts. Sizes are bytes of IP packet."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

from . import boxes
from .capability import Limit, card_of, limit_of, told_limit, unsettable
from .capability_table import Card
from .errors import JumboError
from .intent_types import End, Intent, Link, Pair
from .routes import Subnets, canonical, covers, network, unicast
from .topology import Topology
from .units import frame_to_ip_mtu

__all__ = ["Live", "covers", "network"]


Table = Tuple[Tuple[str, Optional[str]], ...]


def _length(route: tuple[str, Any]) -> int:
    return int(network(route[0]).prefixlen)


GUEST_KINDS = frozenset({"tun", "tap", "veth", "macvtap"})


class Live:
    """The states of the devices, beside what is wanted of them. A device that was not read has no state."""

    def __init__(self, intent: Intent, topology: Topology, states: Mapping[str, Mapping[str, Any]]) -> None:
        self.intent = intent
        self.topology = topology
        self.states = {host: state for host, state in states.items() if state.get("interfaces") is not None}
        self._tagging = {topology.logical(port): link.tagging for link in intent.links for port in link.ends}
        self.subnets = Subnets(topology.jumbo_segments())
        self._routes: dict[End, list[Mapping[str, Any]] | None] = {}
        self._lifts: dict[End, dict[str, int]] = {}
        self._pins: dict[End, int | None] = {}
        self._unicast: dict[str, list[Mapping[str, Any]]] = {}
        self._tables: dict[str, Table | None] = {}
        self._equal: dict[Table, Table] = {}
        self._ways: dict[tuple[int, str], str | None] = {}

    def is_read(self, device: str) -> bool:
        """Tell whether the device has told its state."""
        return device in self.states

    def interface(self, end: End) -> Mapping[str, Any] | None:
        """Return what the device says of an interface, None where it doesn't know it or was not read."""
        found: Mapping[str, Any] | None = self.states.get(end.device, {}).get("interfaces", {}).get(end.interface)
        return found

    def ip_mtu(self, end: End) -> int | None:
        """Return what the interface sends at most, None where that isn't told or it has no size of its own."""
        interface = self.interface(end)
        return None if interface is None or self.is_switched(end) else interface.get("ip_mtu")

    def carries(self, end: End) -> int | None:
        """Return what the interface carries: its IP MTU; a switched port that has none, what its box receives."""
        interface = self.interface(end)
        if interface is None:
            return None
        if self.is_switched(end):
            return self.box(end.device)
        size: int | None = interface.get("ip_mtu")
        return size if size is not None or self.intent.devices[end.device].is_host else interface.get("mru")

    def device_mtu(self, end: End) -> int | None:
        """Return the platform's own number."""
        interface = self.interface(end)
        return None if interface is None else interface.get("device_mtu")

    def box(self, device: str) -> int | None:
        """Return what every port of a box takes, None where each has a size of its own."""
        state = self.states.get(device, {})
        return boxes.receives(state) if boxes.has_one_size(self.intent.devices[device].platform) else None

    def box_after_reboot(self, device: str) -> int | None:
        """Return what every port of a box takes once it has restarted, None where each has a size of its own."""
        state = self.states.get(device, {})
        return boxes.receives_after_reboot(state) if self.box(device) is not None else None

    def box_lacks(self, device: str, size: int) -> bool:
        """Tell whether a box's ports do not take a size for good: not now, or not after its next restart."""
        found = [self.box(device), self.box_after_reboot(device)]
        return any(each is not None and each < size for each in found)

    def is_switched(self, end: End) -> bool:
        """Tell whether an interface is a port of such a box that has no IP MTU of its own."""
        kind = (self.interface(end) or {}).get("kind")
        return kind in boxes.SWITCHED and boxes.has_one_size(self.intent.devices[end.device].platform)

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

    def peering(self, pair: Pair) -> Link | None:
        """Return a pair's peering where both of its ends were read and have an MTU to set; else it stays as it is."""
        link = self.topology.peering(pair)
        ends = link.ends if link else ()
        known = all(self.ip_mtu(end) is not None and not self.unsettable(end) for end in ends)
        return link if known and not any(map(self.intent.is_excluded, ends)) else None

    def _model(self, end: End) -> str | None:
        model = self.states.get(end.device, {}).get("model")
        return None if model is None else str(model)

    def parent(self, end: End) -> End | None:
        """Return the interface below, where the device names one that it has itself."""
        name = (self.interface(end) or {}).get("parent")
        below = End(end.device, name) if name else None
        return below if below and self.interface(below) is not None else None

    def stack(self, end: End) -> list[End]:
        """Return an interface and all that it stands on, the lowest first: a VLAN's parent, ports of a bridge.

        Raises JumboError where an interface stands on itself.
        """
        found: list[End] = []
        self._descend(end, (), found)
        return found

    def _descend(self, end: End, above: tuple[End, ...], found: list[End]) -> None:
        if end in above:
            ring = " on ".join(each.interface for each in (*above[above.index(end) :], end))
            raise JumboError(
                f"its interfaces stand on each other in a ring: {ring}",
                host=end.device,
                object=end.interface,
                advice="Correct the parent or the members of one of them, then read the host again",
            )
        interface = self.interface(end) or {}
        # A bond gives its MTU to its members; a bridge takes the least of its ports.
        ports = (interface.get("members") or ()) if interface.get("kind") == "bridge" else ()
        for name in (name for name in (interface.get("parent"), *ports) if name):
            lower = End(end.device, str(name))
            if self.ip_mtu(lower) is not None and lower not in found and not self._is_guest(lower):
                self._descend(lower, (*above, end), found)
        if end not in found:
            found.append(end)

    def _is_guest(self, end: End) -> bool:
        return str((self.interface(end) or {}).get("kind")) in GUEST_KINDS

    def guests(self, end: End) -> list[End]:
        """Return the ports of bridges under an interface that lead to guests: virtual machines and containers."""
        found = []
        for bridge in self.stack(end):
            interface = self.interface(bridge) or {}
            if interface.get("kind") == "bridge":
                ports = [End(end.device, str(name)) for name in interface.get("members") or ()]
                found += [port for port in ports if self._is_guest(port)]
        return found

    def persists(self, host: str) -> bool:
        """Tell whether a host's link MTU and pins can be written to its boot configuration."""
        return bool(self.states.get(host, {}).get("persistence"))

    def keeps(self, device: str) -> bool:
        """Tell whether a device comes back from a reboot with what was confirmed.

        A switch saves what it confirms. A machine, host or router, tells whether it has a place for that.
        """
        told = "persistence" in self.states.get(device, {}) or self.intent.devices[device].is_host
        return self.persists(device) if told else True

    def unpersistable(self, end: End) -> list[str]:
        """Return the routes of an interface that its host's boot configuration cannot hold (a daemon's, DHCP's)."""
        routes = self.states.get(end.device, {}).get("unpersistable_routes") or {}
        return [str(route) for route in routes.get(end.interface, [])]

    def forwards(self, host: str) -> bool:
        """Tell whether a host routes for others: it must never be pinned."""
        return bool(self.states.get(host, {}).get("forwarding"))

    def routes(self, end: End) -> list[Mapping[str, Any]] | None:
        """Return the unicast routes that leave by an interface, None where the state has no routes at all."""
        if end not in self._routes:
            routes, name = self._all_routes(end.device), end.interface
            mine = (r for r in routes or () if r.get("interface") == name or name in (r.get("nexthops") or ()))
            self._routes[end] = None if routes is None else list(mine)
        return self._routes[end]

    def _all_routes(self, host: str) -> list[Mapping[str, Any]] | None:
        """Return the unicast routes of a host, None where its state has no routes at all."""
        routes = self.states.get(host, {}).get("routes")
        if routes is None:
            return None
        if host not in self._unicast:
            self._unicast[host] = list(unicast(routes))
        return self._unicast[host]

    def lifts(self, end: End) -> dict[str, int]:
        """Return {prefix: MTU} of the interface's routes to jumbo segments that are above the old size."""
        if end not in self._lifts:
            found = {}
            for route in self.routes(end) or []:
                # A route without an MTU of its own sends as much as its link does.
                prefix, mtu = canonical(route["prefix"]), route.get("mtu") or self.ip_mtu(end)
                if mtu is not None and mtu > self.intent.baseline_ip_mtu and self.subnets.within(prefix):
                    found[prefix] = int(mtu)
            self._lifts[end] = found
        return self._lifts[end]

    def pin(self, end: End) -> int | None:
        """Return the size that bounds all routes of an interface but the lifted ones, None where some have none."""
        if end not in self._pins:
            self._pins[end] = self._find_pin(end)
        return self._pins[end]

    def _find_pin(self, end: End) -> int | None:
        routes = self.routes(end)
        if not routes:
            return None
        lifted = self.lifts(end)
        sizes = [route.get("mtu") for route in routes if canonical(route["prefix"]) not in lifted]
        bounded = [size for size in sizes if size is not None and size <= self.intent.baseline_ip_mtu]
        if len(bounded) < len(sizes):
            return None
        return max(bounded, default=self.intent.baseline_ip_mtu)

    def pin_wanted(self, end: End) -> int:
        """Return the size that production keeps while the link is raised: what was read, at most the baseline."""
        return min(self.ip_mtu(end) or self.intent.baseline_ip_mtu, self.intent.baseline_ip_mtu)

    def leaves_by(self, end: End, prefix: str) -> str | None:
        """Return the interface by which a host reaches a prefix, None where it has no route; its own where not told."""
        table = self._main_table(end.device)
        if table is None:
            return end.interface
        key = (id(table), prefix)
        if key not in self._ways:
            best = max((route for route in table if covers(route[0], prefix)), key=_length, default=None)
            self._ways[key] = best[1] if best else None
        return self._ways[key]

    def splits(self, end: End, prefix: str) -> bool:
        """Tell whether parts of a prefix have routes of their own by which a host sends them another way."""
        routes = self._main_table(end.device) or ()
        return any(way != end.interface and net != prefix and covers(prefix, net) for net, way in routes)

    def _main_table(self, host: str) -> Table | None:
        """Return ((prefix, interface), ...) of a host's table main, the same object for hosts that have the same."""
        if host not in self._tables:
            routes = self._all_routes(host)
            main = (route for route in routes or () if str(route.get("table", "main")) in {"main", "254"})
            table = tuple((canonical(route["prefix"]), route.get("interface")) for route in main)
            self._tables[host] = None if routes is None else self._equal.setdefault(table, table)
        return self._tables[host]

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
