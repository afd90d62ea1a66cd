"""`ping`: FastIron's words to ping(8), and its output as FastIron prints it. Runs without locks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .words import Refused, unknown

if TYPE_CHECKING:
    from .cli import Cli

_REPLY = re.compile(r"(\d+) bytes from (\S+?):? .*?icmp_seq=(\d+) ttl=(\d+) time=([\d.]+) ms")
_RANGES = {"count": (1, 4294967296), "timeout": (1, 4294967296), "ttl": (1, 255), "size": (0, 10000)}
_DEFAULTS = {"count": 1, "timeout": 5000, "ttl": 64, "size": 16}
_FLAGS = ("no-fragment", "quiet", "numeric", "verify", "brief")
_HEADER = 8


def ping(cli: Cli, words: str) -> str:
    """Answer `ping ADDRESS [source ADDRESS] [count N] [timeout MS] [ttl N] [size BYTES] [no-fragment] ...`."""
    numbers, flags, source, target = _read(words)
    wait = max(1, round(numbers["timeout"] / 1000))
    line = ["-n", "-A", "-i", "0.01", "-c", str(numbers["count"]), "-W", str(wait), "-t", str(numbers["ttl"])]
    line += ["-s", str(numbers["size"]), "-M", "do" if "no-fragment" in flags else "dont"]
    line += ["-I", source] if source else []
    output = cli.device.plane.ping([*line, target], numbers["count"] * (wait + 1) + 5.0)
    return "\n".join(_text(numbers, target, output))


def _read(words: str) -> tuple[dict[str, int], set[str], str, str]:
    _ping, target, *rest = words.split()
    numbers, flags, source = dict(_DEFAULTS), set[str](), ""
    while rest:
        word = rest.pop(0)
        if word in _FLAGS:
            flags.add(word)
        elif word == "source" and rest:
            source = rest.pop(0)
        elif word in _RANGES and rest:
            numbers[word] = _number(word, rest.pop(0))
        else:
            raise unknown(words)
    try:
        ipaddress.ip_address(target)
    except ValueError:
        raise Refused(f"Error - {target} cannot be resolved") from None  # wording not confirmed
    return numbers, flags, source, target


def _number(word: str, text: str) -> int:
    low, high = _RANGES[word]
    if not text.isdigit() or not low <= int(text) <= high:
        raise Refused(f"Invalid {word} - valid range ({low}-{high})")
    return int(text)


def _text(numbers: dict[str, int], target: str, output: str) -> Iterator[str]:
    count, size = numbers["count"], numbers["size"]
    yield f"Sending {count}, {size}-byte ICMP Echo to {target}, timeout {numbers['timeout']} msec, TTL {numbers['ttl']}"
    yield "Type Control-c to abort"
    replies = _REPLY.findall(output)
    times = [max(0, round(float(took))) for *_rest, took in replies]
    for (length, sender, _sequence, ttl, _took), took in zip(replies, times, strict=True):
        yield f"Reply from {sender:<16}: bytes={int(length) - _HEADER} time={took}ms TTL={ttl}"
    yield from ["Request timed out."] * (count - len(replies))
    if replies:
        rate = round(100 * len(replies) / count)
        mean = round(sum(times) / len(times))
        spread = f"round-trip min/avg/max={min(times)}/{mean}/{max(times)} ms."
        yield f"Success rate is {rate} percent ({len(replies)}/{count}), {spread}"
    else:
        yield "No reply from remote host."
