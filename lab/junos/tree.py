"""A configuration as a tree: statements are set, deleted and compared by their path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from .schema import CONFIGURATION, CONTAINER, FLAG, LEAF, LEAVES, LIST, Statement

Key = tuple[str, str]
"""(word of the statement, name of the entry; "" where it is no list)."""

Tree = dict[Key, Union["Tree", str, list[str], None]]
"""A container or an entry of a list is a Tree, a flag None."""

Path = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A level on the way: the statement and its key."""

    statement: Statement
    key: Key


def copy(tree: Tree) -> Tree:
    """Return a copy that shares nothing."""
    return {key: _copied(value) for key, value in tree.items()}


def _copied(value: Tree | str | list[str] | None) -> Tree | str | list[str] | None:
    if isinstance(value, dict):
        return copy(value)
    return list(value) if isinstance(value, list) else value


def get(tree: Tree, *path: str | Key) -> Tree | str | list[str] | None:
    """Return what is at a path, None where there is nothing. A plain word stands for a key without a name."""
    here: Tree | str | list[str] | None = tree
    for part in path:
        if not isinstance(here, dict):
            return None
        here = here.get((part, "") if isinstance(part, str) else part)
    return here


def has(tree: Tree, *path: str | Key) -> bool:
    """Tell whether a path is there, flags and empty containers included."""
    parent = get(tree, *path[:-1]) if path[:-1] else tree
    last = path[-1]
    return isinstance(parent, dict) and ((last, "") if isinstance(last, str) else last) in parent


def branch(tree: Tree, *path: str | Key) -> Tree:
    """Return the tree at a path, an empty one where there is none."""
    found = get(tree, *path)
    return found if isinstance(found, dict) else {}


def value(tree: Tree, *path: str | Key) -> str | None:
    """Return the value of a leaf."""
    found = get(tree, *path)
    return found if isinstance(found, str) else None


def values(tree: Tree, *path: str | Key) -> list[str]:
    """Return the values of a statement that may have several."""
    found = get(tree, *path)
    return found if isinstance(found, list) else []


def entries(tree: Tree, word: str) -> dict[str, Tree]:
    """Return the entries of a list by name."""
    return {key[1]: found for key, found in tree.items() if key[0] == word and isinstance(found, dict)}


def put(tree: Tree, steps: tuple[Step, ...], content: str | list[str] | Tree | None) -> None:
    """Set the statement at the end of the steps; what is missing on the way is made."""
    here = tree
    for step in steps[:-1]:
        found = here.setdefault(step.key, {})
        if not isinstance(found, dict):  # pragma: no cover - a schema has no children below a leaf
            raise TypeError(step.key)
        here = found
    last = steps[-1]
    if last.statement.kind == LEAVES and isinstance(content, list):
        old = here.get(last.key)
        known = old if isinstance(old, list) else []
        here[last.key] = [*known, *(item for item in content if item not in known)]
    elif last.statement.kind in (CONTAINER, LIST):
        here.setdefault(last.key, {})
    else:
        here[last.key] = content


def remove(tree: Tree, steps: tuple[Step, ...], content: list[str] | None = None) -> bool:
    """Delete a statement, or some values of one that has several; False where there is nothing. Empty levels go too."""
    if not steps:
        gone = bool(tree)
        tree.clear()
        return gone
    trail = [tree]
    for step in steps[:-1]:
        found = trail[-1].get(step.key)
        if not isinstance(found, dict):
            return False
        trail.append(found)
    if not _remove_last(trail[-1], steps[-1], content):
        return False
    for parent, step in zip(reversed(trail[:-1]), reversed(steps[:-1]), strict=True):
        if parent[step.key] == {} and not step.statement.presence:
            del parent[step.key]
    return True


def _remove_last(parent: Tree, step: Step, content: list[str] | None) -> bool:
    if step.statement.kind == LIST and not step.key[1]:  # the whole list
        names = [key for key in parent if key[0] == step.key[0]]
        for key in names:
            del parent[key]
        return bool(names)
    if step.key not in parent:
        return False
    old = parent[step.key]
    if content and isinstance(old, list):
        left = [item for item in old if item not in content]
        if left == old:
            return False
        if left:
            parent[step.key] = left
            return True
    del parent[step.key]
    return True


def ordered(tree: Tree, statement: Statement) -> Iterator[tuple[Statement, Key]]:
    """Yield the statements of a level in Junos's order; empty ones that mean nothing are left out."""
    for word, child in statement.children.items():
        keys = [key for key in tree if key[0] == word]
        if child.natural:
            keys.sort(key=lambda key: natural(key[1]))
        for key in keys:
            if tree[key] != {} or child.presence:
                yield child, key


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort names with their numbers as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def statement_at(path: Path) -> Statement:
    """Return the schema's statement for a path."""
    here = CONFIGURATION
    for word, _name in path:
        here = here.children[word]
    return here


def normal(tree: Tree, statement: Statement = CONFIGURATION) -> Tree:
    """Return the tree as Junos would show it: two that mean the same are equal."""
    found: Tree = {}
    for child, key in ordered(tree, statement):
        inner = tree[key]
        found[key] = normal(inner, child) if isinstance(inner, dict) else inner
    return found


def differences(old: Tree, new: Tree, path: Path = ()) -> Iterator[tuple[Path, bool]]:
    """Yield (path, is new) of each statement that was removed, then of each that was added; deepest common level."""
    for key in old:
        if key not in new:
            yield (*path, key), False
        elif isinstance(inner := old[key], dict) and isinstance(other := new[key], dict):
            yield from differences(inner, other, (*path, key))
        elif old[key] != new[key]:
            yield (*path, key), False
            yield (*path, key), True
    for key in new:
        if key not in old:
            yield (*path, key), True


def replay(base: Tree, changed: Tree, onto: Tree) -> Tree:
    """Return `onto` with what makes `changed` of `base`: how a private copy is committed."""
    result = copy(onto)
    for path, is_new in differences(base, changed):
        steps = tuple(Step(statement_at(path[: n + 1]), key) for n, key in enumerate(path))
        if not is_new:
            remove(result, steps)
            continue
        _graft(result, steps, get(changed, *path))
    return result


def _graft(tree: Tree, steps: tuple[Step, ...], content: Tree | str | list[str] | None) -> None:
    here = tree
    for step in steps[:-1]:
        found = here.setdefault(step.key, {})
        here = found if isinstance(found, dict) else {}
    here[steps[-1].key] = _copied(content)


__all__ = ["FLAG", "LEAF", "Key", "Path", "Step", "Tree"]
