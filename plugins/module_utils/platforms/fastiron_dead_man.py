"""The dead-man of a FastIron box: a scheduled reload to what is saved, where management crosses what is changed.

It reloads the whole box, so it is armed only where nothing else would bring management back, and only where
`jumbo_allow_reload` allows reloads. By which interface the box reaches who manages it, its routes tell:

    1       0.0.0.0/0          10.100.0.1      ve 100        1/1           S    62d14h
            0.0.0.0/0          192.168.1.1     ve 1          1/1           S    62d14h
    2       10.100.0.0/24      DIRECT          ve 100        0/0           D    62d14h

(`show ip route` of an ICX, from public outputs; of several rows with one destination only the first has a number.)
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Collection, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Session, looked
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import OWN_SIZE, Interfaces

CROSSED = "management crosses this interface, or nothing tells that it does not"
OTHER_WAY = "Manage the box by another way (ansible_host), or leave it out with --limit."
_ROUTE = re.compile(r"^\s*(?:\d+\s+)?(\S+/\d+)\s+\S+\s+([A-Za-z]*\s?[\d/]+)\s+\d+/\d+\s", re.MULTILINE)
_SHORT = {"e": "ethernet", "eth": "ethernet", "ethe": "ethernet", "": "ethernet", "lg": "lag"}


class DeadMan:
    """The scheduled reload of one box, for the step `name` that changes these interfaces."""

    def __init__(self, access: Access, objects: Sequence[str], name: str) -> None:
        self.access = access
        self._objects = objects
        self._name = name

    def is_needed(self) -> bool:
        """Tell whether management crosses an interface of the step, or may.

        Raises JumboError where it does and a reload cannot be scheduled, or may not.
        """
        with Session(self.access) as session:
            interfaces, _saved, _running = looked(session)
            crossed = crossed_by(session, interfaces, self._objects)
            hindrance = hindrance_of(session) if crossed else None
        if hindrance:
            raise JumboError(hindrance, host=self.access.host, object=crossed[0], advice=OTHER_WAY)
        return bool(crossed)

    def arm(self, within: int) -> bool:
        """Schedule the reload where it is needed and read it back; tell whether it was needed.

        None was scheduled before, so whatever is left of a try is ours.
        """
        if not within or not self.is_needed():
            return False
        try:
            with Session(self.access) as session:
                session.command(words.after(within))
                scheduled = session.scheduled_reload()
        except JumboError:
            self.disarm()
            raise
        if scheduled is None:
            message = f"`{words.after(within)}` was taken, and no reload is scheduled"
            raise JumboError(message, host=self.access.host, object=self._name)
        return True

    def disarm(self) -> None:
        """Take the scheduled reload back, and read that none is left."""
        with Session(self.access) as session:
            if session.scheduled_reload() is None:
                return
            session.command("reload cancel")
            left = session.scheduled_reload()
        if left is not None:
            message = f"`reload cancel` did not take the scheduled reload back: {left}"
            raise JumboError(message, host=self.access.host, advice="Cancel it by hand: it loses what is not saved.")


def hindrance_of(session: Session) -> str | None:
    """Return why no reload can be scheduled, None where it can; this is the last that a session is asked."""
    if not session.access.allow_reload:
        return f"{CROSSED}, and jumbo_allow_reload does not allow the reload that would bring it back"
    return None if session.schedules() else f"{CROSSED}, and this release has no scheduled reload to bring it back"


def note_unguarded(session: Session, interfaces: Interfaces) -> None:
    """Add `no_dead_man`, why nothing would bring management back, to interfaces that it crosses; ends the session."""
    own = [name for name, one in interfaces.items() if one["kind"] in OWN_SIZE]
    crossed = crossed_by(session, interfaces, own)
    hindrance = hindrance_of(session) if crossed else None
    for name in crossed if hindrance else ():
        interfaces[name]["no_dead_man"] = f"{hindrance}. {OTHER_WAY}"


def crossed_by(session: Session, interfaces: Interfaces, names: Sequence[str]) -> list[str]:
    """Return those of these interfaces by which management reaches the box; what is not told counts as such.

    One that is in a subnet of either end is; else the interface by which the box answers its client, unless the
    management port was dialled.
    """
    client, dialled = session.client, session.dialled
    near = {name for name in names if _is_near(interfaces.get(name, {}), {client, session.own_address, dialled})}
    managed = any(_has(one, dialled) for one in interfaces.values() if one["kind"] == "management")
    if managed or any(_is_near(one, {client}) for one in interfaces.values()):
        return [name for name in names if name in near]
    version = "ipv6" if ":" in client else "ip"
    ports = ports_to(session.may_show(f"show {version} route {client}") or "", client)
    return [name for name in names if name in near or not ports or words.command_of(name) in ports]


def _has(interface: Mapping[str, Any], address: str) -> bool:
    found = (ipaddress.ip_interface(str(prefix)) for prefix in interface.get("addresses") or ())
    return any(one.ip == ipaddress.ip_address(address) for one in found)


def _is_near(interface: Mapping[str, Any], ends: Collection[str]) -> bool:
    """Tell whether one of these addresses is in a subnet of the interface; never in one of the other family."""
    subnets = [ipaddress.ip_interface(str(prefix)).network for prefix in interface.get("addresses") or ()]
    return any(ipaddress.ip_address(end) in subnet for end in ends for subnet in subnets)


def ports_to(shown: str, address: str) -> set[str]:
    """Return the ports of the routes to an address, as the command line calls them; empty where none is told."""
    target, found = ipaddress.ip_address(address), []
    for prefix, port in _ROUTE.findall(shown):
        try:
            subnet = ipaddress.ip_network(prefix, strict=False)
        except ValueError:
            continue
        if target in subnet:
            found.append((subnet.prefixlen, port))
    longest = max((length for length, _port in found), default=0)
    return {_named(port) for length, port in found if length == longest}


def _named(port: str) -> str:
    kind = port.rstrip("0123456789/").strip()
    return f"{_SHORT.get(kind, kind)} {port[len(port.rstrip('0123456789/')) :]}"
