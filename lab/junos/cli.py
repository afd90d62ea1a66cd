"""The command line over SSH: as much of it as people and netmiko need to read, to edit and to commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from . import load
from .answer import piped
from .database import stamp
from .device import JunosDevice
from .errors import Complaint, Refused, refused, syntax_error
from .operations import by_command
from .session import Login, NoReply
from .show_config import as_set
from .text import at, compare, curly, set_lines
from .tree import Step, normal
from .words import find, header, tokens
from .xml import Xml

_SETTINGS = {
    "screen-width": "Screen width set to {0}",
    "screen-length": "Screen length set to {0}",
    "complete-on-space": "Disabling complete-on-space",
    "idle-timeout": "Idle timeout set to {0} minutes",
    "timestamp": "CLI timestamp disabled",
}
_COMMIT = re.compile(
    r"commit(?P<check> check)?(?P<confirmed> confirmed(?: (?P<minutes>\d+))?)?"
    r'(?: comment (?P<comment>"[^"]*"|\S+))?(?P<quit> and-quit)?'
)
_UNCOMMITTED = "Exit with uncommitted changes? [yes,no] (yes) "


class Cli:
    """One terminal. `done` is set when it is left."""

    def __init__(self, device: JunosDevice, user: str) -> None:
        self.device = device
        self.login = Login(device, user, "cli")
        self.done = False
        self._level: tuple[Step, ...] | None = None
        self._asked = False
        self._exclusive = False

    @property
    def prompt(self) -> str:
        """What stands before the next line."""
        if self._asked:
            return _UNCOMMITTED
        mode = ">" if self._level is None else "#"
        banner = "" if self._level is None else f"\n{header(self._level)}"
        return f"{banner}\n{self.login.user}@{self.device.hostname}{mode} "

    def run(self, line: str) -> str:
        """Run a line; return what it prints. Errors are text, as on a terminal."""
        try:
            return self._answer(line.strip())
        except Refused as error:
            return "\n".join(_told(complaint) for complaint in error.complaints)
        except NoReply:
            self.done = True
            return ""

    def end(self) -> None:
        """Leave, whatever is open."""
        self.login.leave()

    def _answer(self, line: str) -> str:
        if self._asked:
            self._asked = False
            return "" if line not in ("", "yes", "y") else self._leave_configuration(force=True)
        if not line:
            return ""
        words, *pipes = [part.strip() for part in line.split("|")]
        text = self._operational(words, pipes) if self._level is None else self._configuring(words, pipes)
        for pipe in pipes:
            text = piped(text, pipe)
        return text

    # -- operational mode ----------------------------------------------------------------------------------------------

    def _operational(self, words: str, pipes: list[str]) -> str:
        if words in ("exit", "quit"):
            self.done = True
            return ""
        if words.startswith("set cli "):
            _set, _cli, name, *rest = [*words.split(), ""]
            if name not in _SETTINGS:
                raise syntax_error(name)
            return _SETTINGS[name].format(*rest)
        if words in ("configure", "edit", "configure exclusive", "configure private"):
            return self._configure(words)
        if "display set" in pipes and words.startswith("show configuration"):
            return as_set(self.login, words.removeprefix("show configuration").strip())
        answer = by_command(self.login, words)
        return _framed(answer.xml()) if "display xml" in pipes else answer.text()

    def _configure(self, words: str) -> str:
        if words.endswith("exclusive"):
            self.login.take_lock()
            self._exclusive = True
        elif words.endswith("private"):
            self.login.open_private()
        self._level = ()
        lines = ["Entering configuration mode"]
        with self.device.lock:
            holder = self.device.database.lock
            if holder and holder is not self.login.session:
                lines += ["Users currently editing the configuration:"]
                lines += [f"  {holder.user} (pid {holder.pid}) on since {stamp(holder.since)}", "      exclusive"]
            if self.device.database.is_dirty and not self._exclusive and not words.endswith("private"):
                lines.append("The configuration has been changed but not committed")
        return "\n".join(lines)

    # -- configuration mode --------------------------------------------------------------------------------------------

    def _configuring(self, words: str, pipes: list[str]) -> str:
        assert self._level is not None  # noqa: S101 - for the type checker, the caller has looked
        verb = words.split(maxsplit=1)[0]
        if verb in ("set", "delete"):
            warnings = self.login.load(list(load.set_edits(words, self._level)), words)
            return "\n".join(_told(warning) for warning in warnings)
        if verb == "run":
            return self._operational(words.removeprefix("run").strip(), pipes)
        if verb == "commit":
            return self._commit(words)
        if verb not in _MODE:
            raise syntax_error(verb)
        return _MODE[verb](self, words, pipes)

    def _show(self, words: str, pipes: list[str]) -> str:
        rest = words.removeprefix("show").split()
        found = find(rest, self._level or (), deleting=True)
        with self.device.lock:
            tree = normal(self.device.database.candidate_of(self.login.session))
            history = self.device.database.history
        if any(pipe.startswith("compare") for pipe in pipes):
            number = next((int(pipe.split()[-1]) for pipe in pipes if pipe.split()[-1].isdigit()), 0)
            if number >= len(history):
                raise refused(f"rollback {number} does not exist")
            return compare(history[number].config, tree)
        part, statement = at(tree, tuple(step.key for step in found.steps))
        if "display set" in pipes:
            before = " ".join(["set", *rest])
            return "\n".join(line for line in set_lines(tree) if f"{line} ".startswith(f"{before} "))
        return "\n".join(curly(part, statement))

    def _rollback(self, words: str, _pipes: list[str]) -> str:
        number = words.removeprefix("rollback").strip() or "0"
        if not number.isdigit():
            raise syntax_error(number)
        self.login.load_rollback(int(number))
        return "load complete"

    def _edit(self, words: str, _pipes: list[str]) -> str:
        self._level = find(tokens(words)[1:], self._level or ()).steps
        return ""

    def _top(self, _words: str, _pipes: list[str]) -> str:
        self._level = ()
        return ""

    def _up(self, _words: str, _pipes: list[str]) -> str:
        self._level = (self._level or ())[:-1]
        return ""

    def _exit(self, words: str, _pipes: list[str]) -> str:
        if self._level and "configuration-mode" not in words:
            return self._up(words, [])
        return self._leave_configuration(force=False)

    def _leave_configuration(self, *, force: bool) -> str:
        database = self.device.database
        with self.device.lock:
            open_changes = self._exclusive and database.is_dirty
        if open_changes and not force:
            self._asked = True
            return "The configuration has been changed but not committed"
        self.login.leave()
        self._exclusive, self._level = False, None
        return "Exiting configuration mode"

    def _commit(self, words: str) -> str:
        match = _COMMIT.fullmatch(words)
        if not match:
            raise syntax_error(words.rsplit(maxsplit=1)[-1])
        if match["check"]:
            self.login.check()
            return "configuration check succeeds"
        minutes = int(match["minutes"]) if match["minutes"] else None
        self.login.commit(minutes=minutes, confirmed=bool(match["confirmed"]), log=(match["comment"] or "").strip('"'))
        lines = list(self._committed(minutes, confirmed=bool(match["confirmed"])))
        if match["quit"]:
            lines.append(self._leave_configuration(force=True))
        return "\n".join(lines)

    def _committed(self, minutes: int | None, *, confirmed: bool) -> Iterator[str]:
        if confirmed:
            length = minutes or 10
            yield f"commit confirmed will be automatically rolled back in {length} minutes unless confirmed"
        yield "commit complete"
        if confirmed:
            yield ""
            yield f"# commit confirmed will be rolled back in {minutes or 10} minutes"


_MODE: dict[str, Callable[[Cli, str, list[str]], str]] = {
    "show": Cli._show,
    "rollback": Cli._rollback,
    "edit": Cli._edit,
    "top": Cli._top,
    "up": Cli._up,
    "exit": Cli._exit,
    "quit": Cli._exit,
}


def _told(complaint: Complaint) -> str:
    if complaint.message == "syntax error":
        return f"syntax error: {complaint.element}" if complaint.element else "syntax error"
    where = [complaint.path] if complaint.path else []
    where += [f"  '{complaint.element}'"] if complaint.element else []
    word = "warning" if complaint.severity == "warning" else "error"
    if where:
        return "\n".join([*where, f"    {complaint.message}"])
    return f"{word}: {complaint.message.strip()}"


def _framed(xml: Xml) -> str:
    return f"<rpc-reply>\n{xml}\n</rpc-reply>"
