"""What the interfaces of a FastIron box send, kept as it is over the reload that activates its large frames.

Whether a ve or routed port that states no `ip mtu` stays at 1500 once `jumbo` is active, no guide says (08.0.60 Layer 3
guide: the default is 1500 for Ethernet II; nothing of `jumbo`). One that followed it would send more than what is
behind it takes in. So the size that is in force is stated, in the save that brings `jumbo`; and since a box may take a
default without keeping the line, or refuse it, sizes are compared afterwards: what grew is written back and saved.
"""

from __future__ import annotations

import contextlib
from typing import Any, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Refused, Session
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import OWN_SIZE, Interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_step import Step
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config


class Sizes:
    """The sizes that must be in force after the reload, in bytes of IP packet.

    `active`: large frames are active already, so the reload has been. An interface without a statement had the default
    before it, whatever it has now: a run that was cut behind the reload is gone on with.
    """

    def __init__(self, interfaces: Interfaces, saved: Config, running: Config, *, active: bool) -> None:
        own = {name: one["ip_mtu"] for name, one in interfaces.items() if one["kind"] in OWN_SIZE}
        self.wanted: Mapping[str, Any] = {
            name: min(size, words.DEFAULT_IP_MTU) if active and size and not running.ip_mtu(name) else size
            for name, size in own.items()
        }
        self._stated = {name: running.ip_mtu(name) for name in own}
        self.to_state = [name for name, stated in self._stated.items() if stated is None]
        self._ours = [name for name in own if saved.ip_mtu(name) is None]

    def refuse_unknown(self, access: Access) -> None:
        """Refuse what nobody could see to have grown, and what is stated and would grow by the reload alone."""
        for name, size in self.wanted.items():
            stated = self._stated[name]
            if stated is None and size is None:
                message = "it does not tell its IP MTU, so nobody could see whether the reload changes it"
                advice = "State an `ip mtu` on it, save, and run it again."
            elif size is not None and stated not in (None, size):
                message = f"it states IP MTU {stated} and has {size}: the reload would raise it before its time"
                advice = f"Set it to what is in force (`ip mtu {size}`), save, and run it again."
            else:
                continue
            raise JumboError(message, host=access.host, object=name, advice=advice)

    def state(self, session: Session, running: Config) -> None:
        """State the sizes that nothing states; a box that refuses a line for being its default goes without."""
        for name in (name for name in self.to_state if running.ip_mtu(name) is None):
            with contextlib.suppress(Refused):
                session.configure(words.mtu_lines(name, None, self.wanted[name]))

    def unstate(self, session: Session) -> None:
        """Take out the lines that `state` typed, and nobody has saved; those of others stay."""
        saved, running = session.configs()
        for name in self._ours:
            stated = running.ip_mtu(name)
            if saved.ip_mtu(name) is None and stated is not None and stated == self.wanted[name]:
                session.configure(words.mtu_lines(name, stated, None))

    def without_ours(self, config: Config) -> Config:
        """Return what is left of a configuration without `jumbo`, and without the lines that `state` typed."""
        typed = [name for name in self._ours if config.ip_mtu(name) == self.wanted[name]]
        return config.without(typed)

    def others(self, saved: Config, running: Config) -> str:
        """Return what differs besides our own lines, "" where nothing does."""
        return words.difference(self.without_ours(saved), self.without_ours(running))

    def grown(self, interfaces: Interfaces) -> dict[str, Any]:
        """Return {interface: its size now} of those whose size is not what it must be."""
        now = {name: interfaces.get(name, {}).get("ip_mtu") for name, size in self.wanted.items() if size is not None}
        return {name: size for name, size in now.items() if size != self.wanted[name]}

    def bring_back(self, access: Access, interfaces: Interfaces) -> None:
        """Write the old size of what grew, read it back and save it; raises JumboError where that does not work."""
        grown = self.grown(interfaces)
        changes = [
            {"object": name, "field": "ip_mtu", "from": now, "to": self.wanted[name]} for name, now in grown.items()
        ]
        step = Step(access, {"name": words.JUMBO, "changes": changes, "before": {}})
        try:
            if changes:
                step.write("to")
                step.save()
        except JumboError as failure:
            name = failure.object if failure.object in grown else next(iter(grown))
            before, after = self.wanted[name], grown[name]
            raise JumboError(
                f"it had IP MTU {before} before the reload, and has {after} after it: {failure.message}",
                host=access.host,
                object=name,
                advice=f"Type `ip mtu {before}` on it and save: until then it sends what others may not take.",
            ) from failure
