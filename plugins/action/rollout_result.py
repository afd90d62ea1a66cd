# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Says for one host how the run ended; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils import waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction


class ActionModule(FabricAction):
    """The only place where hosts become failed or unreachable: ansible-playbook's exit status follows from it."""

    NAME = "rollout_result"

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return ok, skipped, failed or unreachable for this host."""
        report = arguments["report"] or {}
        verdict = report.get("verdict") or "failed"
        trouble = report.get("troubles", {}).get(self.host)
        if trouble and trouble["unreachable"]:
            return {"unreachable": True, "msg": trouble["message"]}
        if trouble and verdict not in waves.GOOD:
            return {"failed": True, "msg": trouble["message"]}
        # Where no host of this play is to blame, the first one carries the verdict: an exit status needs a failed host.
        blamed = set(report.get("troubles", {})) & set(self.play_hosts)
        if verdict not in waves.GOOD and not blamed and self.host == self.play_hosts[0]:
            return {"failed": True, "msg": f"the run ended as {verdict}: {report.get('reason') or 'see the report'}"}
        if self.host not in report.get("touched", []):
            return {"skipped": True, "changed": False}
        return {"changed": verdict in waves.GOOD}
