#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: mtu_step
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Conduct a step on all its devices at once
description:
  - Raises both ends of links together - applies, measures the legs, confirms from new connections - or takes it back.
  - Takes a failed wave back in the order that is safe across hosts.
extends_documentation_fragment:
  - jumbo.fabric.attributes
attributes:
  diff_mode:
    support: full
options:
  state:
    description: Conduct the given wave, or take back what the open wave left.
    type: str
    required: true
    choices: [applied, reverted]
  stage:
    description: Stage of the wave; required with O(state=applied).
    type: str
  wave:
    description: Number of the wave in the stage; required with O(state=applied).
    type: int
"""

EXAMPLES = r"""
- name: Raise the links of one plane
  jumbo.fabric.mtu_step:
    state: applied
    stage: fabric
    wave: 0
  run_once: true
"""

RETURN = r"""
passed:
  description: Whether the wave passed.
  type: bool
  returned: when O(state=applied)
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("mtu_step")
