"""A soak that outlasts one sitting: a state in the evidence, not a sleeping process."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

SITTING = 200
"""Seconds of soak that a roll-out waits for; a longer one ends it with the verdict `soaking`."""

BRIEF = 5
"""Seconds for which large packets flow again when a long soak is judged: its counters have been watched already."""

FILE = "soak"


def outlasts(seconds: int) -> bool:
    """Tell whether a soak of so many seconds is longer than a roll-out waits."""
    return seconds > SITTING


def sitting(seconds: int) -> int:
    """Return for how long packets flow in the soak's gate."""
    return BRIEF if outlasts(seconds) else seconds


def begin(run: Run, states: Mapping[str, Any], seconds: int) -> str:
    """Write down what the counters are now and until when they are watched; return that time in UTC."""
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    run.save(FILE, {"until": until.isoformat(timespec="seconds"), "states": states})
    return until.isoformat(timespec="seconds")


def begun_earlier(run: Run) -> dict[str, Any] | None:
    """Return the soak that the roll-out before this one began and nobody has judged: {until, states}."""
    runs = [path.parent for path in run.path.parent.glob("*/state.json") if not path.parent.is_symlink()]
    earlier = sorted((path for path in runs if path.name < run.id), reverse=True)
    for path in earlier:
        state = _load(path, "state")
        if state.get("check_mode") or not any(stage["started"] for stage in state.get("stages", {}).values()):
            continue  # it opened no wave: nothing has changed since
        return _load(path, FILE) or None if state["verdict"] == "soaking" else None
    return None


def carry_on(run: Run, soak: Mapping[str, Any]) -> None:
    """Take an unfinished soak over into this run, which may be the last one for a while."""
    run.save(FILE, soak)


def is_over(soak: Mapping[str, Any]) -> bool:
    """Tell whether a soak has been watched long enough."""
    return datetime.datetime.now(datetime.UTC) >= datetime.datetime.fromisoformat(soak["until"])


def _load(path: Path, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads((path / f"{name}.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
