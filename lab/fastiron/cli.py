"""The command line of one session: modes, prompts, questions, pages. Errors are text, as on a terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from . import configure, execute
from .config import GLOBAL
from .device import FastironDevice
from .words import CONFIG, ENABLE, USER, WRONG_PASSWORD, Refused

Answer = Callable[[str], str]


class Cli:
    """One terminal. `done`: it is left; `silent`: what is typed next is not shown; `key`: one key is an answer."""

    def __init__(self, device: FastironDevice, user: str) -> None:
        self.device = device
        self.user = user
        self.done = False
        self.silent = False
        self.key = False
        self.paged = True
        self.mode = ENABLE if device.privileged else USER
        self.stanza = GLOBAL
        self._answer: Answer | None = None
        self._question = ""

    @property
    def prompt(self) -> str:
        """What stands before the next line."""
        if self._answer:
            return self._question
        inside = f"({configure.mode_of(self)})" if self.mode == CONFIG else ""
        return f"SSH@{self.device.hostname}{inside}{'>' if self.mode == USER else '#'}"

    def ask(self, question: str, answer: Answer, *, silent: bool = False, key: bool = False) -> str:
        """Ask in place of the next prompt; what is typed goes to `answer`, whose text is printed."""
        self._question, self._answer, self.silent, self.key = question, answer, silent, key
        return ""

    def run(self, line: str) -> str:
        """Run a line, or take an answer; return what it prints."""
        if not self.device.is_on:
            self.done = True
            return ""
        answer, self._answer, self.silent, self.key = self._answer, None, False, False
        if answer:
            return answer(line)
        words = " ".join(line.split())
        if not words:
            return ""
        try:
            text = self._do(words)
        except Refused as error:
            text = str(error)
        self._maybe_hang(words)
        return text

    def end(self) -> None:
        """Leave, whatever is open."""
        self.leave_configuration()

    def leave_configuration(self) -> None:
        """Let others configure."""
        with self.device.lock:
            if self.device.configuring is self:
                self.device.configuring = None
        self.stanza = GLOBAL
        self.mode = USER if self.mode == USER else ENABLE

    def record(self, kind: str, command: str) -> None:
        """Add to the device's record what this user did."""
        self.device.record(self.user, kind, command)

    def _do(self, words: str) -> str:
        if self.mode == CONFIG:
            return configure.run(self, words)
        if words in ("exit", "quit", "logout"):
            if self.mode == ENABLE and words != "logout" and not self.device.privileged:
                self.mode = USER
            else:
                self.done = True
            return ""
        if self.mode == USER and re.fullmatch(r"en(a(b(l(e)?)?)?)?", words):
            return self._enable()
        return execute.run(self, words)

    def _enable(self) -> str:
        device = self.device
        if not device.enable:
            self.mode = ENABLE
            return "No password has been assigned yet..."
        if device.enable_user:
            return self.ask("User Name:", self._user_given)
        return self.ask("Password:", self._password_given, silent=True)

    def _user_given(self, _name: str) -> str:
        return self.ask("Password:", self._password_given, silent=True)

    def _password_given(self, password: str) -> str:
        if password != self.device.enable:
            return WRONG_PASSWORD
        self.mode = ENABLE
        return ""

    def _maybe_hang(self, words: str) -> None:
        trouble = self.device.trouble
        if trouble.hangs and re.match(trouble.hang_at, words):
            trouble.hangs -= 1
            time.sleep(trouble.hang_seconds)  # in the thread of this session: others go on
