"""IPv4 routes: read as the text `ip` prints, and changed in one attribute only, the MTU.

The text form is used since it takes itself back: `ip route change` accepts what `ip -d route show` printed, attribute
for attribute, while `ip -j` loses some (`mtu lock`, the encapsulation). Nothing is ever deleted and added again: a
change in place keeps the order of equal prefixes.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import Iterable, NamedTuple, Tuple

from .errors import ProbeError
from .iproute import ip

# The protocol number of routes that we add: whose they are can be seen in `ip route` (below 256, free in rt_protos).
OUR_PROTOCOL = "147"
# State and offload marks that the kernel prints but does not take back.
MARKS = frozenset(
    {
        "linkdown",
        "dead",
        "offload",
        "trap",
        "rt_offload",
        "rt_trap",
        "rt_offload_failed",
        "offload_failed",
        "unresolved",
        "notify",
    }
)
DEFAULT = "0.0.0.0/0"
HOST_SUFFIX = "/32"
TYPES = frozenset(
    {"unicast", "local", "broadcast", "multicast", "anycast", "throw", "unreachable", "prohibit", "blackhole", "nat"}
)
Key = Tuple[str, str, str, str, str]


class Route(NamedTuple):
    """One IPv4 route; `tokens` is all of what `ip -d route show` said of it, the marks left out."""

    tokens: tuple[str, ...]
    type: str
    prefix: str
    device: str | None
    gateway: str | None
    table: str
    protocol: str
    scope: str | None
    source: str | None
    metric: int
    tos: str
    mtu: int | None
    locked: bool
    nexthops: tuple[str, ...]

    @property
    def text(self) -> str:
        """The arguments of `ip route replace` that make this very route."""
        return " ".join(self.tokens)

    @property
    def key(self) -> Key:
        """What tells this route from all others of the host."""
        return (self.table, self.prefix, self.tos, str(self.metric), self.device or "")

    @property
    def slot(self) -> tuple[str, str, str, int]:
        """What `ip route change` looks at: two routes with one slot cannot be told apart by it."""
        return (self.table, self.prefix, self.tos, self.metric)

    @property
    def ours(self) -> bool:
        """Whether we have added this route."""
        return self.protocol == OUR_PROTOCOL

    @property
    def network(self) -> ipaddress.IPv4Network:
        """The prefix as a network."""
        return ipaddress.IPv4Network(self.prefix)

    def tokens_with(self, mtu: int | None) -> tuple[str, ...]:
        """Return the arguments for this route with another MTU (bytes of IP packet), or without one."""
        tokens = _without_mtu(self.tokens)
        return tokens if mtu is None else (*tokens, "mtu", str(mtu))


def parse_routes(text: str) -> list[Route]:
    r"""Read the output of `ip -4 -d -o route show table all` (`\` stands before each further line of a route)."""
    return [_parse_route(line) for line in text.splitlines() if line.strip()]


def read_routes() -> list[Route]:
    """Return every IPv4 route of all tables."""
    return parse_routes(ip("-4", "-d", "-o", "route", "show", "table", "all"))


def of_device(routes: Iterable[Route], device: str) -> list[Route]:
    """Return the unicast routes that leave by this device, multipath ones included: all that a pin must cover."""
    return [
        route
        for route in routes
        if route.type == "unicast" and route.table != "local" and (route.device == device or device in route.nexthops)
    ]


def require_editable(route: Route, routes: Iterable[Route]) -> None:
    """Refuse a route that cannot be edited exactly, with the reason."""
    name = f"{route.device or '/'.join(route.nexthops)} {route.prefix}"
    reason = _why_not_editable(route)
    if reason:
        message = f"the route `{route.text}` cannot be edited exactly: {reason}"
        raise ProbeError(message, object=name, advice="replace it by a plain route, or leave this interface out")
    twins = [other for other in routes if other.slot == route.slot]
    if len(twins) > 1:
        where = " and ".join(f"`{other.text}`" for other in twins)
        message = (
            f"{route.prefix} exists {len(twins)} times with metric {route.metric} and tos {route.tos} ({where}):"
            " `ip route change` would hit the wrong one"
        )
        raise ProbeError(message, object=name, advice="give each interface's route a metric of its own")


def set_mtu(route: Route, mtu: int | None) -> None:
    """Change the MTU of one existing route, in place, everything else kept. None takes the MTU off."""
    change(route, route.tokens_with(mtu))


def change(route: Route, tokens: Iterable[str]) -> None:
    """Replace an existing route by other arguments with the same slot, in place."""
    ip("-4", "route", "change", *tokens, about=f"{route.device} {route.prefix}")


def add(tokens: Iterable[str], name: str) -> None:
    """Add a route; fails where its slot is taken."""
    ip("-4", "route", "add", *tokens, about=name)


def delete(route: Route) -> None:
    """Delete exactly this route."""
    ip("-4", "route", "del", *_without_mtu(route.tokens), about=f"{route.device} {route.prefix}")


def differences(expected: Iterable[str], found: Iterable[str]) -> list[str]:
    """Return what differs between two lists of route texts, as `- missing` and `+ unexpected` lines."""
    wanted, present = Counter(map(_canonical, expected)), Counter(map(_canonical, found))
    missing = [f"- {text}" for text in (wanted - present).elements()]
    return missing + [f"+ {text}" for text in (present - wanted).elements()]


def _canonical(text: str) -> str:
    """Return a route's text with its MTU at the end: the kernel prints metrics in an order of its own."""
    tokens = tuple(text.split())
    mtu = _value(tokens, "mtu")
    return " ".join(_without_mtu(tokens) + (("mtu", mtu) if mtu else ()))


def _parse_route(line: str) -> Route:
    first, _mark, further = line.partition("\\")
    kept = tuple(token for token in first.split() if token not in MARKS)
    tokens = kept if kept[0] in TYPES else ("unicast", *kept)
    nexthops = tuple(_value(tuple(part.split()), "dev") or "" for part in further.split("\\") if "nexthop" in part)
    if nexthops:
        tokens += tuple(token for token in further.replace("\\", " ").split() if token not in MARKS)
        kept = tokens[: tokens.index("nexthop")]
    else:
        kept = tokens
    values = {word: _value(kept, word) for word in ("dev", "table", "proto", "scope", "src", "metric", "tos", "mtu")}
    locked = values["mtu"] == "lock"
    mtu = _value(kept, "lock") if locked else values["mtu"]
    return Route(
        tokens=tokens,
        type=kept[0],
        prefix=_prefix(kept[1]),
        device=values["dev"],
        gateway=_gateway(kept),
        table=values["table"] or "main",
        protocol=values["proto"] or "boot",
        scope=values["scope"],
        source=values["src"],
        metric=int(values["metric"] or 0),
        tos=values["tos"] or "0",
        mtu=int(mtu) if mtu else None,
        locked=locked,
        nexthops=nexthops,
    )


def _value(tokens: tuple[str, ...], word: str) -> str | None:
    """Return what follows a word, past the type and the prefix."""
    for index in range(1, len(tokens) - 1):
        if tokens[index] == word:
            return tokens[index + 1]
    return None


def _gateway(tokens: tuple[str, ...]) -> str | None:
    """Return the gateway's address; an IPv6 gateway of an IPv4 route too (`via inet6 fe80::1`, RFC 5549)."""
    gateway = _value(tokens, "via")
    return _value(tokens, gateway) if gateway in {"inet", "inet6"} else gateway


def _prefix(word: str) -> str:
    if word == "default":
        return DEFAULT
    return word if "/" in word else word + HOST_SUFFIX


def _without_mtu(tokens: tuple[str, ...]) -> tuple[str, ...]:
    for index in range(1, len(tokens) - 1):
        if tokens[index] == "mtu":
            return tokens[:index] + tokens[index + 2 :]
    return tokens


def _why_not_editable(route: Route) -> str | None:
    reasons: dict[str, bool] = {
        "it is a multipath route, its other legs would change too": bool(route.nexthops),
        "it uses a nexthop object": "nhid" in route.tokens,
        "it carries an encapsulation": "encap" in route.tokens,
        "its MTU is locked, which clears the DF bit": route.locked,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
