"""Whatever the device does, the driver raises JumboError with the host's name, and tells no secret."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos import EosDriver

SECRET = "Hidden-pa55word"
CHANGES = [{"host": "leaf1", "object": "Ethernet1", "field": "ip_mtu", "from": 1500, "to": 9000}]
HANDLE = {"name": "run-canary.0.svi", "changes": CHANGES}
VERBS: dict[str, Callable[[EosDriver], Any]] = {
    "read": lambda driver: driver.read(),
    "read interfaces": lambda driver: driver.read(only_interfaces=True),
    "pending": lambda driver: driver.pending(),
    "ping": lambda driver: driver.ping("10.0.0.1", 9000),
    "diff": lambda driver: driver.diff(CHANGES),
    "apply": lambda driver: driver.apply(CHANGES, 120, "run-canary.0.svi"),
    "confirm": lambda driver: driver.confirm(HANDLE),
    "revert": lambda driver: driver.revert(HANDLE),
}
every_verb = pytest.mark.parametrize("verb", VERBS)


def ok(body: bytes, length: int | None = None) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body) if length is None else length, body)


def result(value: Any) -> bytes:
    return ok(json.dumps({"jsonrpc": "2.0", "id": "1", "result": value}).encode())


def each(item: Any) -> Callable[[int], bytes]:
    """Return an answer that has the same result for each command."""
    return lambda count: result([item] * count)


Answer = bytes | Callable[[int], bytes]


@pytest.fixture
def canned(context: ssl.SSLContext) -> Iterator[Callable[[Answer], Access]]:
    """Return a function that gives access to a "switch" which has one answer to everything."""
    listeners: list[socket.socket] = []

    def listen(answer: Answer) -> Access:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
        port = listener.getsockname()[1]
        known: dict[str, Any] = {"user": "admin", "password": SECRET, "enable_password": SECRET + "2"}
        return Access("leaf1", "eos", "127.0.0.1", port=port, validate_certs=False, timeout=10.0, **known)

    def serve(listener: socket.socket, answer: Answer) -> None:
        with contextlib.suppress(OSError):
            while True:
                raw, _peer = listener.accept()
                with contextlib.suppress(OSError), context.wrap_socket(raw, server_side=True) as connection:
                    received = b""
                    while b'"streaming": false}' not in received:
                        received += connection.recv(65536)
                    commands = json.loads(received.partition(b"\r\n\r\n")[2])["params"]["cmds"]
                    connection.sendall(answer if isinstance(answer, bytes) else answer(len(commands)))

    yield listen
    for listener in listeners:
        listener.close()


@every_verb
@pytest.mark.parametrize("answer", [ok(b'{"jsonrpc"', 500), b"nonsense\r\n\r\n", b"", ok(b"<html>"), b"HTTP/1.1 200"])
def test_an_answer_that_breaks_off(canned: Callable[[Answer], Access], verb: str, answer: bytes) -> None:
    with pytest.raises(Unreachable, match=r"^leaf1: eAPI at 127\.0\.0\.1:\d+ does not answer: .*Check ansible_host"):
        VERBS[verb](EosDriver(canned(answer)))


MALFORMED: dict[str, Answer] = {
    "no results": result([]),
    "too many results": result([{}] * 19),
    "empty results": each({}),
    "null results": each(None),
    "wrong types": each({"sessions": [], "interfaces": [], "version": 4, "uptime": "x", "output": 5}),
    "other types": each({"sessions": {"x": 1}, "interfaces": {"Ethernet1": []}, "version": "4.32.2F", "uptime": []}),
    "no result": ok(b"{}"),
    "a null result": result(None),
    "a list": ok(b"[]"),
    "a text": ok(b'"text"'),
    "an error that is none": ok(b'{"error": "what"}'),
    "an error without its code": ok(b'{"error": {"message": "what"}}'),
    "an error with strange data": ok(b'{"error": {"code": 1000, "message": "what", "data": [7]}}'),
}


@every_verb
@pytest.mark.parametrize("answer", MALFORMED)
def test_an_answer_of_another_shape(canned: Callable[[Answer], Access], verb: str, answer: str) -> None:
    with pytest.raises(JumboError) as caught:
        VERBS[verb](EosDriver(canned(MALFORMED[answer])))
    assert caught.value.host == "leaf1"
    assert not isinstance(caught.value, Unreachable)
    if "shape" in caught.value.message:
        assert isinstance(caught.value.__cause__, (LookupError, ValueError, TypeError, AttributeError))


@every_verb
def test_no_secret_is_told(canned: Callable[[Answer], Access], verb: str) -> None:
    error = {"code": 1005, "message": f"CLI command 1 of 2 'enable' failed: (input={SECRET}2) {SECRET}", "data": []}
    with pytest.raises(JumboError, match="^leaf1: EOS refused a command") as caught:
        VERBS[verb](EosDriver(canned(ok(json.dumps({"error": error}).encode()))))
    assert SECRET not in str(caught.value)
    assert SECRET not in str(caught.value.as_dict())


@every_verb
def test_wrong_credentials(switch: Any, verb: str) -> None:
    access = switch.access(password=SECRET)
    with pytest.raises(AccessDenied, match=r"^leaf1: .* refused the credentials of user 'admin'") as caught:
        VERBS[verb](EosDriver(access))
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(access)


@every_verb
def test_nobody_listens(switch: Any, verb: str) -> None:
    switch.call(switch.handle.set_unreachable(True))
    with pytest.raises(Unreachable, match=r"^leaf1: eAPI at 127\.0\.0\.1:\d+ does not answer") as caught:
        VERBS[verb](switch.driver)
    assert not isinstance(caught.value, AccessDenied)


# -- gone in the middle ------------------------------------------------------------------------------------------------


def cut(switch: Any) -> None:
    """Cut management off while a request is being served: it is done, and nobody hears of it."""
    switch.handle.unreachable = True


def heal(switch: Any) -> None:
    switch.call(switch.handle.set_unreachable(False))


def test_a_switch_that_goes_before_the_commit_keeps_its_configuration(switch: Any) -> None:
    switch.after("configure session jumbo-", lambda: cut(switch))
    with pytest.raises(Unreachable):
        switch.apply()
    heal(switch)
    assert (switch.mtus, switch.timer, len(switch.open_sessions)) == ((1500, 4000), None, 1)
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert (switch.open_sessions, switch.device.audit()["written"]) == ([], False)


def test_a_switch_that_goes_with_the_commit_goes_back_by_itself(switch: Any) -> None:
    switch.after("configure session jumbo-run-canary-0-svi commit", lambda: cut(switch))
    with pytest.raises(Unreachable):
        switch.apply()
    assert (switch.mtus, switch.timer) == ((9000, 9000), "jumbo-run-canary-0-svi")
    switch.pass_time(121)
    heal(switch)
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert (switch.mtus, switch.driver.pending()["owner"]) == ((1500, 4000), "none")


def test_a_switch_that_comes_back_in_time_is_taken_back_at_once(switch: Any) -> None:
    switch.after("configure session jumbo-run-canary-0-svi commit", lambda: cut(switch))
    with pytest.raises(Unreachable):
        switch.apply()
    heal(switch)
    assert switch.driver.revert(switch.crashed()) == {"reverted": True}
    assert (switch.mtus, switch.timer) == ((1500, 4000), None)


def test_a_switch_that_goes_before_confirming_goes_back_by_itself(switch: Any) -> None:
    handle = switch.apply()
    switch.call(switch.handle.set_unreachable(True))
    for act in (switch.driver.confirm, switch.driver.revert):
        with pytest.raises(Unreachable):
            act(handle)
    switch.pass_time(121)
    heal(switch)
    with pytest.raises(JumboError, match="no longer running"):
        switch.driver.confirm(handle)
    assert switch.mtus == (1500, 4000)


def test_a_switch_that_goes_between_commit_and_save_is_cleaned_up_later(switch: Any) -> None:
    handle = switch.apply()
    switch.after("configure session", lambda: cut(switch))
    with pytest.raises(Unreachable):
        switch.driver.confirm(handle)
    heal(switch)
    assert (switch.mtus, switch.timer, switch.mtu_after_reboot()) == ((9000, 9000), None, "1500")
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot()) == ((1500, 4000), "1500")


def test_a_switch_that_goes_while_it_is_lowered_is_lowered_by_the_next_try(switch: Any) -> None:
    handle = switch.confirmed()
    switch.after("configure session", lambda: cut(switch))
    with pytest.raises(Unreachable):
        switch.driver.revert(handle)
    heal(switch)
    assert switch.mtu_after_reboot() == "9000"
    assert switch.driver.revert(handle) == {"reverted": True}
    assert (switch.mtus, switch.mtu_after_reboot(), switch.open_sessions) == ((1500, 4000), "1500", [])


def test_a_user_who_is_removed_in_the_middle(switch: Any) -> None:
    handle = switch.apply()
    switch.after("configure session", switch.device.users.clear)
    with pytest.raises(AccessDenied):
        switch.driver.confirm(handle)
