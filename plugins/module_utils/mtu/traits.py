"""What the planner must know about platforms beyond sizes: one row each. Sizes are bytes of IP packet.

* `readds`: a change of MTU takes the interface down and up (Juniper: "the interface is deleted and re-added").
* `reassembles`: it puts fragments together before it forwards them (pf): what it sends may be as large as its egress.
* `pairs`: whole roll-outs over pairs of it (MLAG) are carried out, since the lab can build one.
* `slow`: a commit takes seconds to minutes there: it goes first where both ends of a link change (design rule 10).
* `dead_man`: what takes a change back by itself: the device's `commit_timer`, a `guard` process on the machine, a job
  of its at(1) (`at_job`). A `reload_timer` is none, unless management crosses what is changed: then the whole box is
  reloaded with what it has saved. Which it is, the device tells when the step is applied.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """One platform's row."""

    readds: bool = False
    dead_man: str = "commit_timer"
    reassembles: bool = False
    pairs: bool = False
    slow: bool = False


_PLAIN = Traits()
_TRAITS = {
    "eos": Traits(pairs=True),
    "junos": Traits(readds=True, slow=True),
    "fastiron": Traits(dead_man="reload_timer"),
    "linux": Traits(dead_man="guard"),
    "opnsense": Traits(dead_man="at_job", reassembles=True),
}
READD_SECONDS = 10


def traits_of(platform: str) -> Traits:
    """Return the row of a platform; one that is not listed changes its MTU in place."""
    return _TRAITS.get(platform, _PLAIN)
