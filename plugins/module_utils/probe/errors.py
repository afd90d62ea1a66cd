"""What goes wrong on a host, said so that a person can act on it."""

from __future__ import annotations

from typing import Any


class ProbeError(Exception):
    """One problem: the object it is about, what was wished, what is allowed, what to do.

    MTU values are bytes of IP packet. `done` tells what had been undone already when the problem was met.
    """

    def __init__(
        self,
        message: str,
        *,
        object: str | None = None,  # noqa: A002 - the word the plan and the journal use
        wish: Any = None,
        limit: Any = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.object = object
        self.wish = wish
        self.limit = limit
        self.advice = advice
        self.undone: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the problem as the `error` of a reply; `undone` only where something had been changed."""
        fields: dict[str, Any] = {
            "message": self.message,
            "object": self.object,
            "wish": self.wish,
            "limit": self.limit,
            "advice": self.advice,
        }
        if self.undone is not None:
            fields["undone"] = self.undone
        return fields
