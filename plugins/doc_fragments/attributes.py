# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every module of the collection documents the same way."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes of all modules, and the option of those that serve a roll-out's phase."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and writes nothing there.
    support: full
  diff_mode:
    description: Shows each device's own difference.
    support: none
  async:
    description: Works through an action plugin in the controller's process; devices are reached from there.
    support: none
requirements:
  - napalm >= 5.2 on the controller, for EOS
  - Python 3.8 and iproute2 on Linux hosts
"""

    PHASE = r"""
options:
  phase:
    description:
      - Serve a roll-out - this host's changes of the given phase of the wave that is open.
      - Does nothing where the phase may not begin or has nothing for this host.
    type: str
    choices: [reload, l2, host_link, svi, drain, link, undrain, lift, soak, persist]
  confirm_within:
    description: Seconds after which the device goes back by itself when nobody has confirmed.
    type: int
    default: 300
"""
