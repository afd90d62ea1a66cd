"""Which rack a device belongs to, from its access links, the MLAG pairs and `jumbo_rack`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from .intent_types import Device, End, Intent, natural_key

Report = Callable[..., None]


@dataclass(frozen=True)
class Rack:
    """Switches and hosts that change together."""

    name: str
    switches: tuple[str, ...]
    hosts: tuple[str, ...]


def ignore(*_message: str, **_facts: Any) -> None:
    """Report to nobody: for an intent that was checked before."""


def access_switches(intent: Intent) -> dict[str, dict[str, End]]:
    """Return {host: {switch: the host's end}} of the links that count for its rack.

    Interfaces of segments with another role (frontend, management ...) and excluded interfaces do not count: a host's
    management port often ends at a switch of another rack.
    """
    foreign = {
        member.end for segment in intent.segments if segment.role != "jumbo" for member in segment.members if member.end
    }
    reached: dict[str, dict[str, End]] = {}
    for link in intent.links:
        for end in link.ends:
            far = link.other(end)
            host, switch = intent.devices[end.device], intent.devices[far.device]
            if host.is_host and not switch.is_host and end not in foreign and not intent.is_excluded(end):
                reached.setdefault(end.device, {}).setdefault(far.device, end)
    return reached


def assign_racks(intent: Intent, report: Report = ignore) -> dict[str, str]:
    """Return {device: rack name}; what contradicts is reported and left out."""
    reached = access_switches(intent)
    unit_of = _units(intent, reached)
    names = _unit_names(intent, unit_of, reached, report)
    racks = {switch: names[unit] for switch, unit in unit_of.items()}
    for device in intent.devices.values():
        if device.is_host:
            rack = _rack_of_host(intent, device, reached.get(device.name, {}), unit_of, names, report)
            if rack is not None:
                racks[device.name] = rack
    return racks


def _units(intent: Intent, reached: dict[str, dict[str, End]]) -> dict[str, str]:
    """Return {leaf: unit}, a unit being an MLAG pair or a single leaf."""
    leafs = {switch for switches in reached.values() for switch in switches}
    for segment in intent.segments:
        if segment.role == "jumbo":
            leafs |= {m.device for m in segment.members if m.managed and not intent.devices[m.device].is_host}
    leafs |= {name for name, device in intent.devices.items() if not device.is_host and device.rack is not None}
    unit_of = {leaf: leaf for leaf in leafs}
    for pair in intent.pairs:
        if leafs & set(pair.devices):
            unit_of.update(dict.fromkeys(pair.devices, pair.name))
    return unit_of


def _unit_names(
    intent: Intent, unit_of: dict[str, str], reached: dict[str, dict[str, End]], report: Report
) -> dict[str, str]:
    """Name each unit: its switches' own `jumbo_rack`, else the one its hosts agree on, else its own name."""
    names = {}
    switches_of: dict[str, list[str]] = {}
    hosts_of: dict[str, list[str]] = {}
    for device, unit in unit_of.items():
        switches_of.setdefault(unit, []).append(device)
    for host, to in reached.items():
        units = {unit_of[switch] for switch in to}
        if len(units) == 1:
            hosts_of.setdefault(units.pop(), []).append(host)
    for unit in sorted(switches_of):
        switches, hosts = sorted(switches_of[unit]), hosts_of.get(unit, [])
        own = sorted({rack for rack in (intent.devices[device].rack for device in switches) if rack})
        claimed = sorted({rack for rack in (intent.devices[host].rack for host in hosts) if rack})
        if len(own) > 1:
            message = f"the switches {', '.join(switches)} are one pair but name two racks"
            report(message, host=switches[0], variable="jumbo_rack", wish=own, advice="Give both the same jumbo_rack")
        if not own and len(claimed) > 1:
            message = f"the hosts of {unit} name several racks"
            report(message, host=min(hosts), variable="jumbo_rack", wish=claimed, advice="Give them one jumbo_rack")
        names[unit] = (own or (claimed if len(claimed) == 1 else []) or [unit])[0]
    return names


def _rack_of_host(
    intent: Intent,
    host: Device,
    reached: dict[str, End],
    unit_of: dict[str, str],
    names: dict[str, str],
    report: Report,
) -> str | None:
    units = sorted({unit_of[switch] for switch in reached})
    if len(units) > 1:
        links = ", ".join(f"{end} to {switch}" for switch, end in sorted(reached.items()))
        advice = "Link it to one leaf, list the two leafs in jumbo_pairs, or exclude the interface that does not belong"
        report(f"this host is in two racks: {links}", host=host.name, variable="jumbo_links", wish=units, advice=advice)
        return None
    if not units:
        return host.rack or _rack_of_gateway(intent, host, unit_of, names, report)
    rack = names[units[0]]
    if host.rack is not None and host.rack != rack:
        advice = "Correct jumbo_rack or the link"
        message = f"its access link reaches {units[0]}, which is in the rack {rack}"
        report(message, host=host.name, variable="jumbo_rack", wish=host.rack, limit=rack, advice=advice)
    return rack


def _rack_of_gateway(
    intent: Intent, host: Device, unit_of: dict[str, str], names: dict[str, str], report: Report
) -> str | None:
    """Without a known access link the gateway of the host's jumbo segments decides."""
    mine = [s for s in intent.segments if s.role == "jumbo" and any(m.device == host.name for m in s.members)]
    if not mine:
        return None
    units = sorted({unit_of[m.device] for s in mine for m in s.members if m.managed and m.device in unit_of})
    if len(units) == 1:
        return names[units[0]]
    advice = "Add its access link to jumbo_links, or set jumbo_rack"
    report("the rack of this host is not known", host=host.name, variable="jumbo_rack", wish=None, advice=advice)
    return None


def choose_canary(intent: Intent, racks: dict[str, str]) -> str | None:
    """Return the canary's rack: that of the group `canary`, else the smallest, else the first by name."""
    for name in intent.canary:
        if name in racks:
            return racks[name]
    sizes: dict[str, int] = {}
    for segment in intent.segments:
        for member in segment.members if segment.role == "jumbo" else ():
            if member.managed and intent.devices[member.device].is_host and member.device in racks:
                rack = racks[member.device]
                sizes[rack] = sizes.get(rack, 0) + 1
    return min(sizes, key=lambda rack: (sizes[rack], natural_key(rack)), default=None)
