"""Configurations as XML: shown, filtered by a subtree, and read."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from .errors import refused, syntax_error
from .inherit import Origins
from .load import DELETE, REPLACE, SET, Edit
from .schema import CONFIGURATION, CONTAINER, FLAG, LEAVES, LIST, Statement
from .tree import Path, Step, Tree, ordered
from .words import find, header, spelled
from .xml import Xml, el


def shown(tree: Tree, statement: Statement = CONFIGURATION, origins: Origins | None = None, path: Path = ()) -> Xml:
    """Return the XML of a level and what is below it, without an element around it.

    origins: where inherited statements come from, which their elements then say.
    """
    return Xml("".join(_elements(tree, statement, origins or {}, path)))


def _elements(tree: Tree, statement: Statement, origins: Origins, path: Path) -> Iterator[Xml]:
    for child, key in ordered(tree, statement):
        content, here = tree[key], (*path, key)
        kind, source = origins.get(here, ("", ""))
        said = {f"junos_{kind}": source} if kind else {}
        if isinstance(content, dict):
            name = [el("name", key[1])] if child.kind == LIST else []
            yield el(child.tag, *name, shown(content, child, origins, here), **said)
        elif isinstance(content, list):
            yield from (el(child.tag, item, **said) for item in content)
        elif child.inner:
            yield el(child.tag, el(child.inner, content), **said)
        else:
            yield el(child.tag, content, **said)


def filtered(tree: Tree, wanted: etree._Element, statement: Statement = CONFIGURATION) -> Tree:
    """Return the part of a tree that a subtree filter asks for: an empty element asks for all that is below it."""
    if not len(wanted):
        return tree
    found: Tree = {}
    for child, key in ordered(tree, statement):
        content = tree[key]
        for element in wanted:
            name = element.findtext("name") if child.kind == LIST else None
            if element.tag != child.tag or (name is not None and name.strip() != key[1]):
                continue
            found[key] = filtered(content, _without_name(element), child) if isinstance(content, dict) else content
    return found


def _without_name(element: etree._Element) -> etree._Element:
    rest = etree.Element(element.tag)
    rest.extend(child for child in list(element) if child.tag != "name")
    return rest


def edits(element: etree._Element, steps: tuple[Step, ...] = (), *, everything: str = SET) -> Iterator[Edit]:
    """Yield what a `configuration` element asks for. everything: the verb of elements that say nothing themselves."""
    statement = steps[-1].statement if steps else CONFIGURATION
    for item in element:
        child = statement.by_tag(str(item.tag))
        if child is None:
            raise syntax_error(str(item.tag), header(steps))
        verb = _verb(item)
        if child.kind in (CONTAINER, LIST):
            here = (*steps, _step(child, item, steps))
            if verb is not None:
                yield Edit(verb, here)
            if verb == DELETE:
                continue
            inside = [part for part in item if part.tag != "name" or child.kind != LIST]
            if not inside or child.presence:
                yield Edit(SET, here)
            yield from edits(_of(inside), here, everything=everything)
        else:
            yield _leaf(child, item, steps, verb or everything)


def _of(children: list[etree._Element]) -> etree._Element:
    element = etree.Element("level")
    element.extend(children)
    return element


def _verb(item: etree._Element) -> str | None:
    operation = item.get("operation")
    if item.get("delete") == "delete" or operation in ("delete", "remove"):
        return DELETE
    if item.get("replace") == "replace" or operation == "replace":
        return REPLACE
    if item.get("inactive") or item.get("rename") or item.get("insert"):
        raise refused("this attribute is not known here", element=str(item.tag))
    return None


def _step(child: Statement, item: etree._Element, steps: tuple[Step, ...]) -> Step:
    if child.kind != LIST:
        return Step(child, (child.word, ""))
    name = (item.findtext("name") or "").strip()
    if not name:
        raise refused("missing argument.", path=header(steps), element=child.tag)
    words = spelled(Step(child, (child.word, name)))
    return find(words, steps).steps[-1]


def _leaf(child: Statement, item: etree._Element, steps: tuple[Step, ...], verb: str) -> Edit:
    inner = item.find(child.inner) if child.inner else item
    text = (inner.text or "").strip() if inner is not None else ""
    if child.kind == FLAG or (verb == DELETE and not text):
        return Edit(verb, (*steps, Step(child, (child.word, ""))))
    if not text:
        raise refused("missing argument.", path=header(steps), element=child.tag)
    found = find([child.word, f'"{text}"'], steps)
    content = found.content if child.kind == LEAVES or verb != DELETE else None
    return Edit(verb, found.steps, content)
