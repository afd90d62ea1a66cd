"""Configurations as text: with braces, as set commands, and the difference that `show | compare` prints."""

from __future__ import annotations

from collections.abc import Iterator

from .schema import CONFIGURATION, FLAG, LEAVES, Statement
from .tree import Key, Path, Step, Tree, get, ordered
from .words import header, quoted, spelled, steps_of

_INDENT = "    "


def curly(tree: Tree, statement: Statement = CONFIGURATION, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a level and what is below it, as `show configuration` prints them."""
    for child, key in ordered(tree, statement):
        yield from _block(tree, child, key, _INDENT * depth, depth)


def _block(tree: Tree, child: Statement, key: Key, start: str, depth: int) -> Iterator[str]:
    content = tree[key]
    words = " ".join(spelled(Step(child, key)))
    if not isinstance(content, dict):
        yield f"{start}{words}{_value(child, content)};"
    elif child.joined:
        for inner, inner_key in ordered(content, child):
            yield from _block(content, inner, inner_key, f"{start}{words} ", depth)
    elif not list(ordered(content, child)):
        yield f"{start}{words};"
    elif child.word == "route" and len(content) == 1:  # one line, as Junos has them
        ((inner, inner_key),) = ordered(content, child)
        yield from _block(content, inner, inner_key, f"{start}{words} ", depth)
    else:
        yield f"{start}{words} {{"
        yield from curly(content, child, depth + 1)
        yield f"{_INDENT * depth}}}"


def _value(child: Statement, content: str | list[str] | None) -> str:
    if child.kind == FLAG or content is None:
        return ""
    if child.kind == LEAVES and isinstance(content, list):
        items = [quoted(item) for item in content]
        return f" {items[0]}" if len(items) == 1 else f" [ {' '.join(items)} ]"
    return f" {quoted(str(content))}"


def set_lines(tree: Tree, statement: Statement = CONFIGURATION, before: str = "set") -> Iterator[str]:
    """Yield the set commands that make a level and what is below it."""
    for child, key in ordered(tree, statement):
        content = tree[key]
        words = f"{before} {' '.join(spelled(Step(child, key)))}"
        if isinstance(content, dict):
            lines = list(set_lines(content, child, words))
            yield from lines or [words]
        elif isinstance(content, list):
            yield from (f"{words} {quoted(item)}" for item in content)
        else:
            yield words + _value(child, content)


def compare(old: Tree, new: Tree) -> str:
    """Return the difference of two normal trees as `show | compare` prints it, "" where there is none."""
    return "\n".join(_compared(old, new, CONFIGURATION, ()))


def _compared(old: Tree, new: Tree, statement: Statement, path: Path) -> Iterator[str]:
    changed, deeper = [], []
    for child, key in ordered({**old, **new}, statement):
        before, after = old.get(key), new.get(key)
        if key in old and key in new and isinstance(before, dict) and isinstance(after, dict):
            deeper.append((child, key, before, after))
        elif key not in old or key not in new or before != after:
            changed += [f"-{line[1:]}" for line in _shown(old, child, key)] if key in old else []
            changed += [f"+{line[1:]}" for line in _shown(new, child, key)] if key in new else []
    if changed:
        yield header(steps_of(path))
        yield from changed
    for child, key, before, after in deeper:
        yield from _compared(before, after, child, (*path, key))


def _shown(tree: Tree, child: Statement, key: Key) -> list[str]:
    return list(_block(tree, child, key, _INDENT, 1))


def at(tree: Tree, path: Path) -> tuple[Tree, Statement]:
    """Return the tree and the statement at a path, an empty tree where nothing is there."""
    found = get(tree, *path) if path else tree
    statement = steps_of(path)[-1].statement if path else CONFIGURATION
    return (found if isinstance(found, dict) else {}), statement
