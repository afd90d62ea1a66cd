#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_journal
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Open and close a roll-out and its waves
description:
  - Opening a roll-out makes its evidence directory and takes the lock; closing gives the lock back.
  - Opening a wave takes the verdict away; only a wave that passed gives it back when it is closed.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  state:
    description: Open or close the roll-out.
    type: str
    choices: [opened, closed]
  wave:
    description: Open or close the wave that this serial batch is.
    type: str
    choices: [opened, closed]
  stage:
    description: Stage of the wave; required with O(wave=opened).
    type: str
  evidence_dir:
    description: Where evidence of all roll-outs is kept.
    type: path
    default: ./evidence
  plan_only:
    description:
      - Open it for a plan that nothing is carried out of, whatever mode Ansible runs in. It takes no lock and does not
        become C(latest); M(jumbo.fabric.mtu_plan) ends it as V(planned).
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Open
  jumbo.fabric.rollout_journal:
    state: opened
  run_once: true
"""

RETURN = r"""
rollout:
  description: The id of the roll-out.
  type: str
  returned: when O(state=opened)
evidence:
  description: Its evidence directory.
  type: str
  returned: when O(state=opened)
verdict:
  description: The verdict after closing.
  type: str
  returned: when closing
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("rollout_journal")
