"""What the box says of itself: release, inventory, uptime, files, history of commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answer import Answer, Arguments
from .database import Commit, stamp
from .errors import refused
from .xml import Xml, el

if TYPE_CHECKING:
    from .device import JunosDevice
    from .session import Login


def version(login: Login, arguments: Arguments) -> Answer:
    """Answer `show version [invoke-on all-routing-engines]`."""
    device = login.device
    software = el(
        "software-information",
        el("host-name", device.hostname),
        el("product-model", device.hardware.model),
        el("product-name", device.hardware.model),
        el("junos-version", device.hardware.version),
        el(
            "package-information",
            el("name", "junos"),
            el("comment", f"JUNOS Software Release [{device.hardware.version}]"),
        ),
    )
    text = f"Hostname: {device.hostname}\nModel: {device.hardware.model}\nJunos: {device.hardware.version}"
    if "all-routing-engines" not in arguments:
        return Answer(lambda: software, lambda: text)
    item = el("multi-routing-engine-item", el("re-name", "re0"), software)
    return Answer(lambda: el("multi-routing-engine-results", item), lambda: f"re0:\n{'-' * 74}\n{text}")


def inventory(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show chassis hardware`."""
    device = login.device
    model = device.hardware.model.upper()
    chassis = el("chassis", el("name", "Chassis"), el("serial-number", device.serial), el("description", model))
    text = "Hardware inventory:\nItem             Version  Part number  Serial number     Description\n"
    row = f"Chassis                                {device.serial:<17} {model}"
    return Answer(lambda: el("chassis-inventory", chassis), lambda: text + row)


def routing_engine(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show chassis routing-engine`."""
    device = login.device
    engine = el(
        "route-engine",
        el("slot", 0),
        el("mastership-state", "master"),
        el("status", "OK"),
        el("model", "RE-LAB"),
        el("serial-number", "BUILTIN"),
        el("start-time", stamp(device.booted_at), junos_seconds=str(int(device.booted_at))),
        el("up-time", _spent(device), junos_seconds=str(int(device.now() - device.booted_at))),
        el("last-reboot-reason", "Router rebooted after a normal shutdown."),
        el("cpu-idle", 97),
    )
    return Answer(
        lambda: el("route-engine-information", engine), lambda: f"Routing Engine status:\n  Uptime {_spent(device)}"
    )


def _spent(device: JunosDevice) -> str:
    seconds = int(device.now() - device.booted_at)
    return (
        f"{seconds // 86400} days, {seconds // 3600 % 24} hours, {seconds // 60 % 60} minutes, {seconds % 60} seconds"
    )


def uptime(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show system uptime`."""
    device = login.device
    now, booted, last = device.now(), device.booted_at, device.database.history[0]

    def at(name: str, moment: float, *more: Xml) -> Xml:
        return el(name, el("date-time", stamp(moment), junos_seconds=str(int(moment))), *more)

    length = el("time-length", _spent(device), junos_seconds=str(int(now - booted)))
    xml = el(
        "system-uptime-information",
        at("current-time", now),
        at("system-booted-time", booted, length),
        at("protocols-started-time", booted, length),
        at("last-configured-time", last.at, el("user", last.user)),
    )
    text = (
        f"Current time: {stamp(now)}\nSystem booted: {stamp(booted)}\nLast configured: {stamp(last.at)} by {last.user}"
    )
    return Answer(lambda: xml, lambda: text)


def file_show(_login: Login, arguments: Arguments) -> Answer:
    """Answer `file show`: the lab's box has no files that anybody may read."""
    raise refused(f"could not resolve file: {arguments.get('filename', '')}", kind="application")


# -- the history of commits --------------------------------------------------------------------------------------------


def commits(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show system commit`: the newest says "rollback pending" while a confirmed commit's time runs."""
    device = login.device
    with device.lock:
        history, pending = list(device.database.history), device.database.pending is not None
    items = [_entry(device, number, entry, pending=pending and not number) for number, entry in enumerate(history)]
    return Answer(lambda: el("commit-information", *items), lambda: _commits_text(device, history, pending=pending))


def _said(device: JunosDevice, entry: Commit) -> tuple[str, str]:
    """Return (comment, log) as the box shows them."""
    if entry.log and entry.comment and device.hardware.log_replaces_comment:
        return entry.log, ""
    return entry.comment, entry.log


def _entry(device: JunosDevice, number: int, entry: Commit, *, pending: bool) -> Xml:
    comment, log = _said(device, entry)
    return el(
        "commit-history",
        el("sequence-number", number),
        el("user", entry.user),
        el("client", entry.client),
        el("date-time", stamp(entry.at), junos_seconds=str(int(entry.at))),
        el("comment", comment) if comment else None,
        el("log", log) if log else None,
        el("commit-confirmed", "rollback pending") if pending and device.hardware.marks_pending else None,
    )


def _commits_text(device: JunosDevice, history: list[Commit], *, pending: bool) -> str:
    lines = []
    for number, entry in enumerate(history):
        comment, log = _said(device, entry)
        lines.append(f"{number:<4}{stamp(entry.at)} by {entry.user} via {entry.client} {comment}".rstrip())
        lines += [f"    {log}"] if log else []
        lines += ["    rollback pending"] if pending and not number and device.hardware.marks_pending else []
    return "\n".join(lines)


def revision(login: Login, _arguments: Arguments) -> Answer:
    """Answer `show system commit revision detail`."""
    device = login.device
    entry = device.database.history[0]
    name = f"re0-{int(entry.at)}-{entry.number}"
    comment, log = _said(device, entry)
    xml = el(
        "commit-revision-information",
        el("revision", name),
        el("user", entry.user),
        el("client", entry.client),
        el("date-time", stamp(entry.at), junos_seconds=str(int(entry.at))),
        el("comment", comment) if comment else None,
        el("log", log) if log else None,
    )
    return Answer(lambda: xml, lambda: f"Revision: {name}\nUser    : {entry.user}\nTime    : {stamp(entry.at)}")
