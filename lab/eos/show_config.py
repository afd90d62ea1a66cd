"""Configurations, their differences, and the list of sessions."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from .answers import Answer, sections
from .config import Config, as_model, render, unified_diff
from .errors import CliError, invalid_token, runtime
from .hardware import EPOCH
from .names import expand
from .sessions import COMPLETED, MAX_OPEN, MAX_SAVED, PENDING_TIMER, Session

if TYPE_CHECKING:
    from .cli import Cli
    from .device import EosDevice

# `sanitized` blanks what follows these words, as public clients' filters do on the other side.
_SECRET = re.compile(r"((?:secret|password|key|community)\s+(?:(?:sha512|0|5|7|8a)\s+)?)\S+")


def _header(device: EosDevice, command: str) -> list[str]:
    boot = f"! device: {device.running.hostname} ({device.hardware.model}, EOS-{device.hardware.version})"
    return [f"! Command: {command}", boot, "!", "! boot system flash:/EOS.swi"]


def _whole(device: EosDevice, command: str, config: Config, *, every: bool = False) -> list[str]:
    return [*_header(device, command), *render(config, every=every), "end"]


def _sanitized(lines: list[str]) -> list[str]:
    return [_SECRET.sub(r"\1<removed>", line) for line in lines]


def running(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show running-config` with its options."""
    device = cli.device
    words = arguments.get("options", "").split()
    command = " ".join(["show running-config", *words])
    flags = {"all": False, "sanitized": False}
    while words and words[0] in flags:
        flags[words.pop(0)] = True
    lines = _whole(device, command, device.running, every=flags["all"])
    if flags["sanitized"]:
        lines = _sanitized(lines)
    if not words:
        return Answer("\n".join(lines), None if any(flags.values()) else (lambda: as_model(device.running)))
    body = render(device.running, every=flags["all"])
    return Answer("\n".join(_part(body, words)), None)


def _part(lines: list[str], words: list[str]) -> list[str]:
    """Return the blocks that `section REGEX` or `interfaces NAMES` asks for."""
    verb, rest = words[0], " ".join(words[1:])
    if verb == "section" and rest:
        return sections(lines, re.compile(rest, re.IGNORECASE))
    names = expand(rest) if verb == "interfaces" else []
    if not names:
        raise invalid_token(2 if not rest else 3, words[-1])
    wanted = re.compile("|".join(rf"interface {re.escape(name)}$" for name in names))
    return [line for line in sections([line for line in lines if line != "!"], wanted) if line]


def running_diffs(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Answer `show running-config diffs`: what `write memory` would change. It has no JSON form."""
    names = ("flash:/startup-config", "system:/running-config")
    return Answer(lambda: unified_diff(cli.device.startup(), cli.device.running, names), None)


def startup(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Answer `show startup-config`. A JSON form is not confirmed, so there is none."""
    device = cli.device
    when = time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(device.saved_at))
    header = [
        "! Command: show startup-config",
        f"! Startup-config last modified at {when} by {device.saved_by or 'root'}",
        *_header(device, "")[1:],
    ]
    return Answer(lambda: "\n".join([*header, *render(device.startup()), "end"]), None)


def _named(cli: Cli, arguments: dict[str, str]) -> Session:
    name = arguments.get("name")
    if name is None:
        if cli.session is None:
            raise CliError("Incomplete command (at token 1: 'session-config')")
        return cli.session
    found = cli.device.sessions.known.get(name)
    if found is None:
        raise runtime(f"Session {name} does not exist")
    return found


def session_config(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show session-config [named S] [sanitized]`; a JSON form is not confirmed."""
    session = _named(cli, arguments)
    command = " ".join(["show session-config", *(["named", session.name] if "name" in arguments else [])])
    lines = _whole(cli.device, command, session.config)
    return Answer("\n".join(_sanitized(lines) if arguments.get("sanitized") else lines), None)


def session_diffs(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show session-config [named S] diffs`: empty when equal, never JSON (a public client's source)."""
    session = _named(cli, arguments)
    names = ("system:/running-config", f"session:/{session.name}-session-config")
    return Answer(lambda: unified_diff(cli.device.running, session.config, names), None)


def sessions(cli: Cli, arguments: dict[str, str]) -> Answer:
    """Answer `show configuration sessions [detail]`."""
    detail = "detail" in arguments
    return Answer(lambda: _sessions_text(cli.device, detail=detail), lambda: _sessions(cli.device))


def _shown_state(device: EosDevice, session: Session) -> str:
    """From 4.32 on a committed session is called so at once, a running timer is shown at the top level."""
    if session.state in {PENDING_TIMER, COMPLETED} and device.hardware.new_commit_timer:
        return "committed"
    return session.state


def _expiry(device: EosDevice) -> float:
    """Return when the timer runs out, by the clock that the release uses; see `Hardware.commit_clock`."""
    timer = device.sessions.timer
    assert timer is not None  # noqa: S101 - for the type checker, the callers have looked
    return timer.deadline if device.hardware.commit_clock == EPOCH else timer.deadline - device.booted_at


def _sessions(device: EosDevice) -> dict[str, Any]:
    timer = device.sessions.timer
    found: dict[str, Any] = {}
    for name, session in device.sessions.known.items():
        entry: dict[str, Any] = {"state": _shown_state(device, session)}
        if session.completed_at:
            entry["completedTime"] = session.completed_at
        if timer and timer.session == name and not device.hardware.new_commit_timer:
            entry["commitBy"] = _expiry(device)
        found[name] = {**entry, "commitUser": session.commit_user, "description": "", "instances": {}}
    model = {
        "sessions": found,
        "maxSavedSessions": MAX_SAVED,
        "maxOpenSessions": MAX_OPEN,
        "mergeOnCommit": False,
        "saveToStartupConfigOnCommit": False,
    }
    if timer and device.hardware.new_commit_timer:
        model |= {"commitTimerSessionName": timer.session, "commitTimerExpireTime": _expiry(device)}
    return model


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _sessions_text(device: EosDevice, *, detail: bool) -> str:
    timer = device.sessions.timer
    lines = [
        f"Maximum number of completed sessions: {MAX_SAVED}",
        f"Maximum number of pending sessions: {MAX_OPEN}",
        "Merge on commit is disabled",
        "Autosave to startup-config on commit is disabled",
        "",
    ]
    left = _clock_text(timer.deadline - device.now()) if timer else ""
    if timer and device.hardware.new_commit_timer:
        lines += [f"Session with pending commit timer: {timer.session}"]
        lines += [f"Time left until commit timer expiry: in {left}", ""]
    rows: list[tuple[str, ...]] = [("Name", "State", "User", "Terminal")]
    rows += [(name, _shown_state(device, session), "", "") for name, session in device.sessions.known.items()]
    if detail:
        tails = [("Commit Time Left", "Completed Time", "Committed By")]
        for name, session in device.sessions.known.items():
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(session.completed_at)) if session.completed_at else ""
            tails.append((left if timer and timer.session == name else "", when, session.commit_user))
        rows = [(*row, *tail) for row, tail in zip(rows, tails, strict=True)]
    return "\n".join([*lines, *_table(rows)])


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    cells = [rows[0], tuple("-" * width for width in widths), *rows[1:]]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells)
    return [f"  {' '.join(row).rstrip()}" for row in padded]
