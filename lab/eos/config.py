"""The configuration as a tree of blocks, and its text. Pure: no device, no I/O."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from .grammar import RANK
from .names import canonical, sort_key

DEFAULT_MTU = 1500
_INDENT = "   "


class Block:
    """The lines of one block by their key, and the blocks below it by their header."""

    __slots__ = ("children", "lines", "mode")

    def __init__(self, mode: str = "global") -> None:
        self.mode = mode
        self.lines: dict[str, str] = {}
        self.children: dict[str, Block] = {}

    def copy(self) -> Block:
        """Return a deep copy."""
        twin = Block(self.mode)
        twin.lines = dict(self.lines)
        twin.children = {header: child.copy() for header, child in self.children.items()}
        return twin

    def value(self, key: str) -> str | None:
        """Return the words after the key, None if the line is not there."""
        line = self.lines.get(key)
        return None if line is None else line[len(key) :].strip()


class Config:
    """One whole configuration: the running one, a session's, or one read from a file."""

    __slots__ = ("ports", "root")

    def __init__(self, ports: Iterable[str] = ()) -> None:
        self.ports = frozenset(ports)
        self.root = Block()
        self.clean()

    def clean(self) -> None:
        """Go back to the factory default: no settings, the ports of the front plate are there."""
        self.root = Block()
        for port in sorted(self.ports, key=sort_key):
            self.root.children[f"interface {port}"] = Block("interface")

    def copy(self) -> Config:
        """Return a deep copy."""
        twin = Config()
        twin.ports = self.ports
        twin.root = self.root.copy()
        return twin

    @property
    def hostname(self) -> str:
        """Return the configured name, or what EOS calls itself without one."""
        return self.root.value("hostname") or "localhost"

    @property
    def system_mtu(self) -> int | None:
        """Return the MTU of `interface defaults`, None where it is not set."""
        defaults = self.root.children.get("interface defaults")
        value = defaults.value("mtu") if defaults else None
        return int(value) if value else None

    @property
    def default_mtu(self) -> int:
        """Return the MTU of a routed interface without its own."""
        return self.system_mtu or DEFAULT_MTU

    def interfaces(self) -> dict[str, Block]:
        """Return the interface blocks by name, in the order EOS lists them."""
        found = {name: block for header, block in self.root.children.items() if (name := interface_name(header))}
        return dict(sorted(found.items(), key=lambda item: sort_key(item[0])))


def interface_name(header: str) -> str | None:
    """Return the interface that a block header opens, None for other headers.

    >>> interface_name("interface Vlan10"), interface_name("interface defaults")
    ('Vlan10', None)
    """
    word, _sep, name = header.partition(" ")
    return canonical(name) if word == "interface" else None


def render(config: Config, *, every: bool = False) -> list[str]:
    """Return the running-config's lines, without its comment header and `end`.

    A default MTU is hidden, as on the device; `every` shows defaults (`show running-config all`).
    """
    shown = _with_defaults(config) if every else config
    out = ["!"]
    for header, lines in _groups(shown.root):
        out.extend(lines if header is None else [header, *_body(shown, header, every=every)])
        out.append("!")
    return out


def _groups(root: Block) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the root's lines, neighbours of one kind together, and its blocks, in the order EOS prints them."""
    singles: dict[int, list[str]] = {}
    for key, line in root.lines.items():
        singles.setdefault(_rank("global", key), []).extend(line.split("\n"))
    blocks: dict[int, list[str]] = {}
    for header in root.children:
        blocks.setdefault(_rank("global", header), []).append(header)
    for rank in sorted({*singles, *blocks}):
        if rank in singles:
            yield None, singles[rank]
        yield from ((header, []) for header in sorted(blocks.get(rank, []), key=_header_key))


def _header_key(header: str) -> tuple[tuple[int, list[int]], str]:
    name = interface_name(header)
    return (sort_key(name), "") if name else ((0, [int(word) for word in header.split() if word.isdigit()]), header)


def _rank(mode: str, text: str) -> int:
    words = text.removeprefix("no ").split()
    table = RANK[mode]
    for size in range(len(words), 0, -1):
        if (rank := table.get(" ".join(words[:size]))) is not None:
            return rank
    return len(table)


def _body(config: Config, header: str, *, every: bool) -> list[str]:
    block = config.root.children[header]
    hidden = _hidden_mtu(config, header, block) and not every
    return [f"{_INDENT}{line}" for line in block_lines(block) if not (hidden and line.startswith("mtu "))]


def _hidden_mtu(config: Config, header: str, block: Block) -> bool:
    return interface_name(header) is not None and block.value("mtu") == str(config.default_mtu)


def block_lines(block: Block) -> list[str]:
    """Return the lines of a block without indentation of their own, blocks below it included."""
    first: dict[str, int] = {}
    for position, line in enumerate(block.lines.values()):
        first.setdefault(_neighbor(line), position)
    out = sorted(block.lines.values(), key=lambda line: (_rank(block.mode, line), first[_neighbor(line)]))
    for header, child in block.children.items():
        out += ["!", header, *(f"{_INDENT}{line}" for line in block_lines(child))]
    return out


def _neighbor(line: str) -> str:
    """Return what keeps the lines about one BGP neighbour together, the line itself where it is about none."""
    words = line.split()
    return " ".join(words[:2]) if words[0] == "neighbor" else line


def _with_defaults(config: Config) -> Config:
    full = config.copy()
    for name, block in full.interfaces().items():
        block.lines = {**dict(_defaults(name, config.default_mtu)), **block.lines}
    for header, block in full.root.children.items():
        if block.mode == "vlan":
            number = int(header.split()[1])
            block.lines = {"name": f"name VLAN{number:04}", "state": "state active", **block.lines}
    return full


def _defaults(name: str, mtu: int) -> Iterator[tuple[str, str]]:
    """Yield the defaults that `all` prints. Only those that public clients read."""
    yield "description", "no description"
    yield "shutdown", "no shutdown"
    if not name.startswith(("Loopback", "Vxlan")):
        yield "mtu", f"mtu {mtu}"
    if name.startswith(("Ethernet", "Port-Channel")) and "." not in name:
        yield "switchport", "switchport"
    if name.startswith("Ethernet") and "." not in name:
        yield "flowcontrol send", "flowcontrol send off"
        yield "flowcontrol receive", "flowcontrol receive off"
        yield "sflow enable", "sflow enable"


def as_model(config: Config) -> dict[str, object]:
    """Return the configuration as `show running-config | json` does."""
    lines = render(config)
    return {"cmds": _tree([line for line in lines if line.strip() not in {"", "!"}]), "header": []}


def _tree(lines: list[str]) -> dict[str, object]:
    out: dict[str, object] = {}
    position = 0
    while position < len(lines):
        head = lines[position]
        end = position + 1
        while end < len(lines) and lines[end].startswith(_INDENT):
            end += 1
        below = [line[len(_INDENT) :] for line in lines[position + 1 : end]]
        out[head] = {"comments": [], "cmds": _tree(below)} if below or head.startswith("interface ") else None
        position = end
    return out


def unified_diff(before: Config, after: Config, names: tuple[str, str]) -> str:
    """Return what `... diffs` prints: two header lines and a unified diff, nothing when equal."""
    lines = difflib.unified_diff(render(before), render(after), names[0], names[1], lineterm="")
    return "\n".join(lines)
