"""`show bgp summary`: the neighbours, whether their sessions are up, and what is learned by them.

How a summary words a neighbour that is shut down is not confirmed: it is Idle, as any session that nobody tries is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plane import Session
from .answer import Answer, Arguments
from .bgp import Peer
from .xml import Xml, el

if TYPE_CHECKING:
    from .device import JunosDevice
    from .session import Login

ESTABLISHED, IDLE, ACTIVE = "Established", "Idle", "Active"
_NOBODY = Session(False, 0.0)


def summary(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show bgp summary`."""
    device = login.device
    peers = device.bgp.peers
    if not peers:
        return Answer(lambda: el("output", "BGP is not running"), lambda: "BGP is not running")
    found = [(peer, device.session(peer.address) or _NOBODY) for peer in peers]
    down = sum(not session.established for _peer, session in found)
    head = [el("group-count", device.bgp.groups), el("peer-count", len(peers)), el("down-peer-count", down)]
    return Answer(
        lambda: el("bgp-information", *head, *(_peer(device, *item) for item in found)),
        lambda: "\n".join(
            [
                f"Groups: {device.bgp.groups} Peers: {len(peers)} Down peers: {down}",
                "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn State",
                *(_row(device, *item) for item in found),
            ]
        ),
    )


def _state(peer: Peer, session: Session) -> str:
    return IDLE if peer.shut else ESTABLISHED if session.established else ACTIVE


def _seconds(device: JunosDevice, session: Session) -> int:
    return max(0, int(device.now() - (session.since or device.booted_at)))


def _spent(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"  # noqa: PLR2004


def _peer(device: JunosDevice, peer: Peer, session: Session) -> Xml:
    seconds, state = _seconds(device, session), _state(peer, session)
    count = len(session.prefixes)
    table = el(
        "bgp-rib",
        el("name", "inet6.0" if ":" in peer.address else "inet.0"),
        el("active-prefix-count", count),
        el("received-prefix-count", count),
        el("accepted-prefix-count", count),
        el("suppressed-prefix-count", 0),
        junos_style="terse",
    )
    return el(
        "bgp-peer",
        el("peer-address", peer.address),
        el("peer-as", peer.asn),
        el("input-messages", seconds // 30),
        el("output-messages", seconds // 30),
        el("route-queue-count", 0),
        el("flap-count", 0),
        el("elapsed-time", _spent(seconds), junos_seconds=str(seconds)),
        el("description", peer.description) if peer.description else None,
        el("peer-state", state),
        table if state == ESTABLISHED else None,
        junos_style="terse",
    )


def _row(device: JunosDevice, peer: Peer, session: Session) -> str:
    seconds, state = _seconds(device, session), _state(peer, session)
    shown = f"{state[:6]}" if state == ESTABLISHED else state
    head = f"{peer.address:<21} {peer.asn:>5} {seconds // 30:>10} {seconds // 30:>10}       0       0"
    return f"{head} {_spent(seconds):>11} {shown}"
