"""Files that several processes share: written whole or not at all, locked where two must not act at once."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from typing import Any, Iterator

PRIVATE_FOLDER = 0o700
POLL = 0.02


def write_atomically(path: str, content: bytes, mode: int = 0o600) -> None:
    """Replace a file by rename(2), on disk before the name changes: readers see the old bytes or the new ones."""
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Bring a folder's names to disk: a rename is durable only then (fsync(2))."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: str, data: Any) -> None:
    """Replace a JSON file atomically."""
    write_atomically(path, json.dumps(data, indent=1).encode() + b"\n")


def read_json(path: str) -> dict[str, Any] | None:
    """Return a JSON object, or None where there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except FileNotFoundError:
        return None
    return data if isinstance(data, dict) else {}


def boot_time() -> float:
    """Return seconds since boot, suspended time included: what a deadline is measured in (CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def clock_text() -> str:
    """Return the wall clock, for people: `2030-01-31T12:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextlib.contextmanager
def lock(path: str, limit: float) -> Iterator[bool]:
    """Hold an advisory lock (flock(2)); yields False where it was not to be had within `limit` seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield take_lock(descriptor, limit)
    finally:
        os.close(descriptor)


def take_lock(descriptor: int, limit: float) -> bool:
    """Try to take an exclusive flock for `limit` seconds (0: once)."""
    end = time.monotonic() + limit
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # noqa: PERF203 - this is the wait
            if time.monotonic() >= end:
                return False
            time.sleep(POLL)
        else:
            return True


def is_locked(path: str) -> bool:
    """Return whether a living process holds the lock on this file; no process id can be mistaken for another."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who ask at once do not take each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
