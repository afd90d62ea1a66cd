"""Taking a change back in the lowering order: pins first, then links, and only then the pins.

At no moment may a sender be larger than what is still proven: lifted prefixes are pinned and read back, the link gets
its old size, and with the link at its old size the pins bound nothing any more and the routes get their old text.

What others have changed since is theirs. A route is pinned whatever they gave it, and gets it back; a link that has
neither the size that we gave it nor the one it had is left alone, and named.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable

from . import ipv6, multicast
from .errors import ProbeError
from .links import Link, read_links, set_mtu
from .pins import pin_loose, require_pinned
from .routes import Key, Route, delete, of_device, parse_routes, read_routes
from .routes import set_mtu as set_route_mtu

Json = Dict[str, Any]
ALL = frozenset({"lifts", "ip_mtu", "route_mtu"})


class Undo:
    """One run of taking back; goes on past a problem, since each further step makes the host safer."""

    def __init__(self, interfaces: dict[str, Json], adopted: dict[str, int | None] | None = None) -> None:
        self.interfaces = interfaces
        self.adopted = dict(adopted or {})
        # Lifts are forgotten once they are pinned; the size they went back to is still ours.
        self.pinned_at = {
            name: [lift["from"] for lift in entry.get("lifts", {}).values()] for name, entry in interfaces.items()
        }
        self.done: list[str] = []
        self.problems: list[ProbeError] = []

    def run(self, wanted: dict[str, set[str]]) -> None:
        """Take back, per interface, what is named: `lifts`, `ip_mtu`, `route_mtu`. Updates the entries."""
        for name in wanted:
            self._try(self._pin_all, name)
        for name, parts in wanted.items():
            if "lifts" in parts or "ip_mtu" in parts:
                self._try(self._drop_lifts, name)
        links = read_links()
        for name in sorted(wanted, key=lambda one: _depth(links, one), reverse=True):
            if "ip_mtu" in wanted[name]:
                self._try(self._restore_link, name)
        for name, parts in wanted.items():
            if "route_mtu" in parts:
                self._try(self._restore_routes, name)

    def _try(self, step: Callable[[str], None], name: str) -> None:
        try:
            step(name)
        except ProbeError as problem:
            self.problems.append(problem)
        except Exception as error:  # noqa: BLE001 - no memory to fork, say: the next step may still work
            self.problems.append(ProbeError(f"{type(error).__name__}: {error}", object=name))

    def _pin_all(self, name: str) -> None:
        """Bind every route to the old size again, at the sender, and read it back."""
        entry, links = self.interfaces[name], read_links()
        if name not in links:
            return
        old = {prefix: {"mtu": lift["from"]} for prefix, lift in entry.get("lifts", {}).items()}
        wanted: Json = {"pin": entry.get("pin"), "lifts": old}
        if not old and (wanted["pin"] is None or links[name].mtu <= wanted["pin"]):
            return  # the link itself is the bound
        self.done += [f"bound {text}" for text in ipv6.bind(name, ipv6.target(entry, links[name].mtu))]
        width = read_links()[name].width
        pinned, problems = pin_loose(name, wanted, width)
        remember_theirs(entry, pinned, self.adopted)
        self.problems += problems
        self.done += [f"pinned {name} {route.prefix}" for route in pinned]
        if not problems:
            require_pinned(name, wanted, width)

    def _drop_lifts(self, name: str) -> None:
        """Delete the explicit prefixes that we had added; they are pinned at this point."""
        entry = self.interfaces[name]
        for prefix, lift in list(entry.get("lifts", {}).items()):
            if lift.get("added"):
                for route in of_device(read_routes(), name):
                    if route.prefix == prefix and route.ours:
                        delete(route)
                        self.done.append(f"deleted {name} {prefix}, which a lift had added")
            del entry["lifts"][prefix]

    def _restore_link(self, name: str) -> None:
        """Give the link its old size, if it has the one that we gave it: another one is somebody else's change."""
        size, links = self.interfaces[name].get("ip_mtu"), read_links()
        if not size:
            return
        found = links[name].mtu if name in links else None
        if found is None:
            self.done.append(f"link {name} is gone: somebody has removed it")
        elif found == size["to"] != size["from"]:
            set_mtu(name, size["from"], ipv6.target(self.interfaces[name], size["from"]))
            self.done.append(f"link {name} back from {found} to {size['from']}")
        elif found != size["from"]:
            message = f"{name} has IP MTU {found}, neither {size['to']} nor {size['from']}: somebody has changed it"
            advice = f"find out who, and set {size['from']} or {size['to']}; until then its routes stay pinned"
            raise ProbeError(message, object=name, wish=size["from"], limit=found, advice=advice)
        self.interfaces[name]["ip_mtu"] = None
        if found is not None and self.interfaces[name].get("pin") is None:
            self._restore_ipv6(name)

    def _restore_routes(self, name: str) -> None:
        """Give each route the MTU it had, and delete what we have added. Refused while the link is still large."""
        entry, links = self.interfaces[name], read_links()
        if entry.get("pin") is None:
            return
        self._require_old_size(entry, links.get(name))  # only where the link has refused to go back
        originals = {route.key: route.mtu for route in parse_routes("\n".join(entry["routes"]))}
        for route in of_device(read_routes(), name):
            if route.ours and route.key not in originals:
                delete(route)
                self.done.append(f"deleted {name} {route.prefix}, which a pin had added")
            else:
                self._restore_route(name, route, originals)
        for added in entry.get("added", ()):
            if added.get("rule"):
                multicast.delete_rule(added["rule"])
        if name in links:
            self._restore_ipv6(name)
        entry["pin"] = None

    def _restore_ipv6(self, name: str) -> None:
        """Give the interface its own IPv6 MTU back, and let router advertisements set it again as they could."""
        before = self.interfaces[name].get("ipv6")
        if before is not None:
            self.done += ipv6.restore(name, before)

    def _restore_route(self, name: str, route: Route, originals: dict[Key, int | None]) -> None:
        entry = self.interfaces[name]
        mtu = self._original_mtu(entry, route, originals)
        if mtu == route.mtu:
            return
        if route.mtu not in (entry["pin"], *self.pinned_at.get(name, ())):
            self.done.append(
                f"route {name} {route.prefix} left as it is: somebody has given it {route.mtu or 'no MTU'}"
            )
            return
        set_route_mtu(route, mtu)
        self.done.append(f"route {name} {route.prefix} back to {mtu or 'no MTU'}")

    def _original_mtu(self, entry: Json, route: Route, originals: dict[Key, int | None]) -> int | None:
        """Return the MTU a route had before it was pinned; one that was never touched keeps its own."""
        if adopted_key(route) in self.adopted:
            return self.adopted[adopted_key(route)]
        if route.key in originals:
            return originals[route.key]
        assumed = entry.get("assumed")  # after a reboot only the request knows
        if assumed and route.mtu == assumed["to"]:
            return assumed["from"]  # type: ignore[no-any-return]
        return route.mtu

    @staticmethod
    def _require_old_size(entry: Json, link: Link | None) -> None:
        size = entry.get("ip_mtu")
        # While a raised link is not back, its pins are what protects production.
        if link is not None and size and size["to"] > size["from"] and link.mtu > size["from"]:
            message = f"{link.name} is still at {link.mtu}: its pins stay"
            raise ProbeError(message, object=link.name, wish=size["from"], limit=link.mtu)


def adopted_key(route: Route) -> str:
    """Return how a route is written down that was pinned although its MTU, or all of it, was somebody else's."""
    return "|".join(route.key)


def remember_theirs(entry: Json, pinned: Iterable[Route], adopted: dict[str, int | None]) -> None:
    """Write down what others had given to routes that were just pinned: they get it back once the pins go."""
    originals = {route.key: route.mtu for route in parse_routes("\n".join(entry["routes"]))}
    for route in pinned:
        own = route.key in originals and route.mtu in (None, originals[route.key])  # the kernel made it again: no news
        if not own and route.prefix not in entry.get("lifts", {}):
            adopted.setdefault(adopted_key(route), route.mtu)


def _depth(links: dict[str, Link], name: str) -> int:
    """Return on how many devices of this host this one stands."""
    depth, seen = 0, {name}
    link = links.get(name)
    while link is not None and link.parent is not None and link.parent not in seen:
        depth += 1
        seen.add(link.parent)
        link = links.get(link.parent)
    return depth


def raising_order(links: dict[str, Link], names: list[str]) -> list[str]:
    """Return devices sorted so that each comes after what it stands on."""
    return sorted(names, key=lambda one: (_depth(links, one), one))
