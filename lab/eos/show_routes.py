"""`show ip route`: the connected and static routes that the configuration makes, and what BGP has learned."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from .answers import Answer
from .errors import runtime
from .ports import ROUTED

if TYPE_CHECKING:
    from .cli import Cli
    from .device import EosDevice


_EBGP_DISTANCE = 200
_CODES = {"static": "S     ", "eBGP": "B E   "}


def routes(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show ip route [vrf V]`."""
    vrf = arguments.get("vrf", cli.vrf)
    if vrf not in {"default", "all"}:
        raise runtime(f"IP Routing table for VRF {vrf} does not exist.")
    found = {**_connected(cli.device), **_static(cli.device), **_learned(cli.device)}
    model = {
        "routingDisabled": "ip routing" not in cli.device.running.root.lines,
        "allRoutesProgrammedHardware": True,
        "allRoutesProgrammedKernel": True,
        "defaultRouteState": "reachable" if "0.0.0.0/0" in found else "notSet",
        "routes": found,
    }
    return Answer(lambda: _routes_text(found), {"vrfs": {"default": model}})


def _route(kind: str, via: dict[str, str], *, connected: bool) -> dict[str, Any]:
    return {
        "hardwareProgrammed": True,
        "kernelProgrammed": True,
        "routeType": kind,
        "routeAction": "forward",
        "directlyConnected": connected,
        "vias": [via],
        **({} if connected else {"preference": 1, "metric": 0}),
    }


def _connected(device: EosDevice) -> dict[str, Any]:
    found = {}
    for port in device.ports.values():
        if port.forwarding == ROUTED and port.addresses and device.live(port).up:
            prefix = str(ipaddress.ip_interface(port.addresses[0]).network)
            found[prefix] = _route("connected", {"interface": port.name}, connected=True)
    return found


def _static(device: EosDevice) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in device.running.root.lines:
        words = line.split()
        if words[:2] != ["ip", "route"] or len(words) < 4 or words[2] == "vrf":  # noqa: PLR2004 - ip route PREFIX NEXTHOP
            continue
        via = {"nexthopAddr": words[3], "interface": _egress(device, words[3])}
        if words[2] in found:
            found[words[2]]["vias"].append(via)
        else:
            found[words[2]] = _route("static", via, connected=False)
    return found


def _learned(device: EosDevice) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for peer in device.bgp.peers if device.bgp else ():
        session = device.session(peer.address)
        if peer.shut or ":" in peer.address or session is None or not session.established:
            continue
        via = {"nexthopAddr": peer.address, "interface": _egress(device, peer.address)}
        for prefix in session.prefixes:
            if prefix in found:
                found[prefix]["vias"].append(via)
            else:
                found[prefix] = {**_route("eBGP", via, connected=False), "preference": _EBGP_DISTANCE}
    return found


def _egress(device: EosDevice, hop: str) -> str:
    for port in device.ports.values():
        for prefix in port.addresses:
            if ipaddress.ip_address(hop) in ipaddress.ip_interface(prefix).network:
                return port.name
    return ""


def _routes_text(found: dict[str, Any]) -> str:
    lines = ["", "VRF: default", "Codes: C - connected, S - static, K - kernel,", ""]
    lines += ["Gateway of last resort is not set", ""] if "0.0.0.0/0" not in found else []
    for prefix, route in found.items():
        if route["directlyConnected"]:
            lines.append(f" C        {prefix} is directly connected, {route['vias'][0]['interface']}")
            continue
        for index, via in enumerate(route["vias"]):
            code = _CODES[route["routeType"]]
            cost = f"[{route['preference']}/0]"
            start = f" {code}   {prefix} {cost}" if index == 0 else " " * (len(prefix) + len(cost) + 11)
            lines.append(f"{start} via {via['nexthopAddr']}, {via['interface']}")
    return "\n".join(lines)
