"""EOS over eAPI: a logged-in napalm driver, its errors turned into ours, and what its commands answer."""

from __future__ import annotations

import contextlib
import http.client
import logging
import re
from typing import Any, Iterator, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eapi_transport import options_for
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_bgp import SUMMARIES, states_of
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_changes import (
    Values,
    config_difference,
    is_drain,
    values_of,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_subinterfaces import effective_mtus
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_words import Sessions, sessions_of, told

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

STARTUP, RUNNING = "show startup-config", "show running-config"
"""In this order in one request: what is read last is what may have changed last."""

MALFORMED = (LookupError, ValueError, TypeError, AttributeError)
"""What reading an answer raises that has not the shape it should have."""


class Session:
    """One login to an EOS device. Use it as a context manager; leaving it never touches a configuration session.

    eAPI is HTTP: a login is no more than an address and a password, and each request is a TLS connection of its own.
    Before the first change to a device `check_release` has napalm refuse releases before 4.23. napalm's lock is off:
    it waits ten seconds for anybody's open session, and each step here decides by itself which sessions matter.
    """

    def __init__(self, access: Access, *, check_release: bool = False) -> None:
        if IMPORT_ERROR is not None:
            raise JumboError(
                f"napalm is not installed ({IMPORT_ERROR})",
                host=access.host,
                advice="Run: pip install -r requirements.txt",
            )
        self.access = access
        self.check_release = check_release
        self.napalm = EOSDriver(
            access.address,
            access.user or "",
            access.password or "",
            timeout=access.timeout,
            optional_args={**options_for(access), "lock_disable": True},
        )

    def __enter__(self) -> Session:
        """Log in."""
        with self.errors():
            if self.check_release:
                self.napalm.open()
            else:
                connection = self.napalm.transport_class(
                    host=self.access.address,
                    username=self.access.user or "",
                    password=self.access.password or "",
                    timeout=self.access.timeout,
                    **self.napalm.eapi_kwargs,
                )
                self.napalm.device = pyeapi.client.Node(connection, enablepwd=self.access.enable_password or "")
        return self

    def __exit__(self, *_exception: object) -> None:
        """Forget the session name first: napalm's close(), and its garbage collection, abort a pending commit."""
        self.napalm.config_session = None

    # ------------------------------------------------------------------ questions

    def show(self, commands: Sequence[str]) -> list[dict[str, Any]]:
        """Run commands that have a JSON model; one dict each."""
        with self.errors():
            replies = self.napalm.device.run_commands(list(commands))
            if len(replies) != len(commands) or not all(isinstance(reply, dict) for reply in replies):
                raise ValueError(f"{len(commands)} commands, and not as many results")
            return list(replies)

    def text(self, commands: Sequence[str]) -> list[str]:
        """Run commands as text, in one request: what fails ends it, and what was done before stays done."""
        with self.errors():
            replies = self.napalm.device.run_commands(list(commands), encoding="text")
            outputs = [reply["output"] for reply in replies]
            if len(outputs) != len(commands) or not all(isinstance(output, str) for output in outputs):
                raise ValueError(f"{len(commands)} commands, and not as many texts")
            return outputs

    def configs(self) -> tuple[str, str]:
        """Return startup-config and running-config."""
        startup, running = self.text([STARTUP, RUNNING])
        return startup, running

    def status(self, changes: Sequence[Change]) -> tuple[Sessions, Values]:
        """Return who is about to change the configuration, and the value that each object of the changes has now."""
        detail, shown = self.show(["show configuration sessions detail", "show interfaces"])
        running = self.text([RUNNING])[0] if any(map(is_drain, changes)) else None
        with self.errors():
            mtus = effective_mtus({name: data.get("mtu") for name, data in shown["interfaces"].items()})
            return sessions_of(detail), values_of(changes, mtus, running)

    def peers(self) -> dict[str, dict[str, Any]]:
        """Return {address: what the summaries tell} of every BGP neighbour of the default VRF."""
        summaries = self.show(list(SUMMARIES))
        with self.errors():
            return states_of(summaries)

    # ------------------------------------------------------------------ acts

    def abort(self, name: str) -> None:
        """Drop a configuration session; where its commit timer runs EOS puts the configuration of before back."""
        self.text([f"configure session {name} abort"])

    def save(self, looked: str) -> None:
        """Write startup-config and read it back: equal to running-config, and to what the caller has looked at."""
        try:
            startup, running = self.text(["write memory", STARTUP, RUNNING])[1:]
        except Unreachable:
            raise
        except JumboError as failure:
            raise self._unsaved(f"running-config could not be saved: {failure.message}") from failure
        unsaved = config_difference(startup, running)
        if unsaved:
            raise self._unsaved("startup-config differs from running-config after `write memory`:\n" + told(unsaved))
        more = config_difference(looked, startup)
        if more:
            raise JumboError(
                "somebody else changed the configuration while we saved it, and that is saved too:\n" + told(more),
                host=self.access.host,
                advice="Check that these lines are meant to stay.",
            )

    def _unsaved(self, message: str) -> JumboError:
        advice = "Check the free space of flash:. Until it is saved, a reboot brings the saved configuration back."
        return JumboError(message, host=self.access.host, advice=advice)

    # ------------------------------------------------------------------ errors

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what napalm, pyeapi and a malformed answer raise into one sentence with the host.

        `limit` is set where EOS told the largest MTU. What was raised stays the `__cause__`.
        """
        try:
            yield
        except JumboError as failure:
            failure.host = failure.host or self.access.host
            raise
        except napalm_errors.UnsupportedVersion as failure:
            raise JumboError("this release of EOS is older than 4.23", host=self.access.host) from failure
        except (pyeapi.eapilib.ConnectionError, napalm_errors.ConnectionException) as failure:
            raise self._connection_error(str(failure)) from failure  # napalm 5.2 lets pyeapi's through from open()
        except http.client.HTTPException as failure:
            raise self._unreachable(f"{type(failure).__name__}: {failure}") from failure
        except (pyeapi.eapilib.CommandError, napalm_errors.NapalmException) as failure:
            raise self._command_error(str(failure)) from failure
        except MALFORMED as failure:
            what = f"{type(failure).__name__}: {self._last_sentence(str(failure))}"
            raise JumboError(
                f"an answer of eAPI has not the shape it should have ({what})",
                host=self.access.host,
                advice="Check that the address is the switch's own eAPI, with no proxy between.",
            ) from failure

    def _connection_error(self, text: str) -> JumboError:
        if "Unauthorized" in text or "401" in text:
            return AccessDenied(
                f"eAPI at {self._where} refused the credentials of user {self.access.user!r}",
                host=self.access.host,
                advice="Check ansible_user and ansible_password.",
            )
        return self._unreachable(text)

    @property
    def _where(self) -> str:
        return f"{self.access.address}:{self.access.port or 443}"

    def _unreachable(self, text: str) -> Unreachable:
        return Unreachable(
            f"eAPI at {self._where} does not answer: {self._last_sentence(text)}",
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
        return JumboError(f"EOS refused a command: {self._last_sentence(text)}", host=self.access.host)

    def _last_sentence(self, text: str) -> str:
        """Return the end of what was said, without any secret of ours that it repeats."""
        sentence = text.strip().splitlines()[-1].strip() if text.strip() else "no reason given"
        for secret in self.access.secrets:
            sentence = sentence.replace(secret, "***")
        return sentence
