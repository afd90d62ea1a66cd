"""The verbs lift and pin: explicit prefixes are made larger once a path is proven, and smaller again at the sender.

A running TCP session keeps the segment size it has negotiated; only a pin at the sender shrinks it. So pin never asks
whether it may: it goes as far as it can, reads back, and says what it found.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import ipv6, persistence
from .changes import Change, read_changes
from .errors import ProbeError
from .iproute import ip_json
from .keep import keep
from .links import Link, need_link, read_links
from .pins import pin_loose, require_pinned
from .record import GUARDED, acting, last_holder
from .routes import (
    DEFAULTS,
    HOST_SUFFIXES,
    IPV4,
    OUR_PROTOCOL,
    Route,
    add,
    change,
    covers,
    delete,
    differences,
    family_of,
    of_device,
    read_routes,
    require_editable,
)

Json = Dict[str, Any]
ADDRESSES_TRIED = 300
# The edits of one lift: an existing route, or None for one to add, and the arguments it gets.
Edits = List[Tuple[Optional[Route], Tuple[str, ...]]]


def lift(request: Json) -> Json:
    """Make explicit prefix routes as large as asked: `{"changes"}`. The default route is never lifted."""
    changes = read_changes(request.get("changes"))
    with acting():
        links = read_links()
        _plan_all(changes, links, read_routes())  # refuses before anything is written
        before = sizes(changes)
        for interface, its in _by_interface(changes).items():
            told = min((one.before for one in its if one.before is not None), default=None)
            keep(links[interface], told, [str(one.prefix) for one in its])
        routes = read_routes()
        steps = _plan_all(changes, links, routes)
        _remember(changes, steps)
        try:
            expected = _perform(changes, steps, routes)
            _require_nothing_else(expected)
            for one in changes:
                _require_lifted(one, links)
        except ProbeError as problem:
            problem.undone = _pin_again([one for one, edits in zip(changes, steps) if edits])
            raise
        after = sizes(changes)
    return {"before": before, "after": after}


def pin(request: Json) -> Json:
    """Bind prefixes, or every route of an interface, to a size again, and read it back: `{"changes"}`."""
    changes = read_changes(request.get("changes"))
    with acting():
        links = read_links()
        for one in changes:
            need_link(links, one.interface)
            _require_route_change(one)
            if one.after is None:
                message = f"a pin of {one.object} needs a size"
                raise ProbeError(message, object=one.object, wish=None, limit="bytes of IP packet")
        before, done = sizes(changes), []
        for one in changes:
            done += _pin_one(one, links[one.interface])
        notes = _keep_pinned(changes, links)
        after = sizes(changes)
    return {"before": before, "after": after, "done": done, "notes": notes}


def pin_prefix(entry: Json, interface: str, prefix: str, mtu: int) -> list[str]:
    """Pin a prefix in place, read it back, then delete it where a lift had added it. Updates the record's entry."""
    link = need_link(read_links(), interface)
    wanted = {"lifts": {prefix: {"mtu": mtu}}}
    pinned, problems = pin_loose(interface, wanted, link.width)
    if problems:
        raise problems[0]
    require_pinned(interface, wanted, link.width)
    done = [f"pinned {interface} {prefix} at {mtu}" for _route in pinned]
    for route in of_device(read_routes(), interface):
        if route.prefix == prefix and route.ours:
            delete(route)
            done.append(f"deleted {interface} {prefix}, which a lift had added")
    entry.get("lifts", {}).pop(prefix, None)
    _require_covered(interface, prefix, mtu, link)
    return done


def _by_interface(changes: Iterable[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for one in changes:
        found.setdefault(one.interface, []).append(one)
    return found


def _keep_pinned(changes: Iterable[Change], links: dict[str, Link]) -> list[str]:
    """Have a guard keep what was pinned, until the link is down too; that there is none is told, and no refusal."""
    notes = []
    for interface, its in _by_interface(changes).items():
        try:
            keep(links[interface], min(one.after for one in its), strict=False)
        except (ProbeError, OSError) as problem:  # noqa: PERF203 - the pins themselves are in place
            notes.append(f"nobody keeps the pins of {interface}: {problem}")
    return notes


def sizes(changes: Iterable[Change]) -> Json:
    """Return, per object, the routes that carry it and the largest packet each may send."""
    links, routes = read_links(), read_routes()
    found: Json = {}
    for one in changes:
        mine = of_device(routes, one.interface)
        if one.prefix is not None:
            mine = [route for route in mine if route.prefix == one.prefix] or _cover(routes, one.interface, one.prefix)
        width = links[one.interface].width if one.interface in links else None
        found[one.object] = [{"route": route.text, "ip_mtu": width.of(route) if width else route.mtu} for route in mine]
    return found


def _require_route_change(one: Change) -> None:
    if one.field != "route_mtu":
        message = f"{one.field} of {one.object} is neither lifted nor pinned"
        raise ProbeError(message, object=one.object, limit="route_mtu")


def _plan_all(changes: Iterable[Change], links: dict[str, Link], routes: list[Route]) -> list[Edits]:
    return [_plan(one, need_link(links, one.interface), routes) for one in changes]


def _plan(one: Change, link: Link, routes: list[Route]) -> Edits:
    """Return the edits for one lift: an existing route and its new arguments, or None and a route to add."""
    _require_route_change(one)
    if one.prefix is None or one.prefix in DEFAULTS.values():
        what = "the default route" if one.prefix else f"every route of {one.interface}"
        message = f"{what} is never lifted: it stays at the old size for good"
        raise ProbeError(message, object=one.object, wish=one.after, limit=one.before, advice="lift explicit prefixes")
    if one.after is None or one.after > link.mtu:
        message = f"{one.object} would get {one.after}, {link.name} has {link.mtu}"
        raise ProbeError(message, object=one.object, wish=one.after, limit=link.mtu, advice="raise the link first")
    _require_confirmed(one.interface)
    # An IPv6 route without an MTU of its own is bound by its interface, which stays at the old size.
    size = None if one.after == link.mtu and family_of(str(one.prefix)) == IPV4 else one.after
    exact = [route for route in of_device(routes, link.name) if route.prefix == one.prefix]
    if all(route.advertised for route in exact):
        return [(None, _new_route(one, routes, size, link))]
    steps: Edits = []
    for route in exact:
        if route.advertised:
            continue  # the one of ours beside it goes first
        require_editable(route, routes)
        if link.width.of(route) != one.after:
            _require_from(one, route, link)
            steps.append((route, route.tokens_with(size)))
    return steps


def _require_confirmed(interface: str) -> None:
    holder = last_holder(interface)
    if holder is None:
        return
    verdict = holder.verdict()
    if verdict == "armed":
        message = f"{interface} is not confirmed yet: its guard could still take the link back"
        raise ProbeError(message, object=interface, limit="armed", advice=f"confirm {holder.id} first")
    if verdict == "fired":
        message = f"{holder.id} was not confirmed in time: its guard is taking {interface} back"
        raise ProbeError(message, object=interface, limit="fired", advice="read the host, then apply it again")
    if verdict in GUARDED and not holder.guard_lives():
        message = f"the guard of {holder.id} is dead: nobody keeps the pins of {interface}"
        raise ProbeError(
            message, object=interface, limit="dead", advice="revert, and find out what ends processes here"
        )


def _require_from(one: Change, route: Route, link: Link) -> None:
    found = link.width.of(route)
    if found != one.before:
        message = f"the route `{route.text}` carries {found}, not {one.before}: somebody has changed it"
        raise ProbeError(message, object=one.object, wish=one.before, limit=found, advice="read and plan again")


def _new_route(one: Change, routes: list[Route], size: int | None, link: Link) -> tuple[str, ...]:
    """Return an explicit route with all that the covering one has, but its MTU.

    Beside a route that advertisements made, of the same prefix, it goes first: its metric is one less.
    """
    prefix = str(one.prefix)
    taken = [
        route
        for route in routes
        if (route.prefix, route.table, route.type) == (prefix, "main", "unicast")
        and not (route.advertised and route.device == one.interface)
    ]
    if taken:
        message = f"{prefix} does not leave by {one.interface}: `{taken[0].text}`"
        raise ProbeError(message, object=one.object, advice="correct the plan")
    known = _cover(routes, one.interface, prefix)
    if not known:
        message = f"no route of {one.interface} leads to {prefix}"
        raise ProbeError(message, object=one.object, advice=f"see `ip route get` for an address of {prefix}")
    cover = known[0]
    if not cover.advertised:
        require_editable(cover, routes)
    _require_from(one, cover, link)
    tokens = list(cover.tokens_with(size))
    suffix = HOST_SUFFIXES[cover.family]
    tokens[1] = prefix[: -len(suffix)] if prefix.endswith(suffix) else prefix  # as the kernel prints it
    tokens[tokens.index("proto") + 1] = OUR_PROTOCOL
    if cover.advertised:
        tokens = _settled(tokens, cover.metric - 1 if cover.prefix == prefix else cover.metric)
    return tuple(tokens)


def _settled(tokens: list[str], metric: int) -> list[str]:
    """Return the arguments of an advertised route without its lifetime and hop limit: ours stays until we take it."""
    for word in ("expires", "hoplimit"):
        if word in tokens:
            at = tokens.index(word)
            tokens = tokens[:at] + tokens[at + 2 :]
    tokens[tokens.index("metric") + 1] = str(metric)
    return tokens


def _cover(routes: list[Route], interface: str, prefix: str) -> list[Route]:
    """Return the route of table main that packets to this prefix take, if it is one of this interface."""
    network = ipaddress.ip_network(prefix)
    found = [
        route
        for route in routes
        if (route.table, route.type, route.tos) == ("main", "unicast", "0") and covers(route, network)
    ]
    found.sort(key=lambda route: (-route.network.prefixlen, route.metric))
    return found[:1] if found and found[0].device == interface else []


def _remember(changes: list[Change], steps: list[Edits]) -> None:
    """Tell the guards what will be larger, before it is: they only ever pin what exceeds the wish."""
    for one, edits in zip(changes, steps):
        record = last_holder(one.interface)
        if record is not None and edits:
            data = record.load()
            lifts = data["interfaces"][one.interface]["lifts"]
            known = lifts.get(one.prefix, {"from": one.before, "added": False})
            added = known["added"] or any(route is None for route, _tokens in edits)
            lifts[one.prefix] = {**known, "mtu": one.after, "added": added}
            record.save(data)


def _perform(changes: list[Change], steps: list[Edits], routes: list[Route]) -> list[str]:
    """Make the edits; returns the routes that should be there afterwards."""
    expected = [route.text for route in routes]
    for one, edits in zip(changes, steps):
        for route, tokens in edits:
            if route is None:
                add(tokens, one.object)
                expected.append(" ".join(tokens))
            else:
                change(route, tokens)
                expected[expected.index(route.text)] = " ".join(tokens)
    return expected


def _require_nothing_else(expected: list[str]) -> None:
    different = differences(expected, [route.text for route in read_routes()])
    if different:
        message = f"while prefixes were lifted, another route changed: {'; '.join(different[:5])}"
        raise ProbeError(message, object="routes", advice="find what changes routes on this host")


def _require_lifted(one: Change, links: dict[str, Link]) -> None:
    """Ask the kernel for the route to an address of the prefix: what counts is what it would use."""
    own = {address.split("/")[0] for link in links.values() for address in link.addresses}
    peer = _peer(str(one.prefix), own)
    if peer is None:
        return
    family = family_of(peer)
    found = ip_json(f"-{family}", "route", "get", peer, about=one.object)[0]
    # What expires is what a router once said of this one peer: it is no property of the route, and passes.
    told = () if "expires" in found else found.get("metrics", ())
    link = links[one.interface]
    bare = link.mtu if "expires" in found or family == IPV4 else link.ipv6_mtu or link.mtu
    mtu = next((entry["mtu"] for entry in told if "mtu" in entry), bare)
    if found.get("dev") != one.interface or mtu < one.after:
        message = f"the route to {peer} leaves by {found.get('dev')} with {mtu} after {one.object} was lifted"
        raise ProbeError(message, object=one.object, wish=one.after, limit=mtu, advice="see `ip rule` on this host")


def _peer(prefix: str, own: Iterable[str]) -> str | None:
    mine = set(own)
    for tried, address in enumerate(ipaddress.ip_network(prefix).hosts()):
        if str(address) not in mine:
            return str(address)
        if tried > ADDRESSES_TRIED:
            break
    return None


def _pin_again(changes: Iterable[Change]) -> bool:
    """Take a lift back that went wrong half-way."""
    complete = True
    for one in changes:
        record = last_holder(one.interface)
        data = record.load() if record is not None else {"interfaces": {}}
        try:
            pin_prefix(data["interfaces"].get(one.interface, {}), one.interface, str(one.prefix), one.before)
        except ProbeError:
            complete = False
        else:
            if record is not None:
                record.save(data)
    return complete


def _pin_one(one: Change, link: Link) -> list[str]:
    record = last_holder(one.interface)
    data = record.load() if record is not None else {"interfaces": {one.interface: {"lifts": {}, "added": []}}}
    entry = data["interfaces"][one.interface]
    if one.prefix is not None:
        done = pin_prefix(entry, one.interface, one.prefix, one.after)
    else:
        done = [line for prefix in list(entry["lifts"]) for line in pin_prefix(entry, one.interface, prefix, one.after)]
        ipv6.bind(one.interface, ipv6.target({"pin": one.after}, link.mtu))
        width = need_link(read_links(), one.interface).width
        pinned, problems = pin_loose(one.interface, {"pin": one.after}, width)
        if problems:
            raise problems[0]
        require_pinned(one.interface, {"pin": one.after}, width)
        done += [f"pinned {one.interface} {route.prefix} at {one.after}" for route in pinned]
    if record is not None:
        record.save(data)
    # Where lifts were persisted, a reboot must not bring one back that has been pinned.
    lifted = {one.prefix: {"mtu": one.after}} if one.prefix is not None else {}
    persistence.bind(one.interface, {"pin": None if one.prefix else one.after, "lifts": lifted})
    return done


def _require_covered(interface: str, prefix: str, mtu: int, link: Link) -> None:
    """Read back what carries the prefix now: its own route, or the one that covers it."""
    routes = read_routes()
    mine = [route for route in of_device(routes, interface) if route.prefix == prefix] or _cover(
        routes, interface, prefix
    )
    for route in mine:
        if link.width.of(route) > mtu:
            message = f"{prefix} is now carried by `{route.text}`, which may send {link.width.of(route)}"
            raise ProbeError(
                message,
                object=f"{interface} {prefix}",
                wish=mtu,
                limit=link.width.of(route),
                advice="pin that route too",
            )
