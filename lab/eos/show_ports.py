"""The commands that speak of interfaces: from the words of a command to the renderers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import show_interfaces as view
from .answers import Answer
from .errors import CliError, invalid_token
from .names import expand
from .ports import Port

if TYPE_CHECKING:
    from .cli import Cli


def named_ports(cli: Cli, arguments: dict[str, str], token: int) -> list[Port]:
    """Return the ports that a command names, all of them without a name."""
    ports = cli.device.ports
    if "names" not in arguments:
        return list(ports.values())
    names = expand(arguments["names"])
    if not names:
        raise invalid_token(token, arguments["names"])
    if any(name not in ports for name in names):
        raise CliError("Interface does not exist")
    return [ports[name] for name in names]


def interfaces(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show interfaces [X]`."""
    ports = named_ports(cli, arguments, token=2)
    return Answer(lambda: view.interfaces_text(cli.device, ports), lambda: view.interfaces_json(cli.device, ports))


def status(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show interfaces [X] status`."""
    ports = named_ports(cli, arguments, token=2)
    return Answer(lambda: view.status_text(cli.device, ports), lambda: view.status_json(cli.device, ports))


def descriptions(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show interfaces [X] description`."""
    ports = named_ports(cli, arguments, token=2)
    return Answer(lambda: view.descriptions_text(cli.device, ports), lambda: view.descriptions_json(cli.device, ports))


def errors(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show interfaces [X] counters errors`."""
    ports = named_ports(cli, arguments, token=2)
    return Answer(lambda: view.errors_text(cli.device, ports), lambda: view.errors_json(cli.device, ports))


def clear_counters(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Do `clear counters [X]`."""
    cli.device.clear_counters(named_ports(cli, arguments, token=2))
    cli.device.record(cli.user, "clear-counters", " ".join(["clear counters", *arguments.values()]))
    return Answer()
