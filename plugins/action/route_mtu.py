# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The route pins of a Linux host; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import adhoc
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import PhaseAction

registry.preload()


class ActionModule(PhaseAction):
    """Lifts explicit prefixes, or pins them again."""

    NAME = "route_mtu"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Serve a roll-out's phase, or the prefixes that a playbook author names."""
        if arguments["phase"]:
            return self.apply_phase(arguments["phase"])
        for name in ("interface", "prefixes", "ip_mtu"):
            if arguments[name] is None:
                raise JumboError(f"{name} is required without phase", host=self.host, variable=name)
        access = self.access(self.host)
        routes = registry.open_driver(access).read()["routes"]
        interface, target = arguments["interface"], arguments["ip_mtu"]
        changes = []
        for prefix in arguments["prefixes"]:
            now = next((r["mtu"] for r in routes if r["prefix"] == prefix and r["interface"] == interface), None)
            if now != target:
                changes.append(adhoc.change(self.host, f"{interface} {prefix}", "route_mtu", now, target))
        return adhoc.apply(access, changes, arguments["confirm_within"], check_mode=self.check_mode)
