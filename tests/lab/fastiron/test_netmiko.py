"""netmiko's driver for these boxes, unchanged."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from lab.fastiron.conftest import ENABLE, PASSWORD
from lab_helpers import wait_until

netmiko = pytest.importorskip("netmiko")


def listens(port: int) -> bool:
    """Whether a connection is taken; a box that has booted does not listen at that very moment."""
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Any:
    def login(served: Any, secret: str = ENABLE, **more: Any) -> Any:
        connection = netmiko.ConnectHandler(
            device_type="ruckus_fastiron",
            host="127.0.0.1",
            port=served.handle.port,
            username="admin",
            password=PASSWORD,
            secret=secret,
            **more,
        )
        request.addfinalizer(connection.paramiko_cleanup)
        return connection

    return login


def test_it_logs_in_enables_configures_and_saves(start: Any, connect: Any) -> None:
    served = start(jumbo=10200)
    connection = connect(served)
    assert connection.find_prompt() == "SSH@leaf5#"
    assert len(connection.send_command("show interfaces").splitlines()) > 100, "not stopped at a page"
    text = connection.send_config_set(
        ["jumbo", "interface ve 10", "ip mtu 1400"], error_pattern=r"(?m)^(Error|Invalid)"
    )
    assert "config-vif-10" in text
    assert "Copy Done." in connection.save_config()
    assert (served.device.jumbo_state(), served.plane.mtus["Ve10"]) == ("saved", 1400)
    assert served.kinds() == ["config-line", "config-line", "write-startup"]


@pytest.mark.parametrize("options", [{"enable": ""}, {"enable_user": True}, {"privileged": True}])
def test_it_gets_into_enable_mode_however_that_is_kept(start: Any, connect: Any, options: Any) -> None:
    assert connect(start(**options)).find_prompt() == "SSH@leaf5#"


def test_a_wrong_secret_is_refused(start: Any, connect: Any) -> None:
    with pytest.raises(ValueError, match="Failed to enter enable mode"):
        connect(start(), secret="wrong")


def test_a_long_answer_stops_at_each_page_until_it_is_told_not_to(start: Any) -> None:
    served = start(privileged=True)
    client = netmiko.ConnectHandler(
        device_type="terminal_server",
        host="127.0.0.1",
        port=served.handle.port,
        username="admin",
        password=PASSWORD,
    )
    client.write_channel("show interfaces\n")
    assert "--More--" in client.read_until_pattern("--More--")
    client.write_channel(" ")
    assert "--More--" in client.read_until_pattern("--More--")
    client.write_channel("\x03")
    client.read_until_pattern("#")
    client.disconnect()


def test_management_goes_and_comes_back_with_a_reload(start: Any, connect: Any) -> None:
    served = start(reload_questions=2)
    connection = connect(served)
    connection.write_channel("reload\n")
    connection.read_until_pattern(r"'n'\):")
    connection.write_channel("y")
    connection.read_until_pattern(r"anyway\? \(enter 'y' or 'n'\):")
    connection.write_channel("y")
    wait_until(lambda: not served.device.is_on)
    wait_until(lambda: served.device.is_on and listens(served.handle.port), what="it is back and listens")
    assert 'reloaded=by "reload"' in connect(served).send_command("show version")
