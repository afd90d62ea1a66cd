"""The folder of a lab: what is in it, who holds it, and how it is emptied."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

# Everything a lab puts into its folder. Nothing else there is ever removed.
_FILES = ("spec.json", "lab.log", "events.jsonl", "stalls.jsonl", "violations.jsonl", "control", "lock")
_FOLDERS = ("ssh", "eapi", "nodes")
_POLL = 0.02


class LabFolder:
    """A lab's folder. Who holds the lock owns the lab: the supervisor, for as long as it lives."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def log(self) -> Path:
        """The supervisor's log."""
        return self.path / "lab.log"

    @property
    def spec_file(self) -> Path:
        """What the lab was built from: {"hosts", "faults"}."""
        return self.path / "spec.json"

    def read_spec(self) -> dict[str, Any] | None:
        """Return what the lab was built from, None where there is none."""
        try:
            spec: dict[str, Any] = json.loads(self.spec_file.read_text())
        except (OSError, ValueError):
            return None
        return spec

    def lock(self, patience: float = 0.0) -> int | None:
        """Take the folder, which must exist; return the lock's descriptor, or None if somebody holds it."""
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        give_up = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    os.close(handle)
                    return None
                time.sleep(_POLL)
            else:
                return handle

    def owner(self) -> int | None:
        """Return the process id of the lock's owner, as `up` noted it."""
        text = (self.path / "lock").read_text()
        return int(text) if text.isdigit() else None

    def make(self) -> None:
        """Make the folder; one that others put files into is refused."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            foreign = sorted(set(os.listdir(self.path)) - {*_FILES, *_FOLDERS})
        except OSError as error:
            raise JumboError(f"{self.path} cannot be the lab's folder: {error.strerror}") from None
        if foreign:
            advice = "Choose an empty one with --dir"
            raise JumboError(f"{self.path} holds other files, such as {foreign[0]}", advice=advice)

    def clear(self) -> None:
        """Remove everything of the lab, the lock last, and the folder if it is empty then."""
        for name in _FOLDERS:
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in _FILES:
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def is_lock(self, handle: int) -> bool:
        """Tell whether the descriptor still is the folder's lock, and not one of a lab that is gone."""
        with contextlib.suppress(OSError):
            return os.fstat(handle).st_ino == (self.path / "lock").stat().st_ino
        return False

    @contextlib.contextmanager
    def control_address(self) -> Iterator[str]:
        """Give the control socket's address; by way of /proc, since a socket's path may have 107 bytes only."""
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{handle}/control"
        finally:
            os.close(handle)

    def ask(self, verb: str, patience: float = 60.0, **arguments: Any) -> dict[str, Any]:
        """Ask the supervisor; raises JumboError where no lab runs, or with what it says."""
        with (
            socket.socket(socket.AF_UNIX) as connection,
            self.control_address() if self.path.is_dir() else _nobody() as at,
        ):
            connection.settimeout(patience)
            try:
                connection.connect(at)
                connection.sendall(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
                line = connection.makefile().readline()
            except OSError:
                line = ""
        if not line:
            raise JumboError(f"no lab is running in {self.path}", advice="Start one with `make lab`")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise JumboError(reply["error"])
        return reply


@contextlib.contextmanager
def _nobody() -> Iterator[str]:
    yield "/nonexistent"
