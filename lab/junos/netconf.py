"""NETCONF 1.0 as Junos speaks it: one session, a request in, a reply out. No transport is in here."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lxml import etree

from . import load
from .answer import Answer, piped
from .device import JunosDevice
from .errors import Complaint, Refused, refused
from .operations import by_command, by_rpc
from .session import Login, NoReply
from .show_config import as_set, formatted, get_configuration
from .tree import normal
from .xml import Xml, el, join, parse, text_of
from .xml_config import edits, filtered

_LOG = logging.getLogger(__name__)
END = b"]]>]]>"
BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
_CAPABILITIES = (
    BASE,
    "urn:ietf:params:netconf:base:1.0",
    "urn:ietf:params:netconf:capability:candidate:1.0",
    "urn:ietf:params:netconf:capability:confirmed-commit:1.0",
    "urn:ietf:params:netconf:capability:validate:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:candidate:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:confirmed-commit:1.0",
    "urn:ietf:params:xml:ns:netconf:capability:validate:1.0",
    "http://xml.juniper.net/netconf/junos/1.0",
    "http://xml.juniper.net/dmi/system/1.0",
)
_OK = el("ok")
_RFC_TIMEOUT = "600"  # RFC 6241: seconds


class Netconf:
    """One NETCONF session. `closed` is set when the client has said good-bye."""

    def __init__(self, device: JunosDevice, user: str) -> None:
        self.login = Login(device, user, "netconf")
        self.closed = False

    def hello(self) -> bytes:
        """Return the server's hello."""
        capabilities = el("capabilities", *(el("capability", one) for one in _CAPABILITIES))
        return el("hello", capabilities, el("session-id", self.login.session.pid), xmlns=BASE).encode()

    def handle(self, request: bytes) -> bytes | None:
        """Return the reply to a message, None where there is none: to a hello, and where it is lost on purpose."""
        attributes: dict[str, str] = {}
        try:
            root = parse(request.strip())
            if root.tag == "hello":
                return None
            attributes = {str(name): str(value) for name, value in root.attrib.items()}
            body = self._run(root)
        except NoReply:
            return None
        except Refused as error:
            body = errors(error)
        except Exception:  # noqa: BLE001 - the session goes on, as on the box
            _LOG.exception("%s: a request failed", self.login.device.hostname)
            body = errors(refused("internal error of the lab's device"))
        return self._reply(body, attributes)

    def end(self) -> None:
        """End the session, whatever is open in it."""
        self.login.leave()

    def _reply(self, body: Xml, attributes: dict[str, str]) -> bytes:
        junos = f"http://xml.juniper.net/junos/{self.login.device.hardware.release}/junos"
        names = " ".join(f'{name}="{value}"' for name, value in {"xmlns": BASE, "xmlns:junos": junos}.items())
        echoed = "".join(f' {name}="{value}"' for name, value in attributes.items() if name == "message-id")
        return f"<rpc-reply {names}{echoed}>\n{body}\n</rpc-reply>\n".encode()

    def _run(self, root: etree._Element) -> Xml:
        if root.tag != "rpc" or not len(root):
            raise refused("syntax error", element=str(root.tag))
        request = root[0]
        act = _ACTS.get(str(request.tag))
        if act is not None:
            return act(self, request)
        return _rendered(by_rpc(self.login, request), request.get("format") or "xml")

    # -- sessions and locks ------------------------------------------------------------------------------------------

    def close(self, _request: etree._Element) -> Xml:
        """End the session when the reply is out."""
        self.closed = True
        return _OK

    def lock(self, _request: etree._Element) -> Xml:
        """Lock the candidate."""
        self.login.take_lock()
        return _OK

    def unlock(self, _request: etree._Element) -> Xml:
        """Give the lock back."""
        self.login.unlock()
        return _OK

    def open_configuration(self, request: etree._Element) -> Xml:
        """Open a private copy; the warning is what Junos says then (napalm waits for it)."""
        if request.find("private") is None:
            raise refused("syntax error", element="open-configuration")
        self.login.open_private()
        warning = Complaint("uncommitted changes will be discarded on exit", severity="warning")
        return errors(Refused(warning))

    def close_configuration(self, _request: etree._Element) -> Xml:
        """Throw the private copy away."""
        self.login.close_private()
        return _OK

    # -- configurations ----------------------------------------------------------------------------------------------

    def get_configuration(self, request: etree._Element) -> Xml:
        """Answer Junos's own get-configuration."""
        return get_configuration(self.login, request)

    def get_config(self, request: etree._Element) -> Xml:
        """Answer RFC 6241's get-config."""
        database = self.login.device.database
        running = request.find("source/running") is not None
        with self.login.device.lock:
            tree = database.committed if running else normal(database.candidate_of(self.login.session))
        wanted = request.find("filter/configuration")
        tree = filtered(tree, wanted) if wanted is not None else tree
        return el("data", formatted(self.login, tree, "xml", committed=running))

    def load(self, request: etree._Element) -> Xml:
        """Do load-configuration in each of its forms."""
        try:
            warnings = self._load(request)
        except Refused as error:
            count = el("load-error-count", len(error.complaints))
            return el("load-configuration-results", errors(error), count)
        if warnings:
            return el("load-configuration-results", errors(Refused(*warnings)), _OK)
        return el("load-configuration-results", _OK)

    def _load(self, request: etree._Element) -> list[Complaint]:
        number = request.get("rollback")
        if number is not None:
            if not number.isdigit():
                raise refused(f"invalid value '{number}'", element="rollback")
            self.login.load_rollback(int(number))
            return []
        action = request.get("action") or "merge"
        if action not in ("merge", "replace", "override", "update", "set"):
            raise refused("syntax error", element=action)
        content = _content(request, action)
        return self.login.load(content, f"load {action}", override=action in ("override", "update"))

    def edit_config(self, request: etree._Element) -> Xml:
        """Do RFC 6241's edit-config on the candidate."""
        if request.find("target/candidate") is None:
            raise refused("only the candidate can be edited", tag="operation-not-supported")
        if (text := text_of(request, "config-text/configuration-text")) is not None:
            self.login.load(load.text_edits(text, tagged=True), "edit-config")
            return _OK
        config = request.find("config/configuration")
        if config is None:
            raise refused("syntax error", element="config")
        override = text_of(request, "default-operation") == "replace"
        self.login.load(list(edits(config)), "edit-config", override=override)
        return _OK

    def discard(self, _request: etree._Element) -> Xml:
        """Put the committed configuration back into the candidate."""
        self.login.load_rollback(0)
        return _OK

    def validate(self, _request: etree._Element) -> Xml:
        """Check the candidate, as `commit check` does."""
        self.login.check()
        return _OK

    def commit_configuration(self, request: etree._Element) -> Xml:
        """Do Junos's own commit: the time to confirm is in MINUTES."""
        if request.find("check") is not None:
            self.login.check()
            return join(el("commit-results", el("commit-check-success")), _OK)
        if request.find("at-time") is not None:
            raise refused("commits at a time are not known here", element="at-time")
        log = text_of(request, "log") or ""
        minutes = self._minutes(text_of(request, "confirm-timeout"))
        self.login.commit(minutes=minutes, confirmed=request.find("confirmed") is not None, log=log)
        return join(el("commit-results", el("load-success")), _OK)

    def commit(self, request: etree._Element) -> Xml:
        """Do RFC 6241's commit: the time to confirm is in SECONDS; what is left of a minute is cut off.

        Sixty times too short where somebody means minutes: rolled back at once (ncclient PR 239).
        """
        if request.find("confirmed") is None:
            self.login.commit()
            return _OK
        seconds = self._minutes(text_of(request, "confirm-timeout") or _RFC_TIMEOUT)
        self.login.commit(minutes=(seconds or 0) // 60, confirmed=True)
        return _OK

    @staticmethod
    def _minutes(text: str | None) -> int | None:
        if text is None:
            return None
        if not text.isdigit() or not 1 <= int(text) <= 65535:  # noqa: PLR2004 - the range in vendor documentation
            raise refused(f"Value {text} is not within range (1..65535)", element="confirm-timeout")
        return int(text)

    # -- commands ----------------------------------------------------------------------------------------------------

    def command(self, request: etree._Element) -> Xml:
        """Run an operational command with its pipes."""
        line = (request.text or "").strip()
        words, *pipes = [part.strip() for part in line.split("|")]
        form = request.get("format") or "xml"
        if "display set" in pipes and words.startswith("show configuration"):
            text = as_set(self.login, words.removeprefix("show configuration").strip())
            return el("output", f"\n{text}\n")
        if "display xml" in pipes:
            form = "xml"
        filters = [pipe for pipe in pipes if pipe.split()[0] in ("match", "except", "count")]
        answer = by_command(self.login, words)
        if form == "xml" and not filters:
            return _rendered(answer, "xml")
        text = answer.text()
        for pipe in filters:
            text = piped(text, pipe)
        return el("output", f"\n{text}\n")


_ACTS: dict[str, Callable[[Netconf, etree._Element], Xml]] = {
    "close-session": Netconf.close,
    "lock-configuration": Netconf.lock,
    "lock": Netconf.lock,
    "unlock-configuration": Netconf.unlock,
    "unlock": Netconf.unlock,
    "open-configuration": Netconf.open_configuration,
    "close-configuration": Netconf.close_configuration,
    "get-configuration": Netconf.get_configuration,
    "get-config": Netconf.get_config,
    "load-configuration": Netconf.load,
    "edit-config": Netconf.edit_config,
    "discard-changes": Netconf.discard,
    "validate": Netconf.validate,
    "commit-configuration": Netconf.commit_configuration,
    "commit": Netconf.commit,
    "command": Netconf.command,
}


def _rendered(answer: Answer, form: str) -> Xml:
    if form == "text":
        return el("output", f"\n{answer.text()}\n")
    if form != "xml":
        raise refused(f"the format {form} is not known here", element="format")
    return answer.xml()


def _content(request: etree._Element, action: str) -> list[load.Edit]:
    """Return the edits of a load-configuration, whatever its format."""
    tagged = action == "replace"
    if (text := text_of(request, "configuration-set")) is not None:
        return list(load.set_edits(text))
    if (text := text_of(request, "configuration-text")) is not None:
        return load.text_edits(text, tagged=tagged)
    config = request.find("configuration")
    if config is None:
        raise refused("syntax error", element="load-configuration")
    return list(edits(config))


def errors(error: Refused) -> Xml:
    """Return the rpc-errors of a refusal."""
    return join(*(_rpc_error(complaint) for complaint in error.complaints))


def _rpc_error(complaint: Complaint) -> Xml:
    return el(
        "rpc-error",
        el("error-type", complaint.kind),
        el("error-tag", complaint.tag),
        el("error-severity", complaint.severity),
        el("source-daemon", complaint.daemon) if complaint.daemon else None,
        el("error-path", f"\n{complaint.path}\n") if complaint.path else None,
        el("error-message", f"\n{complaint.message}\n"),
        el("error-info", el("bad-element", complaint.element)) if complaint.element else None,
    )
