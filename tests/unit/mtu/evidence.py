"""Evidence for gates, as programs on hosts and drivers would give it."""

from __future__ import annotations

import copy

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import Gate, Step
from unit.mtu.fabric import inventory, load, states


def lab():
    """Return (topology, states, plan) of the sample fabric, two ports with addresses."""
    intent, topology = load(inventory())
    found = states(intent)
    addresses = {"spine1:Ethernet1": "10.255.0.1", "spine2:Ethernet1": "10.255.0.3"}
    for end, address in addresses.items():
        device, name = end.split(":")
        found[device]["interfaces"][name]["addresses"] = [f"{address}/31"]
    return topology, found, make_plan(intent, topology, found)


def step_with(name, pairs, sizes=(9000, 1500), flows=1, changes=()):
    return Step("x", "canary", 1, "host_link", tuple(changes), gate=Gate(name, tuple(pairs), sizes, flows))


def flow(target, size, received=1, sent=1, **more):
    return {
        "dst": "10.0.0.1",
        "host": target,
        "ip_mtu": size,
        "port": 40000,
        "sent": sent,
        "received": received,
        "reported": [size] if received else [],
        "reassembled": False if received else None,
        "local_error_mtu": None,
        "too_big": [],
        **more,
    }


def refused(target, size=9001, mtu=9000):
    return flow(target, size, received=0, sent=0, local_error_mtu=mtu)


def triple(target, large=1, small=1, flows=1, lost=0, **more):
    """Probes to one target: flows at both sizes, `lost` of the large ones, and the refusal."""
    rows = [flow(target, 9000, received=large if index >= lost else 0, **more) for index in range(flows)]
    return [*rows, *(flow(target, 1500, received=small) for _turn in range(flows)), refused(target)]


def probes(*pairs, **options):
    replies = {}
    for source, target in pairs:
        replies.setdefault(source, {"ok": True, "flows": []})["flows"] += triple(target, **options)
    return replies


def device_ping(source, target, size, received=3, **more):
    host, name = source.split(":")
    row = {"host": host, "interface": name, "peer": target, "target": "10.0.0.1", "ip_mtu": size, "sent": 3}
    return {**row, "received": received, **more}


LEG = (("leaf2:Ethernet1", "spine1:Ethernet2"), ("spine1:Ethernet2", "leaf2:Ethernet1"))
CLEAN_LEG = (("leaf1:Ethernet1", "spine1:Ethernet1"), ("spine1:Ethernet1", "leaf1:Ethernet1"))


def leg_pings(received, **more):
    rows = [device_ping(a, b, 9214, received, **more) for a, b in LEG] + [device_ping(a, b, 1500) for a, b in LEG]
    return rows + [device_ping(a, b, size) for a, b in CLEAN_LEG for size in (9214, 1500)]


def leg(received=3, **evidence):
    step = step_with("leg", (*LEG, *CLEAN_LEG), (9214, 1500))
    return step, {"device_pings": leg_pings(received), **evidence}


def read(found, size=9214, giants=None):
    """States before and after a probe, ports at a size, some having counted giants."""
    before = copy.deepcopy(found)
    for state in before.values():
        for port in state["interfaces"].values():
            port["ip_mtu"] = max(port["ip_mtu"], size)
            port["counters"] = {"oversize": 4, "length_errors": None, "input_packets": 10}
    after = copy.deepcopy(before)
    for port in (port for state in after.values() for port in state["interfaces"].values()):
        port["counters"]["input_packets"] += 100
    for end, count in (giants or {}).items():
        device, name = end.split(":")
        after[device]["interfaces"][name]["counters"]["oversize"] += count
    return {"before": before, "after": after}


def blamed(result):
    return [(finding["host"], finding["interface"]) for finding in result.findings]
