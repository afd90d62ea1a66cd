#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_result
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Say for each host how the roll-out ended
description:
  - Makes a host failed or unreachable in the last play, so that the recap and the exit status are honest.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  report:
    description: The result of M(jumbo.fabric.rollout_report).
    type: dict
"""

EXAMPLES = r"""
- name: Result
  jumbo.fabric.rollout_result:
    report: "{{ report }}"
"""

RETURN = r"""
msg:
  description: Why the host is failed or unreachable.
  type: str
  returned: failure
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("rollout_result")
