"""A fabric in memory behind the drivers' contract: sizes, pins, dead-men; the invariant is looked at after each act."""

from __future__ import annotations

import copy
import ipaddress
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import boxes
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import GateResult
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import End
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import act_of
from unit.mtu import fabric as samples


class World:
    """Every device, and what would be lost on the way between any two hosts."""

    def __init__(self, hosts: dict[str, Any]) -> None:
        self.hosts = hosts
        self.intent, self.topology = samples.load(hosts)
        self.start = samples.states(self.intent)
        number = 0
        for state in self.start.values():
            state.update(guards=[], ipv6=False)
            for port in state["interfaces"].values():
                number += 1
                port["addresses"] = [f"192.0.{number // 250}.{number % 250 + 1}/24"]
        self.devices = {name: Device(name, state) for name, state in copy.deepcopy(self.start).items()}
        self.bad_gates: set[str] = set()
        self.unreachable: set[str] = set()
        self.acts = 0
        ends = self.topology.endpoints()
        self.pairs = [(a, b) for a in ends for b in ends if a != b]
        self.hops = {
            pair: sorted({hop.egress for path in self.topology.paths(*pair) for hop in path if hop.routed}, key=str)
            for pair in self.pairs
        }
        segments = [segment for segment in self.intent.segments if segment.role == "jumbo"]
        self.subnets = {end: segment.subnets[0] for segment in segments for end in self.topology.hosts_in(segment)}
        self.sessions = {
            end: link.other(end) for link in self.topology.uplinks() if link.routing == "bgp" for end in link.ends
        }
        self.up_since: dict[frozenset[End], float] = {}
        self.gateways = [
            (gateway, end)
            for segment in segments
            for gateway in self.topology.gateways(segment)
            for end in self.topology.hosts_in(segment)
        ]

    def fire(self) -> None:
        """Let every dead-man's time be over."""
        for device in self.devices.values():
            device.fire()
            self.look()

    def look(self) -> None:
        """Fail where a host, or a gateway, may send more than somebody on the way takes."""
        self.acts += 1
        for source, target in self.pairs:
            size = self.devices[source.device].sends(source.interface, self.subnets[target])
            for end in (*self.hops[source, target], target):
                assert size <= self.size(end), f"{source} sends {size} to {target}, {end} takes {self.size(end)}"
        for pair in self.pairs:
            ways = [[end for hop in path for end in (hop.egress, hop.ingress)] for path in self.topology.paths(*pair)]
            drained = [[end for end in way if end in self.sessions and not self.is_up(end)] for way in ways]
            assert not all(drained), f"{pair[0]} has no way to {pair[1]}: {drained} are drained"
        for gateway, end in self.gateways:
            assert self.size(gateway) <= self.size(end), f"{gateway} sends {self.size(gateway)}, {end} takes less"

    def size(self, end: End) -> int:
        state = self.devices[end.device].state
        port = state["interfaces"][end.interface]
        sizes = [port["ip_mtu"], boxes.receives(state) if "jumbo" in state else None]
        return min(int(size) for size in sizes if size is not None)

    def is_up(self, end: End) -> bool:
        """Tell whether a session is up: neither end has shut it down."""
        return not any(self.is_shut(one) for one in (end, self.sessions[end]))

    def since(self, end: End) -> float | None:
        """Return since when a session is up, by a clock of acts; None while it is down."""
        both = frozenset((end, self.sessions[end]))
        if not self.is_up(end):
            self.up_since.pop(both, None)
            return None
        return self.up_since.setdefault(both, 100.0 * self.acts)

    def is_shut(self, end: End) -> bool:
        return bool(self.devices[end.device].state["interfaces"][end.interface].get("drained"))

    def drained(self) -> list[str]:
        return [str(end) for end in self.sessions if self.is_shut(end)]

    def sizes(self) -> set[int]:
        """Return the sizes of all that a roll-out raises."""
        ends = [*self.topology.endpoints(), *(gateway for gateway, _end in self.gateways)]
        ends += [end for link in self.topology.uplinks() for end in link.ends]
        return {self.size(end) for end in ends}

    def lifted(self) -> bool:
        """Tell whether every host sends 9000 to every other one."""
        sizes = {self.devices[a.device].sends(a.interface, self.subnets[b]) for a, b in self.pairs}
        return sizes == {9000}

    def pending(self) -> dict[str, str]:
        return {name: device.armed for name, device in self.devices.items() if device.armed}

    def is_as_before(self) -> bool:
        start = {name: Device(name, state).what_matters() for name, state in self.start.items()}
        return start == {name: device.what_matters() for name, device in self.devices.items()}

    def judge(self, step: dict[str, Any], _evidence: Any, _topology: Any) -> GateResult:
        gate = step["gate"]
        bad = [pair for pair in gate["pairs"] if not self._carries(pair, gate)]
        verdict = "failure" if bad or step["id"] in self.bad_gates else "success"
        return GateResult(gate["name"], verdict, "all pairs", f"bad: {bad}")

    def _carries(self, pair: list[str], gate: dict[str, Any]) -> bool:
        source, target = (End(*end.split(":")) for end in pair)
        size, ends = max(gate["ip_mtus"]), [source, target]
        ends += self.hops.get((source, target), []) if gate["name"] != "rack_receive" else []
        if gate["name"] in ("lifted", "soak") and (source, target) in self.hops:
            return self.devices[source.device].sends(source.interface, self.subnets[target]) >= size
        return all(self.size(end) >= size for end in ends)


class Device:
    """One device: `armed` is the name of the change that goes back by itself, `guards` what a host remembers."""

    def __init__(self, name: str, state: dict[str, Any]) -> None:
        self.name = name
        self.state = state
        self.is_host = "routes" in state
        self.armed: str | None = None
        self.before: dict[str, Any] = {}
        self.guards: dict[str, dict[str, Any]] = {}

    def what_matters(self) -> Any:
        ports = {name: port["ip_mtu"] for name, port in self.state["interfaces"].items()}
        routes = [route for route in self.state.get("routes", ()) if route["gateway"] != "same" or route["mtu"] == 9000]
        return ports, [(route["prefix"], route["mtu"]) for route in routes]

    def is_kept(self) -> bool:
        """Tell whether pins are kept, by a guard or by the boot configuration."""
        guarded = any(guard["verdict"] == "confirmed" for guard in self.guards.values())
        return guarded or bool(self.state.get("lifts_persisted"))

    def sends(self, interface: str, subnet: str) -> int:
        wanted = ipaddress.ip_network(subnet)
        routes = [r for r in self.state["routes"] if r["interface"] == interface]
        fitting = [r for r in routes if wanted.subnet_of(ipaddress.ip_network(r["prefix"]))]
        best = max(fitting, key=lambda r: ipaddress.ip_network(r["prefix"]).prefixlen)
        return int(best["mtu"] or self.state["interfaces"][interface]["ip_mtu"])

    def put(self, changes: list[dict[str, Any]]) -> None:
        self.state = samples.applied({self.name: self.state}, changes)[self.name]

    def fire(self) -> None:
        if self.armed:
            self.state = copy.deepcopy(self.before)
            if self.armed in self.guards:
                self.guards[self.armed]["verdict"] = "fired"
            self.armed = None


def _is_reload(changes: Any) -> bool:
    return any(change["field"] == "jumbo" for change in changes)


class DoubleDriver:
    """The contract of platforms.base.Driver, as the drivers of EOS and Linux keep it."""

    world: World

    def __init__(self, access: Any) -> None:
        self.host = access.host

    @property
    def device(self) -> Device:
        if self.host in self.world.unreachable:
            raise Unreachable("no answer", host=self.host)
        return self.world.devices[self.host]

    def read(self, *, only_interfaces: bool = False, interfaces: Any = None) -> dict[str, Any]:
        device = self.device
        state = copy.deepcopy(device.state)
        for end in self.world.sessions if not device.is_host else ():
            if end.device == self.host:
                self._tell_session(end, state["interfaces"][end.interface])
        owner = "ours" if device.armed else "none"
        state["pending"] = {"owner": owner, "name": device.armed, "seconds_left": None}
        if device.is_host:
            state["guards"] = [{"id": name, **guard} for name, guard in device.guards.items()]
            held = [guard for guard in state["guards"] if guard["verdict"] in ("armed", "confirmed")]
            state["guard"] = {**held[0], "state": held[0]["verdict"]} if held else None
        return state

    def _tell_session(self, end: End, port: dict[str, Any]) -> None:
        port.pop("drained", None)  # that a session is down by our hand, no device can tell
        up = self.world.is_up(end)
        state, routes = ("established", 4) if up else ("idle", 0)
        told = {"protocol": "bgp", "neighbour": str(self.world.sessions[end]), "since": self.world.since(end)}
        port["adjacencies"] = [{**told, "state": state, "shut": self.world.is_shut(end), "routes": routes}]
        port["counters"] = {"input_packets": 10_000 if up else 10}

    def diff(self, changes: Any) -> str:
        return f"{len(changes)} changes on {self.device.name}"

    def apply(self, changes: Any, within: int, name: str) -> dict[str, Any]:
        device, changes = self.device, [dict(change) for change in changes]
        for change in changes:
            if change["field"] == "drained" and change["to"]:
                change["shut"] = [change["object"]]
            elif change["field"] == "drained":
                assert change["shut"] == [change["object"]], "only what we have shut down is let up"
        kind = act_of(changes)
        if kind == "apply" and not _is_reload(changes):
            self._arm(device, name, changes)
        elif kind == "lift" and not device.is_kept():
            raise JumboError("no guard keeps the pins", host=self.host)
        device.put(changes)
        if kind == "persist":
            device.state["lifts_persisted"] = True
            self._release(device)
        self.world.look()
        return {"name": name, "changes": changes, "changed": True, "diff": "", "notes": []}

    @staticmethod
    def _release(device: Device) -> None:
        for guard in device.guards.values():
            if guard["verdict"] == "confirmed":
                guard["verdict"] = "released"

    def _arm(self, device: Device, name: str, changes: list[dict[str, Any]]) -> None:
        holders = [other for other, guard in device.guards.items() if guard["verdict"] in ("armed", "confirmed")]
        if device.armed or [other for other in holders if other != name]:
            raise JumboError(f"held by the change {device.armed or holders}", host=self.host)
        for change in changes:
            if change["field"] == "ip_mtu":
                found = device.state["interfaces"][change["object"]]["ip_mtu"]
                if found != change["from"]:
                    raise JumboError(f"has {found}, not {change['from']}", host=self.host, object=change["object"])
        device.before = copy.deepcopy(device.state)
        device.armed = name
        if device.is_host:
            device.guards[name] = {"verdict": "armed", "changes": changes, "by": "test@here", "interfaces": {}}

    def confirm(self, handle: dict[str, Any]) -> dict[str, Any]:
        device = self.device
        if act_of(handle["changes"]) == "apply" and not _is_reload(handle["changes"]):
            guard = device.guards.get(handle["name"])
            if device.armed != handle["name"]:
                if (guard or {}).get("verdict") in ("confirmed", "released"):
                    return {"confirmed": True, "persisted": True}
                raise JumboError("not confirmed in time: it has gone back", host=self.host)
            device.armed = None
            if guard:
                guard["verdict"] = "confirmed"
        return {"confirmed": True, "persisted": True}

    def revert(self, handle: dict[str, Any]) -> dict[str, Any]:
        device, changes = self.device, list(handle["changes"])
        if _is_reload(changes):
            return {"reverted": True, "notes": ["it stays on"]}
        if act_of(changes) == "persist":
            device.state["lifts_persisted"] = False
            for guard in device.guards.values():
                if guard["verdict"] == "released":
                    guard["verdict"] = "confirmed"
            return {"reverted": True}
        if device.armed == handle["name"]:
            device.fire()
        guard = device.guards.get(handle["name"])
        if guard:
            guard["verdict"] = "reverted"
        back = [change for change in reversed(changes) if self._is_in_force(device, change)]
        device.put([{**change, "from": change["to"], "to": change["from"]} for change in back])
        self.world.look()
        return {"reverted": True}

    @staticmethod
    def _is_in_force(device: Device, change: dict[str, Any]) -> bool:
        name, _blank, prefix = change["object"].partition(" ")
        if change["field"] == "ip_mtu":
            return bool(device.state["interfaces"][name]["ip_mtu"] == change["to"])
        if change["field"] == "drained":
            return bool(device.state["interfaces"][name].get("drained")) is change["to"]
        routes = [r for r in device.state["routes"] if r["interface"] == name and prefix in ("", r["prefix"])]
        return any(route["mtu"] == change["to"] for route in routes)

    def pending(self) -> dict[str, Any]:
        return dict(self.read()["pending"])
