#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: device_ping
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: DF ping from a network device or a host
description:
  - Sends ICMP echoes with DF of an exact size and counts the answers.
  - An echo proves the direction of its request only - the reply may have come back in fragments.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  target:
    description: Address to ping.
    type: str
    required: true
  ip_mtu:
    description: Size of the whole IP packet in bytes.
    type: int
    required: true
  source:
    description: Source address or interface.
    type: str
  count:
    description: Number of echoes.
    type: int
    default: 3
"""

EXAMPLES = r"""
- name: Ping the other end of a link at full size
  jumbo.fabric.device_ping:
    target: 10.255.0.1
    ip_mtu: 9214
"""

RETURN = r"""
ping:
  description: What was sent and received, and who said that it was too big.
  type: dict
  returned: success
  sample: {"sent": 3, "received": 3, "loss_percent": 0, "too_big_local": false, "too_big_reported_by": null}
passed:
  description: Whether every echo was answered.
  type: bool
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("device_ping")
