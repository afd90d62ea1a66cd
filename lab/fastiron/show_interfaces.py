"""`show interfaces` with the variants that public outputs have, `show interfaces brief`, and `show statistics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .hardware import DEFAULT_MTU
from .ports import ETHERNET, LAG, LOOPBACK, MANAGEMENT, VE, Interface
from .words import PORT_TABLE, Refused

if TYPE_CHECKING:
    from .cli import Cli
    from .device import FastironDevice

_KINDS = {"ethernet": ETHERNET, "ve": VE, "lag": LAG, "management": MANAGEMENT, "loopback": LOOPBACK}


def interfaces(cli: Cli, words: str) -> str:
    """Answer `show interfaces [ethernet 1/1/1 | ve 10 | lag 1 | management 1]`."""
    return "\n".join("\n".join(_block(cli.device, one)) for one in _chosen(cli, words))


def _chosen(cli: Cli, words: str) -> list[Interface]:
    _show, _what, *rest = words.split()
    found = list(cli.device.interfaces.values())
    if rest:
        numbers = (rest[1], f"mgmt{rest[1]}")
        found = [one for one in found if one.kind == _KINDS[rest[0]] and one.number in numbers]
        if not found:
            raise Refused(f"Error - invalid port or virtual interface {rest[1]}")
    return found


def _state(device: FastironDevice, one: Interface) -> tuple[str, str]:
    up = device.is_up(one)
    return ("disabled" if not one.enabled else "up" if up else "down"), ("up" if up else "down")


def _block(device: FastironDevice, one: Interface) -> Iterator[str]:
    state, line = _state(device, one)
    yield f"{one.name} is {state}, line protocol is {line} "
    body = {ETHERNET: _port, LAG: _lag, VE: _ve, LOOPBACK: _ve, MANAGEMENT: _port}[one.kind]
    yield from (f"  {text}" for text in body(device, one))
    if one.kind in (ETHERNET, LAG, MANAGEMENT):
        yield from (f"  {text}" for text in _counted(device, one))


def _port(device: FastironDevice, one: Interface) -> Iterator[str]:
    up = device.is_up(one)
    yield f"Port {'up' if up else 'down'} for {_ago(device, one)}"
    yield f"Hardware is {one.name.partition('Ethernet')[0]}Ethernet, address is {device.mac} (bia {device.mac})"
    actual = f"{one.gigabits}Gbit" if up else "unknown"
    yield f"Configured speed auto, actual {actual}, configured duplex fdx, actual {'fdx' if up else 'unknown'}"
    yield "Configured mdi mode AUTO, actual MDI"
    if one.kind == ETHERNET and not one.is_routed:
        forwarding = "FORWARDING" if up else "DISABLED" if not one.enabled else "BLOCKING"
        many = (
            f"{len(one.vlans)} L2 VLANs, port is tagged" if one.tagged else f"L2 VLAN ID {_vlan(one)}, port is untagged"
        )
        yield f"Member of {many}, port state is {forwarding}"
    yield "BPDU guard is Disabled, ROOT protect is Disabled, Designated protect is Disabled"
    yield "Link Error Dampening is Disabled"
    yield "STP configured to ON, priority is level0, mac-learning is enabled"
    yield "Flow Control is config enabled, oper enabled, negotiation disabled"
    yield "Mirror disabled, Monitor disabled"
    yield from _trunk(device, one)
    yield f"Port name is {one.title}" if one.title else "No port name"
    if one.kind == MANAGEMENT:
        yield "IPG MII 0 bits-time, IPG GMII 0 bits-time"
        where = f"Internet address is {one.addresses[0]}, " if one.addresses else ""
        yield f"{where}MTU {DEFAULT_MTU} bytes, encapsulation ethernet"
        return
    yield "IPG MII 96 bits-time, IPG GMII 96 bits-time"
    yield _size(device, one)


def _vlan(one: Interface) -> int:
    return one.vlans[0] if one.vlans else 1


def _trunk(device: FastironDevice, one: Interface) -> Iterator[str]:
    lag = device.interfaces.get(f"Lag {one.lag}")
    if lag is None:
        yield "Not member of any active trunks"
        yield "Not member of any configured trunks"
        return
    ports = ",".join(lag.members)
    for state in ("active", "configured"):
        if device.hardware.lag_line == "lag":
            yield f"Member of {state} trunk ports {ports},{one.lag}, Lag Interface is {one.lag}"
        else:
            yield f"Member of {state} trunk ports {ports}, primary port is {lag.members[0]}"


def _size(device: FastironDevice, one: Interface) -> str:
    """Return the MTU line of a port: of a routed one its IP MTU, of the others what the box takes in."""
    style, size = device.hardware.mtu_line, device.hardware.jumbo if device.jumbo_active else DEFAULT_MTU
    addresses = [address for address in one.addresses if ":" not in address]
    if addresses:
        return f"Internet address is {addresses[0]}, MTU {device.ip_mtu(one)} bytes, encapsulation ethernet"
    if style == "fesx":
        return f"IP MTU {size} bytes"
    return f"MTU {size} bytes, encapsulation ethernet" if style == "icx" else f"MTU {size} bytes"


def _lag(_device: FastironDevice, one: Interface) -> Iterator[str]:
    yield f"Configured speed Auto, actual {len(one.members)}Gbit, configured duplex fdx, actual fdx"
    yield f"Member of {len(one.vlans)} L2 VLANs, port is untagged, port state is FORWARDING"
    yield "STP configured to ON, priority is level0, mac-learning is enabled"
    yield "Mirror disabled, Monitor disabled"
    yield f"Member of active trunk ports {','.join(one.members)},{one.name.removeprefix('Lag ')}"
    yield f"Port name is {one.title}" if one.title else "No port name"


def _ve(device: FastironDevice, one: Interface) -> Iterator[str]:
    """The layout for a virtual interface is not confirmed; a related system's is used."""
    yield f"Hardware is Virtual Ethernet, address is {device.mac} (bia {device.mac})"
    yield f"Port name is {one.title}" if one.title else "No port name"
    if one.kind == VE:
        yield f"Vlan id: {_vlan(one)}"
    yield from (f"ipv6 address {address}" for address in one.addresses if ":" in address)
    four = [address for address in one.addresses if ":" not in address]
    size = f"IP MTU {device.ip_mtu(one)} bytes, encapsulation ethernet"
    yield f"Internet address is {four[0]}, {size}" if four else f"No Internet address, {size}"


def _ago(device: FastironDevice, one: Interface) -> str:
    seconds = max(0, int(device.now() - device.up_since(one)))
    parts = ((seconds // 86400, "day"), (seconds // 3600 % 24, "hour"), (seconds // 60 % 60, "minute"))
    text = "".join(f"{number} {word}(s) " for number, word in parts if number or word == "minute")
    return f"{text}{seconds % 60} second(s)"


def _counted(device: FastironDevice, one: Interface) -> Iterator[str]:
    seen = device.counters(one)
    yield "300 second input rate: 0 bits/sec, 0 packets/sec, 0.00% utilization"
    yield "300 second output rate: 0 bits/sec, 0 packets/sec, 0.00% utilization"
    yield f"{seen.input_packets} packets input, {seen.input_bytes} bytes, 0 no buffer"
    yield f"Received 0 broadcasts, 0 multicasts, {seen.input_packets} unicasts"
    yield f"{seen.giants} input errors, 0 CRC, 0 frame, 0 ignored"
    yield f"0 runts, {seen.giants} giants"
    yield f"{seen.output_packets} packets output, {seen.output_bytes} bytes, 0 underruns"
    yield f"Transmitted 0 broadcasts, 0 multicasts, {seen.output_packets} unicasts"
    yield "0 output errors, 0 collisions"
    if one.kind == ETHERNET:
        yield "Relay Agent Information option: Disabled"


def brief(cli: Cli, _words: str) -> str:
    """Answer `show interfaces brief`."""
    lines = ["", PORT_TABLE]
    for one in cli.device.interfaces.values():
        if one.kind in (ETHERNET, MANAGEMENT):
            up = cli.device.is_up(one)
            words = ("Up", "Forward", "Full", f"{one.gigabits}G") if up else ("Down", "None", "None", "None")
            link, state, duplex, speed = ("Disable", *words[1:]) if not one.enabled else words
            trunk = one.lag.removeprefix("lg") or "None"
            lines.append(
                f"{one.number:<10} {link:<7} {state:<7} {duplex:<4} {speed:<5} {trunk:<5} "
                f"{'Yes' if one.tagged else 'No':<3} {_vlan(one):<4} 0   {cli.device.mac}  {one.title[:8]}"
            )
        elif one.kind in (VE, LOOPBACK):
            lines.append(f"{one.kind}{one.number:<8} {'Up' if cli.device.is_up(one) else 'Down':<7} N/A     N/A  N/A")
    return "\n".join(lines)


def statistics(cli: Cli, words: str) -> str:
    """Answer `show statistics [ethernet 1/1/1]`."""
    wanted = words.split()[3:]
    ports = [
        one for one in cli.device.interfaces.values() if one.kind == ETHERNET and one.number in (wanted or [one.number])
    ]
    if not ports:
        raise Refused(f"Error - invalid port or virtual interface {wanted[0]}")
    return "\n".join(_statistics(cli.device, one) for one in ports)


def _statistics(device: FastironDevice, one: Interface) -> str:
    seen, up = device.counters(one), device.is_up(one)
    pairs = [
        ("InOctets", seen.input_bytes, "OutOctets", seen.output_bytes),
        ("InPkts", seen.input_packets, "OutPkts", seen.output_packets),
        ("InBroadcastPkts", 0, "OutBroadcastPkts", 0),
        ("InUnicastPkts", seen.input_packets, "OutUnicastPkts", seen.output_packets),
        ("InBadPkts", 0, "", 0),
        ("InFragments", 0, "", 0),
        ("InDiscards", seen.giants, "OutErrors", 0),
        ("CRC", 0, "Collisions", 0),
        ("InErrors", seen.giants, "LateCollisions", 0),
        ("InGiantPkts", seen.giants, "", 0),
        ("InShortPkts", 0, "", 0),
    ]
    rows = [f"{a:>20} {n:>20}" + (f" {b:>20} {m:>20}" if b else "") for a, n, b, m in pairs]
    head = f"{one.number:<10} {'Up' if up else 'Down'}"
    return "\n".join([PORT_TABLE, head, "", f"  Port {one.number} Counters:", *rows])
