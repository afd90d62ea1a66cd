"""What an operation answers, as XML or text, and the pipes that filter text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .xml import Xml

if TYPE_CHECKING:
    from .session import Login

Arguments = Mapping[str, str]
"""What was asked for: {name of an option: its value, "" for a word of its own}; names as in the RPC."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An operation's answer; what is not asked for is not made."""

    xml: Callable[[], Xml]
    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its RPC, and the command that does the same. Named groups of the pattern are arguments."""

    rpc: str
    pattern: re.Pattern[str] | None
    run: Callable[[Login, Arguments], Answer]


def piped(text: str, pipe: str) -> str:
    """Filter a text as the pipes of the command line do."""
    verb, _sep, rest = pipe.strip().partition(" ")
    pattern = rest.strip().strip("\"'")
    lines = text.splitlines()
    if verb == "match":
        return "\n".join(line for line in lines if re.search(pattern, line, re.IGNORECASE))
    if verb == "except":
        return "\n".join(line for line in lines if not re.search(pattern, line, re.IGNORECASE))
    if verb == "count":
        return f"Count: {len(lines)} lines"
    return text
