"""The filters as Ansible calls them: templates, tagged values, errors without a traceback."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.jumbo.fabric.plugins.filter import mtu, parsers

FOLDER = pathlib.Path(mtu.__file__).resolve().parent
FILTERS = {**mtu.FilterModule().filters(), **parsers.FilterModule().filters()}


TEMPLATES = [
    ("9000 | jumbo.fabric.ping_payload", 8972),
    ("9000 | jumbo.fabric.ping_payload(6)", 8952),
    ("9000 | jumbo.fabric.ping_payload(family='ipv6')", 8952),
    ("9000 | jumbo.fabric.tcp_mss", 8960),
    ("9000 | jumbo.fabric.tcp_mss(4, true)", 8948),
    ("9000 | jumbo.fabric.device_mtu('junos')", 9014),
    ("9000 | jumbo.fabric.device_mtu('junos', 'flexible-vlan-tagging')", 9022),
    ("9018 | jumbo.fabric.ip_mtu('junos', tagging='tagged')", 9000),
    ("['vxlan'] | jumbo.fabric.encapsulation_overhead", 50),
    ("[{'type': 'gre', 'options': {'key': true}}] | jumbo.fabric.encapsulation_overhead", 28),
    ("['ipsec_esp'] | jumbo.fabric.encapsulation_overhead(9000)", 56),
    ("9000 | jumbo.fabric.underlay_ip_mtu(['vxlan'])", 9050),
    ("9000 | jumbo.fabric.inner_ip_mtu('vxlan')", 8950),
    ("9202 | jumbo.fabric.device_mtu('junos', model='qfx5120-48y')", 9216),
    ("{'x': 5} | jumbo.fabric.counter_delta({'x': 3})", {"x": {"delta": 2, "reset": False, "wrapped": False}}),
    ("{'x': counted} | jumbo.fabric.counter_delta({'x': 3})", {"x": {"delta": 4, "reset": False, "wrapped": False}}),
    ("fleet | jumbo.fabric.mtu_drift({'leaf1': {'Ethernet1': 9214}}) | map(attribute='kind')", ["low"]),
    (
        "output | jumbo.fabric.parse_ping('linux') | dict2items | selectattr('key', 'eq', 'sent')",
        [{"key": "sent", "value": 3}],
    ),
    ("'rx_jabbers: 2' | jumbo.fabric.oversize_counters('tg3')", {"rx_jabbers": 2}),
    ("links | jumbo.fabric.parse_interfaces('linux') | map(attribute='ip_mtu')", [9000]),
]


def test_in_a_playbook(tmp_path):
    """Ansible hands over lazy containers and tagged scalars; everything is rendered in one run."""
    variables = {
        "counted": "{{ 7 }}",
        "fleet": {"leaf1": {"interfaces": {"Ethernet1": {"ip_mtu": "{{ 1500 }}"}}}},
        "output": "3 packets transmitted, 3 received",
        "links": [{"ifname": "eth1", "mtu": 9000}],
        "found": [f"{{{{ {text} }}}}" for text, _value in TEMPLATES],
    }
    copy = {"content": "{{ found | to_json }}", "dest": str(tmp_path / "found.json"), "mode": "0600"}
    tasks = [{"name": "Render", "ansible.builtin.copy": copy}]
    play = {"name": "Filters", "hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": tasks}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]), encoding="utf-8")
    (tmp_path / "ansible.cfg").write_text("[defaults]\n", encoding="utf-8")
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(FOLDER.parents[1] / "collections"),
        "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg"),
        "ANSIBLE_LOCAL_TEMP": str(tmp_path / "local"),
    }
    program = pathlib.Path(sys.executable).with_name("ansible-playbook")
    interpreter = f"ansible_python_interpreter={sys.executable}"
    # Not by ANSIBLE_INVENTORY: there the comma adds the current folder, and every program in it would be run.
    command = [str(program), "-i", "localhost,", "-c", "local", "-e", interpreter, str(tmp_path / "play.yml")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8")) == [value for _text, value in TEMPLATES]


def test_results_are_plain_values():
    (drift,) = mtu.mtu_drift({"leaf1": {"Ethernet1": 1500}}, {"leaf1": {"Ethernet1": 9214}})
    assert {type(value) for value in drift.values()} == {str, int}


@pytest.mark.parametrize(
    "call",
    [
        lambda: mtu.ping_payload("9000 "),
        lambda: mtu.ping_payload(True),
        lambda: mtu.ping_payload(9000, 5),
        lambda: mtu.tcp_mss(0),
        lambda: mtu.device_mtu(9000, "nxos"),
        lambda: mtu.device_mtu(9000, "junos", "q-in-q"),
        lambda: mtu.ip_mtu("Unlimited", "junos"),
        lambda: mtu.encapsulation_overhead(["vxlna"]),
        lambda: mtu.underlay_ip_mtu(65535, ["vxlan"]),
        lambda: mtu.inner_ip_mtu(1300, ["vxlan"]),
        lambda: mtu.device_mtu(9214, "junos", model="qfx5120-48y"),
        lambda: parsers.parse_interfaces("x", "nxos"),
        lambda: parsers.parse_interfaces("{not json", "eos"),
        lambda: parsers.parse_interfaces("[not json", "linux"),
        lambda: parsers.parse_interfaces("<not xml", "junos"),
        lambda: parsers.parse_interfaces("{not json", "junos"),
        lambda: parsers.parse_interfaces(5, "linux"),
        lambda: parsers.parse_interfaces({"interfaces": {"Ethernet1": 1}}, "eos"),
        lambda: parsers.parse_interfaces({}, "eos"),
    ],
)
def test_mistakes_are_told_as_ansible_does(call):
    with pytest.raises(AnsibleFilterError):
        call()


def test_an_unsupported_platform_names_the_known_ones():
    with pytest.raises(AnsibleFilterError, match="eos, fastiron, junos, linux"):
        parsers.parse_interfaces("", "opnsense")


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_each_filter_is_documented(name):
    data = yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    documentation = data["DOCUMENTATION"]
    assert documentation["name"] == name
    assert f"jumbo.fabric.{name}" in data["EXAMPLES"]
    options = [option for option in documentation["options"] if option != "_input"]
    positional = documentation.get("positional", "").replace(" ", "").split(",")
    assert [option for option in positional if option] == options
    code = FILTERS[name].__code__
    assert list(code.co_varnames[1 : code.co_argcount]) == options


def test_no_document_without_a_filter():
    assert {path.stem for path in FOLDER.glob("*.yml")} == set(FILTERS)
