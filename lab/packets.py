"""The beginnings of IP packets, as the sentinel meets them: who sends what to whom, how large, and is it production."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

from ansible_collections.jumbo.fabric.plugins.module_utils.probe.wire import PROBE_MAGIC

_IPV4, _IPV6 = 4, 6
_IPV6_HEADER, _UDP_HEADER, _ICMP_HEADER = 40, 8, 8
_OFFSET = 0x1FFF  # of a fragment, in units of 8 bytes (RFC 791)
_ICMP, _TCP, _UDP, _ICMPV6 = 1, 6, 17, 58
_NAMES = {_ICMP: "icmp", _TCP: "tcp", _UDP: "udp", _ICMPV6: "icmpv6"}
_PORTS = struct.Struct("!HH")


@dataclass(frozen=True, slots=True)
class Packet:
    """An IP packet: its addresses, bytes of IP packet, protocol, and ports where they are known.

    is_production: neither one of our probes nor ICMP, which in a lab is an operator's ping.
    """

    source: str
    destination: str
    size: int
    protocol: str
    ports: tuple[int, int] | None
    is_production: bool


@dataclass(frozen=True, slots=True)
class TooBig:
    """A router's word that a packet is too big: ICMP type 3 code 4 (RFC 1191), ICMPv6 type 2 (RFC 8201).

    limit: the MTU it names. packet: the one it is about. quoted: what tells this word from others.
    """

    limit: int
    packet: Packet
    quoted: bytes


def read_packet(data: bytes) -> Packet | None:
    """Read a packet that may be cut short; None where it is no IP packet, or not even its header is whole."""
    try:
        return _read_ipv4(data) if data[0] >> 4 == _IPV4 else _read_ipv6(data) if data[0] >> 4 == _IPV6 else None
    except (IndexError, struct.error):
        return None


def read_too_big(data: bytes) -> TooBig | None:
    """Read a packet that a rule took for a "too big"; None where it quotes no IP packet."""
    outer = read_packet(data)
    if outer is None:
        return None
    is_ipv4 = outer.protocol == "icmp"
    start = (data[0] & 15) * 4 if is_ipv4 else _IPV6_HEADER
    quoted = data[start + _ICMP_HEADER :]
    packet = read_packet(quoted)
    if packet is None:
        return None
    (limit,) = struct.unpack_from("!H" if is_ipv4 else "!I", data, start + (6 if is_ipv4 else 4))
    return TooBig(limit, packet, quoted)


def _read_ipv4(data: bytes) -> Packet:
    size, _id, fragment = struct.unpack_from("!HHH", data, 2)
    protocol, source, destination = struct.unpack_from("!xB2x4s4s", data, 8)
    transport = data[(data[0] & 15) * 4 :] if not fragment & _OFFSET else b""
    return _packet(source, destination, size, protocol, transport)


def _read_ipv6(data: bytes) -> Packet:
    size, protocol, source, destination = struct.unpack_from("!HBx16s16s", data, 4)
    return _packet(source, destination, size + _IPV6_HEADER, protocol, data[_IPV6_HEADER:])


def _packet(source: bytes, destination: bytes, size: int, protocol: int, transport: bytes) -> Packet:
    has_ports = protocol in (_TCP, _UDP) and len(transport) >= _PORTS.size
    first, second = _PORTS.unpack_from(transport) if has_ports else (0, 0)
    is_probe = protocol == _UDP and transport[_UDP_HEADER:].startswith(PROBE_MAGIC)
    return Packet(
        str(ipaddress.ip_address(source)),
        str(ipaddress.ip_address(destination)),
        size,
        _NAMES.get(protocol, str(protocol)),
        (first, second) if has_ports else None,
        not is_probe and protocol not in (_ICMP, _ICMPV6),
    )
