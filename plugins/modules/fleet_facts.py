#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_facts
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: Read every host of the play in one go
description:
  - Reads interfaces, MTUs, counters, pending changes and routes of all hosts of the play at once, in one process.
  - Writes the states to a file and returns its path - handing the data through results costs more than reading it.
  - Use it with C(run_once); a host that cannot be read is listed, the task itself does not fail.
  - Opens no configuration session and writes nothing on any device.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  to:
    description: File for the states, JSON by host name; unset, the file C(fleet.json) of the roll-out that is open.
    type: path
  gather:
    description: Everything that a roll-out wants to know, or interfaces with their MTUs and counters only.
    type: str
    choices: [all, interfaces]
    default: all
  scope:
    description: Hosts of the play (as C(--limit) leaves them), or all hosts that see C(jumbo_links).
    type: str
    choices: [play, fabric]
    default: play
"""

EXAMPLES = r"""
- name: Read all switches and hosts
  jumbo.fabric.fleet_facts:
    to: /tmp/fleet.json
  run_once: true
  register: fleet
"""

RETURN = r"""
path:
  description: The file that was written.
  type: str
  returned: success
summary:
  description: How many hosts there are and how many could be read.
  type: dict
  returned: success
  sample: {"hosts": 11, "read": 11}
failed_hosts:
  description: Hosts that answered but could not be read.
  type: list
  elements: str
  returned: success
unreachable_hosts:
  description: Hosts that did not answer, or refused the credentials.
  type: list
  elements: str
  returned: success
errors:
  description: The reason for each host that could not be read.
  type: dict
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("fleet_facts")
