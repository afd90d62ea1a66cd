"""The command table: every command line the front end knows, as data.

A pattern is made of words, `<name>` for one word, `<name...>` for the rest of the line, and `[...]` for what may be
missing. The first row that fits wins, so special forms stand before general ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from . import actions, show_bgp, show_config, show_neighbours, show_ports, show_routes, show_system
from .answers import Answer
from .errors import CliError, incomplete, invalid_token
from .ping import ping

if TYPE_CHECKING:
    from .cli import Cli

EXEC, CONFIG, SESSION = "exec", "config", "session"


@dataclass(frozen=True, slots=True)
class Command:
    """One row. exec: available everywhere; config and session: only in that mode. slow: runs without the lock."""

    pattern: str
    handler: Callable[[Cli, dict[str, str]], Answer]
    privileged: bool = True
    where: str = EXEC
    slow: bool = False

    def available(self, cli: Cli) -> bool:
        """Tell whether the mode the request is in has this command."""
        return {EXEC: True, CONFIG: cli.editor is not None, SESSION: cli.session is not None}[self.where]


COMMANDS = (
    Command("enable", actions.enable, privileged=False),
    Command("disable", actions.disable, privileged=False),
    Command("terminal length <lines>", actions.accept, privileged=False),
    Command("terminal width <columns>", actions.accept, privileged=False),
    Command("show version", show_system.version, privileged=False),
    Command("show hostname", show_system.hostname, privileged=False),
    Command("show interfaces [<names>] counters errors", show_ports.errors, privileged=False),
    Command("show interfaces [<names>] status", show_ports.status, privileged=False),
    Command("show interfaces [<names>] description", show_ports.descriptions, privileged=False),
    Command("show interfaces [<names>]", show_ports.interfaces, privileged=False),
    Command("show running-config diffs", show_config.running_diffs),
    Command("show running-config [<options...>]", show_config.running),
    Command("show startup-config", show_config.startup),
    Command("show configuration sessions [<detail>]", show_config.sessions),
    Command("show session-config [named <name>] diffs", show_config.session_diffs),
    Command("show session-config [named <name>] [<sanitized>]", show_config.session_config),
    Command("show lldp neighbors [<names>] detail", show_neighbours.lldp_detail, privileged=False),
    Command("show lldp neighbors [<names>]", show_neighbours.lldp, privileged=False),
    Command("show mac address-table", show_neighbours.mac_table, privileged=False),
    Command("show ip bgp summary vrf <vrf>", show_bgp.ipv4, privileged=False),
    Command("show ip bgp summary", show_bgp.ipv4, privileged=False),
    Command("show ipv6 bgp summary vrf <vrf>", show_bgp.ipv6, privileged=False),
    Command("show ipv6 bgp summary", show_bgp.ipv6, privileged=False),
    Command("show ip route vrf <vrf>", show_routes.routes, privileged=False),
    Command("show ip route", show_routes.routes, privileged=False),
    Command("clear counters [<names>]", show_ports.clear_counters),
    Command("ping <words...>", ping, privileged=False, slow=True),
    Command("cli vrf <vrf>", actions.cli_vrf, privileged=False),
    Command("configure", actions.configure),
    Command("configure terminal", actions.configure),
    Command("configure session", actions.configure_session),
    Command("configure session <name> commit timer <timer>", actions.commit),
    Command("configure session <name> commit", actions.commit),
    Command("configure session <name> abort", actions.abort),
    Command("configure session <name>", actions.configure_session),
    Command("no configure session <name>", actions.abort),
    Command("configure replace <source>", actions.replace),
    Command("configure checkpoint save <name>", actions.checkpoint),
    Command("write", actions.write_memory),
    Command("write memory", actions.write_memory),
    Command("copy running-config startup-config", actions.write_memory),
    Command("copy <source> <target>", actions.copy_file),
    Command("commit timer <timer>", actions.commit, where=SESSION),
    Command("commit", actions.commit, where=SESSION),
    Command("abort", actions.abort, where=SESSION),
    Command("rollback clean-config", actions.clean_config, where=SESSION),
    Command("end", actions.leave, where=CONFIG),
    Command("exit", actions.leave_level, where=CONFIG),
)

# The only words that `<detail>`, `<sanitized>` and `<timer>` may be.
_CLOSED = {"detail": "detail", "sanitized": "sanitized", "timer": r"\d{1,2}:\d{1,2}:\d{1,2}"}


def _compiled(pattern: str) -> re.Pattern[str]:
    text = re.escape(pattern).replace(r"\ ", " ").replace(r"\[", "[").replace(r"\]", "]").replace(r"\.\.\.", "...")
    text = re.sub(r"<(\w+)\.\.\.>", r"(?P<\1>.+)", text)
    text = re.sub(r"(?<!P)<(\w+)>", lambda hit: f"(?P<{hit[1]}>{_CLOSED.get(hit[1], r'[^ ]+')})", text)
    text = re.sub(r" \[((?:[^][]|\[\^ \])+)\]", r"(?: \1)?", text)
    return re.compile(text)


_ROWS = [(row, _compiled(row.pattern)) for row in COMMANDS]
_WORDS = [re.sub(r"[][]", "", row.pattern).split() for row in COMMANDS]


@lru_cache(maxsize=4096)
def find(line: str) -> tuple[Command | None, dict[str, str]]:
    """Return the row of a command, with its arguments; None for what is no command."""
    for row, pattern in _ROWS:
        match = pattern.fullmatch(line)
        if match:
            return row, {name: value for name, value in match.groupdict().items() if value is not None}
    return None, {}


def unknown(words: list[str]) -> CliError:
    """Return the error of a line that no row has, with the word where it went wrong."""
    known = max(_common(pattern, words) for pattern in _WORDS)
    if words in _WORDS:  # a command of a mode that the request is not in
        return invalid_token(0, words[0])
    if known == len(words):
        return incomplete(known - 1, words[-1])
    return invalid_token(known, words[known])


def _common(pattern: list[str], words: list[str]) -> int:
    count = 0
    for expected, word in zip(pattern, words, strict=False):
        if expected != word and not (expected.startswith("<") and expected.strip("<>") not in _CLOSED):
            break
        count += 1
    return count
