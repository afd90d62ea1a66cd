#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: mtu_gate
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Judge a phase of the open wave
description:
  - After C(applied) - did every host of the phase apply, and do the probes of its gate pass.
  - After C(confirmed) - did every host confirm.
  - Returns its verdict and does not fail; what could not be measured has not passed.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  phase:
    description: The phase to judge.
    type: str
    required: true
    choices: [reload, l2, host_link, svi, drain, link, undrain, lift, soak, persist]
  after:
    description: What the hosts have just done.
    type: str
    required: true
    choices: [applied, confirmed]
"""

EXAMPLES = r"""
- name: Gate
  jumbo.fabric.mtu_gate:
    phase: host_link
    after: applied
  run_once: true
  register: gate
"""

RETURN = r"""
passed:
  description: Whether the roll-out may go on.
  type: bool
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("mtu_gate")
