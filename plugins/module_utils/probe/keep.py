"""Somebody keeps the pins: the guard that does, the one that did so before, or a new one for what runs.

A reboot forgets every guard, and a release ends one that nobody needs. Pins matter again with a lift, with a pin at the
sender on the way back, and until a lift is persisted: then their guard has to be there. It is started again where this
host remembers the change that holds the interface; else a record is made from what runs and from what the boot
brought (`adopted`), confirmed from the start: its originals are the other change's, and so is the way back.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable

from . import guard, multicast, persistence
from .files import boot_time, clock_text
from .links import Link
from .pins import not_bound, require_pinned
from .record import Record, holding, last_holder, need_record
from .routes import Route, of_device, read_routes

Json = Dict[str, Any]


def keep(link: Link, told: int | None = None, lifted: Iterable[str] = (), *, strict: bool = True) -> Record | None:
    """Return the change whose guard keeps an interface's pins from now on; None where nothing of ours is pinned.

    `told` is the pin as the caller knows it, `lifted` are prefixes that may be larger beside those of the boot
    configuration. `strict` refuses where a route is not bound; else the guard pins it.
    """
    holder = last_holder(link.name)
    if holder is None:
        return _adopt(link, told, set(lifted), strict=strict)
    verdict, entry = holder.verdict(), holder.load()["interfaces"][link.name]
    if verdict == "released" and entry.get("pin") is not None and link.mtu > entry["pin"]:
        if strict:
            require_pinned(link.name, entry, link.width)
        _start_again(holder)
    elif verdict == "confirmed" and not holder.guard_lives():
        guard.start(holder)
    return holder


def is_keeper(record: Record, interface: str) -> bool:
    """Whether a change is over but for its pins, kept again or all that it was: once confirmed, another takes over."""
    data = record.load()
    entry = data["interfaces"][interface]
    pins_only = bool(data.get("kept")) or entry["ip_mtu"] is None
    return record.verdict() == "confirmed" and pins_only and not entry["lifts"]


def keepers(interfaces: Iterable[str], successor: Record) -> list[Record]:
    """Return those from whom a change takes over the pins of these interfaces."""
    return [one for name in interfaces for one in holding(name) if one != successor and is_keeper(one, name)]


def adopters(interfaces: Iterable[str]) -> dict[str, Record]:
    """Return the records made from what runs that hold these interfaces, by interface."""
    found = {name: last_holder(name) for name in interfaces}
    return {name: record for name, record in found.items() if record is not None and record.load().get("adopted")}


def _start_again(record: Record) -> None:
    guard.stop(record)  # it may still be on its way out
    record.save({**record.load(), "kept": True})
    record.decide("released", "confirmed")
    try:
        guard.start(record)
    except Exception:
        record.decide("confirmed", "released")
        raise


def _adopt(link: Link, told: int | None, lifted: set[str], *, strict: bool) -> Record | None:
    routes = read_routes()
    mark = multicast.find_pin(link.name, routes)
    missing = None if mark else multicast.find_pin(link.name, persistence.boot_routes())
    ours = mark or missing
    pin = ours["mtu"] if ours else told
    if pin is None or link.mtu <= pin:
        return None
    lifts, loose = _larger(link, routes, pin, lifted | persistence.boot_lifts(link.name, pin))
    if loose and ours is None:
        return None
    if loose and strict:
        raise not_bound(link.name, loose[0], pin, link.width)
    if missing:
        multicast.put_pin(missing, link.name)
    elif ours and ours["rule"]:
        multicast.add_rule(ours["rule"])
    entry: Json = {"ip_mtu": None, "pin": pin, "routes": [], "added": [ours] if ours else [], "lifts": lifts}
    entry["routes"] = [route.text for route in of_device(read_routes(), link.name)]
    return _begin(link, entry)


def _larger(link: Link, routes: list[Route], pin: int, lifted: set[str]) -> tuple[dict[str, Json], list[Route]]:
    """Return what is larger than the pin: known lifts as a record writes them, and routes that nobody has lifted."""
    lifts: dict[str, Json] = {}
    loose: list[Route] = []
    for route in of_device(routes, link.name):
        size = link.width.of(route)
        if size <= pin:
            continue
        if not route.is_default and not route.network.is_multicast and (route.ours or route.prefix in lifted):
            lifts[route.prefix] = {"mtu": size, "from": pin, "added": route.ours}
        else:
            loose.append(route)
    return lifts, loose


def _begin(link: Link, entry: Json) -> Record:
    record = need_record(f"adopted-{link.ifindex}-{re.sub(r'[^A-Za-z0-9_.-]', '-', link.name)}")
    if record.exists():
        guard.stop(record)
    record.create(
        {
            "id": record.id,
            "armed_at": boot_time(),
            "time": clock_text(),
            "changes": [],
            "interfaces": {link.name: entry},
            "adopted": True,
            "kept": True,
        },
        verdict="confirmed",
    )
    try:
        guard.start(record)
    except Exception:
        record.decide("confirmed", "reverted")
        raise
    return record
