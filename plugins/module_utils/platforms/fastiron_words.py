"""What FastIron's words mean to a step: names, configurations as lines, what to type. No I/O.

Interfaces are called as `show interfaces` prints them (`GigabitEthernet1/1/1`, `Ve10`), a LAG `lg1`; the command line
calls them `ethernet 1/1/1`, `ve 10` and `lag 1`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence

JUMBO = "jumbo"
GLOBAL = ""
DEFAULT_IP_MTU = 1500  # Ethernet II (FastIron 08.0.60 Layer 3 guide, ip mtu)

REFUSED = re.compile(
    r"^\s*(?:invalid\b|incomplete|ambiguous|unrecognized|error\b|not authorized|flash access in progress)[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""The line of an answer that says no. Most wordings are not confirmed, so what was wanted is always read back too."""

BUSY = re.compile(r"flash access in progress", re.IGNORECASE)
QUESTION = re.compile(r"\(enter 'y' or 'n'\):\s*$")
GOING_DOWN = re.compile(r"going down", re.IGNORECASE)
_NONE_SCHEDULED = re.compile(
    r"(?:no reload is scheduled|no scheduled reload|reload is not scheduled)?\.?", re.IGNORECASE
)
_NO_SUCH_COMMAND = re.compile(r"invalid input\b", re.IGNORECASE)

_NAMES = (
    (re.compile(r"\d*[A-Za-z]*Ethernet(\d+(?:/\d+)*)"), "ethernet"),
    (re.compile(r"[Vv]e(\d+)"), "ve"),
    (re.compile(r"(?:Lag )?lg(\d+)"), "lag"),
    (re.compile(r"[Ll]oopback(\d+)"), "loopback"),
)
_PORT_LISTS = re.compile(r"(?:ethe(?:rnet)?|eth|e)\s+(\d+(?:/\d+)*)(?:\s+to\s+(\d+(?:/\d+)*))?")
_HEADER = re.compile(r"^(?:!|end$|Current configuration|Startup(?:-config| configuration)|ver )")


def command_of(interface: str) -> str | None:
    """Return how the command line calls an interface, None for what has no name there (management)."""
    for pattern, word in _NAMES:
        found = pattern.fullmatch(interface)
        if found:
            return f"{word} {found.group(1)}"
    return None


def number_of(interface: str) -> str:
    """Return 1/1/1 of GigabitEthernet1/1/1."""
    return (command_of(interface) or "").rpartition(" ")[2]


@dataclass(frozen=True)
class Config:
    """A configuration: its lines by stanza (`interface ve 10`), GLOBAL for those that are in none."""

    stanzas: Mapping[str, Sequence[str]]

    @classmethod
    def read(cls, text: str) -> Config:
        """Read `show running-config` or `show configuration`; what stands before the first line is left out."""
        found: dict[str, list[str]] = {GLOBAL: []}
        stanza = GLOBAL
        for line in text.splitlines():
            if not line.strip() or _HEADER.match(line):
                stanza = GLOBAL
            elif line.startswith(" "):
                found[stanza].append(line.strip())
            else:
                stanza = line.strip()
                found.setdefault(stanza, [])
        return cls(found)

    @property
    def has_jumbo(self) -> bool:
        """Tell whether `jumbo` stands where it counts: alone, and in no stanza."""
        return JUMBO in self.stanzas

    def of_interface(self, interface: str) -> Sequence[str]:
        """Return the lines of an interface."""
        return self.stanzas.get(f"interface {command_of(interface)}", ())

    def ip_mtu(self, interface: str) -> int | None:
        """Return the `ip mtu` that is stated of an interface."""
        for line in self.of_interface(interface):
            found = re.fullmatch(r"ip mtu (\d+)", line)
            if found:
                return int(found.group(1))
        return None

    def is_routed(self, interface: str) -> bool:
        """Tell whether an interface has an address of its own."""
        return any(re.match(r"(?:ip|ipv6) address |route-only$", line) for line in self.of_interface(interface))

    def addresses(self, interface: str) -> list[str]:
        """Return the prefixes of an interface, IPv4 first."""
        lines = [line.split()[2:] for line in self.of_interface(interface) if re.match(r"ip(?:v6)? address ", line)]
        return [_prefix(words) for words in lines]

    def lags(self) -> dict[str, list[str]]:
        """Return {lg1: the numbers of its ports}."""
        found = {}
        for name, lines in self.stanzas.items():
            lag = re.match(r"lag .*\bid (\d+)", name)
            if lag:
                found[f"lg{lag.group(1)}"] = [n for line in lines if line.startswith("ports ") for n in _ports(line)]
        return found

    def vlans(self) -> dict[str, list[int]]:
        """Return {port's number, or lg1: the VLANs that it switches}, of those that a VLAN names.

        A LAG is named as itself (`tagged lag 1 to 2`), in older releases by its ports.
        """
        found: dict[str, list[int]] = {}
        for name, lines in self.stanzas.items():
            vlan = re.match(r"vlan (\d+)", name)
            for line in lines if vlan else ():
                for port in [*_ports(line), *_lags(line)] if re.match(r"(?:un)?tagged ", line) else ():
                    found.setdefault(port, []).append(int(vlan.group(1)))  # type: ignore[union-attr]
        return found

    @property
    def default_vlan(self) -> int | None:
        """The VLAN of ports that no VLAN names, None where the configuration does not tell it."""
        told = (re.match(r"default-vlan-id (\d+)|vlan (\d+) name DEFAULT-VLAN\b", name) for name in self.stanzas)
        return next((int(found.group(1) or found.group(2)) for found in told if found), None)

    def lines(self) -> list[str]:
        """Return everything, in a form that compares."""
        return [
            part
            for name, lines in self.stanzas.items()
            for part in ([name] if name else []) + [f" {one}" for one in lines]
        ]

    def without(self, interfaces: Iterable[str], *, jumbo: bool = True) -> Config:
        """Return what is left when our own lines are taken away: the `ip mtu` of these interfaces, and `jumbo`."""
        ours = {f"interface {command_of(name)}" for name in interfaces}
        kept = {
            name: [line for line in lines if not (name in ours and line.startswith("ip mtu "))]
            for name, lines in self.stanzas.items()
            if not (jumbo and name == JUMBO)
        }
        return Config({name: lines for name, lines in kept.items() if lines or not name.startswith("interface ")})

    def without_defaults(self, saved: Config) -> Config:
        """Return what is left without the default `ip mtu` of interfaces of which `saved` states none."""
        default = f"ip mtu {DEFAULT_IP_MTU}"
        kept = {
            name: lines if _states_size(saved.stanzas.get(name, ())) else [line for line in lines if line != default]
            for name, lines in self.stanzas.items()
        }
        return Config({name: lines for name, lines in kept.items() if lines or not name.startswith("interface ")})


def _states_size(lines: Iterable[str]) -> bool:
    return any(line.startswith("ip mtu ") for line in lines)


def _ports(line: str) -> list[str]:
    found = []
    for first, last in _PORT_LISTS.findall(line):
        head, _slash, start = first.rpartition("/")
        end = int((last or first).rpartition("/")[2])
        found += [f"{head}/{number}" if head else str(number) for number in range(int(start), end + 1)]
    return found


def _lags(line: str) -> list[str]:
    found = re.findall(r"\blag (\d+)(?: to (\d+))?", line)
    return [f"lg{number}" for first, last in found for number in range(int(first), int(last or first) + 1)]


def _prefix(words: Sequence[str]) -> str:
    if "/" in words[0] or len(words) == 1:
        return words[0]
    return f"{words[0]}/{sum(bin(int(part)).count('1') for part in words[1].split('.'))}"


def difference(before: Config, after: Config) -> str:
    """Return the lines that differ, each with `-` or `+` before it; "" where none does."""
    compared = difflib.unified_diff(before.lines(), after.lines(), n=0, lineterm="")
    return "\n".join(line for line in compared if not line.startswith(("---", "+++", "@@")))


def mtu_lines(interface: str, stated: int | None, size: int | None) -> list[str]:
    """Return what to type so that an interface states a size, or none; nothing where it is so already."""
    if stated == size:
        return []
    line = f"no ip mtu {stated}" if size is None else f"ip mtu {size}"
    return [f"interface {command_of(interface)}", line, "exit"]


def told_size(interface: str, stated: int | None, size: int | None) -> str:
    """Return the same as a difference for people."""
    lines = [f" interface {command_of(interface)}"]
    lines += [f"-  ip mtu {stated}"] if stated is not None else []
    lines += [f"+  ip mtu {size}"] if size is not None else []
    return "\n".join(lines)


def refusal_of(answer: str) -> str | None:
    """Return the line by which the box refuses, None where it does not."""
    found = REFUSED.search(answer)
    return found.group(0).strip() if found else None


def scheduled_in(answer: str) -> str | None:
    """Return what `show reload` tells of a scheduled reload in one line, None where there is none.

    No vendor document shows its words. So only an empty answer, a whole sentence that says so, or a box that does not
    know the command mean none; anything else is taken for a reload.
    """
    said = " ".join(answer.split())
    return None if _NONE_SCHEDULED.fullmatch(said) or _NO_SUCH_COMMAND.match(said) else said


def allowed_in(line: str) -> tuple[int, int] | None:
    """Return the range that a refusal names, None where it names none; its wording is not confirmed."""
    found = re.search(r"\b(\d{3,5})\s*(?:-|to|and)\s*(\d{4,5})\b", line)
    return (int(found.group(1)), int(found.group(2))) if found else None


def after(seconds: int) -> str:
    """Return the command for a scheduled reload, in whole minutes rounded up: dd:hh:mm."""
    minutes = -(-seconds // 60)
    return f"reload after {minutes // 1440:02d}:{minutes // 60 % 24:02d}:{minutes % 60:02d}"
