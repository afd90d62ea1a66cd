"""The host key that emulated devices show over SSH."""

from __future__ import annotations

from pathlib import Path

import asyncssh


def host_key(path: Path | None = None) -> asyncssh.SSHKey:
    """Return the key in the file, or a new one."""
    return asyncssh.read_private_key(path) if path else asyncssh.generate_private_key("ssh-ed25519")
