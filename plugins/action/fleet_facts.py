# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads every host of the play in one process; see the module of the same name for its documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()  # in the parent: the forked workers inherit what is imported here


class ActionModule(FabricAction):
    """One task for the whole fleet."""

    NAME = "fleet_facts"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read, write the states to a file, return a summary: the data itself would cost more than the reading."""
        hostvars = self.variables["hostvars"]
        hosts = self.play_hosts
        if arguments["scope"] == "fabric":
            hosts = list(fabric.inventory_of(hostvars, self.variables["groups"]["all"]))
        only_interfaces = arguments["gather"] == "interfaces"
        states = fabric.read_states(self.accesses(hosts).values(), only_interfaces=only_interfaces)
        bad = fabric.not_read(states)
        return {
            "path": str(self._write(arguments["to"], states)),
            "summary": {"hosts": len(states), "read": len(states) - len(bad)},
            "failed_hosts": [host for host, state in bad.items() if not state["unreachable"]],
            "unreachable_hosts": [host for host, state in bad.items() if state["unreachable"]],
            "errors": {host: state["error"]["text"] for host, state in bad.items()},
            "progress": [f"read {len(states) - len(bad)} of {len(states)} devices"]
            + [state["error"]["text"] for state in bad.values()],
        }

    @staticmethod
    def _write(to: str | None, states: dict[str, Any]) -> Path:
        if to:
            path = Path(to)
            path.write_text(json.dumps(states), encoding="utf-8")
            return path
        return Run.required().save("fleet", states, indent=None)
