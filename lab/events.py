"""What happened in a lab, in order: kept in memory and, one JSON object a line, in its folder."""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)
_KEPT = 2000


class Events:
    """The lab's diary."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: deque[dict[str, Any]] = deque(maxlen=_KEPT)

    def add(self, node: str, kind: str, text: str) -> None:
        """Note something about a node, or about the lab itself where node is empty."""
        event = {"time": round(time.time(), 3), "node": node, "kind": kind, "text": text}
        self._kept.append(event)
        _LOG.info("%s %s: %s", node or "lab", kind, text)
        with self._file.open("a") as file:
            file.write(json.dumps(event) + "\n")

    def all(self) -> list[dict[str, Any]]:
        """Return what is kept, the oldest first."""
        return list(self._kept)
