"""What Arista EOS prints: `show interfaces` as JSON and text, error counters, LLDP, configuration, ping.

Facts: "IP MTU" on routed ports and SVIs is the IP packet; an L2 port shows its Ethernet MTU, taken here as the
payload it carries; EOS limits what it sends, so a receive limit (`mru`) is not told; Loopback shows 65535 and Vxlan 0.
"""

from __future__ import annotations

import json
import re
from typing import Any, Iterable, Mapping

from ..mtu.errors import JumboError
from . import parse_linux
from .eos_subinterfaces import fold, port_of
from .eos_vlans import vlans_by_interface

DEFAULT_ROUTED = 1500
_L3_KINDS = frozenset({"routed", "svi", "lag", "subinterface", "management"})


def parse_ping(output: Any) -> dict[str, Any]:
    """Read `ping ... df-bit`: EOS runs iputils; the JSON reply {"messages": [...]} is understood too."""
    if isinstance(output, Mapping):
        messages = output.get("messages") or [output.get("output", "")]
        output = "\n".join(messages)
    return parse_linux.parse_ping(output)


def parse_interfaces(output: Any) -> list[dict[str, Any]]:
    """Read `show interfaces`: text, JSON text, or the data of `show interfaces | json`."""
    if isinstance(output, str):
        if not output.lstrip().startswith("{"):
            return _from_text(output)
        try:
            output = json.loads(output)
        except ValueError as error:
            raise JumboError(f"this is no JSON output of show interfaces: {error}") from None
    if not isinstance(output, Mapping) or not isinstance(output.get("interfaces"), Mapping):
        raise JumboError("the data of show interfaces has no interfaces")
    return [_from_json(name, data) for name, data in output["interfaces"].items()]


def state_interfaces(
    interfaces: Any, errors: Mapping[str, Any], lldp: Mapping[str, Any], running: str, startup: str
) -> dict[str, dict[str, Any]]:
    """Return {name: interface} in the shape of a state; ports with what is on their sub-interfaces.

    The arguments are the data of `show interfaces`, `show interfaces counters errors`, `show lldp neighbors detail`,
    and the texts of running-config and startup-config: `configured_mtu`, `persisted_mtu` and `vlans` come from those.
    """
    found = {interface["name"]: interface for interface in parse_interfaces(interfaces)}
    too_long = errors.get("interfaceErrorCounters") or {}
    neighbours = lldp.get("lldpNeighbors") or {}
    now, saved = configured_mtus(running), configured_mtus(startup)
    vlans = vlans_by_interface(running, {name: _switches(data) for name, data in interfaces["interfaces"].items()})
    for name, interface in found.items():
        interface["vlans"] = vlans[name]
        counters = interface["counters"]
        counters["oversize"] = _larger(counters["oversize"], (too_long.get(name) or {}).get("frameTooLongs"))
        interface["neighbours"] = [
            _neighbour(entry) for entry in (neighbours.get(name) or {}).get("lldpNeighborInfo", [])
        ]
        if interface["kind"] in _L3_KINDS and not _switches(interfaces["interfaces"][name]):
            interface["configured_mtu"] = now.get(name)
            own = saved.get(name, saved.get(port_of(name)))
            interface["persisted_mtu"] = saved.get("defaults", DEFAULT_ROUTED) if own is None else own
        else:
            interface["persisted_mtu"] = interface["ip_mtu"]  # L2 ports have no `mtu` line that counts
    fold(found)
    return found


def _switches(data: Mapping[str, Any]) -> bool | None:
    model = data.get("forwardingModel")
    return None if model is None else model == "bridged"


def configured_mtus(config: str) -> dict[str, int]:
    """Return {interface: mtu} of the `mtu` lines of a configuration; key `defaults` is `interface defaults`."""
    found: dict[str, int] = {}
    interface = None
    for line in config.splitlines():
        if line and not line.startswith(" "):
            interface = line.split(" ", 1)[1].strip() if line.startswith("interface ") else None
        match = re.fullmatch(r"   mtu (\d+)\s*", line)  # one level deep: `l2 mtu` and nested blocks are others
        if match and interface:
            found[interface] = int(match.group(1))
    return found


def _larger(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None


def _neighbour(entry: Mapping[str, Any]) -> dict[str, Any]:
    info = entry.get("neighborInterfaceInfo") or {}
    interface = info.get("interfaceId_v2") or str(info.get("interfaceId") or "").strip('"') or None
    return {"host": entry.get("systemName"), "interface": interface, "max_frame": info.get("maxFrameSize") or None}


def _kind(name: str, hardware: str, model: str) -> str:
    """Return the project's word for an interface, from EOS' `hardware` and `forwardingModel`."""
    if name.startswith("Management"):
        return "management"
    by_hardware = {"vlan": "svi", "portChannel": "lag", "loopback": "loopback", "subinterface": "subinterface"}
    if hardware in by_hardware:
        return by_hardware[hardware]
    if hardware in {"vxlan", "tunnel"}:
        return "tunnel"
    return {"routed": "routed", "bridged": "switched", "dataLink": "member"}.get(model, "other")


def _interface(name: str, kind: str, mtu: int | None, **known: Any) -> dict[str, Any]:
    counted = mtu or None  # Vxlan shows 0, which is no size
    return {
        "name": name,
        "kind": kind,
        "ip_mtu": counted,
        "mru": None,
        "device_mtu": counted,
        "configured_mtu": known.get("configured_mtu"),
        "persisted_mtu": None,
        "max_ip_mtu": None,
        "parent": known.get("parent"),
        "members": known.get("members"),
        "oper_up": known.get("oper_up"),
        "addresses": known.get("addresses"),
        "counters": known["counters"],
        "neighbours": None,
        "vlans": None,
    }


def _counters(oversize: Any, runts: Any, crc: Any, errors: Any, packets: Any) -> dict[str, Any]:
    return {
        "oversize": oversize,
        "runts": runts,
        "crc": crc,
        "input_errors": errors,
        "length_errors": None,
        "input_packets": packets,
    }


def _from_json(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    counted = data.get("interfaceCounters") or {}
    detail = counted.get("inputErrorsDetail") or {}
    packets = [counted[key] for key in ("inUcastPkts", "inMulticastPkts", "inBroadcastPkts") if key in counted]
    member = re.search(r"Member of (\S+)", str(data.get("interfaceMembership") or ""))
    members = data.get("memberInterfaces")
    return _interface(
        name,
        _kind(name, str(data.get("hardware")), str(data.get("forwardingModel"))),
        data.get("mtu"),
        configured_mtu=data.get("mtu") if data.get("l3MtuConfigured") else None,
        parent=member.group(1) if member else name.rpartition(".")[0] or None,
        members=sorted(members) if members else None,
        oper_up=data["lineProtocolStatus"] == "up" if "lineProtocolStatus" in data else None,
        addresses=list(_addresses(data.get("interfaceAddress"))),
        counters=_counters(
            detail.get("giantFrames"),
            detail.get("runtFrames"),
            detail.get("fcsErrors"),
            counted.get("totalInErrors"),
            sum(packets) if packets else None,
        ),
    )


def _addresses(entries: Any) -> Iterable[str]:
    for entry in [entries] if isinstance(entries, Mapping) else entries or []:
        secondary = entry.get("secondaryIps") or {}
        for address in [entry.get("primaryIp") or {}, *secondary.values()]:
            if address.get("address") not in (None, "0.0.0.0"):  # noqa: S104 - how EOS writes "no address"
                yield f"{address['address']}/{address['maskLen']}"


_TEXT_HEADER = re.compile(r"^\s*(?P<name>\S+) is (?P<admin>.+?), line protocol is (?P<line>\S+)", re.MULTILINE)
_TEXT_MTU = re.compile(r"^\s*(?P<what>IP|Ethernet) MTU (?P<mtu>\d+) bytes(?P<default> \(default\))?", re.MULTILINE)


def _from_text(text: str) -> list[dict[str, Any]]:
    found = list(_TEXT_HEADER.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [_text_block(match, text[match.start() : end]) for match, end in zip(found, ends)]


def _text_block(header: re.Match[str], block: str) -> dict[str, Any]:
    name, mtu = header["name"], _TEXT_MTU.search(block)
    hardware = {
        "Vlan": "vlan",
        "Port-Channel": "portChannel",
        "Loopback": "loopback",
        "Vxlan": "vxlan",
        "Tunnel": "tunnel",
    }
    kind = next((value for prefix, value in hardware.items() if name.startswith(prefix)), "ethernet")
    if "." in name:
        kind = "subinterface"
    model = "routed" if mtu and mtu["what"] == "IP" else "bridged" if mtu else ""
    member = re.search(r"Member of (Port-Channel\S+)", block)
    explicit = bool(mtu and mtu["what"] == "IP" and not mtu["default"] and " (default)" in block)
    size = int(mtu["mtu"]) if mtu else None
    return _interface(
        name,
        _kind(name, kind, "dataLink" if member else model),
        size,
        configured_mtu=size if explicit else None,
        parent=member.group(1) if member else name.rpartition(".")[0] or None,
        oper_up=header["line"] == "up",
        addresses=re.findall(r"Internet address is (\d\S+)", block),
        counters=_counters(
            _count(block, r"(\d+) giants"),
            _count(block, r"(\d+) runts"),
            _count(block, r"(\d+) CRC"),
            _count(block, r"(\d+) input errors"),
            _count(block, r"(\d+) packets input"),
        ),
    )


def _count(block: str, pattern: str) -> int | None:
    match = re.search(pattern, block)
    return int(match.group(1)) if match else None
