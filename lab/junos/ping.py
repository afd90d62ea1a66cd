"""`ping`: Junos's words to ping(8), and its output as Junos prints it or as the RPC has it. Runs without locks."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .answer import Answer, Arguments
from .errors import refused, syntax_error
from .xml import Xml, el

if TYPE_CHECKING:
    from .session import Login

_DESTINATION = re.compile(r"[0-9A-Za-z][\w.:-]*")
_NUMBERS = {"size": (0, 61580), "count": (1, 2_000_000_000), "wait": (0, 2_147_483_647), "ttl": (1, 255)}
_WORDS = ("do-not-fragment", "rapid", "no-resolve", "bypass-routing", "inet", "inet6")
_NAMED = ("host", "source", "interface", "routing-instance", "interval", "tos")
_REPLY = re.compile(r"(\d+) bytes from (\S+?):? .*?icmp_seq=(\d+) ttl=(\d+) time=([\d.]+) ms")
_FRAG_NEEDED = re.compile(r"From (\S+).*?icmp_seq=(\d+) Frag needed and DF set \(mtu = (\d+)\)")
_TOO_LONG = re.compile(r"local error: message too long", re.IGNORECASE)
_SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) received")
_OTHER_ERROR = re.compile(r"(?:connect|sendmsg|sendto): (.+)")
_PAYLOAD_ALONE = 56


@dataclass(frozen=True, slots=True)
class _Seen:
    """What ping(8) printed."""

    sent: int
    replies: tuple[tuple[int, str, int, int, float], ...]  # bytes, from, sequence from 0, ttl, milliseconds
    refusals: tuple[tuple[str, int], ...]  # router, MTU
    warning: str


def ping(login: Login, arguments: Arguments) -> Answer:
    """Answer `ping HOST [options]`: `size` is the payload, `do-not-fragment` sets DF."""
    unknown = next((word for word in arguments if word not in (*_NUMBERS, *_WORDS, *_NAMED)), None)
    if unknown:
        raise syntax_error(unknown)
    for word, (low, high) in _NUMBERS.items():
        text = arguments.get(word)
        if text is not None and not (text.isdigit() and low <= int(text) <= high):
            raise refused(f"invalid value '{text}' for {word}: not within range ({low}..{high})", element=word)
    host = arguments.get("host", "")
    if not _DESTINATION.fullmatch(host):
        raise refused("missing argument.", element="host")
    count, wait = int(arguments.get("count", "5")), int(arguments.get("wait", "2"))
    output = login.device.plane.ping(_line(login, arguments, host, count, wait), count * (wait + 1) + 5.0)
    seen = _read(output, count)
    size = int(arguments.get("size", str(_PAYLOAD_ALONE)))
    return Answer(
        lambda: _xml(login, host, size, seen),
        lambda: _text(host, size, seen, rapid="rapid" in arguments),
    )


def _line(login: Login, arguments: Arguments, host: str, count: int, wait: int) -> list[str]:
    """Return the arguments of ping(8). It sends as fast as answers come; the box's one echo a second is not copied."""
    line = ["-n", "-A", "-i", "0.01", "-c", str(count), "-W", str(max(1, wait))]
    line += ["-s", arguments.get("size", str(_PAYLOAD_ALONE)), "-M", "do" if "do-not-fragment" in arguments else "dont"]
    if "ttl" in arguments:
        line += ["-t", arguments["ttl"]]
    for word in ("source", "interface"):
        if word in arguments:
            line += ["-I", _address_of(login, arguments[word])]
    return [*line, host]


def _address_of(login: Login, name: str) -> str:
    for port in login.device.ports.values():
        for unit in port.units:
            if name in (unit.name, port.name):
                found = [prefix for family in unit.families for prefix in family.addresses]
                if found:
                    return str(ipaddress.ip_interface(found[0]).ip)
    return name


def _read(output: str, count: int) -> _Seen:
    replies = tuple(
        (int(match[1]), match[2], int(match[3]) - 1, int(match[4]), float(match[5]))
        for match in _REPLY.finditer(output)
    )
    refusals = tuple((match[1], int(match[3])) for match in _FRAG_NEEDED.finditer(output))
    summary, other = _SUMMARY.search(output), _OTHER_ERROR.search(output)
    warning = "sendto: Message too long" if _TOO_LONG.search(output) else ""
    if not warning and other:
        warning = f"sendto: {'No route to host' if 'unreachable' in other[1] else other[1]}"
    return _Seen(int(summary[1]) if summary else count, replies, refusals, warning)


def _loss(seen: _Seen) -> int:
    return round(100 * (seen.sent - len(seen.replies)) / seen.sent) if seen.sent else 100


def _xml(login: Login, host: str, size: int, seen: _Seen) -> Xml:
    hardware = login.device.hardware
    items = [el("target-host", host), el("target-ip", host), el("packet-size", size)]
    if seen.warning:
        items.append(_warning(seen.warning, base=hardware.ping_errors == "base"))
    for length, sender, sequence, ttl, took in seen.replies:
        items.append(
            el(
                "probe-result",
                el("probe-index", sequence + 1),
                el("probe-success"),
                el("sequence-number", sequence),
                el("ip-address", sender),
                el("time-to-live", ttl),
                el("response-size", length),
                el("rtt", round(took * 1000)),
            )
        )
    times = [round(took * 1000) for *_rest, took in seen.replies]
    summary = [
        el("probes-sent", seen.sent),
        el("responses-received", len(seen.replies)),
        el("packet-loss", _loss(seen)),
    ]
    if times:
        mean = sum(times) / len(times)
        deviation = (sum((one - mean) ** 2 for one in times) / len(times)) ** 0.5
        numbers = {"minimum": min(times), "maximum": max(times), "average": round(mean), "stddev": round(deviation)}
        summary += [el(f"rtt-{name}", number) for name, number in numbers.items()]
    items.append(el("probe-results-summary", *summary))
    items.append(el("ping-success") if times else el("ping-failure", "no response"))
    name = f"http://xml.juniper.net/junos/{hardware.release}/junos-probe-tests"
    return el("ping-results", *items, xmlns=name)


def _warning(message: str, *, base: bool) -> Xml:
    """Return the error that stands in the results: in their name space, or in NETCONF's own (not confirmed which)."""
    facts = [el("source-daemon", "ping"), el("error-severity", "warning"), el("error-message", f"{message}\n")]
    return el("rpc-error", *facts, xmlns="urn:ietf:params:xml:ns:netconf:base:1.0") if base else el("rpc-error", *facts)


def _text(host: str, size: int, seen: _Seen, *, rapid: bool) -> str:
    lines = [f"PING {host} ({host}): {size} data bytes"]
    if rapid:  # no public sample: marks as other implementations of BSD origin print them
        lines.append("!" * len(seen.replies) + "." * (seen.sent - len(seen.replies)))
    else:
        lines += [
            f"{length} bytes from {sender}: icmp_seq={sequence} ttl={ttl} time={took:.3f} ms"
            for length, sender, sequence, ttl, took in seen.replies
        ]
    lines += [f"36 bytes from {router}: frag needed and DF set (MTU {mtu})" for router, mtu in seen.refusals]
    if seen.warning:
        lines += [f"ping: {seen.warning}"] * (seen.sent - len(seen.replies))
    lines += ["", f"--- {host} ping statistics ---"]
    received = len(seen.replies)
    lines.append(f"{seen.sent} packets transmitted, {received} packets received, {_loss(seen)}% packet loss")
    times = [took for *_rest, took in seen.replies]
    if times:
        mean = sum(times) / len(times)
        deviation = (sum((one - mean) ** 2 for one in times) / len(times)) ** 0.5
        numbers = f"{min(times):.3f}/{mean:.3f}/{max(times):.3f}/{deviation:.3f}"
        lines.append(f"round-trip min/avg/max/stddev = {numbers} ms")
    return "\n".join(lines)
