"""A fabric for tests: an inventory as read_intent takes it, and the states that its devices would tell."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import Device, Intent, read_intent
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.plan import Plan, make_plan
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.proof import prove
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

BOX = {"jumbo": {"configured": False, "saved": False, "active": False}}
L2_PORT = 9214  # what EOS gives a switched port without being asked


def inventory(spines: int = 2, leafs: int = 3, hosts: int = 2, **shared: Any) -> dict[str, Any]:
    """Racks of one leaf; h1, h2 ... counted through; Vlan10 is the back end (jumbo), Vlan20 the front end."""
    variables: dict[str, Any] = {"jumbo_links": [], "jumbo_segments": [], "jumbo_soak": "30s"}
    found: dict[str, Any] = {f"spine{s}": _host("eos", ["spines"], variables) for s in range(1, spines + 1)}
    number = 0
    for leaf in range(1, leafs + 1):
        name = f"leaf{leaf}"
        found[name] = _host("eos", ["leafs"], variables)
        for spine in range(1, spines + 1):
            ends = [f"{name}:Ethernet{spine}", f"spine{spine}:Ethernet{leaf}"]
            variables["jumbo_links"].append({"ends": ends, "routing": "static"})
        back, front = [f"{name}:Vlan10"], [f"{name}:Vlan20"]
        for port in range(1, hosts + 1):
            number += 1
            host = f"h{number}"
            found[host] = _host("linux", ["servers"], variables)
            variables["jumbo_links"] += [
                [f"{host}:eth1", f"{name}:Ethernet{10 + port}"],
                [f"{host}:eth0", f"{name}:Ethernet{20 + port}"],
            ]
            back.append(f"{host}:eth1")
            front.append(f"{host}:eth0")
        variables["jumbo_segments"] += [
            {"name": f"back{leaf}", "vlan": 10, "subnets": [f"10.10.{leaf}.0/24"], "role": "jumbo", "members": back},
            {
                "name": f"front{leaf}",
                "vlan": 20,
                "subnets": [f"10.20.{leaf}.0/24"],
                "role": "frontend",
                "members": front,
            },
        ]
    variables.update(shared)
    return found


def _host(platform: str, groups: list[str], variables: dict[str, Any]) -> dict[str, Any]:
    return {"platform": platform, "groups": groups, "variables": variables}


def paired(
    spines: int = 2, pairs: int = 2, hosts: int = 2, single: int = 0, peering: str | None = None, **shared: Any
) -> dict[str, Any]:
    """Racks of two leafs (an MLAG pair): `hosts` on both by a bond, `single` more on the first leaf alone."""
    variables: dict[str, Any] = {"jumbo_links": [], "jumbo_segments": [], "jumbo_lags": [], "jumbo_pairs": []}
    found: dict[str, Any] = {f"spine{s}": _host("eos", ["spines"], variables) for s in range(1, spines + 1)}
    number = 0
    for rack in range(1, pairs + 1):
        both = [f"leaf{rack}a", f"leaf{rack}b"]
        pair = {"name": f"pair{rack}", "devices": both, "peer_link": "Ethernet48", "peering": peering}
        variables["jumbo_pairs"].append(pair)
        variables["jumbo_links"].append([f"{leaf}:Ethernet48" for leaf in both])
        for side, leaf in enumerate(both):
            found[leaf] = _host("eos", ["leafs"], variables)
            for spine in range(1, spines + 1):
                ends = [f"{leaf}:Ethernet{spine}", f"spine{spine}:Ethernet{2 * rack - 1 + side}"]
                variables["jumbo_links"].append({"ends": ends, "routing": "static"})
        members = [f"{leaf}:Vlan10" for leaf in both]
        for port in range(1, hosts + single + 1):
            number += 1
            host, dual = f"h{number}", port <= hosts
            found[host] = _host("linux", ["servers"], variables)
            for side in range(2 if dual else 1):
                variables["jumbo_links"].append([f"{host}:eth{side + 1}", f"{both[side]}:Ethernet{10 + port}"])
            if dual:
                variables["jumbo_lags"].append({"device": host, "name": "bond0", "members": ["eth1", "eth2"]})
            members.append(f"{host}:bond0" if dual else f"{host}:eth1")
        subnets = [f"10.10.{rack}.0/24"]
        segment = {"name": f"back{rack}", "vlan": 10, "subnets": subnets, "role": "jumbo", "members": members}
        variables["jumbo_segments"].append(segment)
    variables.update(shared)
    return found


def stretched(spines: int = 2, leafs: int = 3, hosts: int = 2, **shared: Any) -> dict[str, Any]:
    """One jumbo segment over all racks of inventory()."""
    found = inventory(spines, leafs, hosts, **shared)
    variables = found["h1"]["variables"]
    back = [segment for segment in variables["jumbo_segments"] if segment["role"] == "jumbo"]
    whole = {**back[0], "name": "back", "members": [member for segment in back for member in segment["members"]]}
    others = [segment for segment in variables["jumbo_segments"] if segment["role"] != "jumbo"]
    variables["jumbo_segments"][:] = [whole, *others]
    return found


def with_ipv6(hosts: dict[str, Any]) -> dict[str, Any]:
    """Give each jumbo segment an IPv6 subnet too."""
    variables = next(iter(hosts.values()))["variables"]
    for number, segment in enumerate(s for s in variables["jumbo_segments"] if s["role"] == "jumbo"):
        segment["subnets"] = [*segment["subnets"], f"fd00:10:{number + 1}::/64"]
    return hosts


def with_borders(
    hosts: dict[str, Any], number: int = 1, platform: str = "linux", outside: int = 1500
) -> dict[str, Any]:
    """Add borders on every spine; their eth9 leads out of the fabric, to a segment of the role wan."""
    variables = hosts["spine1"]["variables"]
    spines = [name for name in hosts if name.startswith("spine")]
    for border in (f"border{n}" for n in range(1, number + 1)):
        hosts[border] = _host(platform, ["borders"], variables)
        for n, spine in enumerate(spines, 1):
            ends = [f"{border}:eth{n}", f"{spine}:Ethernet{40 + int(border[6:])}"]
            variables["jumbo_links"].append({"ends": ends, "routing": "static"})
        wan = {"name": f"wan-{border}", "subnets": [f"198.51.{border[6:]}.0/24"], "role": "wan", "ip_mtu": outside}
        variables["jumbo_segments"].append({**wan, "members": [f"{border}:eth9"]})
    return hosts


def with_firewalls(hosts: dict[str, Any]) -> dict[str, Any]:
    """Let a firewall pair be the gateways of `dmz` on leaf1, a VLAN on a LAGG; fw2 is the backup."""
    variables = hosts["spine1"]["variables"]
    variables.setdefault("jumbo_lags", [])
    members = ["leaf1:Vlan99"]
    for n in (1, 2):
        name = f"fw{n}"
        hosts[name] = _host("opnsense", ["borders"], variables)
        ports = [f"leaf1:Ethernet{30 + 2 * n + m}" for m in range(2)]
        variables["jumbo_links"] += [[f"{name}:igb{m}", port] for m, port in enumerate(ports)]
        variables["jumbo_lags"] += [{"device": name, "name": "lagg0", "members": ["igb0", "igb1"]}]
        members.append(f"{name}:lagg0_vlan99")
    variables["jumbo_pairs"] = [{"name": "fw", "devices": ["fw2", "fw1"], "peer_link": None}]
    dmz = {"name": "dmz", "vlan": 99, "subnets": ["10.10.99.0/24"], "role": "jumbo", "members": members}
    variables["jumbo_segments"].append(dmz)
    return hosts


def on_laggs(found: dict[str, Any]) -> None:
    """Tell the interfaces of the firewalls as FreeBSD does: the VLAN stands on the LAGG."""
    for name in ("fw1", "fw2"):
        ports = found[name]["interfaces"]
        ports["lagg0"] = interface("lagg0", 1500, kind="lagg", members=["igb0", "igb1"])
        ports["lagg0_vlan99"].update(kind="vlan", parent="lagg0")


def with_boxes(hosts: dict[str, Any], *devices: str, waived: bool = True, **shared: Any) -> dict[str, Any]:
    """Make some switches boxes with one frame size for all ports; their reload is allowed, and no way out is asked."""
    variables = next(iter(hosts.values()))["variables"]
    for device in devices:
        hosts[device]["platform"] = "fastiron"
    waivers = [{"kind": "only_path", "object": device, "reason": "a window"} for device in devices if waived]
    variables["jumbo_waivers"] = [*variables.get("jumbo_waivers", []), *waivers]
    variables.update({"jumbo_allow_reload": True, **shared})
    return hosts


def mixed(*devices: str, routing: str = "bgp", **shape: Any) -> dict[str, Any]:
    """Return inventory() with these switches on Junos, and links between switches that run this."""
    hosts = inventory(**shape)
    for device in devices:
        hosts[device]["platform"] = "junos"
    for link in hosts["h1"]["variables"]["jumbo_links"]:
        if isinstance(link, dict):
            link["routing"] = routing
    return hosts


def load(hosts: dict[str, Any]) -> tuple[Intent, Topology]:
    intent = read_intent(hosts)
    return intent, Topology(intent)


def interface(name: str, size: int, **more: Any) -> dict[str, Any]:
    """Return an interface as a device tells it; `more` overrides."""
    return {
        "name": name,
        "kind": None,
        "ip_mtu": size,
        "mru": None,
        "device_mtu": size,
        "configured_mtu": None,
        "persisted_mtu": size,
        "max_ip_mtu": None,
        "parent": None,
        "members": None,
        "oper_up": True,
        "addresses": ["192.0.2.1/24"],
        "counters": {},
        "neighbours": [],
        **more,
    }


def states(intent: Intent, underlay: int = 1500) -> dict[str, Any]:
    """Every device before a roll-out: hosts, SVIs and routed ports at 1500, switched ports at 9214."""
    topology = Topology(intent)
    found: dict[str, Any] = {}
    for name, device in intent.devices.items():
        found[name] = {
            "host": name,
            "platform": device.platform,
            "interfaces": {},
            "pending": {"owner": "none", "name": None, "seconds_left": None},
            "saved": True,
            "unsaved_diff": "",
        }
        if device.platform == "linux":
            kept = {"routes": [], "guard": {"state": "none"}, "persistence": "lab-file"}
            found[name].update(kept, forwarding=not device.is_host)
        found[name].update(BOX if device.platform == "fastiron" else {})
    uplinks = topology.uplinks()
    for link in intent.links:
        small = any(intent.devices[end.device].platform == "opnsense" for end in link.ends)
        for end in link.ends:
            ports = found[end.device]["interfaces"]
            ports[end.interface] = _port(
                intent.devices[end.device], end.interface, link in uplinks, 1500 if small else underlay
            )
    _add_peerings(found, topology)
    for segment in intent.segments:
        for member in segment.members:
            if not member.managed or member.interface is None:
                continue
            ports = found[member.device]["interfaces"]
            ports.setdefault(member.interface, interface(member.interface, 1500))
            if intent.devices[member.device].is_host:
                gateway = segment.subnets[0].rsplit(".", 1)[0] + ".1"
                found[member.device]["routes"] += _routes(member.interface, segment.subnets[0], gateway, segment.role)
                for subnet in segment.subnets[1:]:
                    way = {"gateway": subnet.split("/")[0] + "1", "interface": member.interface, "mtu": None}
                    found[member.device]["routes"] += [{**way, "prefix": subnet}, {**way, "prefix": "fd00::/16"}]
    return found


def _port(device: Device, name: str, routed: bool, underlay: int) -> dict[str, Any]:
    if device.platform == "fastiron" and not routed:
        return interface(name, 1500, kind="switched", ip_mtu=None, mru=1500)
    return interface(name, 1500 if device.is_host else underlay if routed else L2_PORT)


def large(state: dict[str, Any]) -> None:
    """Let a box take large frames: configured, saved and reloaded."""
    state["jumbo"] = {"configured": True, "saved": True, "active": True}
    for port in state["interfaces"].values():
        port.update({"mru": 10178, "device_mtu": 10200} if port["kind"] == "switched" else {})


def _add_peerings(found: dict[str, Any], topology: Topology) -> None:
    for peering in filter(None, map(topology.peering, topology.intent.pairs)):
        for end in peering.ends:
            found[end.device]["interfaces"][end.interface] = interface(end.interface, 1500)


def _routes(name: str, subnet: str, gateway: str, role: str) -> list[dict[str, Any]]:
    far = "10.10.0.0/16" if role == "jumbo" else "0.0.0.0/0"
    return [
        {"prefix": subnet, "gateway": None, "interface": name, "mtu": None},
        {"prefix": far, "gateway": gateway, "interface": name, "mtu": None},
    ]


# What a change of a port makes of it.
_OF_PORTS = {"ip_mtu": ("ip_mtu", "device_mtu", "persisted_mtu"), "drained": ("drained",)}


def applied(before: dict[str, Any], changes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the states after these changes (as dicts), confirmed and persisted as the drivers would."""
    after = copy.deepcopy(before)
    for change in changes:
        state = after[change["host"]]
        name, _space, prefix = change["object"].partition(" ")
        if change["field"] in _OF_PORTS:
            state["interfaces"][name].update(dict.fromkeys(_OF_PORTS[change["field"]], change["to"]))
        elif change["field"] == "route_mtu":
            _route(state, name, prefix, change["to"])
        elif change["field"] == "jumbo":
            large(state)
        elif change["field"] == "persisted":
            state["guard"] = {"state": "released" if change["to"] else "confirmed"}
    return after


def _route(state: dict[str, Any], name: str, prefix: str, mtu: int | None) -> None:
    """Give an explicit prefix, or every route of an interface, another MTU."""
    if not prefix:
        for route in state["routes"]:
            if route["interface"] == name:
                route["mtu"] = mtu
        return
    known = [r for r in state["routes"] if r["prefix"] == prefix]
    if not known:
        known = [{"prefix": prefix, "gateway": "same", "interface": name, "mtu": None}]
        state["routes"] += known
    known[0]["mtu"] = mtu
    state["guard"] = {"state": "confirmed"}


def planned(hosts: Any = None, change: Any = None, touchable: Any = None) -> Plan:
    """Plan a fabric whose states `change` has edited, and prove the plan."""
    intent, topology = load(hosts or inventory())
    found = states(intent)
    if change:
        change(found)
    plan = make_plan(intent, topology, found, touchable)
    prove(plan, intent, topology, found)
    return plan


def changes(plan: Plan, step: str) -> list[Any]:
    """Return (host, object, field, from, to) of a step."""
    return [(c.host, c.object, c.field, c.before, c.to) for c in plan.step(step).changes]


def all_changes(plan: Plan) -> list[dict[str, Any]]:
    return [change for step in plan.as_dict()["steps"] for change in step["changes"]]
