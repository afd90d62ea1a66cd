"""Which size each route of an interface may carry, and what is wrong with the routes as they are.

A pin is the `mtu` of a route (bytes of IP packet): it bounds what a routed unicast socket sends, whatever the link
could carry. `wanted` is one entry of a record's `interfaces`: `pin` for all routes, `lifts` for prefixes proven larger.
An IPv4 route that is pinned has an MTU of its own; an IPv6 route may leave it to its interface (see ipv6.py).
"""

from __future__ import annotations

from typing import Any, Dict, Iterable

from .errors import ProbeError
from .links import members, read_links
from .routes import IPV6, Route, Width, of_device, read_routes, require_editable, set_mtu, why_not_editable

Wanted = Dict[str, Any]


def bound(wanted: Wanted, route: Route) -> int | None:
    """Return the size that a route may carry at most, None where nothing bounds it."""
    lift = wanted.get("lifts", {}).get(route.prefix)
    return lift["mtu"] if lift else wanted.get("pin")


def loose(interface: str, wanted: Wanted, routes: Iterable[Route], width: Width) -> list[tuple[Route, int]]:
    """Return the routes that could carry more than they may, each with the MTU it should have."""
    found = []
    for route in of_device(routes, interface):
        most = bound(wanted, route)
        if most is None or (route.mtu is not None and route.mtu <= most):
            continue
        # Without an MTU of its own: a lifted route may be bound by its link, an IPv6 one by its interface.
        bound_by_link = route.family == IPV6 or route.prefix in wanted.get("lifts", {})
        if route.mtu is None and bound_by_link and width.of(route) <= most:
            continue
        found.append((route, most))
    return found


def unpinned(interface: str, wanted: Wanted, routes: Iterable[Route], width: Width) -> list[tuple[Route, int]]:
    """Return what is to be pinned before a link is raised: all that is loose, and IPv6 routes that can be edited.

    The others of IPv6 are left to the interface's IPv6 MTU: fe80::/64 exists once per interface with one metric, and
    what router advertisements make would only get a twin.
    """
    known = list(routes)
    found = loose(interface, wanted, known, width)
    if wanted.get("pin") is None:
        return found
    listed = [route for route, _mtu in found]
    for route in of_device(known, interface):
        if route.family == IPV6 and route.mtu is None and route not in listed and not why_not_editable(route, known):
            found.append((route, wanted["pin"]))
    return found


def pin_loose(interface: str, wanted: Wanted, width: Width) -> tuple[list[Route], list[ProbeError]]:
    """Pin what is loose; the routes as they were, and what could not be pinned. Never makes a route larger."""
    routes = read_routes()
    pinned: list[Route] = []
    problems: list[ProbeError] = []
    for route, mtu in loose(interface, wanted, routes, width):
        try:
            require_editable(route, routes)
            set_mtu(route, mtu)
        except ProbeError as problem:  # noqa: PERF203 - the others must be pinned all the same
            problems.append(problem)
        else:
            pinned.append(route)
    return pinned, problems


def require_pinned(interface: str, wanted: Wanted, width: Width) -> None:
    """Read all routes back and refuse where one could carry more than it may."""
    found = loose(interface, wanted, read_routes(), width)
    if found:
        raise not_bound(interface, *found[0], width)


def not_bound(interface: str, route: Route, mtu: int, width: Width) -> ProbeError:
    """Return the error for a route that is larger than its pin."""
    return ProbeError(
        f"the route `{route.text}` is not bound to {mtu}",
        object=f"{interface} {route.prefix}",
        wish=mtu,
        limit=width.of(route),
        advice="something on this host rewrites routes (NetworkManager, networkd, a routing daemon): find it first",
    )


def require_as_applied(interfaces: dict[str, Wanted]) -> None:
    """Read back that links have their new size, members included, and that no route has lost its pin."""
    links = read_links()
    for name, entry in interfaces.items():
        if name not in links:
            message = f"{name} has disappeared"
            raise ProbeError(message, object=name, advice="revert")
        if entry["ip_mtu"] is not None:
            for one in (name, *members(links, name)):
                if links[one].mtu != entry["ip_mtu"]["to"]:
                    wish, found = entry["ip_mtu"]["to"], links[one].mtu
                    message = f"{one} has IP MTU {found}, not {wish}: somebody has changed it"
                    raise ProbeError(message, object=one, wish=wish, limit=found, advice="revert, then find out who")
        if entry["pin"] is not None:
            require_pinned(name, entry, links[name].width)
