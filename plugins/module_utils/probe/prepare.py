"""Before anything is changed: read the host, and refuse by name what cannot be done safely."""

from __future__ import annotations

from typing import Any, Dict, Sequence

from . import daemons, ipv6
from .changes import Change, of_field
from .errors import ProbeError
from .keep import is_keeper
from .links import Link, forwarding_interfaces, members, need_link, read_links, require_size
from .multicast import plan_pin
from .pins import loose
from .record import in_charge_of
from .routes import IPV6, Route, Width, of_device, read_routes, require_editable

Json = Dict[str, Any]
Links = Dict[str, Link]


def prepare(identity: str, changes: Sequence[Change]) -> dict[str, Json]:
    """Return the record's `interfaces` for these changes: originals and wishes. Refuses without having written."""
    for change in changes:
        if change.prefix is not None or change.field == "persisted":
            message = f"{change.field} of {change.object} is not applied"
            raise ProbeError(message, object=change.object, advice="use the verbs lift, pin and persist for it")
    forwards = bool(forwarding_interfaces())
    _require_no_forwarding(changes)
    if any(change.field == "route_mtu" for change in changes):
        daemons.require_none()
    links, routes = read_links(), read_routes()
    sizes, pins = of_field(changes, "ip_mtu"), of_field(changes, "route_mtu")
    planned = {name: int(change.after) for name, change in sizes.items()}
    interfaces: dict[str, Json] = {}
    for name in sorted({change.interface for change in changes}):
        link = need_link(links, name)
        _require_ours(identity, link, links)
        mine = of_device(routes, name)
        entry: Json = {
            "ip_mtu": _read_size(link, sizes.get(name), links, planned),
            "pin": _read_pin(link, pins.get(name), routes),
            "ipv6": None if link.ipv6_mtu is None else {"mtu": link.ipv6_mtu, "accept_ra_mtu": link.accept_ra_mtu},
            "routes": [route.text for route in mine],
            "added": [],
            "lifts": {},
        }
        if name in pins and pins[name].waived:
            entry["exposure"] = "waived"
        if forwards:
            # Transit must see the raised link in both families, and a routing daemon's routes are not ours to keep.
            entry.update(router=True, ipv6=None)
        if entry["pin"] is not None:
            added = plan_pin(link, entry["pin"], routes)
            entry["added"] = [added] if added else []
        _require_bounded(link, entry, routes)
        interfaces[name] = entry
    return interfaces


def _require_no_forwarding(changes: Sequence[Change]) -> None:
    forwarding = forwarding_interfaces()
    if forwarding and any(change.field == "route_mtu" for change in changes):
        message = (
            f"this host forwards packets ({', '.join(forwarding)}): pinned, it would answer transit with frag-needed"
        )
        raise ProbeError(
            message,
            object=forwarding[0],
            wish="pinned routes",
            limit="hosts that do not forward",
            advice="treat it as a router: raise it at egress after its receivers, or switch forwarding off",
        )


def _require_ours(identity: str, link: Link, links: Links) -> None:
    """Refuse an interface that somebody else holds, or that carries what pins do not bound."""
    holder = in_charge_of(link.name)
    if holder is not None and holder.id != identity and not is_keeper(holder, link.name):
        message = f"{link.name} is held by the change {holder.id} ({holder.verdict()})"
        raise ProbeError(message, object=link.name, advice=f"revert or release {holder.id} first")
    if link.master is not None:
        message = f"{link.name} belongs to the {link.master_kind or 'device'} {link.master}"
        advice = f"change {link.master} instead" if link.master_kind == "bond" else "leave it out: this is not covered"
        raise ProbeError(message, object=link.name, limit="interfaces of their own", advice=advice)
    ipv6.require_writable(link.name)
    for name in members(links, link.name):
        if links[name].mtu != link.mtu:
            message = f"{name}, a member of {link.name}, has {links[name].mtu}, {link.name} has {link.mtu}"
            raise ProbeError(message, object=name, wish=link.mtu, limit=links[name].mtu, advice="make them equal first")


def _read_size(link: Link, change: Change | None, links: Links, planned: dict[str, int]) -> Json | None:
    """Check a wish for the link itself; returns `{"from", "to"}`."""
    if change is None:
        return None
    if link.mtu != change.before:
        message = f"{link.name} has IP MTU {link.mtu}, not {change.before}: somebody has changed it"
        raise ProbeError(message, object=link.name, wish=change.before, limit=link.mtu, advice="read and plan again")
    require_size(links, link.name, change.after, planned)
    for name in members(links, link.name):
        require_size(links, name, change.after, planned)
    return {"from": link.mtu, "to": change.after}


def _read_pin(link: Link, change: Change | None, routes: list[Route]) -> int | None:
    """Check a wish to pin every route of the link; returns the pin."""
    if change is None:
        return None
    if change.after is None:
        message = f"the pins of {link.name} are taken off by revert, with the link at its old size"
        raise ProbeError(message, object=link.name, wish=None, limit="a size to pin at")
    pin = int(change.after)
    if pin > link.mtu:
        message = f"{link.name} has {link.mtu}: a pin at {pin} would let its routes grow with the link"
        raise ProbeError(message, object=link.name, wish=pin, limit=link.mtu)
    for route in of_device(routes, link.name):
        if route.family == IPV6 and link.width.of(route) <= pin:
            continue  # its interface binds it, whether it can be edited or not
        require_editable(route, routes)
        # A smaller MTU of somebody's own (a tunnel, a detour) is kept: it is a stricter pin.
        if route.mtu != change.before and not (route.mtu is not None and route.mtu <= pin):
            found = "no MTU" if route.mtu is None else f"MTU {route.mtu}"
            expected = "none" if change.before is None else str(change.before)
            message = f"the route `{route.text}` has {found}, not {expected}: somebody has changed it"
            raise ProbeError(message, object=f"{link.name} {route.prefix}", wish=change.before, limit=route.mtu)
    return pin


def _require_bounded(link: Link, entry: Json, routes: list[Route]) -> None:
    """Refuse to raise a link whose routes would grow with it, unless the host forwards: that is meant there."""
    size = entry["ip_mtu"]
    if entry["pin"] is not None or entry.get("router") or size is None or size["to"] <= size["from"]:
        return
    for route, _mtu in loose(link.name, {"pin": size["from"]}, routes, Width(size["to"], link.ipv6_mtu)):
        message = f"raised to {size['to']}, {link.name} would send more by `{route.text}` before any path is proven"
        raise ProbeError(
            message,
            object=f"{link.name} {route.prefix}",
            wish=size["to"],
            limit=size["from"],
            advice=f"pin its routes in the same request: route_mtu of {link.name} to {size['from']}",
        )
