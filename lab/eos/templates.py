"""JSON texts with holes, so that a switch of many ports answers without building and dumping its whole model.

A thousand front ends share one event loop in the benchmark: the shape of an interface is dumped once per kind of
interface and filled in per request.
"""

from __future__ import annotations

import json
import re
from typing import Any

_HOLE = re.compile(r'"\\u0000(\w+)\\u0000"')


def hole(name: str) -> str:
    """Return the marker of a value that is filled in later, as a JSON text."""
    return f"\0{name}\0"


def template(shape: dict[str, Any]) -> str:
    """Return the %-template of a shape; its holes want JSON texts.

    >>> template({"name": hole("name"), "load": "5 %"}) % {"name": '"Ethernet1"'}
    '{"name": "Ethernet1", "load": "5 %"}'
    """
    return _HOLE.sub(r"%(\1)s", json.dumps(shape).replace("%", "%%"))


class JsonText(str):
    """A text that is JSON already."""

    __slots__ = ()


def dump(value: object) -> str:
    """Return the value as a JSON text."""
    return value if isinstance(value, JsonText) else json.dumps(value)
