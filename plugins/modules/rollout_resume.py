#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_resume
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Deal with roll-outs that did not come to their end
description:
  - Says where the earlier roll-outs of the evidence directory stand, as their journals tell.
  - Takes back what none of their waves has confirmed, or all of a wave in which something had failed, senders first.
  - What happens then is up to the variable C(jumbo_resume), see the role C(jumbo.fabric.jumbo).
  - A journal that was edited or cut off, and one of another inventory, is refused with the reason.
  - In check mode nothing is taken back.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options: {}
"""

EXAMPLES = r"""
- name: Deal with what an earlier roll-out left
  jumbo.fabric.rollout_resume:
  run_once: true
  register: resumed
"""

RETURN = r"""
goes_on:
  description: Whether this roll-out is to read the fabric and plan now.
  type: bool
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("rollout_resume")
