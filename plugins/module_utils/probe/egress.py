"""What really leaves an interface while its routes are pinned: packets above the pin that are no probes of ours.

A pin bounds routed unicast sockets that honour it. Multicast and broadcast of IPv4, sockets with IP_PMTUDISC_PROBE,
INTERFACE or OMIT, and AF_PACKET send up to the link. A tap of the interface (packet(7)) sees them all but those with
PACKET_QDISC_BYPASS; it is in memory only, and ends with its process. The kernel's filter leaves out what is small and
what begins with the mark of our probes, and cuts the rest to its headers.

With segmentation offload TCP hands the kernel packets larger than the wire's: the virtio header that goes with them
(PACKET_VNET_HDR) tells the size of the segments, and that is what counts.
"""

from __future__ import annotations

import contextlib
import ctypes
import ipaddress
import socket
import struct
from typing import Iterator, List, NamedTuple, Tuple

from .errors import ProbeError
from .wire import PROBE_MAGIC

ETHERNET_HEADER = 14
SNAP = 192  # headers with options, and the mark
AT_ONCE = 64
# linux/if_packet.h, linux/filter.h, asm-generic/socket.h
SOL_PACKET, PACKET_AUXDATA, PACKET_VNET_HDR = 263, 8, 15
SO_ATTACH_FILTER, ETH_P_ALL = 26, 3
PACKET_TYPE, PACKET_OUTGOING = 0xFFFFF000 + 4, 4
AUXDATA = struct.Struct("=IIIHHHH")  # status, length, captured length, offsets, VLAN tag
VNET_HEADER = struct.Struct("=BBHHHH")  # flags, segmentation, header length, segment size, checksum start and offset
INSTRUCTION = struct.Struct("=HBBI")
LD_W, LD_H, LD_B, LD_LEN, LD_W_X, LDX_HEADER = 0x20, 0x28, 0x30, 0x80, 0x40, 0xB1
JEQ, JGT, RET = 0x15, 0x25, 0x06
IPV4_TYPE, IPV6_TYPE, UDP, TCP = 0x0800, 0x86DD, 17, 6
MARK = struct.unpack("!II", PROBE_MAGIC)
Instruction = Tuple[int, int, int, int]
Ancillary = List[Tuple[int, int, bytes]]


class Seen(NamedTuple):
    """One packet that was larger than the pin; `kind` is multicast, broadcast or pmtu_ignoring."""

    kind: str
    destination: str
    ip_mtu: int


class Tap:
    """A tap of one interface; `drain()` says what it has seen of packets above `limit` bytes of IP packet."""

    def __init__(self, interface: str, limit: int, filtered: list[Instruction] | None = None) -> None:
        self.interface = interface
        self.limit = limit
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        except OSError as error:
            raise self._blind(error) from None
        try:
            self.socket.setblocking(False)
            _attach(self.socket, filtered or program(limit))
            self.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self.socket.bind((interface, ETH_P_ALL))
        except OSError as error:
            self.socket.close()
            raise self._blind(error) from None

    def _blind(self, error: OSError) -> ProbeError:
        message = f"what leaves {self.interface} cannot be watched: {error.strerror}"
        return ProbeError(message, object=self.interface, advice="the program needs CAP_NET_RAW on this host")

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self.socket.fileno()

    def close(self) -> None:
        """Stop watching."""
        self.socket.close()

    def drain(self) -> list[Seen]:
        """Read some of what waits; the rest says the same."""
        seen = [read_packet(data, ancillary) for data, ancillary in self.packets()]
        return [one for one in seen if one is not None and one.ip_mtu > self.limit]

    def packets(self) -> list[tuple[bytes, Ancillary]]:
        """Return what waits, up to some: a virtio header and the start of a frame each, its true length beside it."""
        found = []
        for _turn in range(AT_ONCE):
            try:
                data, ancillary, _flags, _from = self.socket.recvmsg(SNAP + VNET_HEADER.size, 64)
            except OSError:
                break
            found.append((data, ancillary))
        return found


def program(limit: int) -> list[Instruction]:
    """Return the kernel's filter: outgoing, larger than `limit` bytes of IP packet, not marked as a probe of ours."""
    keep, drop, six = 20, 21, 13  # lines of the program
    lines = [
        (LD_W, PACKET_TYPE, 1, 1),
        (JEQ, PACKET_OUTGOING, 2, drop),
        (LD_LEN, 0, 3, 3),
        (JGT, limit + ETHERNET_HEADER, 4, drop),
        (LD_H, 12, 5, 5),
        (JEQ, IPV4_TYPE, 6, six),
        (LD_B, ETHERNET_HEADER + 9, 7, 7),
        (JEQ, UDP, 8, keep),
        (LDX_HEADER, ETHERNET_HEADER, 9, 9),
        (LD_W_X, ETHERNET_HEADER + 8, 10, 10),
        (JEQ, MARK[0], 11, keep),
        (LD_W_X, ETHERNET_HEADER + 12, 12, 12),
        (JEQ, MARK[1], drop, keep),
        (JEQ, IPV6_TYPE, 14, keep),
        (LD_B, ETHERNET_HEADER + 6, 15, 15),
        (JEQ, UDP, 16, keep),
        (LD_W, ETHERNET_HEADER + 48, 17, 17),
        (JEQ, MARK[0], 18, keep),
        (LD_W, ETHERNET_HEADER + 52, 19, 19),
        (JEQ, MARK[1], drop, keep),
        (RET, SNAP, 21, 21),
        (RET, 0, 22, 22),
    ]
    # A jump counts from the next instruction; where there is none both are the next one, and count 0.
    return [(code, yes - at - 1, no - at - 1, value) for at, (code, value, yes, no) in enumerate(lines)]


def read_packet(data: bytes, ancillary: Ancillary) -> Seen | None:
    """Read what a tap gives: a virtio header, an Ethernet frame cut short, its true length beside it."""
    _flags, offload, _length, segment, _start, _offset = VNET_HEADER.unpack_from(data)
    frame = data[VNET_HEADER.size :]
    sizes = [AUXDATA.unpack_from(value)[1] for level, kind, value in ancillary if (level, kind) == (SOL_PACKET, 8)]
    if len(frame) < ETHERNET_HEADER or not sizes:
        return None
    packet = frame[ETHERNET_HEADER:]
    size = _headers(packet) + segment if offload else sizes[0] - ETHERNET_HEADER
    destination = _destination(packet) or frame[:6].hex(":")
    return Seen(kind_of(frame, destination), destination, size)


def _headers(packet: bytes) -> int:
    """Return the bytes of the IP and transport headers, which each segment repeats."""
    with contextlib.suppress(IndexError):
        start, protocol = (40, packet[6]) if packet[0] >> 4 == 6 else ((packet[0] & 15) * 4, packet[9])  # noqa: PLR2004
        return start + ((packet[start + 12] >> 4) * 4 if protocol == TCP else 8)
    return 0


def _destination(packet: bytes) -> str | None:
    version = packet[0] >> 4 if packet else 0
    address = {4: packet[16:20], 6: packet[24:40]}.get(version)
    try:
        return str(ipaddress.ip_address(address)) if address else None
    except ValueError:
        return None


def kind_of(frame: bytes, destination: str) -> str:
    """Return which class of senders a frame shows: the words of the plan's exposures."""
    if frame[:6] == b"\xff" * 6:
        return "broadcast"
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(destination).is_multicast:
            return "multicast"
    return "multicast" if frame[0] & 1 else "pmtu_ignoring"


def _attach(sock: socket.socket, instructions: list[Instruction]) -> None:
    """Give a socket its filter (struct sock_fprog: a count and a pointer)."""
    code = b"".join(INSTRUCTION.pack(*instruction) for instruction in instructions)
    memory = ctypes.create_string_buffer(code)
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(instructions), ctypes.addressof(memory)))


class Watched:
    """The taps of a guard: one per interface, as long as it is pinned and nothing of it was ever lifted."""

    def __init__(self) -> None:
        self.taps: dict[str, Tap] = {}
        self.ended: set[str] = set()

    def follow(self, interfaces: dict[str, dict[str, object]]) -> None:
        """Open and close taps; a ProbeError where one cannot be opened."""
        for name, entry in interfaces.items():
            pin = entry.get("pin")
            if entry.get("lifts") or entry.get("exposure") == "waived" or not isinstance(pin, int):
                self.ended.add(name)
                tap = self.taps.pop(name, None)
                if tap:
                    tap.close()
            elif name not in self.taps and name not in self.ended:
                self.taps[name] = Tap(name, pin)

    def drain(self) -> Iterator[tuple[str, Seen]]:
        """Yield what was seen, by interface."""
        for name, tap in self.taps.items():
            yield from ((name, seen) for seen in tap.drain())
