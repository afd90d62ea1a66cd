"""The errors of the EOS command line, with the codes eAPI gives them."""

from __future__ import annotations

from typing import Any

RUNTIME = 1000
INVALID = 1002
UNCONVERTED = 1003

# The words after "CLI command N of M 'x' failed:", as public clients quote them.
REASONS = {
    RUNTIME: "could not run command",
    INVALID: "invalid command",
    UNCONVERTED: "unconverted command",
}


class CliError(Exception):
    """One command failed; the rest of the request is not run."""

    def __init__(self, *errors: str, code: int = INVALID, partial: dict[str, Any] | None = None) -> None:
        super().__init__("; ".join(errors))
        self.errors = errors
        self.code = code
        self.partial = partial or {}

    @property
    def reason(self) -> str:
        """The words that eAPI puts into the message of the reply."""
        return REASONS[self.code]

    @property
    def data(self) -> dict[str, Any]:
        """The last entry of the reply's data list."""
        return {**self.partial, "errors": list(self.errors)}


def invalid_token(index: int, token: str) -> CliError:
    """Return the error of a word that fits nowhere."""
    return CliError(f"Invalid input (at token {index}: '{token}')")


def incomplete(index: int, token: str) -> CliError:
    """Return the error of a command that ends too early."""
    return CliError(f"Incomplete command (at token {index}: '{token}')")


def runtime(text: str) -> CliError:
    """Return the error of a command that was understood and could not be done."""
    return CliError(text, code=RUNTIME)


def unconverted() -> CliError:
    """Return the error of a command that has text output only."""
    return CliError("This is an unconverted command", code=UNCONVERTED)
