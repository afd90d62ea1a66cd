#!/usr/bin/python
# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: path_probe
version_added: 0.1.0
author: The jumbo.fabric maintainers (@jumbo-fabric)
short_description: DF probes from a Linux host to other Linux hosts
description:
  - Sends UDP probes with DF that ignore route pins, over many flows, and judges by what the responder reports to have
    received, without reassembly.
  - Starts responders on the targets (in memory, with a deadline) and proves one direction - from this host.
extends_documentation_fragment:
  - jumbo.fabric.attributes
options:
  source:
    description: Interface of this host that the probes leave from.
    type: str
    required: true
  targets:
    description: Ends to probe, as C(host:interface).
    type: list
    elements: str
    required: true
  ip_mtus:
    description: Sizes in bytes of IP packet, the control size last.
    type: list
    elements: int
    default: [9000, 1500]
  flows:
    description: Source ports for each target, so that every leg of an ECMP group or a LAG is crossed.
    type: int
    default: 21
"""

EXAMPLES = r"""
- name: Probe another rack
  jumbo.fabric.path_probe:
    source: eth1
    targets: [h3:eth1]
"""

RETURN = r"""
flows:
  description: One row for each target, size and flow.
  type: list
  elements: dict
  returned: success
  sample: [{"dst": "h3:eth1", "ip_mtu": 9000, "port": 33001, "sent": 3, "received": 3, "reassembled": false}]
passed:
  description: Whether every flow arrived whole and the sender's own kernel refused what is above its link MTU.
  type: bool
  returned: success
verdict:
  description: V(success), V(failure), or V(error) where it could not be measured.
  type: str
  returned: success
actual:
  description: What was found, in one sentence.
  type: str
  returned: success
findings:
  description: The interfaces to blame, as far as they can be told.
  type: list
  elements: dict
  returned: success
"""

from ansible_collections.jumbo.fabric.plugins.module_utils.controller_only import main_of

if __name__ == "__main__":
    main_of("path_probe")
