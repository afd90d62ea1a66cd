# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""DF ping from one device; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction

registry.preload()


class ActionModule(FabricAction):
    """Asks the device's driver; a lost echo is a result, not a failure."""

    NAME = "device_ping"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Ping and count."""
        driver = registry.open_driver(self.access(self.host))
        ping = driver.ping(arguments["target"], arguments["ip_mtu"], arguments["source"], arguments["count"])
        return {"changed": False, "ping": ping, "passed": bool(ping["sent"]) and ping["sent"] == ping["received"]}
