"""Reloads wait for their window: a roll-out ends before a stage that has some as `stopped`, nothing pending."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import Intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.window import is_open

PHASE = "reload"

Step = Mapping[str, Any]


def closed(intent: Intent, stage: str, now: datetime.datetime | None = None) -> str | None:
    """Return why no box may be reloaded now, None where the window is open. `now`: the controller's local time."""
    here = now or datetime.datetime.now()
    if is_open(intent.reload_window, here.hour, here.minute):
        return None
    return (
        f"stage {stage} waits for the window {intent.reload_window} (jumbo_reload_window): it reloads boxes, and it is "
        f"{here:%H:%M} here; run it again then"
    )


def first_waiting(intent: Intent, steps: Sequence[Step], now: datetime.datetime | None = None) -> dict[str, Any] | None:
    """Return the first stage of the plan that reloads boxes while the window is closed, {stage, steps, sentence}.

    `steps` is null: nobody has to approve anything, the clock decides.
    """
    stage = next((step["stage"] for step in steps if step["phase"] == PHASE), None)
    sentence = closed(intent, stage, now) if stage else None
    return {"stage": stage, "steps": None, "sentence": sentence} if sentence else None
