"""What a configuration inherits: from groups that are applied, and from the interface ranges that a port is in.

A statement of one's own goes before a range, and that before a group; of several groups the first counts (vendor
documentation). Groups are applied at the top, at `interfaces` and at one interface; names in `<>` are patterns.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from .tree import Key, Path, Tree, branch, copy, entries, get, value, values

GROUP, RANGE = "group", "interface-range"

Origins = dict[Path, tuple[str, str]]
"""{path of an inherited statement: (group or interface-range, its name)}."""

INTERFACES: Key = ("interfaces", "")
_NOT_INHERITED = ("groups", "apply-groups", "interface-range")
_PORT = re.compile(r"(?P<stem>.*/)(?P<number>\d+)")


def effective(config: Tree) -> tuple[Tree, Origins]:
    """Return the configuration with all that it inherits, and where that comes from."""
    result, origins = _own(config), Origins()
    groups = entries(config, "groups")
    interfaces = branch(config, "interfaces")
    for name, block in entries(interfaces, "interface-range").items():
        content = _own({key: inner for key, inner in block.items() if key[0] not in ("member", "member-range")})
        for port in _members(block):
            path: Path = (INTERFACES, ("interface", port))
            _merge(_at(result, path), content, path, (RANGE, name), origins)
    for port, block in entries(interfaces, "interface").items():
        _apply(result, groups, values(block, "apply-groups"), (INTERFACES, ("interface", port)), origins)
    _apply(result, groups, values(interfaces, "apply-groups"), (INTERFACES,), origins)
    _apply(result, groups, values(config, "apply-groups"), (), origins)
    return result, origins


def undefined(config: Tree) -> list[str]:
    """Return the groups that are applied and not there."""
    known, interfaces = entries(config, "groups"), branch(config, "interfaces")
    applied = [*values(config, "apply-groups"), *values(interfaces, "apply-groups")]
    for block in entries(interfaces, "interface").values():
        applied += values(block, "apply-groups")
    return [name for name in dict.fromkeys(applied) if name not in known]


def _own(tree: Tree) -> Tree:
    found = {key: inner for key, inner in copy(tree).items() if key[0] not in _NOT_INHERITED}
    return {key: _own(inner) if isinstance(inner, dict) else inner for key, inner in found.items()}


def _members(block: Tree) -> Iterator[str]:
    """Yield the ports of a range; a `member-range` counts the last number up."""
    yield from entries(block, "member")
    for first, inner in entries(block, "member-range").items():
        begin, end = _PORT.fullmatch(first), _PORT.fullmatch(value(inner, "to") or first)
        if begin and end:
            numbers = range(int(begin["number"]), int(end["number"]) + 1)
            yield from (f"{begin['stem']}{number}" for number in numbers)


def _apply(result: Tree, groups: dict[str, Tree], names: list[str], path: Path, origins: Origins) -> None:
    for name in names:
        found = _matching(groups.get(name, {}), path)
        for content in found:
            _merge(_at(result, path), _own(content), path, (GROUP, name), origins)


def _matching(group: Tree, path: Path) -> list[Tree]:
    """Return the parts of a group that stand at a path, patterns for the names of it included."""
    if not path:
        return [group]
    (word, name), rest = path[0], path[1:]
    found = []
    for key, inner in group.items():
        if key[0] == word and isinstance(inner, dict) and (key[1] == name or _fits(key[1], name)):
            found += _matching(inner, rest)
    return found


def _fits(pattern: str, name: str) -> bool:
    return pattern.startswith("<") and fnmatch.fnmatchcase(name, pattern[1:-1])


def _at(tree: Tree, path: Path) -> Tree:
    for key in path:
        inner = tree.setdefault(key, {})
        if not isinstance(inner, dict):  # pragma: no cover - a schema has no children below a leaf
            raise TypeError(key)
        tree = inner
    return tree


def _merge(into: Tree, content: Tree, path: Path, origin: tuple[str, str], origins: Origins) -> None:
    """Add what is not there yet; a pattern adds to all that have a name like it."""
    for key, inner in content.items():
        names = [other for other in into if other[0] == key[0] and _fits(key[1], other[1])]
        for target in names if key[1].startswith("<") else [key]:
            here = (*path, target)
            if target not in into:
                origins[here] = origin
                into[target] = {} if isinstance(inner, dict) else inner
            below = get(into, target)
            if isinstance(inner, dict) and isinstance(below, dict):
                _merge(below, inner, here, origin, origins)
