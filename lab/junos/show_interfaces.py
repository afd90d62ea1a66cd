"""`show interfaces` and its RPC: physical and logical MTU apart, and counters as the kinds of interfaces have them."""

from __future__ import annotations

import fnmatch
import ipaddress
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .answer import Answer, Arguments
from .errors import refused
from .hardware import MRU_BEYOND_MTU
from .ports import ETHERNET, IRB, LAG, LOOPBACK, MANAGEMENT, Family, Physical, Unit
from .xml import Xml, el

if TYPE_CHECKING:
    from ..plane import PortCounters
    from .device import JunosDevice
    from .session import Login

UNLIMITED = "Unlimited"
_LINK_TYPES = {LOOPBACK: "Loopback", MANAGEMENT: "Ethernet"}
_STYLES = ("terse", "brief", "descriptions", "extensive", "detail", "media", "statistics")
_WITHOUT_MAC = (LOOPBACK,)


def interfaces(login: Login, arguments: Arguments) -> Answer:
    """Answer `show interfaces [NAME] [STYLE]`; the name may be a pattern as shells have it."""
    device = login.device
    if "routing-instance" in arguments:  # the lab has one
        return Answer(lambda: el("interface-information", junos_style="terse"), lambda: "")
    style = next((word for word in _STYLES if word in arguments), "normal")
    chosen = _chosen(device, arguments.get("interface-name", ""))
    if style == "descriptions":
        return Answer(lambda: _descriptions(device, chosen), lambda: _descriptions_text(device, chosen))
    if style == "terse":
        return Answer(lambda: _terse(device, chosen), lambda: _terse_text(device, chosen))
    full = style in ("extensive", "detail", "statistics")

    def xml() -> Xml:
        items = [_physical(device, port, units, full=full) for port, units in chosen]
        name = f"http://xml.juniper.net/junos/{device.hardware.release}/junos-interface"
        return el("interface-information", *items, xmlns=name, junos_style=style)

    return Answer(xml, lambda: "\n".join(_text(device, port, units, full=full) for port, units in chosen))


Chosen = list[tuple[Physical, tuple[Unit, ...]]]


def _chosen(device: JunosDevice, wanted: str) -> Chosen:
    if not wanted:
        return [(port, port.units) for port in device.ports.values()]
    physical = [(port, port.units) for name, port in device.ports.items() if fnmatch.fnmatchcase(name, wanted)]
    if physical:
        return physical
    for port in device.ports.values():
        for unit in port.units:
            if unit.name == wanted:
                return [(port, (unit,))]
    if any(mark in wanted for mark in "*[?"):
        return []
    raise refused(f"device {wanted} not found", kind="application", daemon="ifinfo")


def _up(up: bool) -> str:
    return "up" if up else "down"


def _size(mtu: int | None) -> str:
    return UNLIMITED if mtu is None else str(mtu)


def _physical(device: JunosDevice, port: Physical, units: tuple[Unit, ...], *, full: bool) -> Xml:
    up, seen = device.is_up(port), device.counters(port)
    return el(
        "physical-interface",
        el("name", port.name),
        el("admin-status", _up(port.enabled), junos_format="Enabled" if port.enabled else "Administratively down"),
        el("oper-status", _up(up)),
        el("local-index", 129 + list(device.ports).index(port.name)),
        el("snmp-index", 500 + list(device.ports).index(port.name)),
        el("description", port.description) if port.description else None,
        el("link-level-type", _LINK_TYPES.get(port.kind, "Ethernet")),
        el("mtu", _size(port.mtu)),
        _mru(device, port),
        el("speed", f"{port.gigabits}Gbps") if port.gigabits else None,
        *_addresses(device, port),
        _traffic(seen, full=full),
        *(_errors(port, seen) if full and port.kind in (ETHERNET, LAG) else ()),
        *(_logical(unit, seen, full=full) for unit in units),
    )


def _mru(device: JunosDevice, port: Physical) -> Xml | None:
    has_one = device.hardware.shows_mru and port.kind == ETHERNET and port.mtu is not None
    return el("mru", (port.mtu or 0) + MRU_BEYOND_MTU) if has_one else None


def _addresses(device: JunosDevice, port: Physical) -> Iterator[Xml]:
    if port.kind in _WITHOUT_MAC:
        return
    yield el("current-physical-address", device.mac)
    yield el("hardware-physical-address", device.mac)
    flapped = device.flapped_at(port)
    stamp = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(flapped))
    ago = max(0, int(device.now() - flapped))
    text = f"{stamp} ({ago // 3600:02}:{ago // 60 % 60:02}:{ago % 60:02} ago)"
    yield el("interface-flapped", text, junos_seconds=str(ago))


def _traffic(seen: PortCounters, *, full: bool) -> Xml:
    if not full:
        rates = (el(f"{way}-{what}", 0) for way in ("input", "output") for what in ("bps", "pps"))
        return el("traffic-statistics", *rates, junos_style="brief")
    return el(
        "traffic-statistics",
        el("input-bytes", seen.input_bytes),
        el("output-bytes", seen.output_bytes),
        el("input-packets", seen.input_packets),
        el("output-packets", seen.output_packets),
        junos_style="verbose",
    )


def _errors(port: Physical, seen: PortCounters) -> Iterator[Xml]:
    """Yield error counters: an aggregate has giants in its error list and no MAC statistics (public outputs)."""
    inputs = {"input-errors": seen.giants, "input-drops": 0, "framing-errors": 0, "input-runts": 0}
    if port.kind == LAG:
        inputs["input-giants"] = seen.giants
    inputs |= {"input-discards": 0, "input-l3-incompletes": 0, "input-fifo-errors": 0, "input-resource-errors": 0}
    outputs = ("carrier-transitions", "output-errors", "output-drops", "mtu-errors", "output-resource-errors")
    yield el("input-error-list", *(el(name, number) for name, number in inputs.items()))
    yield el("output-error-list", *(el(name, 0) for name in outputs))
    if port.kind == LAG:
        return
    yield el(
        "ethernet-mac-statistics",
        el("input-bytes", seen.input_bytes),
        el("output-bytes", seen.output_bytes),
        el("input-packets", seen.input_packets),
        el("output-packets", seen.output_packets),
        el("input-unicasts", seen.input_packets),
        el("output-unicasts", seen.output_packets),
        *(el(f"{way}-{kind}", 0) for kind in ("broadcasts", "multicasts") for way in ("input", "output")),
        el("input-crc-errors", 0),
        el("output-crc-errors", 0),
        el("input-fifo-errors", 0),
        el("input-oversized-frames", seen.giants),
        el("input-jabber-frames", 0),
        el("input-fragment-frames", 0),
        junos_style="verbose",
    )


def _logical(unit: Unit, seen: PortCounters, *, full: bool) -> Xml:
    down = () if unit.enabled else (el("iff-down"),)
    return el(
        "logical-interface",
        el("name", unit.name),
        el("description", unit.description) if unit.description else None,
        el("if-config-flags", *(down or (el("iff-up"),)), el("iff-snmp-traps")),
        el("encapsulation", "ENET2"),
        el("link-address", f"[ 0x8100.{unit.vlan} ]", junos_format="VLAN-Tag") if unit.vlan else None,
        _traffic(seen, full=True) if full else None,
        *(_family(family) for family in unit.families),
    )


def _family(family: Family) -> Xml:
    return el(
        "address-family",
        el("address-family-name", family.name),
        el("mtu", _size(family.mtu)),
        *(_interface_address(prefix) for prefix in family.addresses),
    )


def _interface_address(prefix: str) -> Xml:
    address = ipaddress.ip_interface(prefix)
    whole = address.network.prefixlen == address.network.max_prefixlen
    return el(
        "interface-address",
        el("ifa-flags", el("ifaf-current-preferred")),
        None if whole else el("ifa-destination", _short(address)),
        el("ifa-local", address.ip),
    )


def _short(address: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> str:
    """Return a network as Junos writes it: without the zeros that its length makes needless."""
    network = address.network
    if network.version == 6 or network.prefixlen % 8 or not network.prefixlen:  # noqa: PLR2004 - IPv6
        return str(network)
    return ".".join(str(network.network_address).split(".")[: network.prefixlen // 8]) + f"/{network.prefixlen}"


# -- terse, descriptions -----------------------------------------------------------------------------------------------


def _terse(device: JunosDevice, chosen: Chosen) -> Xml:
    items = []
    for port, units in chosen:
        state = _up(device.is_up(port))
        logical = (
            el(
                "logical-interface",
                el("name", unit.name),
                el("admin-status", _up(unit.enabled)),
                el("oper-status", state),
                *(
                    el(
                        "address-family",
                        el("address-family-name", family.name),
                        *(el("interface-address", el("ifa-local", prefix)) for prefix in family.addresses),
                    )
                    for family in unit.families
                ),
            )
            for unit in units
        )
        states = el("admin-status", _up(port.enabled)), el("oper-status", state)
        items.append(el("physical-interface", el("name", port.name), *states, *logical))
    return el("interface-information", *items, junos_style="terse")


def _terse_text(device: JunosDevice, chosen: Chosen) -> str:
    line = "{:<24}{:<6}{:<5}{:<9}{}".format
    lines = ["Interface               Admin Link Proto    Local                 Remote"]
    for port, units in chosen:
        state = _up(device.is_up(port))
        lines.append(line(port.name, _up(port.enabled), state, "", "").rstrip())
        for unit in units:
            families = [(family.name, *family.addresses) for family in unit.families] or [("",)]
            for family, *addresses in families:
                lines.append(line(unit.name, _up(unit.enabled), state, family, " ".join(addresses)).rstrip())
    return "\n".join(lines)


def _descriptions(device: JunosDevice, chosen: Chosen) -> Xml:
    described = [port for port, _units in chosen if port.description]
    items = [
        el(
            "physical-interface",
            el("name", port.name),
            el("admin-status", _up(port.enabled)),
            el("oper-status", _up(device.is_up(port))),
            el("description", port.description),
        )
        for port in described
    ]
    return el("interface-information", *items, junos_style="description")


def _descriptions_text(device: JunosDevice, chosen: Chosen) -> str:
    line = "{:<16}{:<6}{:<5}{}".format
    rows = [
        line(port.name, _up(port.enabled), _up(device.is_up(port)), port.description)
        for port, _units in chosen
        if port.description
    ]
    return "\n".join([line("Interface", "Admin", "Link", "Description"), *rows])


# -- text --------------------------------------------------------------------------------------------------------------


def _text(device: JunosDevice, port: Physical, units: tuple[Unit, ...], *, full: bool) -> str:
    up, seen = device.is_up(port), device.counters(port)
    admin = "Enabled" if port.enabled else "Administratively down"
    mru = f", MRU: {port.mtu + MRU_BEYOND_MTU}" if _mru(device, port) and port.mtu else ""
    speed = f"{port.gigabits}Gbps" if port.gigabits else "Unspecified"
    lines = [
        f"Physical interface: {port.name}, {admin}, Physical link is {_up(up).capitalize()}",
        f"  Interface index: {129 + list(device.ports).index(port.name)}",
        *([f"  Description: {port.description}"] if port.description else []),
        f"  Link-level type: {_LINK_TYPES.get(port.kind, 'Ethernet')}, MTU: {_size(port.mtu)}{mru}, Speed: {speed}",
    ]
    if full and port.kind in (ETHERNET, LAG):
        lines += _error_lines(port, seen)
    for unit in units:
        lines += [f"  Logical interface {unit.name} (Index 74)"]
        for family in unit.families:
            lines.append(f"    Protocol {family.name}, MTU: {_size(family.mtu)}")
            lines += [f"        Destination: {_destination(prefix)}" for prefix in family.addresses]
    return "\n".join([*lines, ""])


def _destination(prefix: str) -> str:
    address = ipaddress.ip_interface(prefix)
    return f"{_short(address)}, Local: {address.ip}"


def _error_lines(port: Physical, seen: PortCounters) -> list[str]:
    giants = f" Giants: {seen.giants}," if port.kind == LAG else ""
    lines = [
        "  Traffic statistics:",
        f"   Input  bytes  : {seen.input_bytes:>20}",
        f"   Output bytes  : {seen.output_bytes:>20}",
        f"   Input  packets: {seen.input_packets:>20}",
        f"   Output packets: {seen.output_packets:>20}",
        "  Input errors:",
        f"    Errors: {seen.giants}, Drops: 0, Framing errors: 0, Runts: 0,{giants} Policed discards: 0",
        "  Output errors:",
        "    Carrier transitions: 1, Errors: 0, Drops: 0, MTU errors: 0, Resource errors: 0",
    ]
    if port.kind != LAG:
        lines += [
            "  MAC statistics:                      Receive         Transmit",
            "    CRC/Align errors                         0                0",
            f"    Oversized frames                {seen.giants:>10}",
        ]
    return lines


__all__ = ["IRB", "UNLIMITED", "interfaces"]
