"""The files of a switch, kept in memory and, if asked, in a directory so that they outlive the process."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import runtime

STARTUP = "startup-config"
_NAME = re.compile(r"[\w-][\w.-]*")


class Flash:
    """Files by name. `startup-config` is one of them, as on the device."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self.full = False  # for tests: writing fails, what is there stays
        self._files: dict[str, str] = {}
        if directory:
            directory.mkdir(parents=True, exist_ok=True)
            self._files = {path.name: path.read_text() for path in directory.iterdir() if path.is_file()}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def read(self, name: str) -> str:
        """Return a file; the wording for one that is missing is not confirmed."""
        if name not in self._files:
            raise runtime(f"Error opening {name} (No such file or directory)")
        return self._files[name]

    def write(self, name: str, text: str) -> None:
        """Create or replace a file; the wording for a full file system is not confirmed."""
        if not _NAME.fullmatch(name):
            raise runtime(f"Invalid file name {name}")
        if self.full:
            raise runtime(f"Error copying to flash:/{name} (No space left on device)")
        self._files[name] = text
        if self._directory:
            target = self._directory / name
            scratch = target.with_name(f"{name}.new")
            scratch.write_text(text)
            scratch.replace(target)
