"""Reads the list variables of an inventory: links, LAGs, pairs, waivers. Every bad entry becomes a problem."""

from __future__ import annotations

import difflib
import ipaddress
from typing import Any, Collection

from .intent_types import End, Lag, Link, Pair, Through, Waiver
from .intent_values import ROUTING, TAGGING, THROUGH_KINDS, WAIVER_KINDS, Where, choice, integer, items, mapping, text

PAIR_SHAPE = "{name, devices: [a, b], peer_link, peering}"
LINK_SHAPE = "[a, b] or {ends: [a, b], routing, tagging, through}, an end being device:interface"

_TWO = 2


def known(names: Collection[str], wrong: str = "") -> str:
    """Return some of the allowed names for a message, the most similar first."""
    similar = difflib.get_close_matches(wrong, list(names), n=3)
    shown = [*similar, *(name for name in sorted(names) if name not in similar)][:8]
    return ", ".join(shown) + (f" ... ({len(names)} in all)" if len(names) > len(shown) else "")


def read_end(where: Where, value: Any, devices: Collection[str]) -> End | None:
    """Return the End that a text `device:interface` names; the first colon divides."""
    if not isinstance(value, str):
        where.bad("this end is no text", value, "device:interface")
        return None
    device, _colon, interface = value.partition(":")
    if not device or not interface or device != device.strip() or interface != interface.strip():
        where.bad("this end does not name a device and an interface", value, "device:interface")
        return None
    if device not in devices:
        where.bad(
            f"the device {device!r} is not in the inventory",
            str(value),
            known(devices, device),
            "Add it or correct the name",
        )
        return None
    return End(str(device), str(interface))


def read_links(where: Where, value: Any, devices: Collection[str]) -> tuple[Link, ...]:
    """Return the links; a port may end one cable only."""
    links: list[Link] = []
    used: dict[End, Link] = {}
    for entry in items(where, value):
        link = _link(where, entry, devices)
        if link is None:
            continue
        for end in link.ends:
            if end in used:
                where.on(end.device, end.interface).bad(
                    "this port ends two links", str(link), f"one link, such as {used[end]}", "Remove one of them"
                )
            used[end] = link
        links.append(link)
    return tuple(links)


def _link(where: Where, entry: Any, devices: Collection[str]) -> Link | None:
    plain = isinstance(entry, (list, tuple))
    given = {"ends": entry} if plain else mapping(where, entry, ("ends", "routing", "tagging", "through"), LINK_SHAPE)
    if given is None:
        return None
    texts = given.get("ends")
    if not isinstance(texts, (list, tuple)) or len(texts) != _TWO:
        count = len(texts) if isinstance(texts, (list, tuple)) else 0
        where.bad(
            f"this link has {count} {'end' if count == 1 else 'ends'}, not two", texts, LINK_SHAPE, "Name both ends"
        )
        return None
    here = where.inside(" - ".join(str(item) for item in texts))
    ends = [read_end(here, item, devices) for item in texts]
    routing = choice(here, given.get("routing", "none"), "none", ROUTING)
    tagging = choice(here, given.get("tagging", "untagged"), "untagged", TAGGING)
    through = tuple(box for box in (_through(here, item) for item in items(here, given.get("through", []))) if box)
    if ends[0] is None or ends[1] is None:
        return None
    if ends[0].device == ends[1].device:
        here.bad("both ends of this link are on one device", list(map(str, texts)), "two devices")
        return None
    return Link(ends[0], ends[1], routing, tagging, through)


def _through(where: Where, value: Any) -> Through | None:
    given = mapping(where, value, ("name", "kind", "max_frame"), "{name, kind: tap | switch, max_frame}")
    if given is None:
        return None
    name = text(where, given.get("name"), "the name of the box in the cable")
    kind = choice(where, given.get("kind"), "tap", THROUGH_KINDS)
    frame = given.get("max_frame")
    if frame is not None:
        frame = integer(where, frame, 1514, (64, 65535), "the largest frame (bytes, FCS excluded)")
    return Through(name, kind, frame) if name else None


def read_lags(where: Where, value: Any, devices: Collection[str]) -> tuple[Lag, ...]:
    """Return the aggregates; a port may be in one only."""
    lags: list[Lag] = []
    used: set[End] = set()
    for entry in items(where, value):
        given = mapping(where, entry, ("device", "name", "members"), "{device, name, members}")
        if given is None:
            continue
        device, name = given.get("device"), text(where, given.get("name"), "the name of the LAG")
        here = where.inside(f"{device}:{name}")
        if device not in devices:
            here.bad(f"the device {device!r} is not in the inventory", device, known(devices, str(device)))
            continue
        members = [text(here, member, "a member") for member in items(here, given.get("members"))]
        if not members or not name or None in members:
            here.bad("a LAG needs a name and members", entry, "{device, name, members: [port, ...]}")
            continue
        ports = [End(str(device), port) for port in members if port]
        for port in ports:
            if port in used:
                here.bad(f"the port {port} is in two LAGs", port.interface, "one LAG", "Take it out of one of them")
            used.add(port)
        lags.append(Lag(str(device), name, tuple(port.interface for port in ports)))
    _check_names(where, lags, used)
    return tuple(lags)


def _check_names(where: Where, lags: list[Lag], ports: set[End]) -> None:
    """Refuse a name that two LAGs of a device have, and a LAG in a LAG (or in itself)."""
    seen: set[End] = set()
    for end in (End(lag.device, lag.name) for lag in lags):
        here = where.inside(str(end))
        if end in seen:
            here.bad(
                "two LAGs of this device have this name", end.interface, "one", "List all its members in one entry"
            )
        if end in ports:
            here.bad("this LAG is a member of a LAG", end.interface, "physical ports", "List the ports themselves")
        seen.add(end)


def read_pairs(where: Where, value: Any, switches: Collection[str]) -> tuple[Pair, ...]:
    """Return the MLAG pairs: two switches each, a switch in one pair only."""
    pairs: list[Pair] = []
    used: set[str] = set()
    for entry in items(where, value):
        given = mapping(where, entry, ("name", "devices", "peer_link", "peering"), PAIR_SHAPE)
        if given is None:
            continue
        name = text(where, given.get("name"), "the name of the pair")
        here = where.inside(name or "pair")
        both = items(here, given.get("devices"))
        unknown = [device for device in both if device not in switches]
        if len(both) != _TWO or len(set(map(str, both))) != _TWO or unknown or name is None:
            here.bad("a pair needs a name and two switches", both, known(switches, str(unknown[0]) if unknown else ""))
            continue
        if used & set(both):
            here.bad("a switch is in two pairs", sorted(used & set(both)), "one pair")
        used |= set(both)
        peer_link, peering = (None if given.get(key) is None else str(given[key]) for key in ("peer_link", "peering"))
        pairs.append(Pair(name, tuple(str(device) for device in both), peer_link, peering))
    return tuple(pairs)


def read_sessions(where: Where, value: Any, switches: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the control sessions over several hops: two routers each."""
    sessions: list[tuple[str, str]] = []
    for entry in items(where, value):
        both = items(where, entry)
        unknown = [device for device in both if device not in switches]
        if len(both) != _TWO or len(set(map(str, both))) != _TWO or unknown:
            choices = known(switches, str(unknown[0]) if unknown else "")
            where.bad("a control session has two routers of the inventory", both, choices)
            continue
        sessions.append((str(both[0]), str(both[1])))
    return tuple(dict.fromkeys(sessions))


def read_waivers(where: Where, value: Any) -> tuple[Waiver, ...]:
    """Return the dangers that were accepted; each needs a reason."""
    waivers = []
    for entry in items(where, value):
        given = mapping(where, entry, ("kind", "object", "reason"), "{kind, object, reason}")
        if given is None:
            continue
        here = where.inside(str(given.get("object")))
        kind = given.get("kind")
        if kind not in WAIVER_KINDS:
            here.bad("this kind of waiver is not known", kind, ", ".join(WAIVER_KINDS))
            continue
        target = text(here, given.get("object"), "what the waiver is about")
        reason = text(here, given.get("reason"), "the reason of the waiver")
        if target and reason:
            waivers.append(Waiver(str(kind), target, reason))
    return tuple(waivers)


def read_addresses(where: Where, value: Any) -> dict[str, tuple[str, ...]]:
    """Return {interface: (address/length, ...)}."""
    addresses: dict[str, tuple[str, ...]] = {}
    given = value if isinstance(value, dict) else {}
    if not isinstance(value, dict):
        where.bad("this is no mapping", value, "{interface: [address/length, ...]}")
    for interface, prefixes in given.items():
        here = where.inside(str(interface))
        read = (_address(here, prefix) for prefix in items(here, prefixes))
        addresses[str(interface)] = tuple(address for address in read if address)
    return addresses


def _address(where: Where, prefix: Any) -> str | None:
    try:
        return str(ipaddress.ip_interface(str(prefix)))
    except ValueError:
        where.bad("this is no address with a prefix length", prefix, "such as 10.0.0.1/24")
        return None
