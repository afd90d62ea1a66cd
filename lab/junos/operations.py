"""The table of operations: each by its RPC and by the command that does the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from . import show_bgp, show_interfaces, show_neighbours, show_system
from .answer import Answer, Arguments, Operation
from .errors import syntax_error
from .ping import ping
from .show_config import configuration, rollback_difference

if TYPE_CHECKING:
    from .session import Login

_STYLE = r"(?: (?P<style>terse|brief|extensive|detail|media|statistics|descriptions))?"
_PAIRS = {
    "host",
    "source",
    "interface",
    "size",
    "count",
    "wait",
    "ttl",
    "interval",
    "tos",
    "routing-instance",
}


def _operation(rpc: str, pattern: str | None, run: object) -> Operation:
    assert callable(run)  # noqa: S101 - a table of our own
    return Operation(rpc, re.compile(pattern) if pattern else None, run)


OPERATIONS = (
    _operation(
        "get-interface-information",
        rf"show interfaces(?: (?!terse|brief|ext|det|media|stat|desc)(?P<interface_name>\S+))?{_STYLE}",
        show_interfaces.interfaces,
    ),
    _operation("get-bgp-summary-information", r"show bgp summary", show_bgp.summary),
    _operation("get-lldp-neighbors-information", r"show lldp neighbors", show_neighbours.lldp),
    _operation("get-lldp-interface-neighbors", None, show_neighbours.lldp_of_device),
    _operation("get-lldp-interface-neighbors-information", None, show_neighbours.lldp_of_name),
    _operation("", r"show lldp neighbors interface (?P<interface_name>\S+)", show_neighbours.lldp_detail),
    _operation(
        "get-ethernet-switching-table-information",
        r"show ethernet-switching table(?: (?P<style>summary))?",
        show_neighbours.switching_table,
    ),
    _operation("", r"show bridge mac-table count", show_neighbours.bridge_table),
    _operation(
        "get-software-information", r"show version(?: invoke-on (?P<style>all-routing-engines))?", show_system.version
    ),
    _operation("get-chassis-inventory", r"show chassis hardware", show_system.inventory),
    _operation("get-route-engine-information", r"show chassis routing-engine", show_system.routing_engine),
    _operation("get-system-uptime-information", r"show system uptime", show_system.uptime),
    _operation("get-commit-information", r"show system commit", show_system.commits),
    _operation(
        "get-commit-revision-information", r"show system commit revision(?: (?P<style>detail))?", show_system.revision
    ),
    _operation("file-show", r"file show (?P<filename>\S+)", show_system.file_show),
    _operation(
        "get-rollback-information",
        r"show system rollback compare (?P<compare>\d+) (?P<rollback>\d+)",
        rollback_difference,
    ),
    _operation("", r"show configuration(?: (?P<path>.+))?", configuration),
    _operation("ping", None, ping),
)
_BY_RPC = {operation.rpc: operation for operation in OPERATIONS if operation.rpc}


def by_rpc(login: Login, element: etree._Element) -> Answer:
    """Answer an RPC; an unknown one is a syntax error, as on the box."""
    operation = _BY_RPC.get(str(element.tag))
    if operation is None:
        raise syntax_error(str(element.tag))
    return operation.run(login, {str(item.tag): (item.text or "").strip() for item in element})


def by_command(login: Login, command: str) -> Answer:
    """Answer an operational command; an unknown one is a syntax error."""
    words = " ".join(command.split())
    if words.startswith("ping "):
        return ping(login, _ping_arguments(words.split()[1:]))
    for operation in OPERATIONS:
        match = operation.pattern.fullmatch(words) if operation.pattern else None
        if match:
            return operation.run(login, _arguments(match.groupdict()))
    raise syntax_error(words.split()[-1] if words else "")


def _arguments(groups: dict[str, str | None]) -> Arguments:
    found = {}
    for name, given in groups.items():
        if given is not None:
            found.update({given: ""} if name == "style" else {name.replace("_", "-"): given})
    return found


def _ping_arguments(words: list[str]) -> Arguments:
    found = {"host": words[0]}
    rest = iter(words[1:])
    for word in rest:
        found[word] = next(rest, "") if word in _PAIRS else ""
    return found
