"""What an interface can do: the largest size it can be given, and what it sends and accepts. Pure look-ups.

What the device tells goes before the tables, except for cards that are known to carry less than they accept.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from .capability_table import CARDS, FAMILIES, Card, Family
from .errors import JumboError
from .platform_table import BOX_RECEIVES, BOX_RECEIVES_JUMBO, LAYER2, PLATFORMS
from .units import IP_MTU_RANGE, device_mtu, ip_mtu, whole_number

TOLD = "told by the device"


@dataclass(frozen=True)
class Capability:
    """The two sizes of an interface, in bytes of IP packet: what it sends, and what it accepts (None: not told)."""

    ip_mtu: int
    mru: int | None


@dataclass(frozen=True)
class Limit:
    """The largest IP MTU that an interface can be given, the platform's own number for it, and who says so."""

    ip_mtu: int
    device_mtu: int
    source: str


@functools.lru_cache(maxsize=None)
def family_of(platform: str, model: str | None = None) -> Family:
    """Return the family of a model; a model that is not told or not known gets the platform's last row."""
    rows = [row for row in FAMILIES if row.platform == platform]
    if not rows:
        raise JumboError("unknown platform", wish=platform, limit=", ".join(sorted(PLATFORMS)))
    return next((row for row in rows if row.pattern and re.search(row.pattern, model or "", re.IGNORECASE)), rows[-1])


@functools.lru_cache(maxsize=None)
def card_of(platform: str, interface: str) -> Card | None:
    """Return the known weak card behind an interface's name; a VLAN of it (ax0_vlan20) is behind it too."""
    return next((card for card in CARDS if card.platform == platform and re.search(card.pattern, interface)), None)


@functools.lru_cache(maxsize=None)
def limit_of(
    platform: str, model: str | None, interface: str, tagging: str = "untagged", told: int | None = None
) -> Limit:
    """Return what an interface can be given at most. `told`: the IP MTU that the device itself names as its limit."""
    if told is None:
        family = family_of(platform, model)
        found = Limit(ip_mtu(family.most, platform, tagging), family.most, f"{family.name}: {family.source}")
    else:
        found = told_limit(platform, tagging, told)
    card = card_of(platform, interface)
    if card is not None and card.ip_mtu < found.ip_mtu:
        own = device_mtu(card.ip_mtu, platform, tagging)
        return Limit(card.ip_mtu, own, f"{card.name} {card.harm}: {card.source}")
    return found


def told_limit(platform: str, tagging: str, told: int) -> Limit:
    """Return a limit that the device has named itself; virtual devices name more than an IP packet can have."""
    size = min(told, IP_MTU_RANGE[1])
    return Limit(size, device_mtu(size, platform, tagging), TOLD)


def unsettable(platform: str, model: str | None, interface: str) -> str | None:
    """Return why an interface has no MTU of its own to set, with the way out; None where it has one."""
    family = family_of(platform, model)
    if not family.own_mtu:
        return f"{family.name} ({model}): no interface has an MTU of its own. {family.advice} ({family.source})"
    if family.subinterface_mtu is False and "." in interface:
        return f"{family.name} ({model}): subinterfaces have no MTU of their own. {family.advice} ({family.source})"
    return None


def check_number(size: int, platform: str, tagging: str, model: str) -> None:
    """Raise JumboError where a model's family does not take the number that an IP MTU stands for."""
    family, number = family_of(platform, model), device_mtu(size, platform, tagging)
    if family.least <= number <= family.most:
        return
    counted = device_mtu(68, platform, tagging) - 68
    raise JumboError(
        f"{family.name} takes no {number} (IP {size} and {counted} of headers)",
        wish=size,
        limit=f"{max(68, family.least - counted)}-{family.most - counted}",
        advice=f"Its own number goes from {family.least} to {family.most} ({family.source})",
    )


def capability_of(
    platform: str,
    number: int,
    tagging: str = "untagged",
    *,
    protocol_mtu: int | None = None,
    box_jumbo: bool | None = None,
) -> Capability:
    """Return what an interface with this number sends and accepts.

    `protocol_mtu`: the IP MTU set for the protocol on top, where the platform has both (Junos `family inet mtu`): it
    bounds what is sent, never what is accepted. `box_jumbo`: whether the box's jumbo frames are active, None: not told.
    """
    accepts = PLATFORMS[platform].accepts if platform in PLATFORMS else ""
    size = ip_mtu(number, platform, tagging)
    sends = size if protocol_mtu is None else check_protocol(protocol_mtu, number, platform, tagging)
    box = None if box_jumbo is None else box_receives(jumbo=box_jumbo)
    return Capability(sends, {"number": size, "link": size, "box": box}.get(accepts))


def box_receives(*, jumbo: bool) -> int:
    """Return the IP packet that every port of a box with one frame size accepts."""
    return BOX_RECEIVES_JUMBO if jumbo else BOX_RECEIVES


def check_protocol(protocol_mtu: int, number: int, platform: str, tagging: str = "untagged") -> int:
    """Return the IP MTU of a protocol on an interface with this number; it must fit (Junos refuses the commit)."""
    most = ip_mtu(number, platform, tagging)
    wish = whole_number(protocol_mtu, "the protocol's MTU")
    if wish > most:
        raise JumboError(
            f"the protocol's MTU is too large for a device MTU of {number}: {number - most} of it are headers",
            wish=wish,
            limit=f"68-{most}",
            advice=f"Raise the device MTU to {device_mtu(wish, platform, tagging)} in the same step",
        )
    return wish


def accepted_at_least(number: int | None, sends: int | None) -> int | None:
    """Return what a port whose number counts the frame surely accepts where its tagging is not told."""
    if number is None or sends is None:
        return None
    return max(sends, number - LAYER2["flexible"])
