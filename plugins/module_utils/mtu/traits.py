"""What the planner must know about platforms beyond sizes: one row each. Sizes are bytes of IP packet.

* `readds`: a change of MTU takes the interface down and up (Juniper: "the interface is deleted and re-added").
* `reload_seconds`: how long a reload may take until ports forward again, the longest that is reported.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """One platform's row."""

    readds: bool = False
    reload_seconds: int = 0


_PLAIN = Traits()
_TRAITS = {
    "junos": Traits(readds=True),
    "fastiron": Traits(reload_seconds=600),
}
READD_SECONDS = 10


def traits_of(platform: str) -> Traits:
    """Return the row of a platform; one that is not listed changes its MTU in place."""
    return _TRAITS.get(platform, _PLAIN)
