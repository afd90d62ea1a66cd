# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges a phase of the open wave; see the module of the same name for its documentation."""

from __future__ import annotations

from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import registry
from ansible_collections.jumbo.fabric.plugins.plugin_utils import judging, waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.action import FabricAction
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import CONFIRMING, MAKING
from ansible_collections.jumbo.fabric.plugins.plugin_utils.fabric import hosts_of
from ansible_collections.jumbo.fabric.plugins.plugin_utils.phases import plan_step
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run

registry.preload()


class ActionModule(FabricAction):
    """Returns a verdict, never fails: later tasks read the shared state, where only a passed gate is written."""

    NAME = "mtu_gate"
    BYPASS_HOST_LOOP = True

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Judge whether everybody did it, and after `applied` whether the gate's probes pass."""
        run, phase, after = Run.required(), arguments["phase"], arguments["after"]
        state = run.state()
        name = waves.step_of(state, phase)
        allowed = waves.may_apply if after == "applied" else waves.may_confirm
        if name is None or not allowed(state, phase):
            return {"changed": False, "skipped": True, "passed": False}
        step = plan_step(run, name)
        passed, lines = judging.all_did(run, step, MAKING if after == "applied" else CONFIRMING)
        if passed and after == "applied":
            passed, lines = judging.judge(run, step, self.accesses(hosts_of(run)))
        run.update(lambda state: waves.record(state, phase, after, passed))
        return {"changed": False, "passed": passed, "progress": lines}
