"""What a host comes back with after a reboot: its link sizes and its routes' MTUs, in the words of its own backend.

Backends today: `lab-file`, the one file that a lab host's boot applies. Hosts without it are running only: the reply
says `null`, and nobody pretends.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Dict, Iterable

from . import ipv6
from .errors import ProbeError
from .files import sync_folder, write_atomically
from .links import read_links
from .pins import loose
from .record import Record
from .routes import IPV4, OUR_PROTOCOL, Route, Width, of_device, parse_routes, read_routes

LAB_FILE = "/etc/jumbo-lab.json"
BACKEND = "lab-file"
# Routes of these protocols are there after a boot by configuration; a daemon's (bird, zebra, dhcp) come by themselves.
BOOT_PROTOCOLS = frozenset({"kernel", "boot", "static", OUR_PROTOCOL})
PROTOCOLS_TEXT = ", ".join(sorted(BOOT_PROTOCOLS))
ADVICE = "Make them static routes, or leave this interface out: a reboot would bring it back without their pins."
COPY = ".before-"
Json = Dict[str, Any]


def backend() -> str | None:
    """Return the name of this host's backend, None where there is none that we know."""
    return BACKEND if os.path.exists(LAB_FILE) else None


def read() -> Json | None:
    """Return what is persisted: `{"links": {name: bytes}, "routes": [arguments of ip route replace]}`.

    Beside them, where we have written it: `rules` (arguments of ip rule add), and `ipv6`: {name: settings of ipv6.py}.
    """
    if backend() is None:
        return None
    content = _bytes(LAB_FILE)
    try:
        data = json.loads(content.decode("utf-8"))
    except ValueError as error:
        message = f"{LAB_FILE} is not JSON: {error}"
        raise ProbeError(message, object=LAB_FILE, advice="repair the file, nothing was changed") from None
    if not isinstance(data, dict):
        message = f"{LAB_FILE} does not hold an object"
        raise ProbeError(message, object=LAB_FILE, advice="repair the file, nothing was changed")
    return data


def unpersistable(names: Iterable[str], routes: Iterable[Route]) -> dict[str, list[str]]:
    """Return, per interface, the routes that this host's backend cannot hold: a daemon or DHCP makes them.

    Only IPv4: what comes by itself in IPv6 is bound by its interface.
    """
    found: dict[str, list[str]] = {}
    if backend() is not None:
        known = list(routes)
        for name in names:
            mine = [route for route in of_device(known, name) if route.family == IPV4]
            texts = [route.text for route in mine if route.protocol not in BOOT_PROTOCOLS]
            if texts:
                found[name] = texts
    return found


def require_persistable(interfaces: dict[str, Json]) -> None:
    """Refuse where a boot would not bring back the pins of all routes: half of them would be worse than none."""
    for name, texts in unpersistable(_with_routes(interfaces), read_routes()).items():
        message = f"{name} has routes that its boot configuration cannot hold: {'; '.join(texts)}"
        raise ProbeError(message, object=name, wish="persisted", limit=f"protocols {PROTOCOLS_TEXT}", advice=ADVICE)


def write(record: Record, data: Json, *, with_lifts: bool) -> Json:
    """Persist links and routes of a record's interfaces as they are now; returns `{"persisted", ...}`.

    Without lifts, lifted prefixes are written pinned: a host that reboots before its lift is proven comes back pinned.
    """
    before = read()
    if before is None:
        return {"persisted": None, "not_persisted": []}
    routes = read_routes()
    left_out = unpersistable(_with_routes(data["interfaces"]), routes)
    if left_out:
        return {"persisted": False, "not_persisted": [text for texts in left_out.values() for text in texts]}
    wanted = _content(before, data["interfaces"], routes, with_lifts)
    _keep_original(record, adopted=bool(data.get("adopted")))
    _replace(wanted)
    data["persisted"] = {"lifts": with_lifts}
    return {"persisted": True, "not_persisted": [], "before": before, "after": wanted}


def _with_routes(interfaces: dict[str, Json]) -> list[str]:
    """Return the interfaces whose routes are persisted with their link; those of a router are left to who made them."""
    return [name for name, entry in interfaces.items() if not entry.get("router")]


def bind(interface: str, wanted: Json) -> bool | None:
    """Let no persisted route of an interface be larger than wanted, whatever runs; lifts that we had added are dropped.

    `wanted` is an entry as `pins.loose` takes it. None where the file does not name the interface: nothing is ours.
    """
    before = read()
    size = (before or {}).get("links", {}).get(interface)
    if before is None or size is None:
        return None
    routes, width = [parse_routes(text)[0] for text in before.get("routes", [])], _width(before, interface)
    larger = [(route, mtu) for route, mtu in loose(interface, wanted, routes, width) if width.of(route) > mtu]
    if larger:
        smaller = {route.text: None if is_lift(route) else " ".join(route.tokens_with(mtu)) for route, mtu in larger}
        texts = zip(before["routes"], routes)
        kept = [smaller.get(route.text, text) for text, route in texts]
        _replace({**before, "routes": [text for text in kept if text is not None]})
    return True


def boot_lifts(interface: str, pin: int) -> set[str]:
    """Return the prefixes that a boot brings back larger than the pin."""
    width = _width(read() or {}, interface)
    return {route.prefix for route in of_device(boot_routes(), interface) if width.of(route) > pin}


def boot_routes() -> list[Route]:
    """Return the routes that a boot brings back."""
    return [parse_routes(text)[0] for text in (read() or {}).get("routes", [])]


def _width(content: Json, interface: str) -> Width:
    """Return what routes without an MTU of their own carry after a boot."""
    size = content.get("links", {}).get(interface, 0)
    return Width(size, content.get("ipv6", {}).get(interface, {}).get("mtu", size))


def is_lift(route: Route) -> bool:
    """Whether a persisted route is a prefix that a lift had added; the pin for multicast is ours too."""
    return route.ours and not route.network.is_multicast


def restore(record: Record, interfaces: Iterable[str]) -> bool | None:
    """Give the file its original bytes; where others have written it since, take back our own entries only.

    Returns None where nothing had been persisted for this record.
    """
    original = original_path(record)
    if not has_original(record):
        return None
    content, names = _bytes(original), set(interfaces)
    then, now = json.loads(content.decode("utf-8")), read() or {}
    _write(content if _others(then, names) == _others(now, names) else _without_ours(now, then, names))
    os.unlink(original)
    sync_folder(os.path.dirname(original))
    return True


def settle(names: Iterable[str]) -> bool | None:
    """Bring the file in line with what runs, for interfaces that it names at another size; None where there is none.

    For a change whose original is not there any more: what was taken back must not come back with the next boot.
    """
    before, links = read(), read_links()
    known = (before or {}).get("links", {})
    ours = {name for name in names if name in links and known.get(name, links[name].mtu) != links[name].mtu}
    if before is None or not ours:
        return None
    wanted, running = _others(before, ours), read_routes()
    for name in ours:
        wanted["links"][name] = links[name].mtu
        wanted["routes"] += [route.text for route in of_device(running, name) if _comes_with_boot(route)]
    _replace(wanted)
    return True


def has_original(record: Record) -> bool:
    """Whether something was persisted for this record, and the file as it was before is still there."""
    return backend() is not None and os.path.exists(original_path(record))


def forget(record: Record) -> None:
    """Remove the copy that was kept for a record."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(original_path(record))


def original_path(record: Record) -> str:
    """Return where the original is kept: beside the file itself, since /run does not survive a reboot."""
    return f"{os.path.realpath(LAB_FILE)}{COPY}{record.id}"


def _content(before: Json, interfaces: dict[str, Json], routes: list[Route], with_lifts: bool) -> Json:
    links = read_links()
    wanted = dict(before)
    wanted["links"] = dict(before.get("links", {}))
    bound = _with_routes(interfaces)
    texts = [text for text in before.get("routes", []) if _device(text) not in bound]
    rules, settings = list(before.get("rules", [])), dict(before.get("ipv6", {}))
    for name, entry in interfaces.items():
        if name in links:
            wanted["links"][name] = links[name].mtu
        found = ipv6.read(name)
        if found is not None and entry.get("pin") is not None:
            settings[name] = found._asdict()
        for route in of_device(routes, name) if name in bound else ():
            if route.family == IPV4 or _comes_with_boot(route):
                texts += _boot_text(route, entry, with_lifts)
        fresh = [added["rule"] for added in entry.get("added", ()) if added.get("rule")]
        rules += [rule for rule in fresh if rule not in rules]
    wanted["routes"] = texts
    if rules:
        wanted["rules"] = rules
    if settings:
        wanted["ipv6"] = settings
    return wanted


def _comes_with_boot(route: Route) -> bool:
    """Whether a boot must be told of a route; an IPv6 one without an MTU of its own is bound by its interface."""
    mute = route.family != IPV4 and (route.mtu is None or route.advertised)
    return route.protocol in BOOT_PROTOCOLS and not mute


def _boot_text(route: Route, entry: Json, with_lifts: bool) -> list[str]:
    lift = entry.get("lifts", {}).get(route.prefix)
    if lift is None or with_lifts:
        return [route.text]
    return [] if lift.get("added") else [" ".join(route.tokens_with(lift["from"]))]


def _others(content: Json, names: set[str]) -> Json:
    """Return the part of a file that is not about these interfaces."""
    rest = {key: value for key, value in content.items() if key not in {"links", "routes", "rules", "ipv6"}}
    for part in ("links", "ipv6"):
        rest[part] = {name: value for name, value in content.get(part, {}).items() if name not in names}
    for part in ("routes", "rules"):
        rest[part] = [text for text in content.get(part, []) if _device(text) not in names]
    return rest


def _without_ours(now: Json, then: Json, names: set[str]) -> bytes:
    """Return the file as it is now, with the original's entries for our interfaces."""
    content = _others(now, names)
    for part in ("links", "ipv6"):
        content[part].update({name: value for name, value in then.get(part, {}).items() if name in names})
    for part in ("routes", "rules"):
        content[part] += [text for text in then.get(part, []) if _device(text) in names]
    return json.dumps(content, indent=2).encode() + b"\n"


def _device(text: str) -> str | None:
    """Return the interface of a persisted route or rule."""
    tokens = text.split()
    if "oif" in tokens:
        return tokens[tokens.index("oif") + 1]
    return parse_routes(text)[0].device


def _keep_original(record: Record, *, adopted: bool) -> None:
    """Keep a copy of the file as it was before us; what is adopted is younger than the copy, if there is one."""
    path = original_path(record)
    folder, name = os.path.split(os.path.realpath(LAB_FILE))
    if adopted and any(entry.startswith(name + COPY) for entry in os.listdir(folder)):
        return
    if not os.path.exists(path):
        write_atomically(path, _bytes(LAB_FILE), os.stat(LAB_FILE).st_mode & 0o7777)


def _replace(wanted: Json) -> None:
    """Write the file and read it back."""
    _write(json.dumps(wanted, indent=2).encode() + b"\n")
    if read() != wanted:
        message = f"{LAB_FILE} was written but reads back differently"
        raise ProbeError(message, object=LAB_FILE, advice="see who else writes it")


def _write(content: bytes) -> None:
    target = os.path.realpath(LAB_FILE)
    try:
        write_atomically(target, content, os.stat(target).st_mode & 0o7777)
    except OSError as error:
        message = f"{target} could not be written: {error.strerror}"
        raise ProbeError(
            message, object=target, advice="the file must be replaceable: no mount point of its own"
        ) from None


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        message = f"{path} could not be read: {error.strerror}"
        raise ProbeError(message, object=path) from None
