"""A soak that outlasts one sitting: a state in the journal, not a sleeping process."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

SITTING = 200
"""Seconds of soak that a roll-out waits for; a longer one ends it with the verdict `soaking`."""

BRIEF = 5
"""Seconds for which large packets flow again when a long soak is judged: its counters have been watched already."""

FILE = "soak"
STEP = "soak.gate"


def outlasts(seconds: int) -> bool:
    """Tell whether a soak of so many seconds is longer than a roll-out waits."""
    return seconds > SITTING


def sitting(seconds: int) -> int:
    """Return for how long packets flow in the soak's gate."""
    return BRIEF if outlasts(seconds) else seconds


def begin(run: Run, states: Mapping[str, Any], seconds: int) -> str:
    """Write down what the counters are now and until when they are watched; return that time in UTC."""
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    text = until.isoformat(timespec="seconds")
    run.save(FILE, {"states": states})
    _note(run, text)
    return text


def _note(run: Run, until: str) -> None:
    data = {"until": until, "counters": run.digest(FILE)}
    run.journal.write(step=STEP, host="", event="intent", verb="soak", data=data)


def until(lines: Iterable[Mapping[str, Any]]) -> str | None:
    """Return until when a roll-out's soak is watched, as its journal says; None where none has begun."""
    times = [line["data"]["until"] for line in lines if line["verb"] == "soak"]
    return times[-1] if times else None


def carry_on(run: Run, earlier: Run) -> str | None:
    """Take the soak that an earlier roll-out began over into this run; return its end, None where there is none.

    Raises JumboError where the counters of its beginning are not what was written.
    """
    end = until(earlier.journal.lines())
    if end is None:
        return None
    noted = next(line["data"]["counters"] for line in reversed(earlier.journal.lines()) if line["verb"] == "soak")
    if earlier.digest(FILE) != noted:
        raise JumboError(
            f"{FILE}.json is not the one that its soak began with: growth cannot be told",
            object=str(earlier.path),
            advice="Bring it back, or begin the soak again with jumbo_resume: new.",
        )
    run.save(FILE, earlier.load(FILE))
    _note(run, end)
    return end


def is_over(end: str) -> bool:
    """Tell whether a soak has been watched long enough."""
    return datetime.datetime.now(datetime.UTC) >= datetime.datetime.fromisoformat(end)
