"""What `load` does to a candidate: merge, replace, override and set, in text; XML comes as edits already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .errors import Complaint, Refused, refused, syntax_error
from .schema import CONFIGURATION, CONTAINER, LIST, Statement
from .tree import Step, Tree, copy, put, remove
from .words import Content, find, header, tokens

SET, DELETE, REPLACE = "set", "delete", "replace"
_TAGS = {"replace:": REPLACE, "delete:": DELETE}


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing to do at a place of the tree."""

    verb: str
    steps: tuple[Step, ...]
    content: Content = None


def apply(tree: Tree, edits: Iterable[Edit], *, override: bool = False) -> tuple[Tree, list[Complaint]]:
    """Return the tree with the edits done, and warnings of what was to be deleted and is not there."""
    result: Tree = {} if override else copy(tree)
    warnings = []
    for edit in edits:
        if edit.verb == SET:
            if edit.steps:
                put(result, edit.steps, edit.content)
            continue
        content = edit.content if isinstance(edit.content, list) else None
        there = remove(result, edit.steps, content if edit.verb == DELETE else None)
        if edit.verb == REPLACE:
            put(result, edit.steps, edit.content)
        elif not there:
            warnings.append(_not_found(edit))
    return result, warnings


def _not_found(edit: Edit) -> Complaint:
    word = edit.steps[-1].key[0] if edit.steps else ""
    return Complaint("statement not found", header(edit.steps[:-1]), word, severity="warning")


# -- set commands ------------------------------------------------------------------------------------------------------


def set_edits(text: str, steps: tuple[Step, ...] = ()) -> Iterator[Edit]:
    """Yield the edits of `set` and `delete` lines; raises Refused with every line that is wrong."""
    complaints: list[Complaint] = []
    for line in text.splitlines():
        words = tokens(line)
        if not words:
            continue
        try:
            yield _set_edit(words, steps)
        except Refused as error:
            complaints += error.complaints
    if complaints:
        raise Refused(*complaints)


def _set_edit(words: list[str], steps: tuple[Step, ...]) -> Edit:
    verb = words[0]
    if verb not in (SET, DELETE):
        raise syntax_error(verb)
    if verb == SET and len(words) == 1:
        raise refused("missing argument.", element=verb)
    found = find(words[1:], steps, deleting=verb == DELETE)
    return Edit(verb, found.steps, found.content)


# -- text with braces --------------------------------------------------------------------------------------------------


def text_edits(text: str, *, tagged: bool) -> list[Edit]:
    """Return the edits of a text with braces; `replace:` and `delete:` count where `tagged`."""
    reader = _Reader(tokens(text), tagged=tagged)
    edits = list(reader.level((), CONFIGURATION))
    if reader.rest:
        raise syntax_error(reader.rest[0])
    return edits


class _Reader:
    def __init__(self, words: list[str], *, tagged: bool) -> None:
        self.rest = words
        self._tagged = tagged

    def level(self, steps: tuple[Step, ...], statement: Statement) -> Iterator[Edit]:
        """Yield the edits up to the brace that closes this level."""
        while self.rest and self.rest[0] != "}":
            verb = self._tag()
            words: list[str] = []
            while self.rest and self.rest[0] not in ("{", ";", "}"):
                words.append(self.rest.pop(0))
            if not self.rest or self.rest[0] == "}" or not words:
                raise syntax_error(self.rest[0] if self.rest else (words or ["}"])[-1], header(steps))
            mark = self.rest.pop(0)
            yield from self._statement(words, steps, verb, is_block=mark == "{")
        if statement is CONFIGURATION and self.rest:
            raise syntax_error("}", header(steps))

    def _tag(self) -> str | None:
        verb = _TAGS.get(self.rest[0])
        if verb is None:
            return None
        word = self.rest.pop(0)
        if not self._tagged:
            raise syntax_error(word)
        return verb

    def _statement(
        self, words: list[str], steps: tuple[Step, ...], verb: str | None, *, is_block: bool
    ) -> Iterator[Edit]:
        found = find(words, steps, deleting=verb == DELETE)
        if verb is not None:
            yield Edit(verb, found.steps, found.content)
        if is_block:
            if found.statement.kind not in (CONTAINER, LIST):
                raise syntax_error("{", header(found.steps))
            if found.statement.presence:
                yield Edit(SET, found.steps)
            yield from self.level(found.steps, found.statement)
            if not self.rest:
                raise syntax_error(words[-1], header(steps))
            self.rest.pop(0)
        elif verb is None:
            yield Edit(SET, found.steps, found.content)
