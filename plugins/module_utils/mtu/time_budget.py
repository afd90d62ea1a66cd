"""Is there time to confirm? The dead-man that is armed first must not fire before the last device is asked.

Devices are visited in rounds: a wave of per-host tasks has as many at a time as Ansible forks. How long a visit takes
is not known before it is made; what is known is how long reading the slowest of them took a moment ago.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .errors import JumboError

VISIT = 2.0
"""A change, or its confirmation, takes at most so many times what reading the device took: it reads, writes, reads."""

SHORTEST_VISIT = 1.0
"""Seconds: a fork and a login are not quicker on a busy controller."""

GATE_SECONDS = 30.0
"""What a gate takes between the last change and the first confirmation."""

SPARE_SECONDS = 15.0
"""Seconds that must be left on every dead-man when confirming begins."""

DRAINED_SPARE_SECONDS = 60.0
"""The same in a wave whose links are drained: an end that goes back alone would cost the adjacency (design rule 10)."""


@dataclass(frozen=True)
class Budget:
    """The seconds that one step needs from its first armed device on: `change`, the gate, and `confirm`."""

    step: str
    hosts: int
    slowest: str
    visits: float
    spare: float = SPARE_SECONDS

    @property
    def confirm(self) -> float:
        """Return what must be left when confirming begins."""
        return max(self.spare, self.visits)

    @property
    def needed(self) -> int:
        """Return what the dead-man must allow."""
        return round(self.visits + GATE_SECONDS + self.confirm)


def budget(
    step: Mapping[str, Any], read_seconds: Mapping[str, float], at_once: int, spare: float = SPARE_SECONDS
) -> Budget:
    """Return what a step needs, `at_once` devices visited at a time; `read_seconds`: {host: how long it took}.

    `spare`: the least that must be left when confirming begins.
    """
    hosts = list(dict.fromkeys(change["host"] for change in step["changes"]))
    seconds = {host: max(SHORTEST_VISIT, VISIT * read_seconds.get(host, 0.0)) for host in hosts}
    slowest = max(seconds, key=lambda host: seconds[host], default="")
    rounds = -(-len(hosts) // max(1, at_once))
    return Budget(step["id"], len(hosts), slowest, rounds * seconds.get(slowest, 0.0), spare)


def refuse_too_slow(found: Budget, within: int, at_once: int) -> None:
    """Raise JumboError where devices would go back by themselves before everybody has been asked to confirm."""
    if found.needed <= within:
        return
    raise JumboError(
        f"step {found.step} changes {found.hosts} devices, {at_once} at a time, the slowest of them {found.slowest}: "
        f"it may need {found.needed} s until all are confirmed, and the first would go back before that",
        variable="jumbo_confirm_within",
        wish=within,
        limit=f"{found.needed}-3600",
        advice="Raise it, or Ansible's forks (-f), or lower jumbo_max_wave.",
    )
