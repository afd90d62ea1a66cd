"""Plain Python values out of what Ansible hands to plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def to_plain(value: Any) -> Any:
    """Return a copy made of dict, list, str, int, float, bool and None only.

    ansible-core 2.19 and later hand over lazy containers and tagged scalars; `dataclasses.asdict`, pickle and YAML
    writers do not take them (core #86947).
    """
    if isinstance(value, Mapping):
        return {to_plain(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (str, bytes)):
        return str(value) if isinstance(value, str) else bytes(value)
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    for scalar in (int, float):
        if isinstance(value, scalar):
            return scalar(value)
    return str(value)
