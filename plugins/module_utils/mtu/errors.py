"""What a user may be told: every error of the project that is not a bug."""

from __future__ import annotations

from typing import Any, Mapping


class JumboError(Exception):
    """One problem, with the facts a person needs to act on it.

    The attributes not given are None. MTU values are bytes of IP packet unless the message says otherwise.
    `handle`: of a change that failed half-way, what a revert must know of it (see platforms.base.keeping).
    """

    def __init__(
        self,
        message: str,
        *,
        host: str | None = None,
        object: str | None = None,  # noqa: A002 - the word the plan and the journal use
        variable: str | None = None,
        wish: Any = None,
        limit: Any = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.host = host
        self.object = object
        self.variable = variable
        self.wish = wish
        self.limit = limit
        self.advice = advice
        self.handle: dict[str, Any] | None = None

    def __str__(self) -> str:
        """One sentence: where, what, the value, what is allowed, what to do."""
        where = ":".join(part for part in (self.host, self.object) if part)
        text = f"{where}: {self.message}" if where else self.message
        if self.variable:
            text += f" ({self.variable} is {'not set' if self.wish is None else repr(self.wish)})"
        elif self.wish is not None:
            text += f" (wished: {self.wish})"
        if self.limit is not None:
            text += f"; allowed: {self.limit}"
        if self.advice:
            text += f". {self.advice}"
        return text

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as plain data, for results and the journal."""
        return {
            "message": self.message,
            "host": self.host,
            "object": self.object,
            "variable": self.variable,
            "wish": self.wish,
            "limit": self.limit,
            "advice": self.advice,
        }


class Unreachable(JumboError):
    """The device did not answer; nothing is known of its state."""


class AccessDenied(Unreachable):
    """The device answered and refused the credentials."""


class NotReadAgain(JumboError):
    """Devices that were read refuse a new connection: `errors` is {host: {"text", "unreachable", ...}}."""

    def __init__(self, errors: Mapping[str, Mapping[str, Any]], advice: str) -> None:
        text = "\n".join(str(error["text"]) for error in errors.values())
        super().__init__(f"no new connection to {', '.join(errors)}; nothing was changed:\n{text}", advice=advice)
        self.errors = errors


class InvalidIntent(JumboError):
    """The inventory asks for something that cannot be; every problem found is listed."""

    def __init__(self, problems: tuple[JumboError, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
