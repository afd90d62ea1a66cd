"""What the box says where it does not do what was typed, and the modes of a session."""

from __future__ import annotations

USER, ENABLE, CONFIG = "user", "enable", "config"
WRONG_PASSWORD = "Error - incorrect username or password."  # noqa: S105 - what the box says
PAGE_END = "--More--, next page: Space, next line: Return key, quit: Control-c"

PORT_TABLE = "Port       Link    State   Dupl Speed Trunk Tag Pvid Pri MAC             Name"


class Refused(Exception):
    """What the box prints in place of doing it."""


def unknown(words: str) -> Refused:
    """Return what FastIron says of a line that it does not know, or that the user may not use."""
    return Refused(f"Invalid input -> {words}\nType ? for a list")
