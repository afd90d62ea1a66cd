"""Whatever the box does, the driver raises JumboError with the host's name, and tells no secret."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import asyncssh
import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos import JunosDriver
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_words import refusal
from lab.junos_driver.conftest import CHANGES, PASSWORD, change

HANDLE = {"name": "run-canary.0.svi", "changes": CHANGES}
VERBS: dict[str, Callable[[JunosDriver], Any]] = {
    "read": lambda driver: driver.read(),
    "pending": lambda driver: driver.pending(),
    "ping": lambda driver: driver.ping("10.0.0.1", 9000),
    "diff": lambda driver: driver.diff(CHANGES),
    "apply": lambda driver: driver.apply(CHANGES, 120, "run-canary.0.svi"),
    "confirm": lambda driver: driver.confirm(HANDLE),
    "revert": lambda driver: driver.revert(HANDLE),
}
every_verb = pytest.mark.parametrize("verb", VERBS)


@every_verb
def test_a_wrong_password(box: Any, verb: str) -> None:
    with pytest.raises(AccessDenied, match="leaf2: .*refused the credentials of user 'admin'") as caught:
        VERBS[verb](JunosDriver(box.access(password=PASSWORD + "x")))
    assert PASSWORD not in str(caught.value)


@every_verb
def test_nobody_listens(box: Any, verb: str) -> None:
    box.call(box.handle.set_unreachable(True))
    with pytest.raises(Unreachable, match="leaf2: NETCONF at 127.0.0.1"):
        VERBS[verb](box.driver)


@pytest.fixture
def stranger() -> Iterator[Access]:
    """A way to something that is no SSH server."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _peer = listener.accept()
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    known: dict[str, Any] = {"user": "admin", "password": PASSWORD, "timeout": 5.0}
    yield Access("leaf2", "junos", "127.0.0.1", port=port, **known)
    listener.close()


def test_something_else_listens(stranger: Access) -> None:
    with pytest.raises(Unreachable, match="leaf2: NETCONF at 127.0.0.1:"):
        JunosDriver(stranger).read()


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (change("xe-0/0/0", new=9500), ["leaf2:xe-0/0/0:", "9514", "(wished: 9500)", "allowed: 9202"]),
        (change("xe-0/0/5", 1500, 9500), ["leaf2:xe-0/0/5:", "9522", "(wished: 9500)", "allowed: 9194"]),
        (change("irb.10", new=9500), ["leaf2:irb:", "allowed: 9202"]),
        (change("xe-0/0/3"), ["leaf2:xe-0/0/3:", "member of ae0", "Name ae0"]),
        (change("xe-0/0/0", 2000), ["leaf2:xe-0/0/0:", "has IP MTU 1500, not the 2000"]),
        (change("xe-9/9/9"), ["leaf2:xe-9/9/9:", "has IP MTU None"]),
        ({**change("xe-0/0/0"), "field": "route_mtu"}, ["leaf2:xe-0/0/0:", "pins no routes"]),
    ],
    ids=["range", "range of a tagged port", "irb", "member", "other start", "no such port", "route"],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(box: Any, wish: Any, words: list[str]) -> None:
    for act in (lambda: box.driver.diff([wish]), lambda: box.apply(wish)):
        with pytest.raises(JumboError) as caught:
            act()
        said = str(caught.value)
        assert "\n" not in said
        assert [word for word in words if word not in said] == []
        assert box.is_clean
    assert box.device.audit()["written"] is False


def test_a_family_mtu_that_does_not_fit_names_wish_and_limit() -> None:
    text = "Family MTU 9192 is too large relative to device MTU 1514; Protocol overhead should be 14"
    error = refusal(text, "[edit interfaces ae0 unit 0 family]", {}, "leaf2")
    assert (error.host, error.object, error.wish, error.limit) == ("leaf2", "ae0", 9192, 1500)


def test_irb_above_its_ports_is_read_back_and_taken_back(box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_step.TAKES_EFFECT", 0.0)
    with pytest.raises(JumboError, match=r"leaf2:irb.10: Junos reports IP MTU 1500 after the commit \(wished: 9000\)"):
        box.apply(change("irb.10"))
    assert box.is_clean
    assert box.plane.mtus["irb.10"] == 1500


def test_a_box_whose_key_is_not_known_is_refused_where_that_is_asked_for(box: Any) -> None:
    with pytest.raises(Unreachable, match="leaf2: NETCONF at 127.0.0.1"):
        JunosDriver(box.access(validate_certs=True)).pending()


def test_a_key_opens_it_too(start: Any, tmp_path: Any) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(tmp_path / "key")
    box = start(authorized_keys=key.export_public_key().decode())
    access = box.access(password=None, private_key_file=str(tmp_path / "key"))
    assert JunosDriver(access).pending()["owner"] == "none"
