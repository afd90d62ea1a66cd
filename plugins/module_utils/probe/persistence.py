"""What a host comes back with after a reboot: its link sizes and its routes' MTUs, in the words of its own backend.

Backends today: `lab-file`, the one file that a lab host's boot applies. Hosts without it are running only: the reply
says `null`, and nobody pretends.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable

from .errors import ProbeError
from .files import sync_folder, write_atomically
from .links import read_links
from .record import Record
from .routes import OUR_PROTOCOL, Route, of_device, parse_routes, read_routes

LAB_FILE = "/etc/jumbo-lab.json"
BACKEND = "lab-file"
# Routes of these protocols are there after a boot by configuration; a daemon's (bird, zebra, dhcp) come by themselves.
BOOT_PROTOCOLS = frozenset({"kernel", "boot", "static", OUR_PROTOCOL})
Json = Dict[str, Any]


def backend() -> str | None:
    """Return the name of this host's backend, None where there is none that we know."""
    return BACKEND if os.path.exists(LAB_FILE) else None


def read() -> Json | None:
    """Return what is persisted: `{"links": {name: bytes}, "routes": [arguments of ip route replace]}`."""
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


def write(record: Record | None, data: Json, *, with_lifts: bool) -> Json:
    """Persist links and routes of a record's interfaces as they are now; returns `{"persisted", ...}`.

    Without a record (after a reboot) no copy of the original is kept: it exists already. Without lifts, lifted prefixes
    are written pinned: a host that reboots before its lift is proven comes back pinned.
    """
    before = read()
    if before is None:
        return {"persisted": None, "not_persisted": []}
    wanted, left_out = _content(before, data["interfaces"], with_lifts)
    if left_out:
        # Half the pins would be worse than none that anybody believes in.
        return {"persisted": False, "not_persisted": left_out}
    if record is not None:
        _keep_original(record)
    content = json.dumps(wanted, indent=2).encode() + b"\n"
    _write(content)
    if read() != wanted:
        message = f"{LAB_FILE} was written but reads back differently"
        raise ProbeError(message, object=LAB_FILE, advice="see who else writes it")
    data["persisted"] = {"lifts": with_lifts}
    return {"persisted": True, "not_persisted": [], "before": before, "after": wanted}


def restore(record: Record, interfaces: Iterable[str]) -> bool | None:
    """Give the file its original bytes; where others have written it since, take back our own entries only.

    Returns None where nothing had been persisted for this record.
    """
    original = original_path(record)
    if backend() is None or not os.path.exists(original):
        return None
    content, names = _bytes(original), set(interfaces)
    then, now = json.loads(content.decode("utf-8")), read() or {}
    _write(content if _others(then, names) == _others(now, names) else _without_ours(now, then, names))
    os.unlink(original)
    sync_folder(os.path.dirname(original))
    return True


def original_path(record: Record) -> str:
    """Return where the original is kept: beside the file itself, since /run does not survive a reboot."""
    return f"{os.path.realpath(LAB_FILE)}.before-{record.id}"


def _content(before: Json, interfaces: dict[str, Json], with_lifts: bool) -> Any:
    links, routes = read_links(), read_routes()
    wanted = dict(before)
    wanted["links"] = dict(before.get("links", {}))
    texts = [text for text in before.get("routes", []) if _device(text) not in interfaces]
    rules = list(before.get("rules", []))
    left_out: list[str] = []
    for name, entry in interfaces.items():
        if name in links:
            wanted["links"][name] = links[name].mtu
        for route in of_device(routes, name):
            if route.protocol not in BOOT_PROTOCOLS:
                left_out.append(route.text)
            else:
                texts += _boot_text(route, entry, with_lifts)
        fresh = [added["rule"] for added in entry.get("added", ()) if added.get("rule")]
        rules += [rule for rule in fresh if rule not in rules]
    wanted["routes"] = texts
    if rules:
        wanted["rules"] = rules
    return wanted, left_out


def _boot_text(route: Route, entry: Json, with_lifts: bool) -> list[str]:
    lift = entry.get("lifts", {}).get(route.prefix)
    if lift is None or with_lifts:
        return [route.text]
    return [] if lift.get("added") else [" ".join(route.tokens_with(lift["from"]))]


def _others(content: Json, names: set[str]) -> Json:
    """Return the part of a file that is not about these interfaces."""
    rest = {key: value for key, value in content.items() if key not in {"links", "routes", "rules"}}
    rest["links"] = {name: size for name, size in content.get("links", {}).items() if name not in names}
    for part in ("routes", "rules"):
        rest[part] = [text for text in content.get(part, []) if _device(text) not in names]
    return rest


def _without_ours(now: Json, then: Json, names: set[str]) -> bytes:
    """Return the file as it is now, with the original's entries for our interfaces."""
    content = _others(now, names)
    content["links"].update({name: size for name, size in then.get("links", {}).items() if name in names})
    for part in ("routes", "rules"):
        content[part] += [text for text in then.get(part, []) if _device(text) in names]
    return json.dumps(content, indent=2).encode() + b"\n"


def _device(text: str) -> str | None:
    """Return the interface of a persisted route or rule."""
    tokens = text.split()
    if "oif" in tokens:
        return tokens[tokens.index("oif") + 1]
    return parse_routes(text)[0].device


def _keep_original(record: Record) -> None:
    path = original_path(record)
    if not os.path.exists(path):
        write_atomically(path, _bytes(LAB_FILE), os.stat(LAB_FILE).st_mode & 0o7777)


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
