"""Junos over NETCONF: a logged-in napalm driver, its errors turned into ours, and what its RPCs answer."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import junos_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_bgp import peers_of
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import Entry, Port

try:
    import jnpr.junos.exception as junos_errors
    import napalm.base.exceptions as napalm_errors
    import ncclient.operations.errors
    import ncclient.transport.errors
    import paramiko
    from lxml import etree
    from napalm.junos import JunOSDriver
except ImportError as error:
    IMPORT_ERROR: ImportError | None = error
else:
    IMPORT_ERROR = None
    # They log every broken connection with a traceback; the error itself reaches the user through us.
    for name in ("ncclient", "paramiko"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

DEFAULT_PORT = 830
COMMIT_PATIENCE = 2
"""A commit may take this many times as long as any other request: it is checked and spread on the box."""
GOODBYE = 3
"""Seconds that a box gets to say good-bye: there is nothing in it that anybody waits for."""

MALFORMED = (LookupError, ValueError, TypeError, AttributeError)
"""What reading an answer raises that has not the shape it should have."""

INHERITED = {"inherit": "inherit", "groups": "groups", "interface-ranges": "interface-ranges"}
"""Asks for what is in force, and where it comes from (Juniper, Junos XML protocol: get-configuration)."""

WANTED = "<configuration><interfaces/><protocols><bgp/></protocols><routing-instances/></configuration>"


class Session:
    """One login to a Junos box. Use it as a context manager; leaving it discards what it loaded, and unlocks.

    napalm's lock is off: each step here decides by itself what it locks, and for how long.
    """

    def __init__(self, access: Access) -> None:
        if IMPORT_ERROR is not None:
            advice = "Run: pip install -r requirements.txt"
            raise JumboError(f"napalm is not installed ({IMPORT_ERROR})", host=access.host, advice=advice)
        self.access = access
        self.ports: Mapping[str, Port] = {}
        self._locked = False
        options: dict[str, Any] = {"port": access.port or DEFAULT_PORT, "lock_disable": True}
        if access.private_key_file:
            options["key_file"] = access.private_key_file
        timeout = int(access.timeout)
        self._napalm = JunOSDriver(access.address, access.user or "", access.password, timeout, options)
        device = self._napalm.device  # napalm hands neither of these on
        device._conn_open_timeout, device._hostkey_verify = timeout, access.validate_certs

    def __enter__(self) -> Session:
        """Log in."""
        with self.errors():
            self._napalm.open()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Discard, unlock, say good-bye; whatever fails here changes nothing: the box ends a session's lock itself."""
        self._device.timeout = GOODBYE
        if self._locked:
            with contextlib.suppress(Exception):
                self.discard()
                self._rpc.unlock_configuration()
        with contextlib.suppress(Exception):
            self._napalm.close()

    def abandon(self) -> None:
        """Cut the connection: the box ends the session and its lock as soon as it has done what it is at."""
        self._locked = False
        with contextlib.suppress(Exception):
            self._device._conn._session.close()

    @property
    def _device(self) -> Any:
        return self._napalm.device

    @property
    def _rpc(self) -> Any:
        return self._device.rpc

    # ------------------------------------------------------------------ questions

    def interfaces(self, *, extensive: bool = False) -> Any:
        """Return get-interface-information, of all interfaces: napalm's name pattern misses ae and irb."""
        with self.errors():
            return self._element(self._rpc.get_interface_information(**({"extensive": True} if extensive else {})))

    def peers(self) -> dict[str, dict[str, Any]]:
        """Return {address: what the summary tells} of every BGP neighbour, {} where no BGP runs."""
        with self.errors():
            return peers_of(self._element(self._rpc.get_bgp_summary_information()))

    def software(self) -> Any:
        """Return get-software-information."""
        with self.errors():
            return self._element(self._rpc.get_software_information())

    def read_ports(self, database: str = "committed") -> dict[str, Port]:
        """Return what is configured of each interface, and remember it: a refusal is told in terms of it."""
        wanted = etree.XML(WANTED)
        with self.errors():
            found = self._rpc.get_config(filter_xml=wanted, options={"database": database, **INHERITED})
            ports = words.ports_of(_wrapped(found))
        self.ports = ports
        return ports

    def history(self) -> list[Entry]:
        """Return the commits, newest first."""
        with self.errors():
            history = words.history_of(self._element(self._rpc.get_commit_information()))
            if not history:
                raise ValueError("a box without a commit")
            return history

    def now(self) -> int:
        """Return the box's time in seconds since 1970."""
        with self.errors():
            found = self._element(self._rpc.get_system_uptime_information()).find(".//current-time/date-time")
            return int(found.get("seconds"))

    def is_dirty(self) -> bool:
        """Tell whether the shared candidate differs from what is committed."""
        return bool(self.difference())

    def difference(self) -> str:
        """Return the candidate's difference to what is committed, as Junos prints it."""
        with self.errors():
            options = {"compare": "rollback", "rollback": "0", "format": "text"}
            found = self._element(self._rpc.get_configuration(options))
            return (found.findtext(".//configuration-output") or "").strip()

    def neighbours(self) -> Any:
        """Return get-lldp-neighbors-information, None where the box runs no LLDP."""
        return self._may_lack(self._rpc.get_lldp_neighbors_information)

    def neighbours_of(self, port: str) -> Any:
        """Return the neighbour of one port, by whichever of the two RPCs the box has."""
        newer = self._may_lack(self._rpc.get_lldp_interface_neighbors, interface_device=port)
        if newer is not None:
            return newer
        return self._may_lack(self._rpc.get_lldp_interface_neighbors_information, interface_name=port)

    def _may_lack(self, rpc: Any, **arguments: str) -> Any:
        with self.errors():
            try:
                return self._element(rpc(**arguments))
            except junos_errors.RpcTimeoutError:
                raise
            except junos_errors.RpcError:
                return None

    def ping(self, target: str, payload: int, source: str | None, count: int, *, text: bool = False) -> str:
        """Send DF echoes with that payload; return the XML of its results, or the text of the command."""
        given = {"source": source} if source else {}
        with self.errors():
            if text:
                words_ = " ".join(f"{name} {value}" for name, value in given.items())
                command = f"ping {target} {words_} size {payload} count {count} do-not-fragment"
                return str(self._device.cli(" ".join(command.split()), warning=False))
            try:
                known = {"host": target, "size": str(payload), "count": str(count), **given}
                reply = self._rpc.ping(rapid=True, do_not_fragment=True, **known)
            except junos_errors.RpcTimeoutError:
                raise
            except junos_errors.RpcError as failure:  # an error in NETCONF's name space hides the results
                if "sendto" not in failure.message:
                    raise
                sent = f"{count} packets transmitted, 0 packets received, 100% packet loss"
                return f"ping: {failure.message.strip()}\n{sent}"
            return str(etree.tostring(self._element(reply), encoding="unicode"))

    @staticmethod
    def _element(reply: Any) -> Any:
        """Return an RPC's answer; PyEZ has True for one without content."""
        if not hasattr(reply, "iter"):
            raise TypeError("an answer without content")
        return reply

    # ------------------------------------------------------------------ acts

    def lock(self) -> None:
        """Lock the candidate: refused while somebody else holds it, or has left changes in it."""
        with self.errors():
            self._rpc.lock_configuration()
        self._locked = True

    def load(self, commands: Sequence[str]) -> None:
        """Load set commands into the candidate."""
        with self.errors():
            self._device.cu.load("\n".join(commands), format="set")

    def load_rollback(self, number: int) -> None:
        """Load an older configuration into the candidate."""
        with self.errors():
            self._device.cu.rollback(rb_id=number)

    def discard(self) -> None:
        """Put what is committed back into the candidate."""
        self.load_rollback(0)

    def check(self) -> None:
        """Check the candidate. That CONFIRMS a confirmed commit (junos-stdlib#57): only under our lock."""
        with self.errors():
            self._device.cu.commit_check(timeout=self._commit_timeout)

    def commit(self, log: str, minutes: int | None = None) -> None:
        """Commit, for a time or for good; raises NoAnswer where it may or may not have been done."""
        arguments = {"confirm": minutes} if minutes is not None else {}
        with self.errors():
            self._device.cu.commit(comment=log, timeout=self._commit_timeout, **arguments)

    @property
    def _commit_timeout(self) -> int:
        return int(self.access.timeout) * COMMIT_PATIENCE

    # ------------------------------------------------------------------ errors

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what napalm, PyEZ, ncclient and a malformed answer raise into one sentence with the host."""
        try:
            yield
        except JumboError as failure:
            failure.host = failure.host or self.access.host
            raise
        except junos_errors.ConnectAuthError as failure:
            raise AccessDenied(
                f"NETCONF at {self._where} refused the credentials of user {self.access.user!r}",
                host=self.access.host,
                advice="Check ansible_user and ansible_password, or ansible_ssh_private_key_file.",
            ) from failure
        except junos_errors.RpcTimeoutError as failure:
            message = f"NETCONF at {self._where} gave no answer within {failure.timeout} s"
            advice = "A slow box needs a longer ansible_command_timeout."
            raise NoAnswer(message, host=self.access.host, advice=advice) from failure
        except junos_errors.RpcError as failure:
            raise self._refused(failure) from failure
        except (junos_errors.ConnectError, junos_errors.ProbeError, napalm_errors.NapalmException, EOFError) as failure:
            raise self._unreachable(failure) from failure
        except (ncclient.transport.errors.TransportError, ncclient.operations.errors.OperationError) as failure:
            raise self._unreachable(failure) from failure
        except (paramiko.SSHException, OSError) as failure:
            raise self._unreachable(failure) from failure
        except (*MALFORMED, etree.LxmlError) as failure:
            what = f"{type(failure).__name__}: {self._clean(failure)}"
            raise JumboError(
                f"an answer of NETCONF has not the shape it should have ({what})",
                host=self.access.host,
                advice="Check that the address is the box's own NETCONF, with no proxy between.",
            ) from failure

    @property
    def _where(self) -> str:
        return f"{self.access.address}:{self.access.port or DEFAULT_PORT}"

    def _unreachable(self, failure: Exception) -> Unreachable:
        return Unreachable(
            f"NETCONF at {self._where} does not answer: {self._clean(failure) or type(failure).__name__}",
            host=self.access.host,
            advice="Check ansible_host, ansible_port and `system services netconf ssh` on the box.",
        )

    def _refused(self, failure: Any) -> JumboError:
        """Return the refusal that says most: a family MTU before the sentence that a check has failed."""
        facts = [fact for fact in failure.errs or [] if isinstance(fact, dict)]
        found = [
            self._refusal(str(fact.get("message") or ""), str(fact.get("edit_path") or ""))
            for fact in facts
            if fact.get("severity") != "warning"
        ]
        told = next((one for one in found if one.limit is not None), found[0] if found else None)
        refusal = told or self._refusal(str(failure.message or failure), "")
        refusal.message = self._clean(refusal.message)
        return refusal

    def _refusal(self, said: str, path: str) -> JumboError:
        return words.refusal(said, path, self.ports, self.access.host)

    def _clean(self, failure: object) -> str:
        """Return what was said, in one line and without any secret of ours that it repeats."""
        sentence = " ".join(str(failure).split())
        for secret in self.access.secrets:
            sentence = sentence.replace(secret, "***")
        return sentence


def _wrapped(configuration: Any) -> Any:
    """Return the configuration below an element of its own, so that searches find it wherever it stands."""
    outer = etree.Element("data")
    outer.append(configuration)
    return outer
