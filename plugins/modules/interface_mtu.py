#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: interface_mtu
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: IP MTU of interfaces on one host, behind a dead-man
description:
  - Sets the IP MTU (bytes of IP packet, whatever the platform's own number is) of interfaces on one host.
  - Arms the device's own dead-man first - EOS a commit timer, Linux a guard process - reads back, and leaves the change
    pending. Confirm it with M(jumbo.fabric.pending_change) from a new connection, or it goes back by itself.
  - In check mode shows the device's own difference; on EOS a configuration session is opened for it and aborted.
extends_documentation_fragment:
  - jumbo.fabric.attributes
  - jumbo.fabric.attributes.phase
attributes:
  diff_mode:
    support: full
options:
  interfaces:
    description: The wanted MTUs; interfaces that have theirs already are left alone.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the interface as the device spells it.
        type: str
        required: true
      ip_mtu:
        description: Wanted IP MTU in bytes of IP packet.
        type: int
        required: true
      pinned_at:
        description: Linux only - pin every route of the interface at this MTU before the link is raised.
        type: int
"""

EXAMPLES = r"""
- name: Raise an uplink
  jumbo.fabric.interface_mtu:
    interfaces:
      - name: Ethernet1
        ip_mtu: 9214
    confirm_within: 120
  register: change

- name: Confirm it from a new connection
  jumbo.fabric.pending_change:
    state: confirmed
    handle: "{{ change.handle }}"
  when: change is changed
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
    main_of("interface_mtu")
