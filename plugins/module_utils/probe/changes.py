"""The changes of a request, read and checked: what a host is asked to become."""

from __future__ import annotations

import ipaddress
from typing import Any, NamedTuple, Sequence

from .errors import ProbeError
from .routes import DEFAULTS, IPV4

FIELDS = ("ip_mtu", "route_mtu", "persisted")
LARGEST_IP_MTU = 65535
SHAPE = '{"object": "eth1" or "eth1 10.0.0.0/24", "field": "ip_mtu" | "route_mtu" | "persisted", "from", "to"}'


class Change(NamedTuple):
    """One wish for one object; sizes are bytes of IP packet, None means that no route is pinned."""

    interface: str
    prefix: str | None
    field: str
    before: Any
    after: Any
    waived: bool = False
    """Whether a person has accepted that some senders of this interface are not bound by pins."""

    @property
    def object(self) -> str:
        """How the plan writes the object: an interface, or an interface and a prefix."""
        return f"{self.interface} {self.prefix}" if self.prefix else self.interface


def read_changes(raw: Any) -> list[Change]:
    """Read the `changes` of a request; a wrong one is refused by name."""
    if not isinstance(raw, list) or not raw:
        message = "the request has no changes"
        raise ProbeError(message, object="changes", wish=raw, limit=f"a list of {SHAPE}")
    changes = [_read_change(entry) for entry in raw]
    for index, change in enumerate(changes):
        for other in changes[index + 1 :]:
            if (other.object, other.field) == (change.object, change.field):
                message = f"{change.field} of {change.object} is asked for twice"
                raise ProbeError(message, object=change.object, wish=[change.after, other.after])
    return changes


def of_field(changes: Sequence[Change], field: str) -> dict[str, Change]:
    """Return the changes of one field to whole interfaces, by interface."""
    return {change.interface: change for change in changes if change.field == field and change.prefix is None}


def _read_change(entry: Any) -> Change:
    if not isinstance(entry, dict) or not isinstance(entry.get("object"), str) or entry.get("field") not in FIELDS:
        message = f"a change was not understood: {entry!r}"
        raise ProbeError(message, object="changes", wish=entry, limit=SHAPE)
    words = entry["object"].split()
    if len(words) not in {1, 2} or (len(words) > 1 and entry["field"] != "route_mtu"):
        message = f"{entry['object']!r} is no object of {entry['field']}"
        raise ProbeError(message, object=entry["object"], wish=entry, limit=SHAPE)
    prefix = read_prefix(words[1], entry["object"]) if len(words) > 1 else None
    waived = entry.get("exposure") == "waived"
    change = Change(words[0], prefix, entry["field"], entry.get("from"), entry.get("to"), waived)
    for value in (change.before, change.after):
        _check_value(change, value)
    return change


def _check_value(change: Change, value: Any) -> None:
    if change.field == "persisted":
        if isinstance(value, bool):
            return
        limit = "true, false"
    else:
        if value is None and change.field == "route_mtu":
            return
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_IP_MTU:
            return
        limit = f"1-{LARGEST_IP_MTU} bytes of IP packet"
    message = f"{value!r} is no {change.field} of {change.object}"
    raise ProbeError(message, object=change.object, wish=value, limit=limit)


def read_prefix(word: str, name: str) -> str:
    """Read a prefix of either family; a default route is never a prefix to lift or pin by itself."""
    try:
        return str(ipaddress.ip_network(DEFAULTS[IPV4] if word == "default" else word))
    except ValueError as error:
        message = f"{word!r} is no prefix: {error}"
        raise ProbeError(message, object=name, wish=word, limit="such as 10.10.2.0/24 or fd00:10:2::/64") from None
