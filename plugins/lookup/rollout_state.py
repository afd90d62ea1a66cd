# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: rollout_state
author: The jumbo.fabric maintainers (@jumbo-fabric)
version_added: 0.1.0
short_description: What the plays of one roll-out share
description:
  - Reads the shared state of the roll-out that this C(ansible-playbook) process conducts.
  - Where no roll-out is open, or an earlier wave has not passed, the answer matches no host, so that C(hosts) of a
    later play can be written as a lookup and syntax checks need no run.
options:
  _terms:
    description:
      - Names of stages (C(lower), C(canary), C(leaf), C(fabric), C(soak)); without any, the whole state is returned.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Raise every other rack, wave after wave
  hosts: "{{ lookup('jumbo.fabric.rollout_state', 'leaf').hosts }}"
  serial: "{{ lookup('jumbo.fabric.rollout_state', 'leaf').serial }}"
"""

RETURN = r"""
_raw:
  description:
    - For a stage C(hosts), a list of host patterns, and C(serial), the batch sizes of its waves.
    - Without a stage the state, with C(verdict), C(stages), C(wave), C(gates), C(findings).
  type: list
  elements: dict
"""

from typing import Any

from ansible.plugins.lookup import LookupBase
from ansible_collections.jumbo.fabric.plugins.plugin_utils import waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run


class LookupModule(LookupBase):
    """Answers from state.json of the current run."""

    def run(self, terms: list[str], variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """Return one dict per stage, or the whole state."""
        self.set_options(var_options=variables, direct=kwargs)
        run = Run.current()
        state = run.state() if run else {"verdict": "none"}
        if not terms:
            return [state]
        return [waves.play_of(state, stage) for stage in terms]
