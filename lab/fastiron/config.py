"""A FastIron configuration: global lines and stanzas, in the order in which they came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

GLOBAL = ""
_PORT = re.compile(r"(?:ethernet|ethe|eth|e) ?(\d+/\d+/\d+)")
_STANZAS = ("interface ", "vlan ", "lag ")
_ENDS = ("!", "end", "")
_SINGLE = ("ip mtu", "port-name", "no spanning-tree", "router-interface", "hostname")  # a new one replaces the old one


@dataclass(slots=True)
class Config:
    """Lines by the stanza that they are in; GLOBAL is the stanza of all that are in none."""

    stanzas: dict[str, list[str]] = field(default_factory=lambda: {GLOBAL: []})

    @classmethod
    def read(cls, text: str) -> Config:
        """Return what a text says; the header that `show` prints before it is no part of it."""
        found, stanza = cls(), GLOBAL
        for line in text.splitlines():
            words = line.strip()
            if words in _ENDS or words.startswith(("Current configuration", "Startup", "ver ")):
                stanza = GLOBAL
            elif not line.startswith(" ") and words.startswith(_STANZAS):
                stanza = stanza_name(words)
                found.stanzas.setdefault(stanza, [])
            else:
                found.add(stanza if line.startswith(" ") else GLOBAL, words)
        return found

    def text(self) -> str:
        """Return the lines that both `show running-config` and `show configuration` print below their header."""
        parts = [f"{name}\n" + "".join(f" {line}\n" for line in lines) + "!" for name, lines in self._ordered()]
        return "\n".join(["!", *self._before(), *parts, *sorted(self.lines(GLOBAL)), "!", "end"])

    def lines(self, stanza: str) -> list[str]:
        """Return the lines of a stanza."""
        return self.stanzas.get(stanza, [])

    def has(self, line: str, stanza: str = GLOBAL) -> bool:
        """Tell whether the stanza has exactly this line."""
        return line in self.lines(stanza)

    def value(self, words: str, stanza: str = GLOBAL) -> str | None:
        """Return what stands behind these words."""
        found = (line.removeprefix(f"{words} ") for line in self.lines(stanza) if line.startswith(f"{words} "))
        return next(found, None)

    def values(self, words: str, stanza: str) -> list[str]:
        """Return all that stands behind these words."""
        return [line.removeprefix(f"{words} ") for line in self.lines(stanza) if line.startswith(f"{words} ")]

    def add(self, stanza: str, line: str) -> None:
        """Add a line; of some there is one only."""
        lines = self.stanzas.setdefault(stanza, [])
        only = next((words for words in _SINGLE if line.startswith(f"{words} ")), None)
        lines[:] = [old for old in lines if old != line and not (only and old.startswith(f"{only} "))]
        lines.append(line)

    def remove(self, stanza: str, line: str) -> bool:
        """Take a line away, named in full or without its value; tell whether there was one."""
        lines = self.stanzas.get(stanza, [])
        kept = [old for old in lines if old != line and not old.startswith(f"{line} ")]
        found = len(kept) < len(lines)
        lines[:] = kept
        return found

    def copy(self) -> Config:
        """Return one that changes apart from this."""
        return Config({name: list(lines) for name, lines in self.stanzas.items()})

    def matching(self, kind: str) -> Iterator[str]:
        """Yield the stanzas of a kind, for example "vlan"."""
        yield from (name for name in self.stanzas if name.startswith(f"{kind} "))

    def _ordered(self) -> Iterable[tuple[str, list[str]]]:
        order = {"lag": 0, "vlan": 1, "interface": 2}
        named = [(name, lines) for name, lines in self.stanzas.items() if name != GLOBAL]
        shown = [item for item in named if item[1] or not item[0].startswith("interface ethernet")]
        return sorted(shown, key=lambda item: (order[item[0].split()[0]], natural(item[0])))

    @staticmethod
    def _before() -> Iterator[str]:
        yield "stack unit 1\n  module 1 icx7150-24p-poe-port-management-module\n!"


def stanza_name(words: str) -> str:
    """Return a stanza's name as it is printed: `interface ethernet 1/1/1`, `interface ve 10`, `vlan 10 ...`."""
    kind, _space, rest = words.partition(" ")
    port = _PORT.fullmatch(rest)
    if kind == "interface" and port:
        return f"interface ethernet {port[1]}"
    return words


def natural(text: str) -> list[tuple[int, str]]:
    """Return a key by which 1/1/2 stands before 1/1/10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", text)]


def port_numbers(text: str) -> Iterator[str]:
    """Yield the ports of a list such as `ethe 1/1/1 to 1/1/3 ethe 1/1/7`."""
    for first, last in re.findall(r"(?:ethe(?:rnet)? )(\d+/\d+/\d+)(?: to (\d+/\d+/\d+))?", text):
        start = first.rpartition("/")
        for number in range(int(start[2]), int((last or first).rpartition("/")[2]) + 1):
            yield f"{start[0]}/{number}"


def lag_names(text: str) -> Iterator[str]:
    """Yield lg1 and lg2 of a list such as `ethe 1/1/1 lag 1 to 2`."""
    for first, last in re.findall(r"\blag (\d+)(?: to (\d+))?", text):
        yield from (f"lg{number}" for number in range(int(first), int(last or first) + 1))
