"""The HTTP side: credentials, connections, methods, many listeners, being cut off."""

from __future__ import annotations

import base64
import http.client
import json
import os
import selectors
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "lab-password"
COLLECTIONS = Path(__file__).parents[3] / "collections"


def headers(user: str = "admin", password: str = PASSWORD) -> dict[str, str]:
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {token}", "Content-type": "application/json-rpc"}


def trusting() -> ssl.SSLContext:
    """As a client trusts a switch with its self-signed certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def connection(port: int, address: str = "127.0.0.1") -> http.client.HTTPSConnection:
    return http.client.HTTPSConnection(address, port, timeout=10, context=trusting())


def body(*commands: str, encoding: str = "json") -> str:
    params = {"version": 1, "cmds": commands, "format": encoding}
    return json.dumps({"jsonrpc": "2.0", "method": "runCmds", "params": params, "id": "1"})


def ask(client: http.client.HTTPSConnection, *commands: str, **options: Any) -> tuple[http.client.HTTPResponse, bytes]:
    client.request("POST", "/command-api", body(*commands), options.get("headers", headers()))
    response = client.getresponse()
    return response, response.read()


def test_one_connection_serves_many_requests(served: Any) -> None:
    client = connection(served.port)
    for _turn in range(3):
        response, text = ask(client, "show hostname")
        assert (response.status, response.version) == (200, 11)
        assert response.getheader("Content-Type", "").startswith("application/json")
        assert json.loads(text)["result"][0]["hostname"] == "leaf1"


def test_http_1_0_closes_after_the_answer(served: Any) -> None:
    raw = trusting().wrap_socket(socket.create_connection(("127.0.0.1", served.port), 10))
    text = body("show hostname")
    lines = ["POST /command-api HTTP/1.0", f"Content-Length: {len(text)}"]
    lines += [f"{name}: {value}" for name, value in headers().items()]
    raw.sendall("\r\n".join([*lines, "", text]).encode())
    with raw.makefile("rb") as stream:
        answer = stream.read()
    assert answer.startswith(b"HTTP/1.0 200")
    assert b'"hostname": "leaf1"' in answer


@pytest.mark.parametrize(
    "wrong",
    [
        headers(password="wrong"),
        headers(user="nobody"),
        {},
        {"Authorization": "Basic !"},
        {"Authorization": headers()["Authorization"].replace("Basic", "Bearer")},
    ],
)
def test_wrong_credentials(served: Any, wrong: dict[str, str]) -> None:
    response, text = ask(connection(served.port), "enable", "write memory", headers=wrong)
    assert response.status == 401
    assert response.getheader("WWW-Authenticate", "").startswith("Basic realm=")
    assert b"Unable to authenticate user" in text
    assert served.device.writes == []


def test_a_changed_password_counts_at_once(served: Any) -> None:
    client = connection(served.port)
    assert ask(client, "show hostname")[0].status == 200
    served.device.users["admin"] = "new"
    assert ask(client, "show hostname")[0].status == 401


@pytest.mark.parametrize(
    ("method", "path", "status"), [("HEAD", "/command-api", 200), ("GET", "/command-api", 405), ("POST", "/x", 404)]
)
def test_methods_and_paths(served: Any, method: str, path: str, status: int) -> None:
    client = connection(served.port)
    client.request(method, path, headers=headers())
    assert client.getresponse().status == status


def test_a_body_that_is_no_json(served: Any) -> None:
    client = connection(served.port)
    client.request("POST", "/command-api", "{", headers())
    answer = json.loads(client.getresponse().read())
    assert answer["error"]["code"] == -32700


def test_cut_off_and_back(served: Any) -> None:
    client = connection(served.port)
    ask(client, "show hostname")
    served.call(served.handle.set_unreachable(True))
    assert served.handle.unreachable is True
    with pytest.raises((OSError, http.client.HTTPException)):
        ask(client, "show hostname")
    with pytest.raises(OSError, match="refused"):
        connection(served.port).connect()
    served.call(served.handle.set_unreachable(False))
    assert ask(connection(served.port), "show hostname")[0].status == 200


def test_cut_off_by_the_first_write(served: Any) -> None:
    def cut(_entry: object) -> None:
        served.handle.unreachable = True

    served.device.on_first_write = cut
    client = connection(served.port)
    ask(client, "enable", "configure session s", "interface Ethernet1", "mtu 9000", "end")
    with pytest.raises((OSError, http.client.HTTPException)):
        ask(client, "enable", "configure session s commit timer 00:05:00")
    assert served.mtu() == 9000  # it was done, and nobody heard of it


def test_a_slow_ping_holds_up_nobody(start: Callable[..., Any]) -> None:
    served = start()
    started, release = threading.Event(), threading.Event()

    def answer(_arguments: object) -> str:
        started.set()
        release.wait(10)
        return "PING\n"

    served.plane.answer = answer
    answers: list[int] = []
    pinger = threading.Thread(target=lambda: answers.append(ask(connection(served.port), "ping 10.0.0.1")[0].status))
    pinger.start()
    assert started.wait(10)
    assert ask(connection(served.port), "enable", "write memory")[0].status == 200
    assert answers == []
    release.set()
    pinger.join(10)
    assert answers == [200]


def test_many_front_ends_in_one_process() -> None:
    command = [sys.executable, "-m", "ansible_collections.jumbo.fabric.lab.eos", "--count", "20", "--ports", "56"]
    with socket.create_server(("127.78.0.1", 0)) as probe:
        base = probe.getsockname()[1]
    base = 20000 + base % 20000
    environment = {**os.environ, "PYTHONPATH": str(COLLECTIONS)}
    process = subprocess.Popen([*command, "--base-port", str(base)], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            assert selector.select(60)
        assert process.stdout.readline() == "ready\n"
        for number in (0, 19):
            client = connection(base + number, "127.78.0.1")
            _status, text = ask(client, "show hostname", "show interfaces", headers=headers(password="admin"))
            name, found = json.loads(text)["result"]
            assert name["hostname"] == f"leaf{number}"
            assert sum(port.startswith("Ethernet") for port in found["interfaces"]) == 56
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
