#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_rollback
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Take whole roll-outs back
description:
  - Takes back what the journals of this evidence directory say is applied, newest roll-out first.
  - Senders are pinned again and read back before any hop is lowered; one that cannot be pinned keeps the hops high.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  rollout:
    description: One roll-out's id; unset, all of this evidence directory.
    type: str
"""

EXAMPLES = r"""
- name: Take everything back
  jumbo.fabric.rollout_rollback:
  run_once: true
"""

RETURN = r"""
progress:
  description: One line for each host and step.
  type: list
  elements: str
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("rollout_rollback")
