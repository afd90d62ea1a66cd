"""What is not configuration: showing, saving, reloading, pinging."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import configure, ping, show, show_interfaces
from .words import USER, unknown

if TYPE_CHECKING:
    from .cli import Answer, Cli

SURE = "Are you sure? (enter 'y' or 'n'): "
UNVERIFIED = "Could not verify if the Running Config data has been changed."
ANYWAY = "Do you want to continue the reload anyway? (enter 'y' or 'n'): "
BUSY = "Flash access in progress. Please try later"
_NO_RELOAD = {"sentence": "No reload is scheduled", "nothing": "", "unforeseen": "Reload status: not pending"}
_AFTER = re.compile(r"reload after (\d{1,2}):(\d{1,2}):(\d{1,2})")
_SAVE = re.compile(r"wr(i(t(e)?)?)?( m(e(m(o(r(y)?)?)?)?)?)?")


def run(cli: Cli, words: str) -> str:
    """Run a line of user or enable mode."""
    if words.startswith("show ") and cli.device.lacks("commands"):
        raise unknown(words)
    for pattern, enabled, act in _COMMANDS:
        if re.fullmatch(pattern, words) and (cli.mode != USER or not enabled):
            return act(cli, words)
    raise unknown(words)


def _no_pages(cli: Cli, _words: str) -> str:
    cli.paged = False
    return "Disable page display mode"


def _configure(cli: Cli, _words: str) -> str:
    return configure.enter(cli)


def _write(cli: Cli, words: str) -> str:
    device = cli.device
    if cli.user in device.readers:
        raise unknown(words)
    if device.trouble.flash_busy:
        device.trouble.flash_busy -= 1
        return BUSY
    if device.trouble.save_refused:
        return "Flash Memory Write (8192 bytes per dot)\nError - write to flash failed"  # wording not confirmed
    with device.lock:
        device.save()
    cli.record("write-startup", words)
    return "Flash Memory Write (8192 bytes per dot)\n.\nWrite startup-config done.\nCopy Done."


def _reload(cli: Cli, words: str) -> str:
    device = cli.device
    if cli.user in device.readers:
        raise unknown(words)
    after = _AFTER.fullmatch(words)
    if words == "reload":
        return _ask(cli, SURE, lambda answer: _sure(cli, answer))
    if not device.hardware.schedules:
        raise unknown(words)
    if words == "reload cancel":
        cli.record("session-abort", words)
        return "" if device.cancel() else "Error - no reload is scheduled"
    if not after:
        raise unknown(words)
    days, hours, minutes = map(int, after.groups())
    device.schedule(device.now() + (days * 24 + hours) * 3600 + minutes * 60, cli.user)
    cli.record("session-open", words)
    return f"Reload scheduled in {days} days {hours} hours {minutes} minutes"


def _ask(cli: Cli, question: str, answer: Answer) -> str:
    return cli.ask(question, answer, key=cli.device.hardware.any_key)


def _sure(cli: Cli, answer: str) -> str:
    if not _is_yes(answer):
        return ""
    if cli.device.hardware.reload_questions == 1:
        return _go(cli)
    _ask(cli, ANYWAY, lambda again: _go(cli) if _is_yes(again) else "")
    return UNVERIFIED


def _is_yes(answer: str) -> bool:
    return answer.strip().lower() == "y"


def _go(cli: Cli) -> str:
    cli.done = True
    cli.device.reload(cli.user)
    return "The system is going down NOW!"


def _show_reload(cli: Cli, words: str) -> str:
    if not cli.device.hardware.schedules:
        raise unknown(words)
    left = cli.device.reload_in
    if left is None:
        return _NO_RELOAD[cli.device.hardware.reload_words]
    return f"Reload is scheduled in {left // 86400:02d}:{left // 3600 % 24:02d}:{left // 60 % 60:02d} ({left} seconds)"


def _help(cli: Cli, _words: str) -> str:
    lines = ["  <cr>"]
    if cli.device.hardware.schedules:
        lines = ["  after                Reload after specified time", "  at", "  cancel", "  <cr>"]
    return "\n".join(lines)


_COMMANDS = (
    (r"skip(-page-display)?", False, _no_pages),
    (r"conf(igure)?( t(erminal)?)?", True, _configure),
    (_SAVE.pattern, True, _write),
    (r"reload \?", True, _help),
    (r"show reload", True, _show_reload),
    (r"reload.*", True, _reload),
    (r"ping .*", False, ping.ping),
    (r"show run(ning-config)?", True, show.running_config),
    (r"show conf(iguration)?", True, show.configuration),
    (r"show ver(sion)?", False, show.version),
    (r"show lldp neighbors detail", False, show.neighbours),
    (r"show who", False, show.who),
    (r"show ip route \S+", False, show.route),
    (r"show lag( brief)?", False, show.lag),
    (r"show statistics( ethernet \S+)?", False, show_interfaces.statistics),
    (r"show interfaces brief", False, show_interfaces.brief),
    (r"show interfaces( (ethernet|ve|lag|management|loopback) \S+)?", False, show_interfaces.interfaces),
)
"""Pattern, whether it needs enable mode, and what is done."""
