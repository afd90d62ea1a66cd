# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Desired MTU of interfaces on one host; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import State
from ansible_collections.jumbo.fabric.plugins.plugin_utils import adhoc
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import PhaseAction

registry.preload()


class ActionModule(PhaseAction):
    """One login, one change, one read-back."""

    NAME = "interface_mtu"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Serve a roll-out's phase, or the interfaces that a playbook author names."""
        if arguments["phase"]:
            return self.apply_phase(arguments["phase"])
        access = self.access(self.host)
        state = registry.open_driver(access).read()
        changes = [change for wanted in arguments["interfaces"] or [] for change in self._changes(state, wanted)]
        return adhoc.apply(access, changes, arguments["confirm_within"], check_mode=self.check_mode)

    def _changes(self, state: State, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        name, target = wanted["name"], wanted["ip_mtu"]
        interface = state["interfaces"].get(name)
        if interface is None:
            raise JumboError(
                "there is no such interface",
                host=self.host,
                object=name,
                limit=", ".join(sorted(state["interfaces"])),
            )
        changes = []
        if wanted["pinned_at"] is not None and interface["ip_mtu"] != target:
            changes.append(adhoc.change(self.host, name, "route_mtu", None, wanted["pinned_at"]))
        if interface["ip_mtu"] != target:
            changes.append(adhoc.change(self.host, name, "ip_mtu", interface["ip_mtu"], target))
        return changes
