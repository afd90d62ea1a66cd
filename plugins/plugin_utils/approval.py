"""Stages that wait for a person: what was asked, and who said yes, is in the journal.

A roll-out ends before such a stage as `stopped`, nothing pending. An approval counts for what was shown: it is given to
the next roll-out, and only where the stage's steps are still those that the earlier one has stopped before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import Intent
from ansible_collections.jumbo.fabric.plugins.module_utils.whoami import operator
from ansible_collections.jumbo.fabric.plugins.plugin_utils import resume
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

Step = Mapping[str, Any]


def first_waiting(run: Run, intent: Intent, steps: Sequence[Step]) -> dict[str, Any] | None:
    """Return the first stage of the plan that has to wait, {stage, steps, sentence}; approvals given now are noted."""
    planned = list(dict.fromkeys(step["stage"] for step in steps))
    approved, asked = resume.approvals(run)
    for stage in planned:
        if stage not in intent.approve or stage in approved:
            continue
        digest = _digest(step for step in steps if step["stage"] == stage)
        if stage in intent.approved and asked.get(stage) == digest:
            run.journal.write(step=stage, host="", event="done", verb="approve", data={"by": operator()})
            continue
        return {"stage": stage, "steps": digest, "sentence": _sentence(stage, intent, asked)}
    return None


def note_waiting(run: Run, waits: Mapping[str, Any]) -> None:
    """Write down that the roll-out ends here because a person has to say yes."""
    data = {"stage": waits["stage"], "steps": waits["steps"]}
    run.journal.write(step=waits["stage"], host="", event="intent", verb="approve", data=data)


def _sentence(stage: str, intent: Intent, asked: Mapping[str, str]) -> str:
    text = f"stage {stage} waits for approval: read plan.json, then run it again with -e jumbo_approved={stage}"
    if stage not in intent.approved:
        return text
    why = "its steps are no longer those that were shown" if stage in asked else "nobody has been asked yet"
    return f"{text} (jumbo_approved names it already, but {why})"


def _digest(steps: Any) -> str:
    shown = [[step["id"], step["changes"]] for step in steps]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
