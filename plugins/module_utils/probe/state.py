"""The verb read: what a host is, without changing anything. The controller gives counters their meaning."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Dict, Iterable

from . import persistence
from .arp import known_neighbours
from .daemons import link_readers
from .iproute import find_program, plain_environment
from .links import Link, forwarding_interfaces, members, read_links
from .routes import Route, read_routes
from .status import guard_statuses, responders

ETHTOOL_LIMIT = 10.0
AT_ONCE = 16
Json = Dict[str, Any]


def read(request: Json) -> Json:
    """Return the Linux part of a device's state: `{"interfaces": [names] or null}`."""
    links = read_links()
    asked = request.get("interfaces")
    names = [name for name in (asked if asked is not None else sorted(links)) if name in links]
    tools = _ethtool([name for name in names if links[name].kind != "loopback"])
    forwarding = forwarding_interfaces()
    guards, routes = guard_statuses(), read_routes()
    return {
        "platform": "linux",
        "kernel": os.uname().release,
        "python": ".".join(map(str, sys.version_info[:3])),
        "boot_id": _first_line("/proc/sys/kernel/random/boot_id"),
        "interfaces": {name: _interface(links[name], links, tools.get(name, {})) for name in names},
        "missing": [name for name in asked or () if name not in links],
        "routes": [_route(route, links) for route in routes if route.table != "local"],
        "forwarding": bool(forwarding),
        "forwarding_by": forwarding,
        "link_readers": link_readers(),
        "fragments_sent": _fragments_sent(),
        "ipv6": any(links[name].ipv6 for name in names),
        "persistence": persistence.backend(),
        "persisted": persistence.read(),
        "unpersistable_routes": persistence.unpersistable(names, routes),
        "guard": guards[0] if guards else None,
        "guards": guards,
        "responders": responders(),
        "arp": known_neighbours(),
    }


def _interface(link: Link, links: dict[str, Link], tool: Json) -> Json:
    return {
        "name": link.name,
        "kind": link.kind,
        "mtu": link.mtu,
        "min_mtu": link.min_mtu,
        "max_mtu": link.max_mtu,
        "parent": link.parent,
        "master": link.master,
        "members": members(links, link.name),
        "oper_up": link.oper_up,
        "carrier_changes": link.carrier_changes,
        "addresses": list(link.addresses),
        "ipv6": link.ipv6,
        "ipv6_mtu": link.ipv6_mtu,
        "accept_ra_mtu": link.accept_ra_mtu,
        "stats64": link.statistics,
        "driver": driver_of(tool.get("-i") or ""),
        "ethtool": tool.get("-S"),
    }


def _route(route: Route, links: dict[str, Link]) -> Json:
    """Return a route as data; its MTU is what binds it below its link's size: its own, or its interface's for IPv6."""
    link = links.get(route.device or "")
    carried = link.width.of(route) if link else route.mtu
    return {
        "prefix": route.prefix,
        "gateway": route.gateway,
        "interface": route.device,
        "mtu": carried if route.mtu or (link and carried != link.mtu) else None,
        "table": route.table,
        "protocol": route.protocol,
        "scope": route.scope,
        "src": route.source,
        "metric": route.metric,
        "tos": route.tos,
        "type": route.type,
        "locked": route.locked,
        "nexthops": list(route.nexthops),
        "ours": route.ours,
        "text": route.text,
    }


def driver_of(text: str) -> str | None:
    """Return the driver's name out of `ethtool -i`."""
    for line in text.splitlines():
        word, _colon, value = line.partition(":")
        if word.strip() == "driver":
            return value.strip() or None
    return None


def _ethtool(names: Iterable[str]) -> dict[str, Json]:
    """Run `ethtool -i` and `-S` for all interfaces, some at a time; null where the tool or its answer is missing."""
    program = find_program("ethtool")
    found: dict[str, Json] = {}
    if program is None:
        return found
    wanted = [(name, option) for name in names for option in ("-i", "-S")]
    for start in range(0, len(wanted), AT_ONCE):
        running = [(name, option, _run(program, option, name)) for name, option in wanted[start : start + AT_ONCE]]
        for name, option, process in running:
            found.setdefault(name, {})[option] = _output(process)
    return found


def _run(program: str, option: str, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [program, option, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=plain_environment(),
    )


def _output(process: subprocess.Popen[bytes]) -> str | None:
    try:
        output = process.communicate(timeout=ETHTOOL_LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    # `no stats available` is status 94, not supported 1: both say nothing.
    return output.decode("utf-8", "replace") if process.returncode == os.EX_OK else None


def _fragments_sent() -> int | None:
    """Return how many fragments this host has made since it was booted (`FragCreates`, RFC 4293), None if unknown."""
    try:
        with open("/proc/net/snmp", encoding="ascii") as file:
            names, values = (line.split() for line in file if line.startswith("Ip:"))
        total = int(dict(zip(names, values))["FragCreates"])
        with open("/proc/net/snmp6", encoding="ascii") as file:
            return total + sum(int(line.split()[1]) for line in file if line.startswith("Ip6FragCreates"))
    except FileNotFoundError as error:
        return total if error.filename == "/proc/net/snmp6" else None
    except (OSError, KeyError, ValueError):
        return None


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="ascii") as file:
            return file.readline().strip()
    except OSError:
        return None
