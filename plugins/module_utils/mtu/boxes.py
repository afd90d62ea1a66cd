"""Boxes with one frame size for all of their ports, which only a reload after a save activates (FastIron's `jumbo`).

What the driver tells, beside the interfaces, in the state of such a box:

    "jumbo": {"configured": true, "saved": true, "active": false}    # null where one could not be told

`configured`: the running configuration has it; `saved`: the startup configuration has it, so a reload brings it;
`active`: the ports take large frames now (`show interfaces` tells 10200 bytes). The running configuration reads the
same before and after the reload, so only `active` counts as raised. Of its interfaces:

* a switched port or its LAG: `kind` "switched" or "lag", `ip_mtu` null, `mru` what `active` gives every port (see
  capability.box_receives: 1500 or 10178), `device_mtu` the frame size that the box prints;
* a ve or routed port: `ip_mtu` its own `ip mtu`, `mru` null. It stays as it is over the reload. No vendor document says
  so for one that states none; the proof may count on it because the driver states what is in force in the same save,
  and compares every such interface before the step counts as done. What is left is the time between a box's boot and
  that comparison, in which all senders are still bounded: no step before a reload has raised anything behind the box.

What the driver is asked for, as the only change of its step (phase `reload`, one box at a time, no dead-man: a timer
that reloads could not take back what is in the startup configuration):

    {"host": "leaf5", "object": "jumbo", "field": "jumbo", "from": false, "to": true,
     "from_device_mtu": 1500, "to_device_mtu": 10200}

* `diff` tells the configuration lines that are missing (none where they are there), and that the box will reload.
* `apply` goes on from wherever the box is: `jumbo` if it is not configured, the `ip mtu` that is in force on each
  interface that states none, `write memory` if it is not saved (refused where running and startup differ in anything
  else: we never save for others), reload, wait until a new login finds a box that was started after it (at most
  `jumbo_reload_within`), then read back `active`, the ports that were up, that every `ip_mtu` is what it was (else the
  old one is written and saved), and that nothing else has changed in the configuration. `within` is 0.
* `confirm` reads back that it is active and saved.
* `revert` leaves `jumbo` on, in whatever state it is: a box that receives more harms nobody, a second reload does. It
  returns {"reverted": true, "notes": [that it stays on]}.
"""

from __future__ import annotations

from typing import Any, Mapping

from .capability import box_receives
from .platform_table import PLATFORMS

OBJECT = "jumbo"
ABSENT, CONFIGURED, SAVED, ACTIVE = "absent", "configured", "saved", "active"
SWITCHED = ("switched", "lag")


def has_one_size(platform: str) -> bool:
    """Tell whether all ports of a box share one frame size, which a reload activates."""
    return platform in PLATFORMS and PLATFORMS[platform].accepts == "box"


def stage_of(state: Mapping[str, Any]) -> str:
    """Return how far a box is: `absent`, `configured`, `saved` or `active`; what is not told is not there."""
    jumbo = state.get("jumbo") or {}
    if jumbo.get("active") is True:
        return ACTIVE
    if jumbo.get("configured") is not True:
        return ABSENT
    return SAVED if jumbo.get("saved") is True else CONFIGURED


def receives(state: Mapping[str, Any]) -> int:
    """Return the IP packet that every port of a box takes now; large frames that are not active yet don't count."""
    return box_receives(jumbo=stage_of(state) == ACTIVE)


def receives_after_reboot(state: Mapping[str, Any]) -> int:
    """Return what every port takes once the box has restarted with what it has saved."""
    return box_receives(jumbo=(state.get("jumbo") or {}).get("saved") is True)
