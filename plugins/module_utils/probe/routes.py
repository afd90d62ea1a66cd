"""Routes of both families: read as the text `ip` prints, and changed in one attribute only, the MTU.

The text form is used since it takes itself back: `ip route change` accepts what `ip -d route show` printed, attribute
for attribute, while `ip -j` loses some (`mtu lock`, the encapsulation). Nothing is ever deleted and added again: a
change in place keeps the order of equal prefixes.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import Iterable, Iterator, NamedTuple, Tuple, Union

from . import ipv6
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
IPV4, IPV6 = 4, 6
DEFAULTS = {IPV4: "0.0.0.0/0", IPV6: "::/0"}
HOST_SUFFIXES = {IPV4: "/32", IPV6: "/128"}
TYPES = frozenset(
    {"unicast", "local", "broadcast", "multicast", "anycast", "throw", "unreachable", "prohibit", "blackhole", "nat"}
)
TWINS = "`ip route change` would hit the wrong one"
Key = Tuple[str, str, str, str, str]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


class Width(NamedTuple):
    """What a route of an interface carries that has no MTU of its own: bytes of IP packet, per family."""

    link: int
    ipv6: int | None = None

    def of(self, route: Route) -> int:
        """Return the largest packet that a route carries."""
        own = self.link if route.family == IPV4 or self.ipv6 is None else self.ipv6
        return route.mtu or own


class Route(NamedTuple):
    """One route; `tokens` is all of what `ip -d route show` said of it, the marks left out, its default spelt out."""

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
    def family(self) -> int:
        """4 or 6."""
        return family_of(self.prefix)

    @property
    def network(self) -> Network:
        """The prefix as a network."""
        return ipaddress.ip_network(self.prefix)

    @property
    def advertised(self) -> bool:
        """Whether router advertisements made this route and renew it."""
        return self.family == IPV6 and (self.protocol == "ra" or "expires" in self.tokens)

    @property
    def is_default(self) -> bool:
        """Whether this is a default route."""
        return self.prefix in DEFAULTS.values()

    def tokens_with(self, mtu: int | None) -> tuple[str, ...]:
        """Return the arguments for this route with another MTU (bytes of IP packet), or without one."""
        tokens = _without_mtu(self.tokens)
        return tokens if mtu is None else (*tokens, "mtu", str(mtu))


def family_of(prefix: str) -> int:
    """Return the family of a prefix or an address, 4 or 6."""
    return IPV6 if ":" in prefix else IPV4


def covers(route: Route, network: Network) -> bool:
    """Return whether a network lies within a route's prefix."""
    return route.family == network.version and network.subnet_of(route.network)  # type: ignore[arg-type]


def parse_routes(text: str, family: int = IPV4) -> list[Route]:
    r"""Read the output of `ip -d -o route show table all` (`\` stands before each further line of a route).

    `family` says which default is meant; in what we have written ourselves it is spelt out.
    """
    return [_parse_route(line, family) for line in text.splitlines() if line.strip()]


def read_routes() -> list[Route]:
    """Return every route of all tables."""
    show = ("-d", "-o", "route", "show", "table", "all")
    found = parse_routes(ip("-4", *show))
    return found + parse_routes(ip("-6", *show), IPV6) if ipv6.is_there() else found


def of_device(routes: Iterable[Route], device: str) -> list[Route]:
    """Return the unicast routes that leave by this device, multipath ones included: all that a pin must cover."""
    return [
        route
        for route in routes
        if route.type == "unicast" and route.table != "local" and (route.device == device or device in route.nexthops)
    ]


def require_editable(route: Route, routes: Iterable[Route]) -> None:
    """Refuse a route that cannot be edited exactly, with the reason."""
    reason = why_not_editable(route, routes)
    if reason:
        message = f"the route `{route.text}` cannot be edited exactly: {reason}"
        advice = "replace it by a plain route, or leave this interface out"
        if TWINS in reason:
            message, advice = reason, "give each interface's route a metric of its own"
        raise ProbeError(message, object=f"{route.device or '/'.join(route.nexthops)} {route.prefix}", advice=advice)


def why_not_editable(route: Route, routes: Iterable[Route]) -> str | None:
    """Return why a route cannot be edited exactly, None where it can."""
    reasons: dict[str, bool] = {
        "it is a multipath route, its other legs would change too": bool(route.nexthops),
        "it uses a nexthop object": "nhid" in route.tokens,
        "it carries an encapsulation": "encap" in route.tokens,
        "its MTU is locked, which clears the DF bit": route.locked and route.family == IPV4,
        "its MTU is locked, so it does not hear Packet Too Big": route.locked,
        "router advertisements renew it, and would not know it again": route.advertised,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    twins = [other for other in routes if other.slot == route.slot]
    if reason is None and len(twins) > 1:
        where = " and ".join(f"`{other.text}`" for other in twins)
        name = f"{route.prefix} exists {len(twins)} times with metric {route.metric} and tos {route.tos}"
        reason = f"{name} ({where}): {TWINS}"
    return reason


def set_mtu(route: Route, mtu: int | None) -> None:
    """Change the MTU of one existing route, in place, everything else kept. None takes the MTU off."""
    change(route, route.tokens_with(mtu))


def change(route: Route, tokens: Iterable[str]) -> None:
    """Replace an existing route by other arguments with the same slot, in place."""
    ip(f"-{route.family}", "route", "change", *tokens, about=f"{route.device} {route.prefix}")


def add(tokens: Iterable[str], name: str) -> None:
    """Add a route; fails where its slot is taken."""
    arguments = list(tokens)
    ip(f"-{parse_routes(' '.join(arguments))[0].family}", "route", "add", *arguments, about=name)


def delete(route: Route) -> None:
    """Delete exactly this route."""
    ip(f"-{route.family}", "route", "del", *_without_mtu(route.tokens), about=f"{route.device} {route.prefix}")


def differences(expected: Iterable[str], found: Iterable[str]) -> list[str]:
    """Return what differs between two lists of route texts, as `- missing` and `+ unexpected` lines.

    What IPv6 makes by itself comes and goes (addresses, link-local and advertised prefixes), and we never edit it.
    """
    wanted, present = Counter(_lasting(expected)), Counter(_lasting(found))
    missing = [f"- {text}" for text in (wanted - present).elements()]
    return missing + [f"+ {text}" for text in (present - wanted).elements()]


def _lasting(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        route = parse_routes(text)[0]
        automatic = route.advertised or route.type != "unicast" or route.network.is_link_local
        if route.family == IPV4 or not automatic:
            yield _canonical(text)


def _canonical(text: str) -> str:
    """Return a route's text with its MTU at the end: the kernel prints metrics in an order of its own."""
    tokens = tuple(text.split())
    rest = _without_mtu(tokens)
    start = tokens.index("mtu") if rest != tokens else 0
    return " ".join(rest + tokens[start : start + len(tokens) - len(rest)])


def _parse_route(line: str, family: int) -> Route:
    first, _mark, further = line.partition("\\")
    kept = tuple(token for token in first.split() if token not in MARKS)
    tokens = _plain(kept if kept[0] in TYPES else ("unicast", *kept), family)
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


def _plain(tokens: tuple[str, ...], family: int) -> tuple[str, ...]:
    """Return tokens as `ip` takes them back: IPv6's default named as such, a lifetime without its unit."""
    default = DEFAULTS[IPV6] if family == IPV6 else "default"
    words = [default if index == 1 and word == "default" else word for index, word in enumerate(tokens)]
    if "expires" in words[:-1]:
        at = words.index("expires") + 1
        words[at] = words[at][:-3] if words[at].endswith("sec") else words[at]
    return tuple(words)


def _prefix(word: str) -> str:
    if word == "default":
        return DEFAULTS[IPV4]
    return word if "/" in word else word + HOST_SUFFIXES[family_of(word)]


def _without_mtu(tokens: tuple[str, ...]) -> tuple[str, ...]:
    for index in range(1, len(tokens) - 1):
        if tokens[index] == "mtu":
            return tokens[:index] + tokens[index + (3 if tokens[index + 1] == "lock" else 2) :]
    return tokens
