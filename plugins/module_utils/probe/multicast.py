"""The pin for multicast: 224.0.0.0/4, without moving anybody's multicast to another interface.

The kernel ignores a default route for multicast, so its pin does not bound it (net/ipv4/route.c, __mkroute_output). A
route of its own does - but in table main it would also attract every socket that names no interface, and group
memberships with it. So it goes to table main only where unbound multicast leaves by this interface anyway; else to
a table of ours, which a rule consults for sockets that name this interface.
"""

from __future__ import annotations

from typing import Any, Iterable

from .errors import ProbeError
from .iproute import ip, ip_json
from .links import Link
from .routes import OUR_PROTOCOL, Route, add, of_device

GROUPS = "224.0.0.0/4"
# Administratively scoped (RFC 2365): the kernel does not treat it as link-local.
EXAMPLE_GROUP = "239.255.255.254"
TABLE = "9047"
PREFERENCE = "9047"


def plan_pin(link: Link, mtu: int, routes: list[Route]) -> dict[str, Any] | None:
    """Return what to add for multicast: `{"text", "rule", "mtu"}`, or None where such a route exists already."""
    if any(route.prefix == GROUPS and route.device == link.name and route.type == "unicast" for route in routes):
        return None
    tokens = [GROUPS, "dev", link.name, "proto", OUR_PROTOCOL]
    if _leaves_by() == link.name:
        return {"text": " ".join([*tokens, "mtu", str(mtu)]), "rule": None}
    # One table serves all interfaces: the metric keeps their routes apart, the kernel picks the one that fits.
    tokens += ["table", TABLE, "metric", str(link.ifindex), "mtu", str(mtu)]
    return {"text": " ".join(tokens), "rule": rule_of(link.name)}


def rule_of(interface: str) -> str:
    """Return the arguments of `ip rule` that lead an interface's own multicast to our table."""
    return f"pref {PREFERENCE} to {GROUPS} oif {interface} lookup {TABLE}"


def _leaves_by() -> str | None:
    """Return the interface by which multicast leaves when its socket names none."""
    try:
        found = ip_json("route", "get", EXAMPLE_GROUP)
    except ProbeError:
        return None
    return found[0].get("dev") if found else None


def find_pin(interface: str, routes: Iterable[Route]) -> dict[str, Any] | None:
    """Return the pin for multicast that we had added to this interface, in the shape of `plan_pin`."""
    for route in of_device(routes, interface):
        if route.ours and route.prefix == GROUPS and route.mtu is not None:
            rule = rule_of(interface) if route.table == TABLE else None
            return {"text": route.text, "rule": rule, "mtu": route.mtu}
    return None


def put_pin(pin: dict[str, Any], interface: str) -> None:
    """Add what `plan_pin` has planned."""
    if pin.get("rule"):
        add_rule(pin["rule"])
    add(pin["text"].split(), f"{interface} {GROUPS}")


def add_rule(rule: str) -> None:
    """Add the rule unless it is there."""
    if not _has_rule(rule):
        ip("-4", "rule", "add", *rule.split(), about=GROUPS)


def delete_rule(rule: str) -> None:
    """Take the rule away if it is there."""
    if _has_rule(rule):
        ip("-4", "rule", "del", *rule.split(), about=GROUPS)


def _has_rule(rule: str) -> bool:
    """Return whether a rule stands; they are compared by preference and interface, which `ip` prints in every form."""
    interface = rule.split()[rule.split().index("oif") + 1]
    return any(
        str(entry.get("priority")) == PREFERENCE and entry.get("oif") == interface
        for entry in ip_json("-4", "rule", "show")
    )
