#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: mtu_plan
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Preflight, plan and proof of a roll-out
description:
  - Checks the inventory and the states that M(jumbo.fabric.fleet_facts) read, computes the steps in a safe order, and
    proves that no state on the way black-holes production.
  - Learns what devices really accept by loading every wish and discarding it; nothing is changed.
  - Writes C(plan.json) into the evidence directory of the roll-out. In check mode, and for a plan only, it writes
    C(plan.txt) as well, for people - every step with its values in IP MTU and in the device's own number, what flaps,
    and where a run that stops after it leaves the fabric.
  - Use it with C(run_once), in a roll-out that M(jumbo.fabric.rollout_journal) has opened.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  facts:
    description:
      - Plan from states that were read earlier, and ask no device. A file of M(jumbo.fabric.fleet_facts), or the
        evidence directory of an earlier roll-out, which holds C(fleet.json).
      - Refused where the roll-out is to be carried out. Unset, what M(jumbo.fabric.fleet_facts) has read in this one.
    type: path
"""

EXAMPLES = r"""
- name: Plan and prove
  jumbo.fabric.mtu_plan:
  run_once: true

- name: Plan from what was read yesterday
  jumbo.fabric.mtu_plan:
    facts: facts/fleet.json
  run_once: true
"""

RETURN = r"""
plan:
  description: The file that holds the plan.
  type: str
  returned: success
text:
  description: The file that holds it for people; V(null) where the roll-out goes on.
  type: str
  returned: success
steps:
  description: Number of steps; 0 when everything is at its target.
  type: int
  returned: success
clamps:
  description: Links that cannot be raised to the ceiling, with the end that limits them.
  type: list
  elements: dict
  returned: success
notes:
  description: Sentences that a person should read.
  type: list
  elements: str
  returned: success
findings:
  description: What preflight found.
  type: list
  elements: dict
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("mtu_plan")
