"""From the words of a statement to its place in the tree: what text, set commands and the command line share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import refused, syntax_error
from .schema import CONFIGURATION, CONTAINER, FLAG, LEAF, LEAVES, LIST, Statement
from .tree import Path, Step, Tree

_TOKEN = re.compile(r'/\*.*?\*/|#[^\n]*|"(?:[^"\\]|\\.)*"|[{};\[\]]|[^\s{};\[\]"]+', re.DOTALL)
_QUOTED = re.compile(r"[\w./:@+*<>-]+")

Content = str | list[str] | Tree | None


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that words lead to."""

    steps: tuple[Step, ...]
    content: Content = None

    @property
    def statement(self) -> Statement:
        """The schema's statement."""
        return self.steps[-1].statement if self.steps else CONFIGURATION


def tokens(text: str) -> list[str]:
    """Return the words and marks of a text; comments are left out."""
    return [token for token in _TOKEN.findall(text) if not token.startswith(("/*", "#"))]


def unquoted(token: str) -> str:
    """Return what a word means."""
    return token[1:-1].replace('\\"', '"') if token.startswith('"') else token


def quoted(text: str) -> str:
    """Return how a word is written."""
    return text if _QUOTED.fullmatch(text) else '"' + text.replace('"', '\\"') + '"'


def header(steps: Sequence[Step]) -> str:
    """Return the `[edit ...]` of a level."""
    words = [word for step in steps for word in spelled(step)]
    return f"[edit{''.join(f' {word}' for word in words)}]"


def spelled(step: Step) -> list[str]:
    """Return the words of one level, as text has them."""
    word, name = step.key
    if step.statement.kind != LIST:
        return [word]
    return [quoted(name)] if step.statement.bare else [word, quoted(name)]


def find(words: Sequence[str], steps: tuple[Step, ...] = (), *, deleting: bool = False) -> Found:
    """Return the statement that the words say, below these steps; raises Refused where they are none.

    deleting: a leaf without its value is meant, and a list without a name is all of its entries.
    """
    here, rest = steps, list(words)
    while rest:
        statement = here[-1].statement if here else CONFIGURATION
        word = unquoted(rest.pop(0))
        child = statement.children.get(word) if statement.kind in (CONTAINER, LIST) else None
        if child is not None and child.bare and statement.entries is child:
            child = None  # the word of a bare list is never written
        if child is None:
            child, name = statement.entries, word
            if child is None:
                raise syntax_error(word, header(here))
            here = (*here, _entry(child, name, here))
            continue
        found = _follow(child, rest, here, deleting=deleting)
        if isinstance(found, Found):
            return found
        here = found
    return Found(here)


def _entry(child: Statement, name: str, here: tuple[Step, ...]) -> Step:
    if child.check and (problem := child.check(name)):
        raise refused(problem, path=header(here), element=name)
    return Step(child, (child.word, name))


def _follow(child: Statement, rest: list[str], here: tuple[Step, ...], *, deleting: bool) -> Found | tuple[Step, ...]:
    """Take the words that a statement wants; return what is found, or the steps to go on from."""
    if child.kind == CONTAINER:
        return (*here, Step(child, (child.word, "")))
    if child.kind == LIST:
        if not rest:
            if deleting:
                return Found((*here, Step(child, (child.word, ""))))
            raise refused("missing argument.", path=header(here), element=child.word)
        return (*here, _entry(child, unquoted(rest.pop(0)), here))
    steps = (*here, Step(child, (child.word, "")))
    if child.kind == FLAG and rest:
        raise syntax_error(unquoted(rest[0]), header(here))
    return Found(steps) if child.kind == FLAG else Found(steps, _content(child, rest, here, deleting=deleting))


def _content(child: Statement, rest: list[str], here: tuple[Step, ...], *, deleting: bool) -> Content:
    """Return the value or values of a leaf, checked."""
    content = [unquoted(word) for word in rest if word not in ("[", "]")]
    if not content and not deleting:
        raise refused("missing argument.", path=header(here), element=child.word)
    if child.kind == LEAVES:
        return list(content)
    if len(content) > 1:
        raise syntax_error(content[1], header(here))
    if content and child.check and (problem := child.check(content[0])):
        raise refused(f"{child.word}: '{content[0]}': {problem}", path=header(here), element=child.word)
    return content[0] if content else None


def steps_of(path: Path) -> tuple[Step, ...]:
    """Return the steps of a path of keys."""
    here, steps = CONFIGURATION, []
    for key in path:
        here = here.children[key[0]]
        steps.append(Step(here, key))
    return tuple(steps)


__all__ = ["LEAF", "Content", "Found", "find", "header", "quoted", "spelled", "steps_of", "tokens", "unquoted"]
