"""A Junos box's interfaces in the shape of a state: sizes, counters, addresses, neighbours. No I/O.

A port's units are folded into it; a unit of irb stands for itself. Junos limits both directions: what a port takes in
follows its media MTU.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import parse_junos
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import Port, text

_SVI_PARENTS = ("irb", "vlan")
_UNCOUNTED = dict.fromkeys(("oversize", "runts", "crc", "input_errors", "length_errors", "input_packets"))


def interfaces_of(information: Any, ports: Mapping[str, Port]) -> dict[str, dict[str, Any]]:
    """Return {name: interface} of get-interface-information [extensive] and what is configured."""
    members: dict[str, list[str]] = {}
    for port in ports.values():
        if port.lag:
            members.setdefault(port.lag, []).append(port.name)
    found = {}
    for element in information.iter("physical-interface"):
        for interface in _of_physical(element, ports, members):
            found[interface["name"]] = interface
    return found


def _of_physical(
    element: Any, ports: Mapping[str, Port], members: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    parsed = parse_junos.interfaces_of_element(element)
    own, units = parsed[0], parsed[1:]
    elements = element.findall("logical-interface")
    if own["name"] in _SVI_PARENTS:
        for unit, logical in zip(units, elements):
            is_up = own["oper_up"] and logical.find(".//iff-down") is None
            yield {**_settled(unit), "parent": None, "oper_up": is_up, "addresses": list(_addresses([logical]))}
        return
    port = ports.get(own["name"]) or Port(own["name"], "untagged", None, None, {})
    room = own["device_mtu"] - port.overhead if own["device_mtu"] else None
    is_switched = any(text(family, "address-family-name") == "eth-switch" for family in element.iter("address-family"))
    own.update(
        kind=_kind(own["kind"], port, is_switched=is_switched, is_routed=own["ip_mtu"] is not None),
        ip_mtu=own["ip_mtu"] if own["ip_mtu"] is not None else room,
        mru=room,
        configured_mtu=port.media - port.overhead if port.media else None,
        mtu_from=next(iter(port.inherited.values()), None),
        parent=port.lag,
        members=sorted(members[own["name"]]) if own["name"] in members else None,
        addresses=list(_addresses(elements)),
    )
    yield _settled(own)


def _kind(parsed: str, port: Port, *, is_switched: bool, is_routed: bool) -> str:
    if parsed != "physical":
        return parsed
    if port.lag:
        return "member"
    return "switched" if is_switched else "routed" if is_routed else "other"


def _settled(interface: dict[str, Any]) -> dict[str, Any]:
    """What is committed is what boots: Junos has no second configuration."""
    return {**interface, "persisted_mtu": interface["ip_mtu"], "counters": interface["counters"] or dict(_UNCOUNTED)}


def _addresses(units: Sequence[Any]) -> Iterator[str]:
    for unit in units:
        for address in unit.iter("interface-address"):
            local = text(address, "ifa-local")
            length = (text(address, "ifa-destination") or "").rpartition("/")[2]
            if local:
                yield local if "/" in local else f"{local}/{length or (128 if ':' in local else 32)}"


def neighbours_of(information: Any) -> list[dict[str, Any]]:
    """Read the LLDP neighbours of one port, in either style; `max_frame` is what the far end says it takes."""
    return [
        {"host": text(entry, "lldp-remote-system-name"), "interface": _port_of(entry), "max_frame": _max_frame(entry)}
        for entry in information.iter("lldp-neighbor-information")
    ]


def local_ports(information: Any) -> list[str]:
    """Return the local ports of get-lldp-neighbors-information: named without a unit, or (older) with one."""
    found = []
    for entry in information.iter("lldp-neighbor-information"):
        name = text(entry, "lldp-local-interface") or text(entry, "lldp-local-port-id")
        if name:
            found.append(name)
    return found


def _port_of(entry: Any) -> str | None:
    """Return the far port: its id where that is a name, else its description (a number means its index)."""
    port, kind = text(entry, "lldp-remote-port-id"), text(entry, "lldp-remote-port-id-subtype") or ""
    name = port if port and kind in ("", "Interface name") else text(entry, "lldp-remote-port-description")
    return re.sub(r"\.0$", "", name) if name else None


def _max_frame(entry: Any) -> int | None:
    """Read the 802.3 maximum frame size: a number of its own, or hexadecimal octets of OUI 00-12-0F subtype 4."""
    size = text(entry, "lldp-remote-subtype-mtu-size")
    if size and size.isdigit():
        return int(size) or None
    facts = [(child.tag, (child.text or "").strip()) for child in entry]
    for position, (tag, value) in enumerate(facts):
        if tag == "lldp-remote-org-def-info-oui" and value == "0.12.f":
            block = dict(facts[position + 1 : position + 4])
            octets = block.get("lldp-remote-org-def-info", "")
            if block.get("lldp-remote-org-def-info-subtype") == "4" and re.fullmatch(r"[0-9A-Fa-f]+", octets):
                return int(octets, 16) or None
    return None
