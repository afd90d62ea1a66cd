# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Says for one host how the run ended; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.plugin_utils import summary, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import DIFFERENCES, Run


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
            reason = summary.first_line(report.get("reason") or "see above")
            return {"failed": True, "msg": f"the run ended as {verdict}, no host is to blame: {reason}"}
        if self.host not in report.get("touched", []):
            return {"skipped": True, "changed": False}
        return {"changed": verdict in waves.GOOD, **(self._difference() if verdict == "planned" else {})}

    def _difference(self) -> dict[str, Any]:
        """Return what a dry run would change on this host, as the device itself says it."""
        run = Run.current()
        text = ((run.load(DIFFERENCES) if run else None) or {}).get(self.host)
        return {"diff": [{"prepared": summary.titled(self.host, text)}]} if text else {}
