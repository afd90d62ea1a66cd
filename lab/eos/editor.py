"""Typing configuration lines into a configuration: modes, `no` and `default` forms, errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .config import Block, Config, interface_name
from .errors import CliError, incomplete, invalid_token
from .grammar import Rule, candidates, find, matched_words
from .hardware import Hardware
from .names import canonical, expand, is_physical, is_subinterface, kind_of, numbers, parent_of

_NEGATIONS = ("no", "default")


@dataclass(frozen=True, slots=True)
class _Level:
    mode: str
    blocks: tuple[Block, ...]
    headers: tuple[str, ...] = ()


class Editor:
    """One person in configuration mode. Lines take effect in `config` at once."""

    def __init__(self, config: Config, hardware: Hardware) -> None:
        self.config = config
        self.hardware = hardware
        self._levels = [_Level("global", (config.root,))]
        self._reset_only = False

    def exit(self) -> bool:
        """Leave the present mode; False if that leaves configuration mode."""
        if len(self._levels) == 1:
            return False
        self._levels.pop()
        return True

    def top(self) -> None:
        """Go back to the outermost configuration mode, as after `rollback clean-config`."""
        self._levels = [_Level("global", (self.config.root,))]

    def enter(self, line: str, text: str | None = None) -> bool:
        """Take one line, with the text of a multi-line command such as a banner; True if it changed anything."""
        words = line.split()
        if not words or words[0].startswith("!") or words == ["comment"]:
            return False
        negation = words[0] if words[0] in _NEGATIONS else ""
        words = words[1:] if negation else words
        if not words:
            raise incomplete(0, negation)
        depth, rule = self._find(words, negated=bool(negation))
        level = self._levels[depth]
        self._reset_only = negation == "default"
        if rule.heredoc and not negation:
            banner = "\n".join([rule.head, *(text or "").rstrip("\n").split("\n"), "EOF"])
            return _put(level.blocks[0], rule.head, banner)
        changed = _HANDLERS[bool(rule.enters), bool(negation)](self, level, rule, words)
        if not (rule.enters and not negation):
            del self._levels[depth + 1 :]
        return changed

    # -- finding the rule ------------------------------------------------------------------------------------------

    def _find(self, words: list[str], *, negated: bool) -> tuple[int, Rule]:
        """Find the line's rule in the present mode or, as EOS does, in the modes around it."""
        for depth in range(len(self._levels) - 1, -1, -1):
            mode = self._levels[depth].mode
            rule = find(mode, words) or (_negatable(mode, words) if negated else None)
            if rule:
                return depth, rule
        raise self._not_found(words, offset=int(negated))

    def _not_found(self, words: list[str], offset: int) -> CliError:
        rules = [rule for level in self._levels for rule in candidates(level.mode, words)]
        known = max((matched_words(rule, words) for rule in rules), default=0)
        whole = [rule for rule in rules if matched_words(rule, words) == len(rule.head.split())]
        if known == len(words) and not any(rule.args == "" for rule in whole):
            return incomplete(offset + known - 1, words[-1])
        index = min(known, len(words) - 1)
        return invalid_token(offset + index, words[index])

    # -- single lines ----------------------------------------------------------------------------------------------

    def _set(self, level: _Level, rule: Rule, words: list[str]) -> bool:
        self._check(level, rule, words)
        if rule.on:
            changes = [block.lines.pop(rule.head, None) is not None for block in level.blocks]
        else:
            changes = [_put(block, rule.key(words), " ".join(words)) for block in level.blocks]
        return any(changes)

    def _unset(self, level: _Level, rule: Rule, words: list[str]) -> bool:
        if rule.head == "switchport":
            self._check(level, rule, words)
        if rule.on:
            changes = [_put(block, rule.head, f"no {rule.head}") for block in level.blocks]
            return any(changes)
        found = [(block, key) for block in level.blocks for key in _matching(block, rule, words)]
        for block, key in found:
            del block.lines[key]
        return bool(found)

    def _check(self, level: _Level, rule: Rule, words: list[str]) -> None:
        check = _CHECKS.get((level.mode, rule.head))
        for header in level.headers if check else ():
            check(self, interface_name(header), words)  # type: ignore[misc]

    # -- blocks ----------------------------------------------------------------------------------------------------

    def _open(self, level: _Level, rule: Rule, words: list[str]) -> bool:
        headers = self._headers(rule, words)
        parent = level.blocks[0]
        new = any(header not in parent.children for header in headers)
        blocks = tuple(parent.children.setdefault(header, Block(rule.enters)) for header in headers)
        del self._levels[self._levels.index(level) + 1 :]
        self._levels.append(_Level(rule.enters, blocks, headers))
        return new

    def _remove(self, level: _Level, rule: Rule, words: list[str]) -> bool:
        children = level.blocks[0].children
        changed = False
        for header in self._headers(rule, words):
            # The prefix form is `no router bgp` without its number.
            found = [other for other in children if other == header or other.startswith(f"{header} ")]
            for other in found:
                block = children.pop(other)
                name = interface_name(other)
                if name and (is_physical(name) or self._reset_only):
                    children[other] = Block("interface")  # a socket cannot be removed, only reset
                    changed |= bool(block.lines or block.children)
                else:
                    changed = True
        return changed

    def _headers(self, rule: Rule, words: list[str]) -> tuple[str, ...]:
        if rule.names:
            return tuple(f"interface {name}" for name in self._interfaces(" ".join(words[1:])))
        if rule.enters == "vlan":
            found = numbers(words[1]) if len(words) > 1 else []
            return tuple(f"vlan {number}" for number in found)
        return (" ".join(words),)

    def _interfaces(self, text: str) -> list[str]:
        names = expand(text)
        if not names or not all(self._exists(name) for name in names):
            raise invalid_token(1, text)
        return names

    def _exists(self, name: str) -> bool:
        if is_subinterface(name):
            return self._exists(parent_of(name)) and kind_of(name) in {"Ethernet", "Port-Channel"}
        return name in self.config.ports if is_physical(name) else True


def _negatable(mode: str, words: list[str]) -> Rule | None:
    """Find the rule that `no <words>` speaks of: the arguments may be missing or cut short."""
    for rule in candidates(mode, words):
        if matched_words(rule, words) == len(rule.head.split()):
            return rule
    return None


def _put(block: Block, key: str, line: str) -> bool:
    """Write a line; True if it was not there already."""
    known = block.lines.get(key)
    block.lines[key] = line
    return known != line


def _matching(block: Block, rule: Rule, words: list[str]) -> list[str]:
    key = rule.key(words)
    if key in block.lines and rule.keyed >= 0:
        return [key]
    line = " ".join(words)
    return [key for key, text in block.lines.items() if text == line or text.startswith(f"{line} ")]


def _check_mtu(editor: Editor, name: str | None, words: list[str]) -> None:
    editor.hardware.check_mtu(name, int(words[1]))


def _check_l2(editor: Editor, _name: str | None, words: list[str]) -> None:
    editor.hardware.check_l2(int(words[2]))


def _check_switchport(_editor: Editor, name: str | None, words: list[str]) -> None:
    if name and (kind_of(name) not in {"Ethernet", "Port-Channel"} or is_subinterface(name)):
        raise invalid_token(0, words[0])


_CHECKS: dict[tuple[str, str], Callable[[Editor, str | None, list[str]], None]] = {
    ("interface", "mtu"): _check_mtu,
    ("defaults", "mtu"): _check_mtu,
    ("interface", "l2 mtu"): _check_l2,
    ("interface", "l2 mru"): _check_l2,
    ("interface", "switchport"): _check_switchport,
}
_HANDLERS: dict[tuple[bool, bool], Callable[[Editor, _Level, Rule, list[str]], bool]] = {
    (False, False): Editor._set,
    (False, True): Editor._unset,
    (True, False): Editor._open,
    (True, True): Editor._remove,
}


def load(text: str, hardware: Hardware, ports: frozenset[str] | None = None) -> tuple[Config, list[str]]:
    """Read a configuration file as the device does at boot: a line that fails is skipped and reported.

    Without `ports` the front plate has the physical ports that the file names.
    """
    lines = text.splitlines()
    config = Config(_named_ports(lines) if ports is None else ports)
    editor = Editor(config, hardware)
    errors: list[str] = []
    for line in _with_banners(lines):
        try:
            editor.enter(*line)
        except CliError as error:
            errors.append(f"{line[0].strip()}: {error}")
    return config, errors


def _named_ports(lines: list[str]) -> frozenset[str]:
    words = (line.partition(" ") for line in lines if line.startswith("interface "))
    names = (canonical(name) for _word, _sep, name in words)
    return frozenset(name for name in names if name and is_physical(name))


def _with_banners(lines: list[str]) -> list[tuple[str, str | None]]:
    """Pair each line with the text that belongs to it, up to EOF, for the commands that have one."""
    out: list[tuple[str, str | None]] = []
    rest = iter(lines)
    for line in rest:
        stripped = line.strip()
        if stripped == "end":
            continue
        if stripped in {"banner login", "banner motd"}:
            out.append((stripped, "\n".join(iter(lambda: next(rest, "EOF"), "EOF"))))
        else:
            out.append((stripped, None))
    return out
