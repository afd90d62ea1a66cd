"""Inventories of other fabrics than the bundled one, for labs and for whole roll-outs in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab_helpers import BUNDLED, network, overlay

# What playbooks need to find the lab's devices, as in the bundled inventory.
_ACCESS = {
    "jumbo_lab_user": "admin",
    "jumbo_lab_password": "jumbo-lab",
    "jumbo_lab_dir": "{{ lookup('ansible.builtin.env', 'JUMBO_LAB_DIR') }}",
    "ansible_python_interpreter": "{{ ansible_playbook_python }}",
    "ansible_host": "{{ jumbo_lab_network }}.{{ jumbo_lab_number }}",
}


def write_inventory(
    path: Path,
    block: int,
    groups: Mapping[str, Sequence[str]],
    routers: Sequence[str] = (),
    own: Mapping[str, Mapping[str, Any]] | None = None,
    **variables: Any,
) -> str:
    """Write an inventory that a lab can be built from and a roll-out can run on; returns its path.

    groups: {spines, leafs, borders, servers, canary: device names}. routers: those of them that are Linux machines.
    own: variables of single devices.
    """
    machines = [*groups.get("servers", ()), *routers]
    switches = [name for group in ("spines", "leafs", "borders") for name in groups.get(group, ())]
    children = {
        "switches": {"hosts": dict.fromkeys(name for name in switches if name not in routers)},
        "machines": {"hosts": dict.fromkeys(machines)},
        **{group: {"hosts": dict.fromkeys(names)} for group, names in groups.items()},
    }
    named = enumerate([*switches, *groups["servers"]], 1)
    numbers = {name: {"jumbo_lab_number": number, **(own or {}).get(name, {})} for number, name in named}
    shared = {
        "jumbo_soak": "1s",
        "jumbo_confirm_within": 120,
        "jumbo_lab_network": network(block),
        **_ACCESS,
        **variables,
    }
    (path / "group_vars").mkdir(parents=True)
    for group, bundled in (("switches", "switches"), ("machines", "linux")):
        (path / f"group_vars/{group}.yml").write_text((BUNDLED / f"group_vars/{bundled}.yml").read_text())
    (path / "hosts.json").write_text(json.dumps({"all": {"vars": shared, "hosts": numbers, "children": children}}))
    return str(path)


JUNOS = {"ansible_network_os": "junipernetworks.junos.junos", "ansible_port": 8830}


def variant(path: Path, junos: Sequence[str] = (), routing: str = "static", **variables: Any) -> str:
    """Write an overlay over three racks of one leaf in which these switches are Junos boxes; returns its path.

    routing: what the links between switches run.
    """
    fabric = rack_variables()
    fabric["jumbo_links"] = [
        {**link, "routing": routing} if isinstance(link, dict) and link.get("routing") == "static" else link
        for link in fabric["jumbo_links"]
    ]
    changed = junos or routing != "static"
    text = json.dumps({name: fabric[name] for name in ("jumbo_links", "jumbo_segments") if changed})
    for device in junos:
        text = re.sub(rf'"{device}:Ethernet(\d+)"', rf'"{device}:xe-0/0/\1"', text)
        text = re.sub(rf'"{device}:Vlan(\d+)"', rf'"{device}:irb.\1"', text)
    return overlay(path, dict.fromkeys(junos, JUNOS), **{**json.loads(text), **variables})


def uplinks(spines: Sequence[str], leafs: Sequence[str]) -> list[dict[str, Any]]:
    """Return a static link from each leaf to each spine."""
    return [
        {"ends": [f"{leaf}:Ethernet{s}", f"{spine}:Ethernet{n}"], "routing": "static"}
        for n, leaf in enumerate(leafs, 1)
        for s, spine in enumerate(spines, 1)
    ]


def jumbo(name: str, number: int, *members: str, **more: Any) -> dict[str, Any]:
    """Return a jumbo segment of VLAN 10, 10.<number>.0.0/24."""
    return {
        "name": name,
        "vlan": 10,
        "subnets": [f"10.{number}.0.0/24"],
        "role": "jumbo",
        "members": list(members),
        **more,
    }


def one_rack(path: Path, block: int, **variables: Any) -> str:
    """Return the smallest fabric with two hosts that share a segment: one spine, one leaf."""
    links = [*uplinks(["spine1"], ["leaf1"]), ["h1:eth0", "leaf1:Ethernet11"], ["h2:eth0", "leaf1:Ethernet12"]]
    segments = [jumbo("back1", 1, "leaf1:Vlan10", "h1:eth0", "h2:eth0")]
    groups = {"spines": ["spine1"], "leafs": ["leaf1"], "servers": ["h1", "h2"], "canary": ["leaf1"]}
    return write_inventory(path, block, groups, jumbo_links=links, jumbo_segments=segments, **variables)


def in_band_fabric(path: Path, block: int, **variables: Any) -> str:
    """Two racks, hosts with one interface only, and everything managed across it all, from the host `admin`."""
    links = [
        *uplinks(["spine1", "spine2"], ["leaf1", "leaf2"]),
        ["h1:eth0", "leaf1:Ethernet11"],
        ["h2:eth0", "leaf1:Ethernet12"],
        ["h3:eth0", "leaf2:Ethernet11"],
        ["admin:eth0", "leaf1:Ethernet13"],
    ]
    segments = [
        jumbo("back1", 1, "leaf1:Vlan10", "h1:eth0", "h2:eth0"),
        jumbo("back2", 2, "leaf2:Vlan10", "h3:eth0"),
        {
            "name": "stations",
            "vlan": 99,
            "subnets": ["10.99.0.0/24"],
            "role": "management",
            "members": ["leaf1:Vlan99", "admin:eth0"],
        },
    ]
    groups = {
        "spines": ["spine1", "spine2"],
        "leafs": ["leaf1", "leaf2"],
        "servers": ["h1", "h2", "h3", "admin"],
        "canary": ["leaf1"],
    }
    shared = {"jumbo_links": links, "jumbo_segments": segments}
    in_band = {"jumbo_lab_management": "inband", "jumbo_lab_station": "admin"}
    return write_inventory(path, block, groups, **shared, **in_band, **variables)


def rack_variables() -> dict[str, Any]:
    """Return cables and segments of the bundled fabric as it would be without a pair: three racks of one leaf.

    Two hosts each, with a frontend of 1500 (eth0) beside the back end (eth1), all of it in both families.
    """
    leafs = ["leaf1", "leaf2", "leaf3"]
    hosts = {leaf: (f"h{2 * rack - 1}", f"h{2 * rack}") for rack, leaf in enumerate(leafs, 1)}
    access = [
        [f"{host}:eth{eth}", f"{leaf}:Ethernet{11 + 2 * side + eth}"]
        for leaf, both in hosts.items()
        for side, host in enumerate(both)
        for eth in (0, 1)
    ]
    segments = [
        {
            "name": f"{name}{rack}",
            "vlan": vlan,
            "subnets": [f"10.{vlan}.{rack}.0/24", f"fd00:{vlan}:{rack}::/64"],
            "role": role,
            "members": [f"{leaf}:Vlan{vlan}", *(f"{host}:{interface}" for host in hosts[leaf])],
        }
        for name, vlan, role, interface in (("backend", 10, "jumbo", "eth1"), ("frontend", 20, "frontend", "eth0"))
        for rack, leaf in enumerate(leafs, 1)
    ]
    return {"jumbo_links": [*uplinks(["spine1", "spine2"], leafs), *access], "jumbo_segments": segments}


def rack_fabric(path: Path, block: int, **variables: Any) -> str:
    """Three racks of one leaf and two hosts each (see rack_variables)."""
    groups = {
        "spines": ["spine1", "spine2"],
        "leafs": ["leaf1", "leaf2", "leaf3"],
        "servers": [f"h{number}" for number in range(1, 7)],
        "canary": ["leaf1"],
    }
    return write_inventory(path, block, groups, **{"jumbo_lab_advertise": "mtu", **rack_variables(), **variables})


def border_fabric(path: Path, block: int, **variables: Any) -> str:
    """Two racks, a host with one interface only, and an internet of 1500 behind a border that is a Linux machine."""
    links = [
        *uplinks(["spine1", "spine2"], ["leaf1", "leaf2"]),
        {"ends": ["border1:eth1", "spine1:Ethernet9"], "routing": "static"},
        {"ends": ["border1:eth2", "spine2:Ethernet9"], "routing": "static"},
        ["inet:eth0", "border1:eth3"],
        ["h1:eth0", "leaf1:Ethernet11"],
        ["h2:eth0", "leaf1:Ethernet12"],
        ["h3:eth0", "leaf2:Ethernet11"],
    ]
    outside = {
        "name": "internet",
        "subnets": ["198.51.100.0/24"],
        "role": "wan",
        "members": ["border1:eth3", "inet:eth0"],
    }
    groups = {
        "spines": ["spine1", "spine2"],
        "leafs": ["leaf1", "leaf2"],
        "borders": ["border1"],
        "servers": ["h1", "h2", "h3", "inet"],
        "canary": ["leaf1"],
    }
    segments = [
        jumbo("back1", 1, "leaf1:Vlan10", "h1:eth0", "h2:eth0"),
        jumbo("back2", 2, "leaf2:Vlan10", "h3:eth0"),
        outside,
    ]
    return write_inventory(path, block, groups, ["border1"], jumbo_links=links, jumbo_segments=segments, **variables)


def lag_fabric(path: Path, block: int, **variables: Any) -> str:
    """Two racks, BGP; a Junos leaf with an aggregate of two members to one spine and a tagged link to the other."""
    links = [
        *({**link, "routing": "bgp"} for link in uplinks(["spine1", "spine2"], ["leaf1"])),
        *({"ends": [f"leaf2:xe-0/0/{n}", f"spine1:Ethernet1{n}"], "routing": "bgp"} for n in (1, 2)),
        {"ends": ["leaf2:xe-0/0/3", "spine2:Ethernet2"], "routing": "bgp", "tagging": "tagged"},
        ["h1:eth0", "leaf1:Ethernet11"],
        ["h2:eth0", "leaf1:Ethernet12"],
        ["h3:eth0", "leaf2:xe-0/0/11"],
    ]
    lags = [
        {"device": "leaf2", "name": "ae0", "members": ["xe-0/0/1", "xe-0/0/2"]},
        {"device": "spine1", "name": "Port-Channel2", "members": ["Ethernet11", "Ethernet12"]},
    ]
    segments = [
        jumbo("back1", 1, "leaf1:Vlan10", "h1:eth0", "h2:eth0"),
        jumbo("back2", 2, "leaf2:irb.10", "h3:eth0"),
    ]
    groups = {
        "spines": ["spine1", "spine2"],
        "leafs": ["leaf1", "leaf2"],
        "servers": ["h1", "h2", "h3"],
        "canary": ["leaf1"],
    }
    shared = {"jumbo_links": links, "jumbo_lags": lags, "jumbo_segments": segments}
    return write_inventory(path, block, groups, own={"leaf2": JUNOS}, **shared, **variables)


FASTIRON = {
    "ansible_network_os": "community.network.icx",
    "ansible_port": 2222,
    "ansible_become_password": "{{ jumbo_lab_password }}",
}


def icx_fabric(path: Path, block: int, hosts: int = 2, own: Mapping[str, Any] | None = None, **variables: Any) -> str:
    """A rack of an EOS leaf, the canary, and one of a single FastIron box, whose reload cuts its rack off.

    own: variables of the box.
    """
    leafs = {"leaf1": "Ethernet{0}", "leaf5": "10GigabitEthernet1/2/{0}"}
    access = {"leaf1": "Ethernet1{0}", "leaf5": "GigabitEthernet1/1/1{0}"}
    behind = {leaf: [f"h{leaf[-1]}{number}" for number in range(1, hosts + 1)] for leaf in leafs}
    links = [
        {"ends": [f"{leaf}:{name.format(s)}", f"spine{s}:Ethernet{n}"], "routing": "static"}
        for n, (leaf, name) in enumerate(leafs.items(), 1)
        for s in (1, 2)
    ]
    links += [
        [f"{host}:eth0", f"{leaf}:{access[leaf].format(n)}"]
        for leaf, names in behind.items()
        for n, host in enumerate(names, 1)
    ]
    groups = {
        "spines": ["spine1", "spine2"],
        "leafs": list(leafs),
        "servers": [host for names in behind.values() for host in names],
        "canary": ["leaf1"],
    }
    segments = [
        jumbo("back1", 1, "leaf1:Vlan10", *(f"{host}:eth0" for host in behind["leaf1"])),
        jumbo("back5", 5, "leaf5:Ve10", *(f"{host}:eth0" for host in behind["leaf5"])),
    ]
    waivers = [{"kind": "only_path", "object": "leaf5", "reason": "its rack has one leaf"}]
    known = {"jumbo_allow_reload": True, "jumbo_waivers": waivers, "jumbo_lab_reload_seconds": 1, **variables}
    box = {"leaf5": {**FASTIRON, **(own or {})}}
    return write_inventory(path, block, groups, own=box, jumbo_links=links, jumbo_segments=segments, **known)


def pair_fabric(path: Path, block: int, *, stretched: bool = True, **variables: Any) -> str:
    """A rack of one leaf; one of an MLAG pair, with hosts of two uplinks and of one; a segment stretched over both."""
    leafs, paired = ["leaf1", "leaf3", "leaf4"], ["leaf3", "leaf4"]
    across = [
        ["leaf1:Ethernet21", "leaf3:Ethernet21"],
        ["h2:eth0", "leaf1:Ethernet12"],
        ["h3:eth0", "leaf3:Ethernet13"],
    ]
    links = [
        *uplinks(["spine1", "spine2"], leafs),
        ["leaf3:Ethernet20", "leaf4:Ethernet20"],
        *(across if stretched else []),
        ["h1:eth0", "leaf1:Ethernet11"],
        *([f"{host}:eth{n}", f"{leaf}:{port}"] for host, port in _SHARED.items() for n, leaf in enumerate(paired, 1)),
        ["h7:eth1", "leaf4:Ethernet14"],
    ]
    lags = [
        *({"device": host, "name": "bond0", "members": ["eth1", "eth2"]} for host in _SHARED),
        *(
            {"device": leaf, "name": f"Port-Channel{port[-2:]}", "members": [port]}
            for leaf in paired
            for port in _SHARED.values()
        ),
        *({"device": leaf, "name": "Port-Channel1000", "members": ["Ethernet20"]} for leaf in paired),
    ]
    segments = [
        jumbo("back1", 1, "leaf1:Vlan10", "h1:eth0"),
        jumbo("back3", 3, "leaf3:Vlan10", "leaf4:Vlan10", "h5:bond0", "h6:bond0", "h7:eth1"),
        *([jumbo("wide", 4, "leaf1:Vlan40", "h2:eth0", "h3:eth0", vlan=40)] if stretched else []),
    ]
    hosts = ["h1", *(["h2", "h3"] if stretched else []), *_SHARED, "h7"]
    groups = {"spines": ["spine1", "spine2"], "leafs": leafs, "servers": hosts}
    pairs = [{"name": "pair1", "devices": paired, "peer_link": "Port-Channel1000", "peering": "Vlan4094"}]
    shared = {"jumbo_links": links, "jumbo_segments": segments, "jumbo_lags": lags, "jumbo_pairs": pairs}
    return write_inventory(path, block, groups, **shared, **variables)


# Hosts with an uplink to either switch of the pair, and the port of both that it ends at.
_SHARED = {"h5": "Ethernet11", "h6": "Ethernet12"}
