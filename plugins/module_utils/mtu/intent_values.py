"""Checks of single inventory values.

A bad value becomes one problem and the default takes its place, so that all problems are found.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping

from .encapsulation import LEAST_INSIDE, read_stack
from .errors import InvalidIntent, JumboError
from .platform_table import LAYER2
from .platform_table import PLATFORMS as _PLATFORMS

PLATFORMS = tuple(sorted(_PLATFORMS))
ROUTING = ("none", "static", "bgp", "ospf", "isis")
TAGGING = tuple(LAYER2)
THROUGH_KINDS = ("tap", "switch")
ROLES = ("jumbo", "frontend", "management", "wan", "pfsync", "bmc", "pxe", "other")
STAGES = ("lower", "canary", "leaf", "fabric", "soak")
WAIVER_KINDS = ("unmanaged_member", "exposure", "only_path", "no_dead_man", "known_limit", "outage")
RESUME = ("auto", "resume", "revert", "new")

IP_MTU_RANGE = (LEAST_INSIDE, 9214)  # from the least that IPv6 allows to the most that common switches do
DEFAULT_IP_MTU = 9000
DEFAULT_UNDERLAY = 9214
DEFAULT_BASELINE = 1500
DEFAULT_RELOAD_WITHIN, RELOAD_WITHIN = 600, (10, 7200)  # about 90 s are reported, longer with PoE or firmware updates
DEFAULT_CONFIRM_WITHIN = 300  # seconds

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_DAY = 86400
_WINDOW = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d")


@dataclass
class Problems:
    """Collects what is wrong with an inventory, to be told all at once."""

    found: list[JumboError] = field(default_factory=list)

    def add(self, message: str, **facts: Any) -> None:
        """Note one problem; `facts` are those of JumboError."""
        self.found.append(JumboError(message, **facts))

    def raise_if_any(self) -> None:
        """Raise InvalidIntent with everything that was noted."""
        if self.found:
            raise InvalidIntent(tuple(self.found))


@dataclass(frozen=True)
class Where:
    """Whose variable is being read ("": the fabric's), for the messages; `object` is the link or segment inside it."""

    problems: Problems
    host: str
    variable: str
    object: str | None = None

    def bad(self, message: str, wish: Any, limit: Any, advice: str | None = None) -> None:
        """Note that a value is not acceptable."""
        self.problems.add(
            message,
            host=self.host or None,
            object=self.object,
            variable=self.variable,
            wish=wish,
            limit=limit,
            advice=advice,
        )

    def on(self, host: str, name: str) -> Where:
        """Return the place of an interface of another host, for a variable that all hosts share."""
        return Where(self.problems, host, self.variable, name)

    def inside(self, name: str) -> Where:
        """Return the same place, with the named object in it."""
        return Where(self.problems, self.host, self.variable, name)


def integer(where: Where, value: Any, default: int, bounds: tuple[int, int], what: str) -> int:
    """Return a whole number within the bounds, else note a problem and return the default. Text is never converted."""
    low, high = bounds
    limit = f"{low}-{high}"
    if isinstance(value, bool) or not isinstance(value, int):
        kind = "text" if isinstance(value, str) else type(value).__name__
        advice = "Write it as a number, without quotes or unit" if isinstance(value, str) else "Write a whole number"
        where.bad(f"{what} is {kind}, not a number", value, limit, advice)
        return default
    if not low <= value <= high:
        where.bad(f"{what} is out of range", int(value), limit, "Choose a value in this range")
        return default
    return int(value)


def ip_mtu(where: Where, value: Any, default: int) -> int:
    """Return a size in bytes of IP packet, 1280-9214."""
    return integer(where, value, default, IP_MTU_RANGE, "this MTU (bytes of IP packet)")


def underlay_ip_mtu(where: Where, value: Any, default: int) -> int:
    """Return the ceiling of the underlay in bytes of IP packet, 1280-9214."""
    return integer(where, value, default, IP_MTU_RANGE, "the MTU of the underlay (bytes of IP packet)")


def choice(where: Where, value: Any, default: str, allowed: tuple[str, ...]) -> str:
    """Return a word of a closed set."""
    if not isinstance(value, str) or value not in allowed:
        similar = difflib.get_close_matches(str(value), allowed, n=1)
        where.bad(
            "this word is not known", value, ", ".join(allowed), f"Did you mean {similar[0]}?" if similar else None
        )
        return default
    return str(value)


def boolean(where: Where, value: Any, default: bool) -> bool:
    """Return true or false; text such as "no" is refused."""
    if not isinstance(value, bool):
        where.bad("this is neither true nor false", value, "true, false")
        return default
    return value


def duration(where: Where, value: Any, default: int) -> int:
    """Return seconds from a duration text such as `30s`, `10m` or `24h`; at most 24 h."""
    limit = "a number and s, m or h, from 1s to 24h"
    match = re.fullmatch(r"(\d{1,6})([smh])", value) if isinstance(value, str) else None
    if match is None:
        where.bad("this is no duration", value, limit, "For example 30s, 10m or 24h")
        return default
    seconds = int(match.group(1)) * _SECONDS[match.group(2)]
    if not 1 <= seconds <= _DAY:
        where.bad("this duration is out of range", value, limit)
        return default
    return seconds


def window(where: Where, value: Any, default: str) -> str:
    """Return a time of day range `HH:MM-HH:MM` (the controller's time zone), or `always`."""
    if value == "always" or (isinstance(value, str) and _WINDOW.fullmatch(value)):
        return str(value)
    where.bad("this is no window of time", value, "HH:MM-HH:MM, always")
    return default


def text(where: Where, value: Any, what: str) -> str | None:
    """Return a text that isn't empty and has no blanks at its ends."""
    if isinstance(value, str) and value and value == value.strip():
        return str(value)
    where.bad(f"{what} is missing or not a plain text", value, "a text without blanks at its ends")
    return None


def items(where: Where, value: Any) -> list[Any]:
    """Return the entries of a list variable."""
    if isinstance(value, (list, tuple)):
        return list(value)
    where.bad("this is no list", value, "a list")
    return []


def words(where: Where, value: Any, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a list that are in a closed set, in the order of that set."""
    given = items(where, value)
    for word in given:
        if word not in allowed:
            where.bad("this word is not known", word, ", ".join(allowed))
    return tuple(word for word in allowed if word in given)


def mapping(where: Where, value: Any, keys: Iterable[str], shape: str) -> Mapping[str, Any] | None:
    """Return a mapping that has no keys but these."""
    if not isinstance(value, Mapping):
        where.bad("this entry has the wrong shape", value, shape)
        return None
    allowed = tuple(keys)
    unknown = [str(key) for key in value if key not in allowed]
    for key in unknown:
        where.bad(f"the key {key!r} is not known here", value[key], ", ".join(allowed))
    return None if unknown else value


def stages(where: Where, value: Any, _default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stages to run, in the order they run; preflight always runs and may be named."""
    return tuple(word for word in words(where, value, ("preflight", *STAGES)) if word != "preflight")


def approvals(where: Where, value: Any, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return stages as `stages` does; also from one text with commas, as `-e jumbo_approved=leaf,fabric` gives it."""
    return stages(where, value.split(",") if isinstance(value, str) else value, default)


def encapsulations(where: Where, value: Any, default: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the encapsulations that the underlay carries, the outermost first, known by name and options."""
    good = [item for item in items(where, value) if _fits(where, [item])]
    if len(good) > 1 and not _fits(where, good):  # each is good, but not one inside the other
        return default
    return tuple(_plain(item) for item in good) or default


def _fits(where: Where, stack: list[Any]) -> bool:
    try:
        read_stack(stack)
    except JumboError as error:
        where.bad(error.message, error.wish, error.limit, error.advice)
        return False
    return True


def _plain(item: Any) -> Any:
    if isinstance(item, str):
        return str(item)
    return {"type": str(item["type"]), "options": dict(item.get("options") or {})}


@dataclass(frozen=True)
class Scalar:
    """One fabric-wide variable: what it is without a value, and how a value is read."""

    default: Any
    read: Callable[[Where, Any, Any], Any]


SCALARS: dict[str, Scalar] = {
    "jumbo_ip_mtu": Scalar(DEFAULT_IP_MTU, ip_mtu),
    "jumbo_underlay_ip_mtu": Scalar(DEFAULT_UNDERLAY, underlay_ip_mtu),
    "jumbo_baseline_ip_mtu": Scalar(DEFAULT_BASELINE, ip_mtu),
    "jumbo_encapsulations": Scalar((), encapsulations),
    "jumbo_stages": Scalar(STAGES, stages),
    "jumbo_approve": Scalar((), stages),
    "jumbo_approved": Scalar((), approvals),
    "jumbo_confirm_within": Scalar(
        DEFAULT_CONFIRM_WITHIN, lambda w, v, d: integer(w, v, d, (120, 3600), "the time to confirm (seconds)")
    ),
    "jumbo_soak": Scalar(86400, duration),
    "jumbo_max_wave": Scalar(4, lambda w, v, d: integer(w, v, d, (1, 1000), "the size of a wave (switches)")),
    "jumbo_allow_reload": Scalar(False, boolean),
    "jumbo_reload_window": Scalar("always", window),
    "jumbo_reload_within": Scalar(
        DEFAULT_RELOAD_WITHIN, lambda w, v, d: integer(w, v, d, RELOAD_WITHIN, "the time to be back (seconds)")
    ),
    "jumbo_resume": Scalar("auto", lambda w, v, d: choice(w, v, d, RESUME)),
}
LISTS = ("jumbo_links", "jumbo_lags", "jumbo_pairs", "jumbo_segments", "jumbo_control_sessions", "jumbo_waivers")
