"""Counters of too long frames before and after: what grew, what was cleared, what nobody counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .counters import counter_delta

TOO_LONG = ("oversize", "length_errors")


@dataclass(frozen=True)
class Growth:
    """By "device:interface": frames too long since, counters cleared meanwhile, received packets since."""

    too_long: Mapping[str, int]
    cleared: tuple[str, ...]
    packets: Mapping[str, int]
    missing: tuple[str, ...]


def growth(before: Mapping[str, Any], after: Mapping[str, Any]) -> Growth:
    """Compare {host: state} or {"device:interface": counters} readings; `missing` are devices of one reading only."""
    first, second = dict(_counters(before)), dict(_counters(after))
    too_long: dict[str, int] = {}
    packets: dict[str, int] = {}
    cleared = []
    for end, counters in second.items():
        if end not in first:
            continue
        deltas = counter_delta(counters, first[end])
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
