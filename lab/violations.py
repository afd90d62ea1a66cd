"""What the sentinel tells: production packets that were lost for their size, by pair, link and size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Packets that are no further apart than this are one violation; seconds.
_APART = 1.0


@dataclass(frozen=True, slots=True)
class Violation:
    """One pair's packets of one size, lost at one place.

    link: `device:interface -> device:interface`, the way the packets went. size, limit: bytes of IP packet, None where
    the sentinel was too slow to see the packets. reason: what happened to them.
    """

    source: str
    destination: str
    link: str
    size: int | None
    limit: int | None
    protocol: str
    reason: str

    def __str__(self) -> str:
        size = "unknown" if self.size is None else self.size
        return f"{self.source} -> {self.destination}: {self.protocol}, {size} bytes on {self.link}: {self.reason}"


class Violations:
    """Keeps them: packets that follow each other closely are one, with the time of the first and of the last."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._open: dict[Violation, dict[str, Any]] = {}

    def add(self, violation: Violation, now: float) -> dict[str, Any] | None:
        """Note one packet; return the entry where it is a new one."""
        entry = self._open.get(violation)
        if entry and now - entry["until"] <= _APART:
            entry["packets"] += 1
            entry["until"] = now
            return None
        entry = {
            "time": now,
            "until": now,
            "packets": 1,
            "from": violation.source,
            "to": violation.destination,
            "link": violation.link,
            "size": violation.size,
            "limit": violation.limit,
            "protocol": violation.protocol,
            "reason": violation.reason,
        }
        self._open[violation] = entry
        self._entries.append(entry)
        return entry

    def all(self) -> list[dict[str, Any]]:
        """Return each as {"time", "until", "packets", "from", "to", "link", "size", "limit", "protocol", "reason"}."""
        return [dict(entry) for entry in self._entries]


@dataclass(slots=True)
class Unheard:
    """A "too big" that a router made, until its sender has it."""

    node: str
    time: float
    key: bytes


class Answers:
    """Pairs each "too big" that was made with its arrival; the two are told by different nodes, in any order.

    Equal ones are counted: a datagram that is sent again is quoted by the same bytes.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._made: list[Unheard] = []
        self._heard: list[tuple[float, bytes]] = []

    def made(self, node: str, quoted: bytes, now: float) -> None:
        """A node has answered a packet."""
        early = next((entry for entry in self._heard if entry[1] == quoted), None)
        if early:
            self._heard.remove(early)
        else:
            self._made.append(Unheard(node, now, quoted))

    def heard(self, quoted: bytes, now: float) -> None:
        """A sender has got an answer."""
        answered = next((entry for entry in self._made if entry.key == quoted), None)
        if answered:
            self._made.remove(answered)
        else:
            self._heard.append((now, quoted))

    def overdue(self, now: float) -> Iterator[Unheard]:
        """Yield, once, those that did not arrive in time."""
        self._heard = [entry for entry in self._heard if now - entry[0] <= self._patience]
        late = [entry for entry in self._made if now - entry.time > self._patience]
        self._made = [entry for entry in self._made if entry not in late]
        yield from late

    @property
    def waiting(self) -> bool:
        """Tell whether an arrival is still open."""
        return bool(self._made)
