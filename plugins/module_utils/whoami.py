"""Who runs this: what locks, journals and guards tell another operator."""

from __future__ import annotations

import getpass
import os
import platform


def user() -> str:
    """Return the user's name; the number where it has none, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # Python 3.13 raises OSError
        return str(os.getuid())


def operator() -> str:
    """Return `user@controller`."""
    return f"{user()}@{platform.node()}"
