"""Names of interfaces in the kernel: at most 15 bytes, and no slash."""

from __future__ import annotations

import hashlib
import re

LONGEST = 15
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def kernel_name(interface: str) -> str:
    """Return the name that stands for an interface inside its node: its own where the kernel takes it."""
    if is_plain(interface):
        return interface
    digest = hashlib.sha256(interface.encode()).hexdigest()[:6]
    letters = re.sub(r"[^A-Za-z0-9]+", "_", interface).strip("_")
    return f"{letters[: LONGEST - 7] or 'if'}-{digest}"


def is_plain(interface: str) -> bool:
    """Tell whether the kernel and nft take the name as it is."""
    return len(interface) <= LONGEST and _PLAIN.fullmatch(interface) is not None
