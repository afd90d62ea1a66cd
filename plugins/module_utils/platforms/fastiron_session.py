"""FastIron over SSH: a logged-in netmiko connection, its errors turned into ours, and what is typed into it.

Only an interactive shell answers. What a box does not answer in time may have been done all the same: NoAnswer.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from typing import Any, Callable, Iterator, Sequence, TypeVar

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import (
    fastiron_state,
    fastiron_templates,
    parse_fastiron,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import Interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

try:
    import netmiko.exceptions as netmiko_errors
    import paramiko
    from netmiko.ruckus import RuckusFastironSSH
except ImportError as error:
    IMPORT_ERROR: ImportError | None = error
    RuckusFastironSSH = object
else:
    IMPORT_ERROR = fastiron_templates.IMPORT_ERROR
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # it logs every broken connection with a traceback

DEFAULT_PORT = 22
CONFIG_PATIENCE = 60.0
"""Seconds to wait for configuration mode: a session of ours that hung and was cut may hold it until the box notices."""
BETWEEN_TRIES = 1.0
MOST_QUESTIONS = 3
KEY_PATIENCE = 2.0
_PROMPT = r"(?:\([^()\r\n]*\))?[>#]\s*$"
_MARK = "!jumbo"
_ASKED = r"(?:User Name|Login|ssword):?"
Result = TypeVar("Result")


class Refused(JumboError):
    """The box refuses a line, in its own words."""


class _Shell(RuckusFastironSSH):  # type: ignore[misc]
    """netmiko's connection, logged in without its waits: each answer begins with the echo of what was typed.

    netmiko presses Enter before this, so more than one prompt may be on its way; a line that is a comment, or at worst
    not known, marks the place.
    """

    def session_preparation(self) -> None:
        self._test_channel_read(pattern=r"[>#]\s*$")
        prompt = self._typed(_MARK, r"[>#]\s*$").rstrip().rpartition("\n")[2].strip()
        self.base_prompt = prompt[:-1]
        if prompt.endswith(">"):
            self.enable()
        self._typed("skip-page-display", r"#\s*$")

    def enable(self, *_arguments: object, **_options: object) -> str:
        """Get into enable mode with the user and the password that may be asked for; raises ValueError."""
        said = str(self._typed("enable", rf"(?:{_ASKED}|[>#])\s*$"))
        for pattern, answer in ((r"(?:User Name|Login):?\s*$", self.username), (r"ssword:?\s*$", self.secret)):
            if re.search(pattern, said, re.IGNORECASE):
                self.write_channel(self.normalize_cmd(answer))
                said = str(self.read_until_pattern(rf"(?:{_ASKED}|[>#])\s*$", re_flags=re.IGNORECASE))
        if not said.rstrip().endswith("#"):
            raise ValueError("no enable mode")
        return said

    def cleanup(self, command: str = "exit") -> None:
        """Say nothing: leaving the connection leaves configuration mode too."""

    def _typed(self, line: str, end: str) -> str:
        self.write_channel(self.normalize_cmd(line))
        pattern = rf"{re.escape(line)}[\s\S]*{end}"
        return str(self.read_until_pattern(pattern, re_flags=re.IGNORECASE))


class Session:
    """One login to a FastIron box, in enable mode. Use it as a context manager."""

    def __init__(self, access: Access) -> None:
        if IMPORT_ERROR is not None:
            advice = "Run: pip install -r requirements.txt"
            raise JumboError(f"netmiko or ttp is not installed ({IMPORT_ERROR})", host=access.host, advice=advice)
        self.access = access
        self._shell: Any = None

    def __enter__(self) -> Session:
        """Log in and get into enable mode."""
        access, key = self.access, self.access.private_key_file
        with self.errors("the login"):
            self._shell = _Shell(
                host=access.address,
                port=access.port or DEFAULT_PORT,
                username=access.user or "",
                password=access.password,
                secret=access.enable_password or access.password or "",
                use_keys=bool(key),
                key_file=key,
                ssh_strict=access.validate_certs,
                system_host_keys=access.validate_certs,
                conn_timeout=access.timeout,
                auth_timeout=access.timeout,
                banner_timeout=access.timeout,
                read_timeout_override=access.timeout,
                device_type="ruckus_fastiron",
            )
        return self

    def __exit__(self, *_exception: object) -> None:
        """Cut the connection; whatever fails here changes nothing."""
        if self._shell is not None:
            with contextlib.suppress(Exception):
                self._shell.paramiko_cleanup()

    @property
    def own_address(self) -> str:
        """The address from which the box was dialled."""
        with self.errors("the connection"):
            return str(self._shell.remote_conn_pre.get_transport().sock.getsockname()[0])

    @property
    def dialled(self) -> str:
        """The address of the box that was dialled."""
        with self.errors("the connection"):
            return str(self._shell.remote_conn_pre.get_transport().sock.getpeername()[0])

    @property
    def client(self) -> str:
        """The address that the box sees as its client: another than ours behind a proxy, or a translation."""
        return parse_fastiron.parse_client(self.may_show("show who") or "") or self.own_address

    # ------------------------------------------------------------------ questions

    def show(self, command: str) -> str:
        """Return what a command prints; raises JumboError where the box refuses it."""
        text = self.may_show(command)
        if text is None:
            raise JumboError(f"the box refuses `{command}`", host=self.access.host)
        return text

    def may_show(self, command: str) -> str | None:
        """Return what a command prints, None where the box does not know it."""
        text, _prompt = self._type(command)
        return None if words.refusal_of(text) else text

    def configs(self) -> tuple[Config, Config]:
        """Return what is saved, and what runs."""
        saved, running = self.show("show configuration"), self.show("show running-config")
        return Config.read(saved), Config.read(running)

    def scheduled_reload(self) -> str | None:
        """Return what the box tells of a scheduled reload, None where there is none."""
        text, _prompt = self._type("show reload")
        return words.scheduled_in(text)

    def schedules(self) -> bool:
        """Tell whether the box knows scheduled reloads: asked by its help; this ends the session.

        The box gives `reload` back behind its help, and how to clear that line is not known of every release. Enter
        would reload it, so the connection is cut instead.
        """
        try:
            with self.errors("`reload ?`"):
                self._shell.write_channel("reload ?")
                shown = self._shell.read_until_pattern(rf"{re.escape(self._shell.base_prompt)}[>#] ?reload ?$")
        finally:
            self.__exit__()
        return re.search(r"^\s*after\b", shown, re.MULTILINE) is not None

    # ------------------------------------------------------------------ acts

    def configure(self, lines: Sequence[str]) -> None:
        """Type lines in configuration mode, beginning outside of any stanza; the first that is refused ends it.

        Raises Refused with the box's own words. Without lines it only tries whether we may configure now.
        """
        self._enter_configuration()
        refusal = None
        for line in lines:
            text, _prompt = self._type(line)
            refusal = words.refusal_of(text)
            if refusal:
                break
        self._type("end")
        if refusal:
            raise Refused(f"the box refuses `{line}`: {refusal}", host=self.access.host)

    def _enter_configuration(self) -> None:
        give_up = time.monotonic() + CONFIG_PATIENCE
        while True:
            text, prompt = self._type("configure terminal")
            if "(config" in prompt:
                return
            said = words.refusal_of(text) or " ".join(text.split()) or "no reason is given"
            if "invalid input" in said.lower():
                advice = "Give ansible_user, and ansible_become_password, of somebody who may change the configuration."
                raise JumboError(
                    f"user {self.access.user!r} may not configure: {said}", host=self.access.host, advice=advice
                )
            if time.monotonic() > give_up:
                advice = "Somebody else may be in configuration mode: let them leave it, then run it again."
                raise JumboError(f"no configuration mode: {said}", host=self.access.host, advice=advice)
            time.sleep(BETWEEN_TRIES)

    def write_memory(self) -> str:
        """Write the running configuration to flash; return what the box says. See Saving, which reads it back."""
        said, _prompt = self._type("write memory")
        return said

    def command(self, line: str) -> None:
        """Type one line outside of configuration mode; raises JumboError where the box refuses it."""
        text, _prompt = self._type(line)
        refusal = words.refusal_of(text)
        if refusal:
            raise JumboError(f"the box refuses `{line}`: {refusal}", host=self.access.host)

    def reload(self) -> None:
        """Reload, with `y` to each question; returns when the box says so or cuts the connection.

        Raises NoAnswer where nothing of that is seen: it may have begun all the same.
        """
        give_up = time.monotonic() + self.access.timeout
        text, answers, typed_at = "", 0, time.monotonic()
        with self.errors("`reload`"):
            self._shell.write_channel("reload\n")
        while time.monotonic() < give_up:
            try:
                text += self._shell.read_channel()
            except (EOFError, OSError, paramiko.SSHException):
                return
            if words.GOING_DOWN.search(text) or not self._shell.remote_conn_pre.get_transport().is_active():
                return
            if words.QUESTION.search(text) and answers < MOST_QUESTIONS:
                text, answers, typed_at = "", answers + 1, time.monotonic()
                self._press("y")
            elif answers and time.monotonic() > typed_at + KEY_PATIENCE:  # some releases want Enter behind the key
                typed_at = give_up
                self._press("\n")
            elif re.search(self._prompt, text):
                said = words.refusal_of(text) or " ".join(text.split())
                raise JumboError(f"the box does not reload: {said}", host=self.access.host)
            time.sleep(0.05)
        raise NoAnswer("`reload` was not answered", host=self.access.host)

    def _press(self, key: str) -> None:
        with contextlib.suppress(EOFError, OSError, paramiko.SSHException):
            self._shell.write_channel(key)

    @property
    def _prompt(self) -> str:
        return re.escape(str(self._shell.base_prompt)) + _PROMPT

    def _type(self, command: str) -> tuple[str, str]:
        """Return what a line prints, and the prompt after it."""
        with self.errors(f"`{command}`"):
            text = self._shell.send_command(command, expect_string=self._prompt, strip_prompt=False)
            body, _newline, prompt = str(text).rstrip().rpartition("\n")
            return body, prompt

    # ------------------------------------------------------------------ errors

    @contextlib.contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Turn what netmiko and paramiko raise into one sentence with the host."""
        try:
            yield
        except JumboError as failure:
            failure.host = failure.host or self.access.host
            raise
        except netmiko_errors.NetmikoAuthenticationException as failure:
            raise AccessDenied(
                f"SSH at {self._where} refused the credentials of user {self.access.user!r}",
                host=self.access.host,
                advice="Check ansible_user and ansible_password, or ansible_ssh_private_key_file.",
            ) from failure
        except netmiko_errors.ReadTimeout as failure:
            message = f"{what} at {self._where} was not answered within {self.access.timeout:g} s"
            advice = "A slow box needs a longer ansible_command_timeout."
            raise NoAnswer(message, host=self.access.host, advice=advice) from failure
        except ValueError as failure:
            if "enable mode" not in str(failure):
                raise self._unreachable(failure) from failure
            raise AccessDenied(
                f"{self._where} lets user {self.access.user!r} not into enable mode",
                host=self.access.host,
                advice="Check ansible_become_password: it is the password that `enable` asks for.",
            ) from failure
        except (netmiko_errors.NetmikoBaseException, paramiko.SSHException, OSError, EOFError) as failure:
            raise self._unreachable(failure) from failure

    @property
    def _where(self) -> str:
        return f"{self.access.address}:{self.access.port or DEFAULT_PORT}"

    def _unreachable(self, failure: Exception) -> Unreachable:
        kind = NoAnswer if self._shell is not None else Unreachable
        said = next((line.strip() for line in str(failure).splitlines() if line.strip()), type(failure).__name__)
        for secret in self.access.secrets:
            said = said.replace(secret, "***")
        return kind(
            f"SSH at {self._where} does not answer: {said}",
            host=self.access.host,
            advice="Check ansible_host, ansible_port and `ip ssh` on the box.",
        )


def asked(access: Access, question: Callable[[Session], Result]) -> Result:
    """Ask on a connection of its own; a question that gets no answer is asked once more, from a new one."""
    try:
        with Session(access) as session:
            return question(session)
    except NoAnswer:
        with Session(access) as session:
            return question(session)


def looked(session: Session) -> tuple[Interfaces, Config, Config]:
    """Return the interfaces, what is saved, and what runs."""
    saved, running = session.configs()
    return fastiron_state.interfaces_of(session.show("show interfaces"), saved, running), saved, running
