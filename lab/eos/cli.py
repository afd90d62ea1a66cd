"""One request's command line: privilege, modes, and the way from a command to its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from . import commands
from .answers import Answer, piped
from .editor import Editor
from .errors import CliError, unconverted
from .sessions import Session
from .templates import dump

if TYPE_CHECKING:
    from .device import EosDevice

TEXT = "text"


class RequestFailed(Exception):
    """A command failed. `results` are the JSON texts of those before it and of itself."""

    def __init__(self, code: int, message: str, results: list[str]) -> None:
        super().__init__(message)
        self.code = code
        self.results = results


class Cli:
    """The state of one request. Nothing of it outlives the request but what it did to the device."""

    def __init__(self, device: EosDevice, user: str) -> None:
        self.device = device
        self.user = user
        self.privileged = False
        self.vrf = "default"
        self.editor: Editor | None = None
        self.session: Session | None = None

    def run(self, items: Sequence[str | dict[str, Any]], encoding: str) -> list[str]:
        """Run commands until one fails; return the results as JSON texts."""
        self.device.tick()
        results: list[str] = []
        for number, item in enumerate(items, 1):
            command, text = _split(item)
            try:
                results.append(self._result(command, text, encoding))
            except CliError as error:
                results.append(json.dumps(error.data))
                message = f"CLI command {number} of {len(items)} '{command}' failed: {error.reason}"
                raise RequestFailed(error.code, message, results) from None
            finally:
                self.device.notify()
        return results

    def _result(self, command: str, text: str | None, encoding: str) -> str:
        bare, *pipes = (part.strip() for part in command.split(" | "))
        as_json = encoding != TEXT
        if pipes and pipes[-1] == "json":
            pipes.pop()
            if not as_json:
                return _printed(dump(self._answer(bare, text, as_json=True)))
        if as_json and pipes:
            raise unconverted()
        out = self._answer(bare, text, as_json=as_json)
        if as_json:
            return dump(out)
        for pipe in pipes:
            out = piped(str(out), pipe)
        return json.dumps({"output": out})

    def _answer(self, command: str, text: str | None, *, as_json: bool) -> object:
        words = command.split()
        if not words:
            return {} if as_json else ""  # public clients send blank lines on
        row, arguments = commands.find(" ".join(words))
        with nullcontext() if row and row.slow else self.device.lock:
            if row and row.available(self):
                if row.privileged and not self.privileged:
                    raise CliError("Invalid input (privileged mode required)")
                answer = row.handler(self, arguments)
            else:
                answer = self._line(command, words, text)
            return answer.as_data() if as_json else answer.as_text()

    def _line(self, command: str, words: list[str], text: str | None) -> Answer:
        """Take a configuration line; outside of configuration mode nothing else is left to try."""
        if self.editor is None:
            raise commands.unknown(words)
        changed = self.editor.enter(command, text)
        if self.session:
            self.device.record(self.user, "session-line", command, self.session.name)
            return Answer()
        if changed:
            self.device.edited()
        self.device.record(self.user, "config-line" if changed else "config-no-change", command)
        return Answer()


def _printed(data: str) -> str:
    """Return JSON as the command line prints it, in a text result."""
    return json.dumps({"output": json.dumps(json.loads(data), indent=4) + "\n"})


def _split(item: str | dict[str, Any]) -> tuple[str, str | None]:
    """Return a command and its input; eAPI takes plain texts and objects with cmd and input."""
    if isinstance(item, str):
        return item, None
    text = item.get("input")
    return str(item["cmd"]), None if text is None else str(text)
