"""Windows of time of day, `HH:MM-HH:MM` or `always`; one whose end is before its begin goes over midnight. Pure."""

from __future__ import annotations

ALWAYS = "always"


def _minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def is_open(window: str, hour: int, minute: int) -> bool:
    """Tell whether a window is open at a time of day; its end is no longer in it, and one of no length is all day."""
    if window == ALWAYS:
        return True
    begin, end = map(_minutes, window.split("-"))
    now = hour * 60 + minute
    if begin < end:
        return begin <= now < end
    return now >= begin or now < end
