#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: pending_change
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Query, confirm or revert a pending change
description:
  - Works from a new connection each time, so that a confirmation proves that management still works.
  - A change of somebody else is shown, and never confirmed or reverted.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  state:
    description: What to do with the change.
    type: str
    choices: [queried, confirmed, reverted]
    default: queried
  phase:
    description: Serve a roll-out - confirm this host's changes of the given phase, if its gate has passed.
    type: str
    choices: [reload, l2, host_link, svi, drain, link, undrain, lift, soak, persist]
  handle:
    description: The handle that M(jumbo.fabric.interface_mtu) or M(jumbo.fabric.route_mtu) returned.
    type: dict
"""

EXAMPLES = r"""
- name: See what is pending
  jumbo.fabric.pending_change:
  register: found

- name: Take back what interface_mtu has changed
  jumbo.fabric.pending_change:
    state: reverted
    handle: "{{ change.handle }}"
"""

RETURN = r"""
pending:
  description: What waits for a confirmation, with its owner (V(ours), V(foreign) or V(none)) and the seconds left.
  type: dict
  returned: when O(state=queried)
  sample: {"owner": "ours", "name": "jumbo-adhoc-1", "seconds_left": 87}
confirmed:
  description: Whether the dead-man is off and the change read back.
  type: bool
  returned: when O(state=confirmed)
persisted:
  description: Whether it survives a reboot; null where the host's boot configuration is not ours to write.
  type: bool
  returned: when O(state=confirmed)
reverted:
  description: Whether all of the change is read back at its old values; what is not is an error.
  type: bool
  returned: when O(state=reverted)
notes:
  description: What a person should know although nothing failed, such as an edit of somebody else that was kept.
  type: list
  elements: str
  returned: when there is something to say
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("pending_change")
