"""Draining a link on Junos: which BGP neighbours a change shuts down, and whether they are. No I/O.

Which they are is found when the change is made and kept in the handle as `shut`, so that nobody ever lets up a
neighbour that somebody else has shut down.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Change
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.half_drained import refuse_half_drained
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_bgp import Neighbour
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import Port, is_drain, shut_by, stated

SINCE = "Junos can shut a neighbour down since 19.1; on an older box leave the stage fabric out, or do it by hand."
ONLY_PLAIN = (
    "A drain shuts down neighbours that have an address of their own in the main instance. Take the "
    "statements of the others out meanwhile, or leave the stage fabric out (jumbo_stages) and raise this link by hand."
)


def resolved(changes: Sequence[Change], ports: Mapping[str, Port], host: str) -> list[dict[str, Any]]:
    """Return the changes, each drain with the neighbours that it shuts down or lets up again."""
    found: list[dict[str, Any]] = []
    shut: dict[str, list[dict[str, str]]] = {}
    for change in changes:
        name = change["object"]
        if not is_drain(change):
            found.append(dict(change))
            continue
        near = ports[name].neighbours if name in ports else ()
        if change["to"]:
            others = ports[name].others if name in ports else ()
            refuse_half_drained(others, host=host, port=name, advice=ONLY_PLAIN)
            shut[name] = _to_shut(name, near, host)
        elif "shut" in change:  # but for those that somebody else has let up
            own = [neighbour.as_dict() for neighbour in near if neighbour.own]
            shut[name] = [neighbour for neighbour in change["shut"] if neighbour in own]
        elif name not in shut:
            message = "it is not known which BGP neighbours of it this roll-out has shut down"
            advice = "Look at `show bgp summary`, and let them up by hand."
            raise JumboError(message, host=host, object=name, advice=advice)
        found.append({**change, "shut": shut[name]})
    return found


def _to_shut(name: str, near: Sequence[Neighbour], host: str) -> list[dict[str, str]]:
    if not near:
        message = "no BGP neighbour of the main instance is reached over this interface, so it cannot be drained"
        advice = "Check its addresses and `protocols bgp`, or `routing` of this link in jumbo_links."
        raise JumboError(message, host=host, object=name, variable="jumbo_links", advice=advice)
    return [neighbour.as_dict() for neighbour in near if not neighbour.shut]


def made_since(change: Change, before: Mapping[str, Port], ports: Mapping[str, Port]) -> dict[str, Any]:
    """Return a drain without a handle, with the neighbours that are shut down in `ports` and were not `before`."""
    name = change["object"]
    then = [n.as_dict() for n in before[name].neighbours if n.own] if name in before else []
    near = [n.as_dict() for n in ports[name].neighbours if n.own] if name in ports else []
    return {**change, "shut": [neighbour for neighbour in near if neighbour not in then]}


def drained(change: Change, ports: Mapping[str, Port]) -> bool | None:
    """Return whether the neighbours of a drain are shut down: all, none, or (None) some; without any: as wanted."""
    there = set(stated(shut_by(change), ports).values())
    return bool(change["to"]) if not there else there.pop() is not None if len(there) == 1 else None
