# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What waits for a confirmation on a host; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import PhaseAction

registry.preload()


class ActionModule(PhaseAction):
    """Query, confirm or revert, each from a new connection."""

    NAME = "pending_change"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Serve a roll-out's phase, or the handle that interface_mtu or route_mtu returned."""
        wanted, handle = arguments["state"], arguments["handle"]
        if arguments["phase"]:
            return self.confirm_phase(arguments["phase"])
        driver = registry.open_driver(self.access(self.host))
        if wanted == "queried":
            return {"changed": False, "pending": driver.pending()}
        if handle is None:
            raise JumboError(f"state {wanted} needs the handle of the change", host=self.host, variable="handle")
        if self.check_mode:
            return {"changed": True, "pending": driver.pending()}
        if wanted == "confirmed":
            return {"changed": True, **driver.confirm(handle)}
        return {"changed": True, **driver.revert(handle)}
