"""ICMP echo with DF, as an operator would send it: iputils' own ping, for many targets at once, its words read."""

from __future__ import annotations

import ipaddress
import re
import subprocess
import time
from collections import deque
from typing import Any, Dict, NamedTuple

from .errors import ProbeError
from .iproute import need_program, plain_environment
from .wire import LARGEST_DATAGRAM, OVERHEADS, overhead

AT_ONCE = 64
MOST_COUNT = 1000
INTERVAL, WAIT = 0.2, 1
SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
# iputils writes `(mtu = 1500)` for IPv4 and `mtu=1500` for IPv6.
REMOTE = re.compile(
    r"^From (\S+?):? .*(?:Frag needed|Fragmentation needed|Packet too big)[^(]*?\(?mtu ?= ?(\d+)", re.MULTILINE
)
LOCAL = re.compile(r"(?:local error: )?[Mm]essage too long(?:, mtu[=:] ?(\d+))?")
USAGE_STATUS = 2
Json = Dict[str, Any]


class Echo(NamedTuple):
    """One ping to run: sizes are bytes of IP packet."""

    host: str | None
    address: str
    ip_mtu: int


def ping(request: Json) -> Json:
    """Ping: `{"targets", "ip_mtus", "count"}`, optionally from `source`; all concurrently."""
    echoes, count = _read(request)
    program = need_program("ping")
    source = request.get("source")
    options = ["-n", "-M", "do", "-c", str(count), "-W", str(WAIT), "-i", str(INTERVAL)]
    options += ["-I", _address(source, "source")] if source is not None else []
    waiting: deque[Echo] = deque(echoes)
    running: deque[Any] = deque()
    results: dict[Echo, Json] = {}
    limit = count * (INTERVAL + WAIT) + 10.0
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            echo = waiting.popleft()
            arguments = [program, *options, "-s", str(echo.ip_mtu - overhead(echo.address)), echo.address]
            running.append((echo, _start(arguments), time.monotonic() + limit))
        echo, process, end = running.popleft()
        results[echo] = _finish(echo, process, end)
    return {"pings": [results[echo] for echo in echoes]}


def _start(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plain_environment(),
    )


def _finish(echo: Echo, process: subprocess.Popen[bytes], end: float) -> Json:
    try:
        output, messages = process.communicate(timeout=max(0.1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        output, messages = process.communicate()
    found = parse(output.decode("utf-8", "replace") + "\n" + messages.decode("utf-8", "replace"), process.returncode)
    return {"dst": echo.address, "host": echo.host, "ip_mtu": echo.ip_mtu, **found}


def parse(text: str, status: int = 0) -> Json:
    """Read what ping wrote (both streams): counts decide, never its exit status - partial loss is status 0."""
    summary, remote, local = SUMMARY.search(text), REMOTE.search(text), LOCAL.search(text)
    reported = remote.group(2) if remote else local.group(1) if local else None
    error = None
    if summary is None or status >= USAGE_STATUS or "No buffer space available" in text:
        lines = [line.strip() for line in text.splitlines() if line.startswith("ping:")]
        error = lines[0] if lines else f"ping ended with status {status}"
    return {
        "sent": int(summary.group(1)) if summary else 0,
        "received": int(summary.group(2)) if summary else 0,
        "too_big_by": remote.group(1) if remote else None,
        "reported_mtu": int(reported) if reported else None,
        "local": local is not None,
        "error": error,
    }


def _read(request: Json) -> Any:
    targets, sizes, count = request.get("targets"), request.get("ip_mtus"), request.get("count", 3)
    if not isinstance(targets, list) or not targets:
        message = "the ping needs targets"
        raise ProbeError(message, object="targets", wish=targets, limit='a list of {"host", "address"}')
    if not isinstance(sizes, list) or not sizes:
        message = "the ping needs sizes"
        raise ProbeError(message, object="ip_mtus", wish=sizes, limit="a list of bytes of IP packet")
    for size in sizes:
        _whole(size, "ip_mtus", max(OVERHEADS.values()), LARGEST_DATAGRAM)
    _whole(count, "count", 1, MOST_COUNT)
    echoes = [
        Echo(entry.get("host"), _address(entry.get("address"), "targets"), size) for entry in targets for size in sizes
    ]
    return list(dict.fromkeys(echoes)), count


def _whole(value: Any, name: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        message = f"{value!r} is no value for {name}"
        raise ProbeError(message, object=name, wish=value, limit=f"{least}-{most}")


def _address(value: Any, name: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError as error:
        message = f"{value!r} is no IP address: {error}"
        raise ProbeError(message, object=name, wish=value, limit="IPv4 or IPv6 addresses") from None
