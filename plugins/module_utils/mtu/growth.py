"""Counters of too long frames before and after: what grew, what was cleared, what nobody counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .counters import counter_delta, has_restarted

TOO_LONG = ("oversize", "length_errors")


@dataclass(frozen=True)
class Growth:
    """By "device:interface": frames too long since, counters cleared meanwhile, received packets since.

    After a restart all counters of a device are cleared, and what they say is what was counted since.
    """

    too_long: Mapping[str, int]
    cleared: tuple[str, ...]
    packets: Mapping[str, int]
    missing: tuple[str, ...]


def growth(before: Mapping[str, Any], after: Mapping[str, Any]) -> Growth:
    """Compare {host: state} or {"device:interface": counters} readings; `missing` are devices of one reading only."""
    first, second = dict(_counters(before)), dict(_counters(after))
    too_long: dict[str, int] = {}
    packets: dict[str, int] = {}
    restarted = {host for host in _devices(after) if _restarted(before.get(host), after.get(host))}
    cleared = []
    for end, counters in second.items():
        if end not in first:
            continue
        deltas = counter_delta(counters, first[end], end.partition(":")[0] in restarted)
        grown = [deltas[name]["delta"] for name in TOO_LONG if deltas.get(name, {}).get("delta") is not None]
        if grown:
            too_long[end] = max(grown)  # one frame may count in both
        if any(deltas.get(name, {}).get("reset") for name in TOO_LONG):
            cleared.append(end)
        received = deltas.get("input_packets", {}).get("delta")
        if received is not None:
            packets[end] = received
    lost = sorted(set(_devices(before)) ^ set(_devices(after)))
    return Growth(too_long, tuple(cleared), packets, tuple(lost))


def _restarted(before: Any, after: Any) -> bool:
    return isinstance(before, Mapping) and isinstance(after, Mapping) and has_restarted(after, before) is True


def _counters(reading: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, value in reading.items():
        if not isinstance(value, Mapping):
            continue
        if "interfaces" in value:
            for name, interface in (value["interfaces"] or {}).items():
                yield f"{key}:{name}", interface.get("counters") or {}
        elif ":" in key:
            yield key, value


def _devices(reading: Mapping[str, Any]) -> Iterator[str]:
    for key, value in reading.items():
        if isinstance(value, Mapping) and "error" not in value:
            yield key.partition(":")[0]
