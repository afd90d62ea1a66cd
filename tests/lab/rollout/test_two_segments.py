"""A rack with two jumbo segments of different sizes: its waves share the leaf, so they are conducted, and all run."""

import json

import pytest
from lab_helpers import BUNDLED, network
from rollout_helpers import fabric_of

pytestmark = pytest.mark.lab


def inventory(path):
    """One spine, two leafs; the first has hosts in a segment of 9000 and in one of 8000."""
    links = [{"ends": [f"leaf{n}:Ethernet1", f"spine:Ethernet{n}"], "routing": "static"} for n in (1, 2)]
    racks = {"a1": 1, "a2": 1, "b1": 1, "b2": 1, "c1": 2, "c2": 2}
    links += [[f"{host}:eth1", f"leaf{rack}:Ethernet{10 + n}"] for n, (host, rack) in enumerate(racks.items())]
    segments = [
        {"name": "a", "vlan": 10, "subnet": "10.1.0.0/24", "members": ["leaf1:Vlan10", "a1", "a2"]},
        {"name": "b", "vlan": 20, "subnet": "10.2.0.0/24", "members": ["leaf1:Vlan20", "b1", "b2"], "ip_mtu": 8000},
        {"name": "c", "vlan": 10, "subnet": "10.3.0.0/24", "members": ["leaf2:Vlan10", "c1", "c2"]},
    ]
    switches = {"ansible_host": "{{ jumbo_lab_network }}.{{ jumbo_lab_number }}"}
    shared = {
        "jumbo_links": links,
        "jumbo_segments": [{**segment, "role": "jumbo"} for segment in segments],
        "jumbo_soak": "1s",
        "jumbo_confirm_within": 120,
        "jumbo_lab_network": network(76),
        "jumbo_lab_user": "admin",
        "jumbo_lab_password": "jumbo-lab",
        "jumbo_lab_dir": "{{ lookup('ansible.builtin.env', 'JUMBO_LAB_DIR') }}",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        **switches,
    }
    numbers = {name: {"jumbo_lab_number": n} for n, name in enumerate(["spine", "leaf1", "leaf2", *racks], 1)}
    groups = {
        "switches": {
            "children": {"spines": {"hosts": {"spine": None}}, "leafs": {"hosts": {"leaf1": None, "leaf2": None}}}
        },
        "servers": {"hosts": dict.fromkeys(racks)},
        "canary": {"hosts": {"leaf1": None}},
    }
    (path / "group_vars").mkdir(parents=True)
    for group, bundled in (("switches", "switches"), ("servers", "linux")):
        (path / f"group_vars/{group}.yml").write_text((BUNDLED / f"group_vars/{bundled}.yml").read_text())
    (path / "hosts.json").write_text(json.dumps({"all": {"vars": shared, "hosts": numbers, "children": groups}}))
    return str(path)


@pytest.fixture
def lab(tmp_path):
    source = inventory(tmp_path / "inventory")
    with fabric_of(tmp_path, source) as fabric:
        yield fabric


@pytest.mark.long
def test_every_wave_of_a_rack_with_two_segments_runs(lab):
    outcome = lab.play("rollout")
    assert (outcome.status, outcome.report["verdict"]) == (0, "passed"), outcome.output
    now = lab.ip_mtus()
    assert (now["a1"]["eth1"], now["b1"]["eth1"], now["c1"]["eth1"]) == (9000, 8000, 9000)
    assert (now["leaf1"]["Vlan10"], now["leaf1"]["Vlan20"]) == (9000, 8000)
    assert lab.lab.ping("b1", lab.lab.address("c1"), 8000).received == 2
    assert lab.play("rollout").report["verdict"] == "passed"
    back = lab.play("rollback")
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert lab.stalls() == []
