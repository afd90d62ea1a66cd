"""The commands that change something: configuration modes, sessions, files."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from .answers import Answer, messages
from .config import render
from .editor import Editor, load
from .errors import CliError, runtime
from .flash import STARTUP
from .sessions import parse_timer

if TYPE_CHECKING:
    from .cli import Cli

_COPIED = "Copy completed successfully."
_session_numbers = count(1)


def enable(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Enter privileged mode; the lab's devices have no enable secret, so any input will do."""
    cli.privileged = True
    return Answer()


def disable(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Leave privileged mode."""
    cli.privileged = False
    return Answer()


def accept(_cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Do nothing, for terminal settings."""
    return Answer()


def cli_vrf(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Choose the VRF of the commands that follow."""
    name = arguments["vrf"]
    if name != "default" and f"vrf instance {name}" not in cli.device.running.root.children:
        raise runtime(f"VRF {name} does not exist")
    cli.vrf = name
    return Answer()


# -- configuration modes ---------------------------------------------------------------------------------------------


def configure(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Edit the running-config itself."""
    cli.session = None
    cli.editor = Editor(cli.device.running, cli.device.hardware)
    return Answer()


def configure_session(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Open a session or go on with it."""
    name = arguments.get("name") or f"sess-{next(_session_numbers)}"
    cli.session, new = cli.device.sessions.enter(name, cli.user)
    cli.editor = Editor(cli.session.config, cli.device.hardware)
    if new:
        cli.device.record(cli.user, "session-open", f"configure session {name}", name)
    return Answer()


def leave(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Leave configuration mode altogether; a session stays pending."""
    cli.editor = cli.session = None
    return Answer()


def leave_level(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Leave the innermost mode."""
    if cli.editor is None or not cli.editor.exit():
        return leave(cli, {})
    return Answer()


def commit(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Commit the named session, or the one the request is in; with a timer if asked."""
    name = arguments.get("name") or (cli.session.name if cli.session else "")
    timer = arguments.get("timer")
    kind = cli.device.sessions.commit(name, cli.user, parse_timer(timer) if timer else None)
    command = f"configure session {name} commit" + (f" timer {timer}" if timer else "")
    cli.device.record(cli.user, kind, command, name)
    return leave(cli, {})


def abort(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Drop a session. Where its commit timer runs this takes the commit back at once."""
    name = arguments.get("name") or (cli.session.name if cli.session else "")
    reverted = cli.device.sessions.abort(name)
    cli.device.record(cli.user, "revert" if reverted else "session-abort", f"configure session {name} abort", name)
    return leave(cli, {})


def clean_config(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Empty the session's candidate."""
    if cli.session is None or cli.editor is None:
        raise CliError("Invalid input (at token 0: 'rollback')")
    cli.session.config.clean()
    cli.editor.top()
    cli.device.record(cli.user, "session-line", "rollback clean-config", cli.session.name)
    return Answer()


# -- files -----------------------------------------------------------------------------------------------------------


def write_memory(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Save the running-config; allowed within a commit timer's window, where it saves what is on trial."""
    cli.device.save(cli.user)
    cli.device.record(cli.user, "write-startup", "write memory")
    return messages(_COPIED)


def _read_source(cli: Cli, source: str) -> str:
    scheme, _sep, name = source.rpartition(":")
    if source == "running-config":
        return "\n".join([*render(cli.device.running), "end", ""])
    if source == STARTUP or scheme == "flash":
        return cli.device.flash.read(name.removeprefix("/"))
    raise CliError(f"Invalid input (at token 1: '{source}')")


def copy_file(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Copy a configuration or a file to flash, or into the session the request is in."""
    source, target = arguments["source"], arguments["target"]
    text = _read_source(cli, source)
    if target == "session-config":
        return _load_into_session(cli, text)
    scheme, _sep, name = target.rpartition(":")
    if scheme != "flash" or not name:
        raise CliError(f"Invalid input (at token 2: '{target}')")
    cli.device.flash.write(name.removeprefix("/"), text)
    cli.device.record(cli.user, "write-file", f"copy {source} {target}")
    return messages(_COPIED)


def _load_into_session(cli: Cli, text: str) -> Answer:
    if cli.editor is None or cli.session is None:
        raise CliError("Invalid input (at token 2: 'session-config')")
    for line in text.splitlines():
        if line.strip() != "end":
            cli.editor.enter(line)
            cli.device.record(cli.user, "session-line", line.strip(), cli.session.name)
    return messages(_COPIED)


def checkpoint(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Keep the running-config under a name; the exact syntax is not confirmed."""
    cli.device.checkpoints[arguments["name"]] = cli.device.running.copy()
    cli.device.record(cli.user, "checkpoint", f"configure checkpoint save {arguments['name']}")
    return Answer()


def replace(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Replace the running-config by a file or a checkpoint, whole or not at all.

    Within a commit timer's window it is refused: it commits a session of its own (public syslog samples).
    """
    source = arguments["source"]
    timer = cli.device.sessions.timer
    if timer:
        raise runtime(f"Session {timer.session} has a commit timer pending")
    scheme, _sep, name = source.rpartition(":")
    if scheme == "checkpoint":
        if name not in cli.device.checkpoints:
            raise runtime(f"Checkpoint {name} does not exist")
        config = cli.device.checkpoints[name].copy()
    else:
        config, errors = load(_read_source(cli, source), cli.device.hardware, cli.device.running.ports)
        if errors:
            raise runtime("; ".join(errors))
    cli.device.replace_running(config)
    cli.device.record(cli.user, "config-replace", f"configure replace {source}")
    return leave(cli, {})
