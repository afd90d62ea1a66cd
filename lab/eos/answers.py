"""What a command answers, in text or as data, and the pipes that filter text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .errors import invalid_token, unconverted


@dataclass(slots=True)
class Answer:
    """What a command has to say. `data` of None: it has no JSON model."""

    text: Callable[[], str] | str = ""
    data: Callable[[], object] | object = field(default_factory=dict)

    def as_text(self) -> str:
        """Return the text form."""
        text = self.text() if callable(self.text) else self.text
        return text if not text or text.endswith("\n") else f"{text}\n"

    def as_data(self) -> object:
        """Return the JSON form, or raise the error of a command that has none."""
        data = self.data() if callable(self.data) else self.data
        if data is None:
            raise unconverted()
        return data


def messages(*lines: str) -> Answer:
    """Return the answer of a command that only reports."""
    return Answer("\n".join(lines), {"messages": list(lines)} if lines else {})


def piped(text: str, pipe: str) -> str:
    """Filter a text as the pipes of the command line do."""
    verb, _sep, pattern = pipe.partition(" ")
    lines = text.splitlines()
    if verb in {"no-more", "nz"}:
        return text
    if verb not in _PIPES or not pattern:
        raise invalid_token(0, verb)
    found = _PIPES[verb](lines, re.compile(pattern.strip("'\""), re.IGNORECASE))
    return "\n".join(found) + ("\n" if found else "")


def sections(lines: list[str], pattern: re.Pattern[str]) -> list[str]:
    """Return the blocks that have a line with the pattern: the whole block for its header, else header and line."""
    out: list[str] = []
    position = 0
    while position < len(lines):
        end = position + 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        block = lines[position:end]
        if pattern.search(block[0]):
            out += block
        elif hits := [line for line in block[1:] if pattern.search(line)]:
            out += [block[0], *hits]
        position = end
    return out


def _begin(lines: list[str], pattern: re.Pattern[str]) -> list[str]:
    first = next((index for index, line in enumerate(lines) if pattern.search(line)), len(lines))
    return lines[first:]


_PIPES: dict[str, Callable[[list[str], re.Pattern[str]], list[str]]] = {
    "section": sections,
    "include": lambda lines, pattern: [line for line in lines if pattern.search(line)],
    "grep": lambda lines, pattern: [line for line in lines if pattern.search(line)],
    "exclude": lambda lines, pattern: [line for line in lines if not pattern.search(line)],
    "begin": _begin,
}
