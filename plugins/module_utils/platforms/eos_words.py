"""What EOS's words mean to a step: names of sessions, pending commits, who saved last, what is secret. No I/O."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping

PREFIX = "jumbo-"
"""Every configuration session of ours starts with this: what does not is somebody else's."""

EPOCH = 1_000_000_000
"""`commitBy` is seconds of uptime in some releases, of the epoch in others (napalm#2166): no uptime is this large."""

LONGEST_NAME = 40

# What follows these words in a configuration line may be a secret, hashed or not: it is never told.
_SECRET = re.compile(r"\b(secret|password|passphrase|key|community|md5|auth|priv|localized)\s.*")


# ---------------------------------------------------------------------- sessions


@dataclass(frozen=True)
class Sessions:
    """Who is about to change the configuration.

    `timer` is the session whose commit waits for its confirmation, `ends` when its time is over (by the clock of the
    release), `open` are the sessions that were not committed, `completed` those that were, as far as EOS remembers.
    """

    timer: str | None
    ends: float | None
    open: tuple[str, ...]
    completed: tuple[str, ...] = ()


def session_name(name: str) -> str:
    """Return the name of the configuration session of a step: ours by its prefix, short, unique to the step.

    A name that is one already, as `pending` tells it, stays as it is: so a handle can be made for what was left over.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    if plain.startswith(PREFIX):
        return plain
    if len(plain) > LONGEST_NAME:
        plain = plain[:24] + "-" + hashlib.sha256(name.encode()).hexdigest()[:12]
    return PREFIX + plain


def undo_name(session: str, now: float) -> str:
    """Return the name of a session that takes a step back: EOS may not open one of a completed session's name again."""
    return f"{session}-u{int(now * 1000) % 10**5}"


def belongs_to(candidate: str, session: str) -> bool:
    """Return whether a session is a step's own, or one that was to take it back."""
    return bool(re.fullmatch(re.escape(session) + r"(-u\d+)?", candidate))


def sessions_of(detail: Mapping[str, Any]) -> Sessions:
    """Read `show configuration sessions detail` in both shapes (<= 4.31 per session, >= 4.32 at the top level)."""
    timer, ends = detail.get("commitTimerSessionName"), detail.get("commitTimerExpireTime")
    states = {name: data.get("state", "") for name, data in detail["sessions"].items()}
    if not timer:
        timer = next((name for name, state in states.items() if "pendingCommitTimer" in state), None)
        ends = detail["sessions"][timer].get("commitBy") if timer else None
    still_open = tuple(name for name, state in states.items() if state == "pending")
    completed = tuple(name for name, state in states.items() if state in ("completed", "committed"))
    return Sessions(timer or None, ends, still_open, completed)


def describe(sessions: Sessions) -> dict[str, Any]:
    """Return the one of them that matters most: {owner: ours | foreign | none, name, kind, advice}.

    kind: `timer` (a commit that EOS takes back by itself), `session` (opened and not committed) or None. An open
    session of somebody else counts too: its commit would overwrite ours.
    """
    name = sessions.timer or next(iter(sessions.open), None)
    if name is None:
        return {"owner": "none", "name": None, "kind": None, "advice": None}
    kind = "timer" if sessions.timer else "session"
    owner = "ours" if name.startswith(PREFIX) else "foreign"
    return {"owner": owner, "name": name, "kind": kind, "advice": _ADVICE[owner, kind].format(name=name)}


def pending_commit(detail: Mapping[str, Any], uptime: float | None, now: float) -> dict[str, Any]:
    """Return what waits for a commit or confirmation: as `describe`, with seconds_left of a timer where EOS tells."""
    sessions = sessions_of(detail)
    left = None
    if sessions.timer and sessions.ends is not None:
        reference = now if sessions.ends > EPOCH else uptime
        left = None if reference is None else round(sessions.ends - reference)
    return {**describe(sessions), "seconds_left": left}


_ADVICE = {
    ("ours", "timer"): "Take its run back, or wait: EOS goes back by itself when the time is over.",
    ("ours", "session"): "A run that ended early left it: take it back, or type `configure session {name} abort`.",
    ("foreign", "timer"): "Its owner has to confirm it, or to abort it: `configure session {name} abort`.",
    ("foreign", "session"): "Its owner has to commit it, or to abort it: `configure session {name} abort`.",
}


# ---------------------------------------------------------------------- configurations


def last_saved(startup: str) -> str:
    """Return who saved the configuration last, as `show startup-config` tells it, "" where it does not."""
    found = re.search(r"^! Startup-config (last modified .*)$", startup, re.MULTILINE)
    return found.group(1).strip() if found else ""


def told(lines: Iterable[str]) -> str:
    """Return lines of a configuration for a message: what may be a secret in them is left out."""
    return "\n".join(_SECRET.sub(r"\1 <removed>", line) for line in lines)
