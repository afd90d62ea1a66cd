"""`show ip bgp summary` and `show ipv6 bgp summary`: the neighbours of a family, and what became of their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plane import Session
from .answers import Answer
from .bgp import Bgp, Peer
from .errors import runtime

if TYPE_CHECKING:
    from .cli import Cli
    from .device import EosDevice

_NOBODY = Session(False, 0.0)
_KEEPALIVE = 60


def ipv4(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show ip bgp summary [vrf V]`."""
    return _summary(cli, arguments, 4)


def ipv6(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show ipv6 bgp summary [vrf V]`."""
    return _summary(cli, arguments, 6)


def _summary(cli: Cli, arguments: dict[str, str], family: int) -> Answer:
    vrf, device = arguments.get("vrf", cli.vrf), cli.device
    if vrf not in {"default", "all"}:
        raise runtime(f"VRF {vrf} is not configured for BGP.")
    bgp = device.bgp
    if bgp is None:
        return Answer("% BGP inactive", {"vrfs": {}})
    peers = [peer for peer in bgp.peers if (":" in peer.address) is (family == 6)]  # noqa: PLR2004
    found = [(peer, device.session(peer.address) or _NOBODY) for peer in peers]

    def data() -> dict[str, Any]:
        shown = {peer.address: _model(device, peer, session) for peer, session in found}
        return {"vrfs": {"default": {"vrf": "default", "routerId": bgp.router_id, "asn": bgp.asn, "peers": shown}}}

    return Answer(lambda: _text(device, bgp, found), data)


def _state(peer: Peer, session: Session) -> tuple[str, str]:
    """Return the state and, where a session is idle, why."""
    if peer.shut:
        return "Idle", "Admin"
    return ("Established", "") if session.established else ("Active", "")


def _model(device: EosDevice, peer: Peer, session: Session) -> dict[str, Any]:
    state, reason = _state(peer, session)
    count = len(session.prefixes) if state == "Established" else 0
    messages = int(_seconds(device, session) // _KEEPALIVE)
    return {
        "version": 4,
        "msgReceived": messages,
        "msgSent": messages,
        "inMsgQueue": 0,
        "outMsgQueue": 0,
        "asn": peer.asn,
        "prefixAccepted": count,
        "prefixReceived": count,
        "upDownTime": session.since or device.booted_at,
        "underMaintenance": False,
        "peerState": state,
        **({"peerStateIdleReason": reason} if reason else {}),
        **({"description": peer.description} if peer.description else {}),
    }


def _seconds(device: EosDevice, session: Session) -> float:
    return max(0.0, device.now() - (session.since or device.booted_at))


def _text(device: EosDevice, bgp: Bgp, found: list[tuple[Peer, Session]]) -> str:
    line = "  {:<24} {:<18} {} {:<11} {:>8} {:>9} {:>5} {:>5} {:>8} {:<7} {:<6} {}".format
    head = (
        "Description",
        "Neighbor",
        "V",
        "AS",
        "MsgRcvd",
        "MsgSent",
        "InQ",
        "OutQ",
        "Up/Down",
        "State",
        "PfxRcd",
        "PfxAcc",
    )
    lines = [
        "BGP summary information for VRF default",
        f"Router identifier {bgp.router_id}, local AS number {bgp.asn}",
        "Neighbor Status Codes: m - Under maintenance",
        line(*head),
    ]
    for peer, session in found:
        model, (state, reason) = _model(device, peer, session), _state(peer, session)
        word = "Estab" if state == "Established" else f"{state}({reason})" if reason else state
        counts = (model["prefixReceived"], model["prefixAccepted"]) if state == "Established" else ("", "")
        lines.append(
            line(
                peer.description,
                peer.address,
                4,
                peer.asn,
                model["msgReceived"],
                model["msgSent"],
                0,
                0,
                _clock(_seconds(device, session)),
                word,
                *counts,
            ).rstrip()
        )
    return "\n".join(lines)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"
