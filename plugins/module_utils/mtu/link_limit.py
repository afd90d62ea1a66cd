"""The largest size that both ends of a link can be given, which end limits it, and each end's own number. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .capability import Limit
from .units import device_mtu


@dataclass(frozen=True)
class LinkEnd:
    """One end. `limit` None: nothing is known, so the wish stands until the device refuses it."""

    name: str
    platform: str
    tagging: str
    limit: Limit | None

    def own_number(self, ip_mtu: int) -> int:
        """Return the platform's own number for an IP MTU."""
        return device_mtu(ip_mtu, self.platform, self.tagging)

    def told(self, ip_mtu: int) -> str:
        """Return the end with its own number for an IP MTU, for a sentence."""
        number = self.own_number(ip_mtu)
        headers = f", {number - ip_mtu} of it headers" if number != ip_mtu else ""
        return f"{number} on {self.name} ({self.platform}{headers})"


@dataclass(frozen=True)
class Common:
    """What a link carries, in bytes of IP packet. `limited_by`: the end or box, None where the wish is reached."""

    ip_mtu: int
    limited_by: str | None
    sentence: str | None


def largest_common(name: str, wish: int, ends: Sequence[LinkEnd], box: tuple[int, str] | None = None) -> Common:
    """Return the largest IP MTU, at most the wish, that all ends can do. `box`: (size, name) inside of the cable."""
    limits = [(end.limit.ip_mtu, end.name, end.limit.source) for end in ends if end.limit is not None]
    if box is not None:
        limits.append((*box, "in the cable"))
    if not limits or min(limits)[0] >= wish:
        return Common(wish, None, None)
    size, limited_by, source = min(limits)
    numbers = " and ".join(end.told(size) for end in ends)
    sentence = f"{name} carries {size}, not {wish}: {limited_by} can do no more ({source}); that is {numbers}"
    return Common(size, limited_by, sentence)
