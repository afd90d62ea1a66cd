"""The record of a roll-out, a line of JSON per event on disk before it is acted on; and the lock of its directory."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import getpass
import json
import os
import platform
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

EVENTS = ("intent", "done")
VERBS = ("arm", "apply", "probe", "confirm", "revert", "lift", "persist", "open", "close")
_TAIL = 65536

Line = Dict[str, Any]


class Journal:
    """Append-only; safe for many processes at once (flock, one write per line, fsync)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, *, step: str, host: str, event: str, verb: str, data: Mapping[str, Any]) -> Line:
        """Append one line and return it when it is on disk. `intent` goes before the act, `done` after it."""
        if event not in EVENTS or verb not in VERBS:
            raise ValueError(f"journal: event {event!r} or verb {verb!r} is not of {EVENTS}, {VERBS}")
        try:
            return self._append(step, host, event, verb, data)
        except OSError as error:
            raise JumboError(
                f"the journal cannot be written: {error.strerror}",
                object=str(self.path),
                advice="What cannot be written down is not done. Free space or mend the rights, then run it again.",
            ) from None

    def _append(self, step: str, host: str, event: str, verb: str, data: Mapping[str, Any]) -> Line:
        descriptor = os.open(str(self.path), os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            last = _last_line(descriptor)
            line = {
                "seq": (json.loads(last)["seq"] + 1) if last else 1,
                "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
                "step": step,
                "host": host,
                "event": event,
                "verb": verb,
                "data": dict(data),
            }
            _write_all(descriptor, (json.dumps(line, sort_keys=True) + "\n").encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)  # gives the flock back
        return line

    def lines(self) -> list[Line]:
        """Return every whole line; what a crash in mid-write left is dropped: nobody had acted on it yet."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JumboError(f"the journal cannot be read: {error.strerror}", object=str(self.path)) from None
        return [json.loads(line) for line in content.split(b"\n") if _is_whole(line)]


def _write_all(descriptor: int, content: bytes) -> None:
    """Write everything: a full disk may take a part first and refuse the rest afterwards."""
    while content:
        content = content[os.write(descriptor, content) :]


def _last_line(descriptor: int) -> bytes:
    """Return the last whole line, and end a torn one so that the next line starts on its own."""
    size = os.fstat(descriptor).st_size
    tail = b""
    position = size
    while position > 0 and tail.rstrip(b"\n").count(b"\n") < 2:  # noqa: PLR2004 - a torn line and the one before
        step = min(_TAIL, position)
        position -= step
        tail = os.pread(descriptor, step, position) + tail
    if tail and not tail.endswith(b"\n"):
        os.write(descriptor, b"\n")
        tail = tail[: tail.rfind(b"\n") + 1]
    lines = [line for line in tail.split(b"\n") if _is_whole(line)]
    return lines[-1] if lines else b""


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class Lock:
    """One roll-out at a time in an evidence directory. A lock whose process is gone is taken over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def take(self, rollout: str, pid: int) -> None:
        """Take the lock for a process (ansible-playbook itself, not its worker); JumboError names the holder."""
        content = json.dumps(_holder(rollout, pid)).encode()
        with self._one_taker():
            holder = self.holder()
            if holder is not None and _is_alive(holder):
                raise JumboError(
                    f"another roll-out is running: {holder['rollout']} of {holder['user']} on {holder['host']}, "
                    f"process {holder['pid']}, since {holder['since']}",
                    object=str(self.path),
                    advice="Wait for it. If you know that it is gone on another machine, delete the lock file.",
                )
            scratch = self.path.with_name(f".{self.path.name}-{rollout}")
            scratch.write_bytes(content)
            os.replace(str(scratch), str(self.path))

    @contextlib.contextmanager
    def _one_taker(self) -> Iterator[None]:
        """Let one process at a time look and take: forked workers cannot hold a flock for a whole roll-out."""
        descriptor = os.open(str(self.path.parent), os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def holder(self) -> dict[str, Any] | None:
        """Return who holds it: {rollout, user, host, pid, started, boot_id, since}; None where nobody does."""
        try:
            holder = json.loads(self.path.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise JumboError(
                f"the lock cannot be read: {error}",
                object=str(self.path),
                advice="See who owns this evidence directory; if nobody is using it, delete the lock file.",
            ) from None
        return dict(holder)

    def release(self, rollout: str) -> None:
        """Give the lock back; somebody else's stays."""
        holder = self.holder()
        if holder is not None and holder.get("rollout") == rollout:
            self.path.unlink(missing_ok=True)


def _holder(rollout: str, pid: int) -> dict[str, Any]:
    return {
        "rollout": rollout,
        "user": getpass.getuser(),
        "host": platform.node(),
        "pid": pid,
        "started": _process_start(pid),
        "boot_id": _boot_id(),
        "since": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def _is_alive(holder: Mapping[str, Any]) -> bool:
    """Judge by process id, its start time and this boot; a holder on another machine counts as alive."""
    if holder.get("host") != platform.node():
        return True
    return holder.get("boot_id") == _boot_id() and _process_start(int(holder["pid"])) == holder.get("started")


def _process_start(pid: int) -> str | None:
    """Return field 22 of /proc/PID/stat (proc(5)): start time in clock ticks after boot; None for no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
