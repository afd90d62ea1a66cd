#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: route_mtu
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: The route pins of a Linux host
description:
  - Lifts explicit prefixes to a larger MTU, or pins them again, by exact edits that keep every other attribute.
  - Refuses the default route, prefixes that exist twice, and routes it cannot edit exactly.
extends_documentation_fragment:
  - jumbo.fabric.attributes
  - jumbo.fabric.attributes.phase
attributes:
  diff_mode:
    support: full
options:
  interface:
    description: The interface whose routes are meant; required without O(phase).
    type: str
  prefixes:
    description: Destination prefixes; required without O(phase).
    type: list
    elements: str
  ip_mtu:
    description: Their MTU in bytes of IP packet; required without O(phase).
    type: int
"""

EXAMPLES = r"""
- name: Pin one prefix again
  jumbo.fabric.route_mtu:
    interface: eth1
    prefixes: [10.10.2.0/24]
    ip_mtu: 1500
"""

RETURN = r"""
handle:
  description: What M(jumbo.fabric.pending_change) needs to confirm or revert this change; null when nothing changed.
  type: dict
  returned: success
  sample: {"name": "adhoc-1", "changed": true, "changes": []}
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("route_mtu")
