"""The record of a roll-out, a line of JSON per event on disk before it is acted on.

Lines are chained: each carries a digest of the one before and of itself, and a file beside the journal names the last
one. So a journal that was edited, cut off or put together from others is refused: what it does not tell would stay
applied. The chain finds mistakes and damage; whoever can write both files can also forge them.
"""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

EVENTS = ("intent", "done")
VERBS = (
    "arm",
    "apply",
    "probe",
    "confirm",
    "revert",
    "lift",
    "persist",
    "open",
    "close",
    "resume",
    "plan",
    "approve",
    "soak",
)
HEAD_SUFFIX = ".head"
_TAIL = 65536
_DIGITS = 12

Line = Dict[str, Any]


class Journal:
    """Append-only; safe for many processes at once (flock, one write per line, fsync).

    A line: {chain, seq, time, step, host, event, verb, data}. `chain` is the SHA-256 of the chain before and this line.
    `fence` is called before an intent is written, and raises where this process may begin nothing any more.
    """

    def __init__(self, path: Path, fence: Callable[[], None] | None = None) -> None:
        self.path = path
        self.fence = fence
        self.head = path.with_name(path.name + HEAD_SUFFIX)

    def write(self, *, step: str, host: str, event: str, verb: str, data: Mapping[str, Any]) -> Line:
        """Append one line and return it when it is on disk. `intent` goes before the act, `done` after it."""
        if event not in EVENTS or verb not in VERBS:
            raise ValueError(f"journal: event {event!r} or verb {verb!r} is not of {EVENTS}, {VERBS}")
        if event == "intent" and self.fence is not None:
            self.fence()
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
            before = last or {"seq": 0, "chain": ""}
            line = {
                "seq": before["seq"] + 1,
                "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
                "step": step,
                "host": host,
                "event": event,
                "verb": verb,
                "data": dict(data),
            }
            line["chain"] = _chain(str(before.get("chain", "")), line)
            _write_all(descriptor, (json.dumps(line, sort_keys=True) + "\n").encode())
            os.fsync(descriptor)
            self._write_head(line)
        finally:
            os.close(descriptor)  # gives the flock back
        return line

    def _write_head(self, line: Line) -> None:
        """Name the last line in a file of fixed length, overwritten in place; a crash leaves it one line behind."""
        descriptor = os.open(str(self.head), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, f"{line['seq']:>{_DIGITS}} {line['chain']}\n".encode(), 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lines(self) -> list[Line]:
        """Return every whole line; what a crash in mid-write left is dropped: nobody had acted on it yet.

        Raises JumboError where the lines are not all that was written, as it was written.
        """
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                content, head = file.read(), self._read_head()
        except FileNotFoundError:
            if self._read_head() is not None:
                raise self._refused("it is gone, and the file that names its last line is there") from None
            return []
        except OSError as error:
            raise JumboError(f"the journal cannot be read: {error.strerror}", object=str(self.path)) from None
        found = [line for line in map(_whole, content.split(b"\n")) if line is not None]
        self._verify(found, head)
        return found

    def _read_head(self) -> tuple[int, str] | None:
        try:
            number, chain = self.head.read_text("ascii").split()
            return int(number), chain
        except FileNotFoundError:
            return None
        except (ValueError, UnicodeDecodeError):
            raise self._refused(f"{self.head.name} is not what was written") from None

    def _verify(self, lines: list[Line], head: tuple[int, str] | None) -> None:
        chain = ""
        for number, line in enumerate(lines, 1):
            chain = _chain(chain, line)
            if line.get("seq") != number or line.get("chain") != chain:
                raise self._refused(f"line {number} is not what was written, or a line before it is missing")
        if head is None:
            if len(lines) > 1:
                raise self._refused(f"{self.head.name}, which names its last line, is missing")
            return
        number, chain = head
        if number > len(lines):
            raise self._refused(f"it ends at line {len(lines)}, and line {number} was written")
        if lines[number - 1]["chain"] != chain:
            raise self._refused(f"line {number} is not the one that {self.head.name} names")

    def _refused(self, reason: str) -> JumboError:
        return JumboError(
            f"the journal was edited, cut off or put together: {reason}",
            object=str(self.path),
            advice="What is applied cannot be known from it. Bring back the untouched evidence; without it see what "
            "the devices hold, and begin anew in another jumbo_evidence_dir with jumbo_resume: new.",
        )


def _chain(before: str, line: Line) -> str:
    content = json.dumps({key: value for key, value in line.items() if key != "chain"}, sort_keys=True)
    return hashlib.sha256(f"{before}{content}".encode()).hexdigest()


def _write_all(descriptor: int, content: bytes) -> None:
    """Write everything: a full disk may take a part first and refuse the rest afterwards."""
    while content:
        content = content[os.write(descriptor, content) :]


def _last_line(descriptor: int) -> Line | None:
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
    return next((line for line in map(_whole, reversed(tail.split(b"\n"))) if line is not None), None)


def _whole(text: bytes) -> Line | None:
    """Return a line of a journal, None where it is none: what a crash left of one."""
    try:
        line = json.loads(text) if text else None
    except ValueError:
        return None
    return line if isinstance(line, dict) else None
