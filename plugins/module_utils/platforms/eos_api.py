"""EOS over eAPI: a logged-in napalm driver, its errors turned into ours, and what its commands answer."""

from __future__ import annotations

import contextlib
import logging
import re
from typing import Any, Iterator, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eapi_transport import options_for

try:
    import napalm.base.exceptions as napalm_errors
    import pyeapi.client
    import pyeapi.eapilib
    from napalm.eos import EOSDriver
except ImportError as error:
    IMPORT_ERROR: ImportError | None = error
else:
    IMPORT_ERROR = None
    # pyeapi logs every socket error with a traceback; the error itself reaches the user through us.
    logging.getLogger("pyeapi").setLevel(logging.CRITICAL)

# avd#4338, netlab#1890: the real limit of a port is only told by the refusal of a larger value.
MAX_MTU = re.compile(r"Max MTU for (?P<interface>\S+) is (?P<limit>\d+)")
UNSUPPORTED = re.compile(r"Unavailable command|not supported on this hardware platform")


class Session:
    """One login to an EOS device. Use it as a context manager; leaving it never touches a configuration session.

    eAPI is HTTP: a login is no more than an address and a password. `reading` leaves out napalm's own first request
    (`show version`, to refuse releases before 4.23): each request is a TLS connection of its own.
    """

    def __init__(self, access: Access, *, reading: bool = False) -> None:
        self.reading = reading
        if IMPORT_ERROR is not None:
            raise JumboError(
                f"napalm is not installed ({IMPORT_ERROR})",
                host=access.host,
                advice="Run: pip install -r requirements.txt",
            )
        self.access = access
        self.napalm = EOSDriver(
            access.address,
            access.user or "",
            access.password or "",
            timeout=access.timeout,
            optional_args=options_for(access),
        )

    def __enter__(self) -> Session:
        """Log in."""
        with self.errors():
            if self.reading:
                connection = self.napalm.transport_class(
                    host=self.access.address,
                    username=self.access.user or "",
                    password=self.access.password or "",
                    timeout=self.access.timeout,
                    **self.napalm.eapi_kwargs,
                )
                self.napalm.device = pyeapi.client.Node(connection, enablepwd=self.access.enable_password or "")
            else:
                self.napalm.open()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Forget the session name first: napalm's close(), and its garbage collection, abort a pending commit."""
        self.napalm.config_session = None

    def show(self, commands: Sequence[str]) -> list[dict[str, Any]]:
        """Run commands that have a JSON model; one dict each."""
        with self.errors():
            return list(self.napalm.device.run_commands(list(commands)))

    def text(self, commands: Sequence[str]) -> list[str]:
        """Run commands as text."""
        with self.errors():
            return [reply["output"] for reply in self.napalm.device.run_commands(list(commands), encoding="text")]

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what napalm and pyeapi raise into one sentence; `limit` is set where EOS told the largest MTU."""
        try:
            yield
        except pyeapi.eapilib.ConnectionError as failure:  # napalm 5.2 lets it through from open()
            raise self._connection_error(str(failure)) from None
        except napalm_errors.ConnectionException as failure:
            raise self._connection_error(str(failure)) from None
        except (pyeapi.eapilib.CommandError, napalm_errors.NapalmException) as failure:
            raise self._command_error(str(failure)) from None

    def _connection_error(self, text: str) -> JumboError:
        where = f"{self.access.address}:{self.access.port or 443}"
        if "Unauthorized" in text or "401" in text:
            return AccessDenied(
                f"eAPI at {where} refused the credentials of user {self.access.user!r}",
                host=self.access.host,
                advice="Check ansible_user and ansible_password.",
            )
        return Unreachable(
            f"eAPI at {where} does not answer: {_last_sentence(text)}",
            host=self.access.host,
            advice="Check ansible_host, ansible_httpapi_port and `management api http-commands` on the switch.",
        )

    def _command_error(self, text: str) -> JumboError:
        limit = MAX_MTU.search(text)
        if limit:
            return JumboError(
                "EOS refused the MTU",
                host=self.access.host,
                object=limit["interface"],
                limit=int(limit["limit"]),
                advice="Lower jumbo_underlay_ip_mtu, or leave it: links are clamped to what both ends can do.",
            )
        if UNSUPPORTED.search(text):
            return JumboError(
                "this EOS model has no per-interface MTU",
                host=self.access.host,
                advice="It only takes the MTU under `interface defaults`, which this version does not write.",
            )
        return JumboError(f"EOS refused a command: {_last_sentence(text)}", host=self.access.host)


def _last_sentence(text: str) -> str:
    return text.strip().splitlines()[-1].strip() if text.strip() else "no reason given"
