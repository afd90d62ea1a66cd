"""`show configuration` and what the RPCs get-configuration and get-rollback-information answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from .answer import Answer, Arguments
from .database import stamp
from .errors import refused
from .inherit import GROUP, RANGE, Origins, effective
from .schema import LIST
from .text import at, compare, curly, set_lines
from .tree import Tree, normal
from .words import find
from .xml import Xml, el
from .xml_config import filtered, shown

if TYPE_CHECKING:
    from .session import Login


def configuration(login: Login, arguments: Arguments) -> Answer:
    """Answer `show configuration [PATH]`: what is committed."""
    device = login.device
    with device.lock:
        tree, entry = device.config, device.database.history[0]
    words = arguments.get("path", "").split()
    found = find(words, deleting=True) if words else None
    path = tuple(step.key for step in found.steps) if found else ()
    if found and found.statement.kind not in ("container", LIST):
        raise refused("syntax error, expecting <statement>", element=words[-1])
    part, statement = at(tree, path)

    def text() -> str:
        head = [] if words else [f"## Last commit: {stamp(entry.at)} by {entry.user}"]
        return "\n".join([*head, *curly(part, statement)])

    return Answer(lambda: el("configuration", shown(part, statement)), text)


def as_set(login: Login, words: str) -> str:
    """Return `show configuration [PATH] | display set`."""
    path = words.split()
    before = " ".join(["set", *path])
    return "\n".join(line for line in set_lines(login.device.config) if f"{line} ".startswith(f"{before} "))


def get_configuration(login: Login, request: etree._Element) -> Xml:
    """Answer get-configuration: candidate or committed, whole or filtered, in each format, or compared."""
    database = login.device.database
    with login.device.lock:
        candidate = normal(database.candidate_of(login.session))
        committed = request.get("database") == "committed"
        if request.get("compare") == "rollback":
            return _compared(login, candidate, int(request.get("rollback") or 0))
        tree = database.committed if committed else candidate
    origins: Origins = {}
    if request.get("inherit") == "inherit":
        tree, found = effective(tree)
        told = [kind for kind, word in ((GROUP, "groups"), (RANGE, "interface-ranges")) if request.get(word) == word]
        origins = {path: origin for path, origin in found.items() if origin[0] in told}
    wanted = request.find("configuration")
    tree = filtered(tree, wanted) if wanted is not None else tree
    return formatted(login, tree, request.get("format") or "xml", committed=committed, origins=origins)


def formatted(login: Login, tree: Tree, form: str, *, committed: bool, origins: Origins | None = None) -> Xml:
    """Return a configuration in a format; origins: see `shown`."""
    if form == "text":
        return el("configuration-text", "\n" + "\n".join(curly(tree)) + "\n")
    if form == "set":
        return el("configuration-set", "\n" + "\n".join(set_lines(tree)) + "\n")
    if form != "xml":
        raise refused(f"the format {form} is not known here", element="format")
    entry = login.device.database.history[0]
    word = "commit" if committed else "changed"
    facts = {f"junos_{word}-seconds": str(int(entry.at)), f"junos_{word}-localtime": stamp(entry.at)}
    return el("configuration", shown(tree, origins=origins), **facts)


def _compared(login: Login, candidate: Tree, number: int) -> Xml:
    history = login.device.database.history
    if number >= len(history):
        raise refused(f"rollback {number} does not exist")
    difference = compare(history[number].config, candidate)
    return el("configuration-information", el("configuration-output", f"\n{difference}\n" if difference else "\n"))


def rollback_difference(login: Login, arguments: Arguments) -> Answer:
    """Answer `show system rollback compare A B` or get-rollback-information: how B differs from A."""
    history = login.device.database.history
    numbers = [arguments.get(name, "") for name in ("compare", "rollback")]
    if not all(number.isdigit() and int(number) < len(history) for number in numbers):
        raise refused("rollback configuration does not exist", element="rollback")
    difference = compare(*(history[int(number)].config for number in numbers))
    output = el("configuration-information", el("configuration-output", f"\n{difference}\n"))
    return Answer(lambda: el("rollback-information", output), lambda: difference)
