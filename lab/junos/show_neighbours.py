"""LLDP in both styles, and the tables of learned addresses: who is at the other end."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ..plane import LearnsMacs, Neighbour
from .answer import Answer, Arguments
from .errors import refused, syntax_error
from .ports import Physical
from .xml import Xml, el

if TYPE_CHECKING:
    from .device import JunosDevice
    from .session import Login

_OUI_802_3 = "0.12.f"


def _mac_of(host: str) -> str:
    digest = hashlib.sha256(host.encode()).hexdigest()
    return ":".join(["00", "1c", "73", digest[0:2], digest[2:4], digest[4:6]])


def _neighbours(device: JunosDevice) -> list[tuple[Physical, Neighbour]]:
    found = [(port, device.neighbour(port)) for port in device.ports.values() if device.is_up(port)]
    return [(port, far) for port, far in found if far is not None]


def lldp(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show lldp neighbors`."""
    device = login.device
    return Answer(
        lambda: el(
            "lldp-neighbors-information", *(_brief(device, *item) for item in _neighbours(device)), junos_style="brief"
        ),
        lambda: _brief_text(device),
    )


def _is_new(device: JunosDevice) -> bool:
    return device.hardware.lldp_style == "device"


def _brief(device: JunosDevice, port: Physical, far: Neighbour) -> Xml:
    """Return a neighbour of the list; the older style names the unit (public outputs of both)."""
    local = el("lldp-local-port-id", port.name) if _is_new(device) else el("lldp-local-interface", f"{port.name}.0")
    return el(
        "lldp-neighbor-information",
        local,
        el("lldp-local-parent-interface-name", port.lag or "-"),
        el("lldp-remote-chassis-id-subtype", "Mac address"),
        el("lldp-remote-chassis-id", _mac_of(far.host)),
        el("lldp-remote-port-id-subtype", "Interface name"),
        el("lldp-remote-port-id", far.interface),
        el("lldp-remote-system-name", far.host),
    )


def _brief_text(device: JunosDevice) -> str:
    line = "{:<19}{:<20}{:<20}{:<12}{}".format
    rows = [
        line(port.name, port.lag or "-", _mac_of(far.host), far.interface, far.host)
        for port, far in _neighbours(device)
    ]
    return "\n".join([line("Local Interface", "Parent Interface", "Chassis Id", "Port info", "System Name"), *rows])


def lldp_of_device(login: Login, arguments: Arguments) -> Answer:
    """Answer get-lldp-interface-neighbors, which boxes of the newer style have."""
    if not _is_new(login.device):
        raise syntax_error("get-lldp-interface-neighbors")
    return _detail(login.device, arguments.get("interface-device", ""))


def lldp_of_name(login: Login, arguments: Arguments) -> Answer:
    """Answer get-lldp-interface-neighbors-information, which boxes of the older style have."""
    if _is_new(login.device):
        raise syntax_error("get-lldp-interface-neighbors-information")
    return _detail(login.device, arguments.get("interface-name", ""))


def lldp_detail(login: Login, arguments: Arguments) -> Answer:
    """Answer `show lldp neighbors interface NAME`."""
    return _detail(login.device, arguments.get("interface-name", ""))


def _detail(device: JunosDevice, name: str) -> Answer:
    wanted = name.removesuffix(".0")
    if not name:
        raise refused("missing argument.")
    if wanted not in device.ports:
        raise refused(f"Invalid interface: {name}")
    found = [(port, far) for port, far in _neighbours(device) if port.name == wanted]
    items = [_detailed(device, port, far) for port, far in found]
    return Answer(
        lambda: el("lldp-neighbors-information", *items, junos_style="detail"),
        lambda: "\n".join(_detail_text(device, port, far) for port, far in found),
    )


def _detailed(device: JunosDevice, port: Physical, far: Neighbour) -> Xml:
    old = "" if _is_new(device) else ".0"
    return el(
        "lldp-neighbor-information",
        el("lldp-index", 1),
        el("lldp-ttl", 120),
        el("lldp-age", 12),
        el("lldp-local-interface", port.name + old),
        el("lldp-local-parent-interface-name", port.lag + old if port.lag else "-"),
        el("lldp-local-port-id", 500 + list(device.ports).index(port.name)),
        el("lldp-remote-chassis-id-subtype", "Mac address"),
        el("lldp-remote-chassis-id", _mac_of(far.host)),
        el("lldp-remote-port-id-subtype", "Interface name"),
        el("lldp-remote-port-id", far.interface),
        el("lldp-remote-system-name", far.host),
        el("lldp-remote-system-capabilities-supported", "Bridge Router "),
        el("lldp-remote-system-capabilities-enabled", "Bridge Router "),
        *(_max_frame(device, far.max_frame) if far.max_frame else ()),
    )


def _max_frame(device: JunosDevice, size: int) -> list[Xml]:
    """Return the 802.3 "Maximum Frame Size" as a number of its own, or as the octets of an organisation's TLV."""
    if _is_new(device):
        return [
            el("lldp-remote-oui-802-3", "00120f"),
            el("lldp-remote-subtype-mtu", 4),
            el("lldp-remote-subtype-mtu-size", size),
            el("lldp-remote-index", 3),
        ]
    return [
        el("lldp-remote-org-def-info-oui", _OUI_802_3),
        el("lldp-remote-org-def-info-subtype", 4),
        el("lldp-remote-org-def-info-index", 3),
        el("lldp-remote-org-def-info", f"{size:04X} "),
    ]


def _detail_text(device: JunosDevice, port: Physical, far: Neighbour) -> str:
    lines = [
        "LLDP Neighbor Information:",
        "Local Information:",
        f"Local Interface    : {port.name}",
        f"Parent Interface   : {port.lag or '-'}",
        "",
        "Neighbour Information:",
        "Chassis type       : Mac address",
        f"Chassis ID         : {_mac_of(far.host)}",
        "Port type          : Interface name",
        f"Port ID            : {far.interface}",
        f"System name        : {far.host}",
    ]
    if far.max_frame and _is_new(device):
        lines.append(f"MTU Size           : {far.max_frame}")
    return "\n".join([*lines, ""])


# -- learned addresses -------------------------------------------------------------------------------------------------


def switching_table(login: Login, arguments: Arguments) -> Answer:
    """Answer `show ethernet-switching table [summary]`; empty where the data plane does not tell."""
    plane = login.device.plane
    learned = list(plane.mac_addresses()) if isinstance(plane, LearnsMacs) else []
    items = [] if "summary" in arguments else [_mac_entry(entry.mac, entry.vlan, entry.interface) for entry in learned]
    if _is_new(login.device):
        vlans = el("l2ng-l2ald-mac-entry-vlan", *items) if items else None
        return Answer(lambda: el("l2ng-l2ald-rtb-macdb", vlans), lambda: f"{len(learned)} entries")
    table = "ethernet-switching-table-information"
    return Answer(lambda: el(table, el("ethernet-switching-table", *items)), lambda: f"{len(learned)} entries")


def _mac_entry(mac: str, vlan: int, interface: str) -> Xml:
    return el(
        "l2ng-mac-entry",
        el("l2ng-l2-mac-vlan-name", vlan),
        el("l2ng-l2-mac-address", mac),
        el("l2ng-l2-mac-flags", "D"),
        el("l2ng-l2-mac-logical-interface", f"{interface}.0"),
    )


def bridge_table(_login: Login, _arguments: Arguments) -> Answer:
    """Answer `show bridge mac-table count` as a box that is a switch and no router does."""
    raise syntax_error("bridge")
