"""The refusal of a drain that would leave sessions up: the same sentence on every platform. No I/O."""

from __future__ import annotations

from typing import Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError


def refuse_half_drained(others: Sequence[str], *, host: str, port: str, advice: str) -> None:
    """Raise JumboError where a port may lead to `others`: peers, in its own words, that no drain shuts down."""
    if others:
        told = ", ".join(others)
        message = f"it may carry BGP sessions that are not shut down, so it would be drained by half: {told}"
        raise JumboError(message, host=host, object=port, advice=advice)
