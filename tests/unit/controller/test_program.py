"""The program that is sent to hosts, and what inventories say about reaching them."""

import json
import subprocess
import sys

import pytest
from ansible_collections.jumbo.fabric.plugins.plugin_utils.access import access_to
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain
from ansible_collections.jumbo.fabric.plugins.plugin_utils.program import program_text, reply_of


def test_the_program_runs_from_standard_input_and_answers_once(tmp_path):
    text = program_text({"verb": "no such verb"})
    done = subprocess.run([sys.executable, "-"], input=text, text=True, capture_output=True, check=True, cwd=tmp_path)
    reply = reply_of("motd of the login shell\n" + done.stdout)
    assert reply["ok"] is False
    assert "no such verb" in reply["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_output_without_a_reply_is_no_reply():
    assert reply_of("sudo: a password is required\n") is None


def test_the_request_survives_quotes_and_unicode():
    request = {"verb": "\"'\\ ☃ {x}"}
    done = subprocess.run(
        [sys.executable, "-"], input=program_text(request), text=True, capture_output=True, check=True
    )
    assert "☃" in reply_of(done.stdout)["error"]["message"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ansible_network_os": "arista.eos.eos"}, {"platform": "eos", "port": None, "use_tls": True}),
        ({"ansible_network_os": "eos", "ansible_httpapi_port": "8443"}, {"port": 8443, "validate_certs": True}),
        ({"ansible_network_os": "eos", "ansible_httpapi_use_ssl": False}, {"use_tls": False}),
        ({"ansible_network_os": "eos", "ansible_httpapi_validate_certs": "no"}, {"validate_certs": False}),
        ({"ansible_network_os": "eos", "ansible_httpapi_pass": "x"}, {"password": "x"}),
        ({"ansible_network_os": "eos", "ansible_become_password": "e"}, {"enable_password": "e"}),
        ({"ansible_network_os": "eos"}, {"address": "leaf1"}),
        ({"ansible_network_os": "eos", "ansible_host": "192.0.2.9"}, {"address": "192.0.2.9"}),
        ({"ansible_network_os": "nxos"}, {"platform": "nxos"}),
        ({"ansible_network_os": "juniper.device.junos"}, {"platform": "junos", "port": None, "validate_certs": False}),
        ({"ansible_network_os": "junos", "ansible_port": 22, "ansible_ssh_pass": "x"}, {"port": 22, "password": "x"}),
        ({"ansible_network_os": "junos", "ansible_port": 22, "ansible_netconf_port": 8830}, {"port": 8830}),
        (
            {"ansible_network_os": "junos", "ansible_private_key_file": "b", "ansible_ssh_private_key_file": "a"},
            {"private_key_file": "a"},
        ),
        ({"ansible_network_os": "junos", "ansible_netconf_host_key_checking": "yes"}, {"validate_certs": True}),
        ({"ansible_network_os": "eos", "ansible_port": 22}, {"port": None}),
        ({}, {"platform": ""}),
    ],
)
def test_inventory_variables_become_a_way_into_a_switch(variables, expected):
    access = access_to("leaf1", variables, ["leafs"])
    assert {name: getattr(access, name) for name in expected} == expected


def test_a_host_of_the_group_servers_is_linux():
    assert access_to("h1", {}, ["servers"]).platform == "linux"


def test_secrets_are_neither_shown_nor_forgotten():
    access = access_to("leaf1", {"ansible_network_os": "eos", "ansible_password": "hunter2"}, [])
    assert "hunter2" not in repr(access)
    assert access.secrets == ("hunter2",)


def test_plain_values_are_plain_all_the_way_down():
    class Text(str):
        __slots__ = ()

    class Number(int):
        pass

    value = to_plain({Text("a"): (Number(1), [Text("b"), True, None, 1.5])})
    assert value == {"a": [1, ["b", True, None, 1.5]]}
    assert next(iter(value)).__class__ is str
    assert value["a"][0].__class__ is int
    assert json.dumps(value)
