#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout_report
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Write the evidence of a roll-out
description:
  - Writes C(report.json) and C(report.html) from the shared state and the journal.
extends_documentation_fragment:
  - jumbo.fabric.attributes
"""

EXAMPLES = r"""
- name: Write the evidence
  jumbo.fabric.rollout_report:
  run_once: true
  register: report
"""

RETURN = r"""
verdict:
  description: How the roll-out ended.
  type: str
  returned: success
path:
  description: The path of C(report.json).
  type: str
  returned: success
troubles:
  description: Hosts that failed or were unreachable, with the reason.
  type: dict
  returned: success
touched:
  description: Hosts that were changed.
  type: list
  elements: str
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("rollout_report")
