"""Which VLANs the interfaces of an EOS switch carry, from its running-config.

Access ports are in VLAN 1 unless told otherwise, a trunk without a list allows all (Arista EOS manual, "VLANs").
"""

from __future__ import annotations

import re
from typing import Mapping

ALL = [[1, 4094]]
_LINE = re.compile(r"   (switchport|vxlan) (.+?)\s*")  # one level deep


def vlans_by_interface(config: str, switched: Mapping[str, bool | None]) -> dict[str, list[list[int]] | None]:
    """Return {interface: VLANs that it switches, as inclusive ranges}; [] for none, None where that is not known.

    `switched`: {interface: does it bridge}, as the switch itself tells: `no switchport` may be a default.
    """
    lines = _blocks(config)
    return {
        name: None if bridges is None else _vlans(lines.get(name, [])) if bridges else []
        for name, bridges in switched.items()
    }


def _blocks(config: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    interface = None
    for line in config.splitlines():
        if line and not line.startswith(" "):
            interface = line.split(" ", 1)[1].strip() if line.startswith("interface ") else None
        match = _LINE.fullmatch(line)
        if match and interface:
            found.setdefault(interface, []).append((match[1], match[2]))
    return found


def _vlans(lines: list[tuple[str, str]]) -> list[list[int]]:
    tunnelled = [text for word, text in lines if word == "vxlan"]
    if tunnelled:  # interface Vxlan: `vxlan vlan 10 vni 10010`
        found = (re.fullmatch(r"vlan (?:add )?([\d,-]+) vni .*", text) for text in tunnelled)
        return sorted(part for match in found if match for part in ranges(match[1]))
    said = dict(_setting(text) for word, text in lines if word == "switchport")
    mode = said.get("mode", "access")
    if mode.startswith("trunk"):
        return ranges(said["trunk allowed vlan"]) if "trunk allowed vlan" in said else ALL
    return ranges(said.get("access vlan", "1")) if mode in ("access", "dot1q-tunnel") else []


def _setting(text: str) -> tuple[str, str]:
    name, _blank, value = text.rpartition(" ")
    return name, value


def ranges(text: str) -> list[list[int]]:
    """Return `10,20-30` as [[10, 10], [20, 30]]; `all` and `none` are understood."""
    if text in ("all", "none"):
        return ALL if text == "all" else []
    parts = (part.partition("-") for part in text.split(",") if part)
    return [[int(first), int(last or first)] for first, _dash, last in parts]
