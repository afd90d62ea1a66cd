"""What hosts may send to jumbo segments as they are, and which of them can be pinned. Sizes are bytes of IP packet.

Hosts of one segment that begin alike are looked at once.
"""

from __future__ import annotations

from typing import Callable, Iterator, List, Mapping, Tuple

from .curves import UNBOUNDED
from .intent_types import End, Segment
from .live import covers
from .scope import Scope

Pins = Tuple[List[Tuple[End, str, int]], List[End]]


class Sender:
    """Hosts of one segment with the same sizes: what all of them may send."""

    def __init__(self, scope: Scope, segment: Segment, end: End) -> None:
        live = scope.live
        self.segment = segment
        self.first = end
        self.ends = [end]
        self.link = UNBOUNDED if live.ip_mtu(end) is None else int(live.ip_mtu(end) or 0)
        self.pin = live.pin(end)
        self.lifts = {} if self.link == UNBOUNDED else dict(live.lifts(end))
        self.why_not = _why_not(scope, end)

    def size(self, target: Segment) -> int:
        """Return the most that it may send to any address of a segment."""
        rest = self.link if self.pin is None else min(self.link, self.pin)
        sizes = [mtu for subnet in target.subnets for p, mtu in self.lifts.items() if _meet(p, subnet)]
        return max([rest, *(min(self.link, size) for size in sizes)])


def _meet(one: str, other: str) -> bool:
    return covers(one, other) or covers(other, one)


def _why_not(scope: Scope, end: End) -> str | None:
    """Return why a host can't be pinned for good, None where it can."""
    live = scope.live
    if live.ip_mtu(end) is None:
        return "was not read"
    if live.forwards(end.device):
        return "forwards packets for others, so it must not be pinned"
    if not scope.may_change(end):
        return "may not be touched"
    if live.guests(end) and not scope.intent.waived("unmanaged_member", end.device, str(end)):
        return "has guests on its bridge, who send what they are set to"
    return None if live.persists(end.device) else _reboots_large(scope, end)


def _reboots_large(scope: Scope, end: End) -> str | None:
    """Return why a reboot would undo a pin, None where the host comes back small; the waiver accepts not knowing."""
    saved = (scope.live.interface(end) or {}).get("persisted_mtu")
    accepted = saved is None and scope.intent.waived("no_dead_man", end.device, str(end))
    if accepted or (saved or UNBOUNDED) <= scope.intent.baseline_ip_mtu:
        return None
    return f"may send {saved or 'an unknown size'} again after a reboot: its boot configuration is not ours"


class Senders:
    """All hosts of the jumbo segments, in classes."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.topology = scope.topology
        classes: dict[object, Sender] = {}
        for segment in self.topology.jumbo_segments():
            for end in self.topology.hosts_in(segment):
                sender = Sender(scope, segment, end)
                lifts = tuple(sorted(sender.lifts.items()))
                key = (segment.name, sender.link, sender.pin, lifts, sender.why_not)
                if key in classes:
                    classes[key].ends.append(end)
                else:
                    classes[key] = sender
        self.classes = list(classes.values())

    def stuck(self, limit: int, targets: list[Segment], source: Segment | None = None) -> Iterator[Sender]:
        """Yield who may send more than `limit` to any of these segments and can't be pinned."""
        for sender in self.classes:
            asked = sender.why_not and (source is None or sender.segment is source)
            if asked and any(sender.size(target) > limit for target in targets):
                yield sender

    def pins(self, limits_of: Callable[[Segment], Mapping[str, int]]) -> Pins:
        """Return ([(host, prefix, its size) to pin], [hosts whose routes nothing bounds]).

        `limits_of`: {segment: the most that hosts of a segment may send to it from now on}.
        """
        lifted: list[tuple[End, str, int]] = []
        loose: list[End] = []
        for sender in self.classes:
            limits = limits_of(sender.segment)
            over = [(prefix, size) for prefix, size in sender.lifts.items() if size > self._least(prefix, size, limits)]
            lifted += [(end, prefix, size) for end in sender.ends for prefix, size in over]
            if sender.pin is None and sender.link > min(limits.values(), default=UNBOUNDED):
                loose += sender.ends
        return lifted, loose

    def _least(self, prefix: str, size: int, limits: Mapping[str, int]) -> int:
        segments = self.scope.live.subnets.segments(prefix)
        return min((limits.get(segment.name, size) for segment in segments), default=size)
