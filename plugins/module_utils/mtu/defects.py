"""Defects that a model or a release is known to have with large frames, as data with sources: what to look at.

None of them stops a roll-out: gates measure packets, so a box that has one of these fails its gate and is taken back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """A known defect. `models` and `releases`: patterns of what a device tells, at its beginning."""

    platform: str
    models: str
    releases: str
    harm: str
    advice: str
    source: str


_NOTES = "RUCKUS release notes, as collected in neuralconfig/fastiron-features, defects_data.json"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "fastiron",
        r"ICX ?8200",
        r"10\.0\.(0\d|10(?!\d)(?![d-z])(?!c_cd[3-9]))",
        "drops packets above 1500 bytes that may not be fragmented",
        "upgrade to 10.0.10d first",
        f"FI-289817, {_NOTES}",
    ),
    Defect(
        "fastiron",
        r"",
        r"0?8\.0\.95(?!\d)|0?9\.0\.00|10\.0\.00",
        "may send packets of 1500 bytes whatever `ip mtu` says",
        "a gate finds it, since it measures packets",
        f"FI-237769, {_NOTES}",
    ),
    Defect(
        "fastiron",
        r"",
        r"0?8\.0\.90(?!\d)",
        "may hang a session on long output where management leaves by the management port",
        "reads are repeated interface by interface; give it time (ansible_command_timeout)",
        f"FI-223210, {_NOTES}",
    ),
    Defect(
        "fastiron",
        r"",
        r"0?8\.0\.(91(?!\d)|92(?!\d)(?![f-z]))",
        "forwards nothing above 1500 bytes by its management port",
        "keep management at 1500",
        f"FI-199314, {_NOTES}",
    ),
)


def defects_of(platform: str, model: str | None, version: str | None) -> list[Defect]:
    """Return what is known of a model with a release; nothing where the device does not tell its release."""
    return [
        defect
        for defect in DEFECTS
        if defect.platform == platform
        and re.match(defect.models, model or "", re.IGNORECASE)
        and re.match(defect.releases, version or "")
    ]
