# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""DF probes from one Linux host; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import judge
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.measure import Measurement


class ActionModule(FabricAction):
    """One direction: from this host to its targets. Probe from the other end as well."""

    NAME = "path_probe"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Start responders on the targets, probe, judge as a gate does."""
        source = f"{self.host}:{arguments['source']}"
        hosts = list(dict.fromkeys([self.host, *(target.partition(":")[0] for target in arguments["targets"])]))
        accesses = self.accesses(hosts)
        topology = fabric.topology_of(self.variables["hostvars"], self.variables["groups"]["all"])
        step = {
            "changes": [],
            "gate": {
                "name": "path_probe",
                "pairs": [[source, target] for target in arguments["targets"]],
                "ip_mtus": arguments["ip_mtus"],
                "flows": arguments["flows"],
            },
        }
        states = fabric.read_states(accesses.values())
        evidence = Measurement(topology, states, accesses, 0).of(step)
        result = judge(step, evidence, topology)
        return {
            "changed": False,
            "flows": evidence["probes"][source].get("flows", []),
            "passed": result.verdict == "success",
            "verdict": result.verdict,
            "actual": result.actual,
            "findings": [dict(finding) for finding in result.findings],
        }
