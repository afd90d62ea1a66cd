"""Sub-interfaces of EOS count for the port or Port-Channel that they are on: it is what a change names. No I/O.

Their MTU follows its: most platforms take no `mtu` below a sub-interface (aristanetworks/avd issues 1051, 5178). One
that has its own all the same holds the whole back, so that it is seen before and after a change.
"""

from __future__ import annotations

from typing import Any, Mapping


def port_of(name: str) -> str:
    """Return the port under a sub-interface such as Ethernet1.100, else the name itself."""
    return name.partition(".")[0]


def effective_mtus(mtus: Mapping[str, int | None]) -> dict[str, int | None]:
    """Return {interface: MTU}, that of a port being the smallest of it and its sub-interfaces."""
    found = dict(mtus)
    for name, mtu in mtus.items():
        own = found.get(port_of(name))
        if mtu is not None and own is not None and mtu < own:
            found[port_of(name)] = mtu
    return found


def held_by(port: str, size: int, configured: Mapping[str, int]) -> tuple[str, int] | None:
    """Return (sub-interface, MTU) of what would stay below a port's new size: it has an `mtu` line of its own."""
    own = (item for item in configured.items() if item[0] != port and port_of(item[0]) == port)
    return next((item for item in own if item[1] < size), None)


def fold(interfaces: Mapping[str, dict[str, Any]]) -> None:
    """Give each port of a state the sizes and addresses of its sub-interfaces; these stay beside it as they are."""
    for field in ("ip_mtu", "persisted_mtu"):
        sizes = effective_mtus({name: interface[field] for name, interface in interfaces.items()})
        for name, interface in interfaces.items():
            interface[field] = sizes[name]
    for name, interface in interfaces.items():
        port = interfaces.get(port_of(name))
        if port is not None and port is not interface:
            port["addresses"] = [*(port["addresses"] or ()), *(interface["addresses"] or ())]
