"""`ping`: EOS words to ping(8) and its output back. Runs without the device's lock, since it takes its time."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .answers import Answer, messages
from .errors import incomplete, invalid_token
from .names import canonical
from .ports import Port

if TYPE_CHECKING:
    from .cli import Cli

_IPV4_OVERHEAD, _IPV6_OVERHEAD = 28, 48
_SMALLEST, _LARGEST = 36, 65535
_DESTINATION = re.compile(r"[0-9A-Za-z][\w.:-]*")


@dataclass(slots=True)
class _Wish:
    destination: str
    size: int = 100
    repeat: int = 5
    timeout: int = 2
    df_bit: bool = False
    source: str = ""
    interface: str = ""
    vrf: str = ""


def ping(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `ping [vrf V] D [options in any order]`; the text goes out as one message in JSON."""
    wish = _read(arguments["words"].split())
    vrf = wish.vrf or cli.vrf
    if vrf != "default":  # a lab node has one routing table; what EOS's ping says of an empty VRF is this
        return messages("connect: Network is unreachable")
    line = _arguments(cli, wish)
    patience = wish.repeat * (wish.timeout + 1) + 5.0
    return messages(_as_eos(cli.device.plane.ping(line, patience)))


def _read(words: list[str]) -> _Wish:
    vrf = ""
    offset = 1
    if words[0] == "vrf" and len(words) > 2:  # noqa: PLR2004 - vrf, its name, the destination
        vrf, words, offset = words[1], words[2:], 3
    if not _DESTINATION.fullmatch(words[0]):
        raise invalid_token(offset, words[0])
    wish = _Wish(words[0], vrf=vrf)
    position = 1
    while position < len(words):
        word = words[position]
        if word == "df-bit":
            wish.df_bit = True
            position += 1
            continue
        if word not in _OPTIONS:
            raise invalid_token(offset + position, word)
        if position + 1 == len(words):
            raise incomplete(offset + position, word)
        value = words[position + 1]
        _OPTIONS[word](wish, word, value, offset + position + 1)
        position += 2
    return wish


def _number(wish: _Wish, word: str, value: str, token: int) -> None:
    low, high = {"size": (_SMALLEST, _LARGEST), "repeat": (1, 1_000_000), "timeout": (1, 3600)}[word]
    if not value.isdigit() or not low <= int(value) <= high:
        raise invalid_token(token, value)
    setattr(wish, word, int(value))


def _name(wish: _Wish, word: str, value: str, token: int) -> None:
    if not _DESTINATION.fullmatch(value):
        raise invalid_token(token, value)
    setattr(wish, word, value)


_OPTIONS = {"size": _number, "repeat": _number, "timeout": _number, "source": _name, "interface": _name}


def _arguments(cli: Cli, wish: _Wish) -> list[str]:
    """Return the arguments for ping(8). EOS's size is the whole IP packet (public test fixtures: 1500 is 1472 of data).

    Whether that holds for IPv6 as well is not confirmed: taken so, 48 bytes of headers.
    `-A` sends as fast as answers come and without them every 10 ms, which gives the times in those fixtures.
    """
    overhead = _IPV6_OVERHEAD if _is_ipv6(wish.destination) else _IPV4_OVERHEAD
    line = [
        "-A",
        "-i",
        "0.01",
        "-c",
        str(wish.repeat),
        "-W",
        str(wish.timeout),
        "-s",
        str(max(0, wish.size - overhead)),
    ]
    line += ["-M", "do" if wish.df_bit else "dont"]
    for name in (wish.source, wish.interface):
        if name:
            line += ["-I", _address_of(cli, name, six=_is_ipv6(wish.destination))]
    return [*line, wish.destination]


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6  # noqa: PLR2004 - IPv6
    except ValueError:
        return False


def _address_of(cli: Cli, name: str, *, six: bool) -> str:
    """Return the address of a source given as an interface; an interface without one goes by its name."""
    port: Port | None = cli.device.ports.get(canonical(name) or "")
    own = (port.ipv6_addresses if six else port.addresses) if port else ()
    if own:
        return own[0].partition("/")[0]
    return port.name if port else name


def _as_eos(output: str) -> str:
    """Older ping(8) writes the local error with a capital letter."""
    return output.replace("local error: Message too long", "local error: message too long")
