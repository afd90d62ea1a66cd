"""What a change means on EOS, field by field: the lines that make it, what they are called, the value there is. No I/O.

A change of `drained` has `shut`: the BGP neighbours that it shuts down, or that it lets up again. It is found when the
change is made and kept in the handle, so that nobody ever lets up a neighbour that somebody else has shut down.
"""

from __future__ import annotations

import hashlib
from typing import Any, Dict, Iterable, Mapping, Sequence, Tuple

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_eos
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Change
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_bgp import (
    line_of,
    neighbours_by_interface,
    others_over,
    with_blocks,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.half_drained import refuse_half_drained

MTU, DRAINED = "ip_mtu", "drained"
FIELDS = (MTU, DRAINED)
ONLY_PLAIN = (
    "A drain shuts down neighbours that have an address of their own in the default VRF. Take the lines of the "
    "others out meanwhile, or leave the stage fabric out (jumbo_stages) and raise this link by hand."
)

Values = Dict[Tuple[str, str], Any]
"""{(object, field): the value it has now}; None where it has neither value of a change."""


def key(change: Change) -> tuple[str, str]:
    """Return what a change is about."""
    return change["object"], change["field"]


def is_drain(change: Change) -> bool:
    """Tell whether a change is about BGP sessions."""
    return bool(change["field"] == DRAINED)


def resolved(changes: Sequence[Change], running: str, host: str) -> list[dict[str, Any]]:
    """Return the changes with the neighbours that each is about; raises where an interface leads to none."""
    known = neighbours_by_interface(running) if any(map(is_drain, changes)) else {}
    lines = set(with_blocks(running))
    found: list[dict[str, Any]] = []
    shut: dict[str, list[dict[str, str]]] = {}
    for change in changes:
        name = change["object"]
        if not is_drain(change):
            found.append(dict(change))
            continue
        if change["to"]:
            refuse_half_drained(others_over(running, name), host=host, port=name, advice=ONLY_PLAIN)
            shut[name] = _to_shut(name, known.get(name, []), host)
        elif "shut" in change:  # but for those that somebody else has let up
            shut[name] = [neighbour for neighbour in change["shut"] if line_of(neighbour) in lines]
        elif name not in shut:
            message = "it is not known which BGP neighbours of it this roll-out has shut down"
            advice = "Look at `show ip bgp summary`, and let them up by hand."
            raise JumboError(message, host=host, object=name, advice=advice)
        found.append({**change, "shut": shut[name]})
    return found


def _to_shut(name: str, neighbours: Sequence[Any], host: str) -> list[dict[str, str]]:
    if not neighbours:
        message = "no BGP neighbour of the default VRF is reached over this interface, so it cannot be drained"
        advice = "Check its `ip address` and the lines below `router bgp`, or `routing` of this link in jumbo_links."
        raise JumboError(message, host=host, object=name, variable="jumbo_links", advice=advice)
    return [neighbour.as_dict() for neighbour in neighbours if not neighbour.shut]


def made_since(change: Change, startup: str, running: str) -> dict[str, Any]:
    """Return a drain without a handle, with the neighbours that are shut down now and are not in startup-config.

    A controller that died left no more than the plan's change; a step begins where the two are equal.
    """
    before = {n.address for n in neighbours_by_interface(startup).get(change["object"], []) if n.own_line}
    now = [n for n in neighbours_by_interface(running).get(change["object"], []) if n.own_line]
    return {**change, "shut": [n.as_dict() for n in now if n.address not in before]}


def values_of(changes: Iterable[Change], mtus: Mapping[str, int | None], running: str | None) -> Values:
    """Return the value that each object of these changes has now."""
    lines = set(with_blocks(running)) if running else set()
    return {
        key(change): _drained(change, lines) if is_drain(change) else mtus.get(change["object"]) for change in changes
    }


def _drained(change: Change, lines: set[str]) -> bool | None:
    """Return whether the neighbours of a change are shut down: all, none, or (None) some; without any: as wanted."""
    there = {line_of(neighbour) in lines for neighbour in change.get("shut") or ()}
    return bool(change["to"]) if not there else there.pop() if len(there) == 1 else None


def config_lines(changes: Sequence[Change], side: str) -> list[str]:
    """Return flat EOS lines that give each object the change's `from` or `to` value."""
    found = []
    for change in changes:
        if is_drain(change):
            for neighbour in change.get("shut") or ():
                word = "" if change[side] else "no "
                found += [f"router bgp {neighbour['asn']}", f"{word}neighbor {neighbour['address']} shutdown"]
        else:
            found += [f"interface {change['object']}", f"mtu {change[side]}"]
    return found


def _written(changes: Sequence[Change]) -> set[str]:
    """Return the lines, with their blocks, that these changes write or take back."""
    found = set()
    for change in changes:
        if is_drain(change):
            found |= {line_of(neighbour) for neighbour in change.get("shut") or ()}
        else:
            found |= {f"interface {change['object']} > mtu {change[side]}" for side in ("from", "to")}
    return found


def config_difference(before: str, after: str) -> list[str]:
    """Return what two configurations differ in, each line with the block it stands in: `+ interface Vlan10 > mtu 9000`.

    Comment lines do not count: their time stamps always differ between running- and startup-config.
    """
    old, new = with_blocks(before), with_blocks(after)
    was, now = set(old), set(new)
    return [f"- {line}" for line in old if line not in now] + [f"+ {line}" for line in new if line not in was]


def digest(config: str, changes: Sequence[Change]) -> str:
    """Return what stands in a handle for a configuration without the lines of these changes.

    It tells an edit of somebody else that is saved already. The text itself has secrets: it is kept nowhere.
    """
    mtus = tuple(f"interface {change['object']} > mtu " for change in changes if not is_drain(change))
    ours = _written(changes)
    lines = [line for line in with_blocks(config) if not line.startswith(mtus) and line not in ours]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def beside_ours(changes: Sequence[Change], before: str, after: str) -> list[str]:
    """Return the difference of two configurations without the lines that these changes write or take back."""
    ours = _written(changes)
    return [line for line in config_difference(before, after) if line[2:] not in ours]


def beside_ours_in(changes: Sequence[Change], session_diff: Sequence[str]) -> list[str]:
    """Return the changed lines of EOS's own difference (`... diffs`, without its head) that are not our lines."""
    ours = {line.rpartition(" > ")[2] for line in _written(changes)}
    changed = [line for line in session_diff if line[:1] in {"+", "-"}]
    return [line for line in changed if line[1:].strip() not in {*ours, "", "!"}]


def persisted(change: Change, startup: str) -> Any:
    """Return the value that an object will have after a reboot."""
    if is_drain(change):
        return _drained(change, set(with_blocks(startup)))
    found = parse_eos.configured_mtus(startup)
    return found.get(change["object"], found.get("defaults", parse_eos.DEFAULT_ROUTED))


def told_value(change: Change, value: Any) -> str:
    """Return a value as a sentence has it."""
    if not is_drain(change):
        return f"MTU {value}"
    return f"its BGP sessions {_TOLD[value]}"


_TOLD = {True: "shut down", False: "not shut down", None: "shut down in part"}
