"""`show interfaces` and its kin. Field sets as in the fixtures of public projects, newest releases included."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..plane import PortCounters
from .names import dotted, short
from .ports import BRIDGED, MEMBER, Port
from .templates import JsonText, hole, template

if TYPE_CHECKING:
    from .device import EosDevice

_VIRTUAL_IP = {"maskLen": 0, "address": "0.0.0.0"}  # noqa: S104 - an address in an answer, none to listen on


class Live(NamedTuple):
    """What the data plane says of an interface at this moment."""

    up: bool
    counters: PortCounters
    changes: int
    changed_at: float
    cleared_at: float = 0.0


def _counters_shape(*, detailed: bool, cleared: bool) -> dict[str, Any]:
    zero = ("inMulticastPkts", "inBroadcastPkts", "outMulticastPkts", "outBroadcastPkts", "inDiscards", "outDiscards")
    shape: dict[str, Any] = {
        "counterRefreshTime": hole("now"),
        "inOctets": hole("in_octets"),
        "inUcastPkts": hole("in_packets"),
        "outOctets": hole("out_octets"),
        "outUcastPkts": hole("out_packets"),
        **dict.fromkeys(zero, 0),
        "inTotalPkts": hole("in_packets"),
        "outTotalPkts": hole("out_packets"),
        "totalInErrors": hole("giants"),
        "totalOutErrors": 0,
        "linkStatusChanges": hole("changes"),
    }
    if cleared:
        shape["lastClear"] = hole("cleared_at")
    if detailed:  # a Port-Channel has no such lines
        shape["inputErrorsDetail"] = {
            "runtFrames": 0,
            "giantFrames": hole("giants"),
            "fcsErrors": 0,
            "alignmentErrors": 0,
            "symbolErrors": 0,
            "rxPause": 0,
        }
        errors = ("collisions", "lateCollisions", "deferredTransmissions", "txPause")
        shape["outputErrorsDetail"] = dict.fromkeys(errors, 0)
    return shape


def _fixed(device: EosDevice, port: Port) -> dict[str, Any]:
    """Return what only a change of the configuration changes."""
    hardware = port.hardware
    shape: dict[str, Any] = {
        "name": port.name,
        "forwardingModel": port.forwarding,
        "hardware": hardware,
        "interfaceAddress": _addresses(port),
        "description": port.description,
        "bandwidth": port.bandwidth,
        "mtu": port.mtu,
        "l3MtuConfigured": port.own_mtu,
        "l2Mru": port.l2_mru,
    }
    if hardware not in {"loopback", "vxlan"}:
        shape["physicalAddress"] = device.mac
    if hardware == "ethernet":
        shape["burnedInAddress"] = device.mac
    if port.lag:
        shape["interfaceMembership"] = f"Member of {port.lag}"
    return shape


def _moving(hardware: str, *, cleared: bool) -> dict[str, Any]:
    """Return the shape of the rest: holes for what the data plane says."""
    shape: dict[str, Any] = {
        "lineProtocolStatus": hole("protocol"),
        "interfaceStatus": hole("status"),
        "lastStatusChangeTimestamp": hole("changed_at"),
    }
    if hardware in {"ethernet", "portChannel"}:
        rates = ("inBitsRate", "inPktsRate", "outBitsRate", "outPktsRate")
        shape["interfaceStatistics"] = {"updateInterval": 300.0, **dict.fromkeys(rates, 0.0)}
        shape["interfaceCounters"] = _counters_shape(detailed=hardware == "ethernet", cleared=cleared)
    if hardware == "ethernet":
        shape |= {"duplex": "duplexFull", "autoNegotiate": "success", "loopbackMode": "loopbackNone", "lanes": 0}
    if hardware == "portChannel":
        shape |= {"memberInterfaces": hole("members"), "fallbackEnabled": False, "fallbackEnabledType": "fallbackNone"}
    return shape


_HARDWARE = ("ethernet", "portChannel", "vlan", "loopback", "vxlan", "subinterface")
_TEMPLATES = {(name, flag): template(_moving(name, cleared=flag)) for name in _HARDWARE for flag in (False, True)}


def protocol(port: Port, live: Live) -> str:
    """Return the line protocol's state."""
    if live.up:
        return "up"
    return "down" if port.kind in {"Ethernet", "Management", "Vxlan"} else "lowerLayerDown"


def status(port: Port, live: Live) -> str:
    """Return the interface's state."""
    if not port.enabled:
        return "disabled"
    return "connected" if live.up else "notconnect"


def _addresses(port: Port) -> list[dict[str, Any]]:
    if not port.addresses:
        return []
    primary, *others = ({"address": a, "maskLen": int(m)} for a, _sep, m in (p.partition("/") for p in port.addresses))
    return [
        {
            "primaryIp": primary,
            "secondaryIps": {str(other["address"]): other for other in others},
            "secondaryIpsOrderedList": others,
            "virtualIp": _VIRTUAL_IP,
            "broadcastAddress": "255.255.255.255",
        }
    ]


def _rest(port: Port, live: Live, now: str) -> str:
    counters = live.counters
    member = {"bandwidth": 10_000_000_000, "duplex": "duplexFull"}
    return _TEMPLATES[port.hardware, live.cleared_at > 0] % {
        "protocol": f'"{protocol(port, live)}"',
        "status": f'"{status(port, live)}"',
        "changed_at": live.changed_at,
        "cleared_at": live.cleared_at,
        "now": now,
        "in_octets": counters.input_bytes,
        "in_packets": counters.input_packets,
        "out_octets": counters.output_bytes,
        "out_packets": counters.output_packets,
        "giants": counters.giants,
        "changes": live.changes,
        "members": json.dumps(dict.fromkeys(port.members if live.up else (), member)),
    }


def _head(device: EosDevice, port: Port) -> str:
    """Return the fixed part of a port as JSON text, open at its end; kept until the configuration changes."""
    known = device.heads.get(port.name)
    if known is None:
        known = device.heads[port.name] = f'"{port.name}": {json.dumps(_fixed(device, port))[:-1]}, '
    return known


def interfaces_json(device: EosDevice, ports: Iterable[Port]) -> JsonText:
    """Return `show interfaces | json`. Ports in the same state, such as idle ones, share their moving part."""
    now = repr(device.now())
    rests: dict[tuple[object, ...], str] = {}
    parts = []
    for port in ports:
        live = device.live(port)
        state = (port.hardware, port.kind, port.enabled, port.members, live)
        rest = rests.get(state)
        if rest is None:
            rest = rests[state] = _rest(port, live, now)[1:]
        parts.append(_head(device, port) + rest)
    return JsonText('{"interfaces": {' + ", ".join(parts) + "}}")


def interfaces_text(device: EosDevice, ports: Iterable[Port]) -> str:
    """Return `show interfaces` as text."""
    return "\n".join(_text(device, port, device.live(port)) for port in ports)


def _text(device: EosDevice, port: Port, live: Live) -> str:
    words = {"disabled": "administratively down", "connected": "up", "notconnect": "down"}
    state = status(port, live)
    lines = [f"{port.name} is {words[state]}, line protocol is {protocol(port, live).lower()} ({state})"]
    hardware = {"portChannel": "Port-Channel"}.get(port.hardware, port.hardware.capitalize())
    address = "" if port.hardware in {"loopback", "vxlan"} else f", address is {dotted(device.mac)}"
    lines.append(f"  Hardware is {hardware}{address}")
    if port.description:
        lines.append(f"  Description: {port.description}")
    if port.lag:
        lines.append(f"  Member of {port.lag}")
    if port.addresses:
        lines += [f"  Internet address is {port.addresses[0]}", "  Broadcast address is 255.255.255.255"]
    lines += _mtu_text(port)
    lines.append(f"  {'Up' if live.up else 'Down'} {_age(device.now() - live.changed_at)}")
    if port.hardware in {"ethernet", "portChannel"}:
        cleared = f"{_age(device.now() - live.cleared_at)} ago" if live.cleared_at else "never"
        lines += _counters_text(port, live, cleared)
    return "\n".join(lines)


def _mtu_text(port: Port) -> list[str]:
    if port.hardware == "vxlan":
        return []
    bandwidth = f", BW {port.bandwidth // 1000} kbit" if port.bandwidth else ""
    if port.forwarding in {BRIDGED, MEMBER}:
        return [f"  Ethernet MTU {port.mtu} bytes{bandwidth}"]
    default = "" if port.own_mtu or port.hardware == "loopback" else " (default)"
    return [f"  IP MTU {port.mtu} bytes{default}{bandwidth}"]


def _counters_text(port: Port, live: Live, cleared: str) -> list[str]:
    seen = live.counters
    physical = port.hardware == "ethernet"
    symbols = " 0 CRC, 0 alignment, 0 symbol," if physical else ""
    lines = [
        "  Full-duplex, 10Gb/s, auto negotiation: off, uni-link: n/a" if physical else "  Full-duplex, 10Gb/s",
        f"  {live.changes} link status changes since last clear",
        f'  Last clearing of "show interface" counters {cleared}',
        "  5 minutes input rate 0 bps (0.0% with framing overhead), 0 packets/sec",
        "  5 minutes output rate 0 bps (0.0% with framing overhead), 0 packets/sec",
        f"     {seen.input_packets} packets input, {seen.input_bytes} bytes",
        "     Received 0 broadcasts, 0 multicast",
        f"     0 runts, {seen.giants} giants" if physical else "",
        f"     {seen.giants} input errors,{symbols} 0 input discards",
        "     0 PAUSE input" if physical else "",
        f"     {seen.output_packets} packets output, {seen.output_bytes} bytes",
        "     Sent 0 broadcasts, 0 multicast",
        f"     0 output errors,{' 0 collisions' if physical else ' 0 output discards'}",
        "     0 late collision, 0 deferred, 0 output discards" if physical else "",
        "     0 PAUSE output" if physical else "",
    ]
    return [line for line in lines if line]


def _age(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "hours"), (minutes, "minutes"), (rest, "seconds")]
    return ", ".join(f"{count} {word}" for count, word in parts if count or word == "seconds")


def _status_entry(port: Port, live: Live) -> dict[str, Any]:
    vlan: dict[str, Any] = {"interfaceMode": port.forwarding, "interfaceForwardingModel": port.forwarding}
    if port.forwarding == BRIDGED and port.vlan == "trunk":
        vlan["interfaceMode"] = "trunk"
    elif port.forwarding == BRIDGED:
        vlan["vlanId"] = int(port.vlan)
    elif port.forwarding == MEMBER:
        vlan["vlanExplanation"] = port.vlan
    return {
        "vlanInformation": vlan,
        "bandwidth": port.bandwidth,
        "interfaceType": _transceiver(port),
        "description": port.description,
        "autoNegotiateActive": False,
        "duplex": "duplexFull",
        "linkStatus": status(port, live),
        "lineProtocolStatus": protocol(port, live),
    }


def _transceiver(port: Port) -> str:
    return {"Ethernet": "EbraTestPhyPort", "Management": "10/100/1000"}.get(port.kind, "N/A")


def _plugs(ports: Iterable[Port]) -> list[Port]:
    return [port for port in ports if port.hardware in {"ethernet", "portChannel"}]


def status_json(device: EosDevice, ports: Iterable[Port]) -> dict[str, Any]:
    """Return `show interfaces status | json`."""
    return {"interfaceStatuses": {port.name: _status_entry(port, device.live(port)) for port in _plugs(ports)}}


def status_text(device: EosDevice, ports: Iterable[Port]) -> str:
    """Return `show interfaces status`."""
    row = "{:<10} {:<24} {:<12} {:<8} {:<6} {:<6} {:<15} {}".format
    lines = [row("Port", "Name", "Status", "Vlan", "Duplex", "Speed", "Type", "Flags").rstrip()]
    for port in _plugs(ports):
        state = status(port, device.live(port))
        speed = "1G" if port.kind == "Management" else "10G"
        cells = (short(port.name), port.description[:24], state, port.vlan, "full", speed, _transceiver(port), "")
        lines.append(row(*cells).rstrip())
    return "\n".join(lines)


def errors_json(device: EosDevice, ports: Iterable[Port]) -> dict[str, Any]:
    """Return `show interfaces counters errors | json`."""
    names = ("frameTooShorts", "fcsErrors", "alignmentErrors", "symbolErrors", "outErrors")
    found = {}
    for port in _plugs(ports):
        giants = device.live(port).counters.giants
        found[port.name] = {"inErrors": giants, "frameTooLongs": giants, **dict.fromkeys(names, 0)}
    return {"interfaceErrorCounters": found}


def errors_text(device: EosDevice, ports: Iterable[Port]) -> str:
    """Return `show interfaces counters errors`."""
    row = "{:<10} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}".format
    lines = [row("Port", "FCS", "Align", "Symbol", "Rx", "Runts", "Giants", "Tx")]
    for port in _plugs(ports):
        giants = device.live(port).counters.giants
        values = [short(port.name), 0, 0, 0, giants, 0, giants, 0]
        lines.append(row(*values))
    return "\n".join(lines)


def _described(port: Port, live: Live) -> dict[str, str]:
    state = {"disabled": "adminDown", "connected": "up", "notconnect": "down"}[status(port, live)]
    return {"interfaceStatus": state, "lineProtocolStatus": protocol(port, live), "description": port.description}


def descriptions_json(device: EosDevice, ports: Iterable[Port]) -> dict[str, Any]:
    """Return `show interfaces description | json`."""
    return {"interfaceDescriptions": {port.name: _described(port, device.live(port)) for port in ports}}


def descriptions_text(device: EosDevice, ports: Iterable[Port]) -> str:
    """Return `show interfaces description`."""
    row = "{:<30} {:<14} {:<18} {}".format
    lines = [row("Interface", "Status", "Protocol", "Description")]
    for port in ports:
        found = _described(port, device.live(port))
        state = found["interfaceStatus"].replace("adminDown", "admin down")
        lines.append(row(short(port.name), state, found["lineProtocolStatus"].lower(), port.description).rstrip())
    return "\n".join(lines)
