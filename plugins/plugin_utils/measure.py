"""Measuring what a gate wants to know: probes between hosts, pings from devices, counters before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import too_big
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import EVIDENCE
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, State
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import open_driver
from ansible_collections.jumbo.fabric.plugins.plugin_utils import fabric
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import everywhere

PORT = 47900
"""UDP port of the responders; probes carry a marker, so that counters can tell them from production."""

RESPONDER_SECONDS = 90
ATTEMPTS = 3
ECHOES = 3
ECHO_INTERVAL = 0.2

Step = Mapping[str, Any]
Reply = dict[str, Any]


class Measurement:
    """One gate's evidence. Addresses come from the states that preflight read."""

    def __init__(
        self, topology: Topology, states: Mapping[str, State], accesses: Mapping[str, Access], soak_seconds: int
    ) -> None:
        self.topology = topology
        self.states = states
        self.accesses = accesses
        self.soak_seconds = soak_seconds

    def of(self, step: Step) -> dict[str, Any]:
        """Return the evidence for a step's gate; what could not be measured is an error in it, never left out.

        {"probes": {source: reply}, "pings": {source: reply}, "device_pings": [...], "before": {host: state},
        "after": {host: state}, "asked": {source: target}, "too_big": {source: reply}}, as far as the gate needs it.
        `after` is read over new connections: it proves that management still works.
        """
        gate = step["gate"]
        pairs = [(str(source), str(target)) for source, target in gate["pairs"]]
        watched = self.watched(step)
        interfaces = self._interfaces()
        before = fabric.read_states([self.accesses[host] for host in watched], interfaces=interfaces)
        evidence: dict[str, Any] = {"before": before}
        kind = EVIDENCE.get(gate["name"], "probes")
        if kind == "probes":
            refuse = {source: beyond_link(before, source) for source, _target in pairs}
            evidence["probes"] = self._probes(pairs, gate["ip_mtus"], gate["flows"], refuse)
            if gate["name"] == "cross_rack" and lost(evidence["probes"]):
                # Which of a leaf's uplinks is guilty, flows cannot tell: a ping over one link can.
                evidence["device_pings"] = self._device_pings(self._legs(), gate["ip_mtus"])
        elif kind == "device_pings":
            evidence["device_pings"] = self._device_pings(pairs, gate["ip_mtus"])
        elif gate["name"] == "soak":
            evidence["pings"] = self._soak(pairs, gate["ip_mtus"])
        else:
            evidence["pings"] = self._pings(pairs, gate["ip_mtus"], ECHOES)
        fresh = [over_new_connections(self.accesses[host]) for host in watched]
        evidence["after"] = fabric.read_states(fresh, interfaces=interfaces)
        if gate["name"] == "gateway":
            evidence.update(self._too_big([target for _source, target in pairs], gate["ip_mtus"], evidence["after"]))
        return evidence

    def _interfaces(self) -> dict[str, list[str]]:
        """Return the interfaces of hosts that take part: counting all the others costs each host a process or two."""
        found: dict[str, list[str]] = {}
        for end in self.topology.endpoints():
            found.setdefault(end.device, []).append(end.interface)
        return found

    def watched(self, step: Step) -> list[str]:
        """Return the devices whose counters and MTUs matter: the step's, the pairs' ends, and what is between them."""
        hosts = [change["host"] for change in step["changes"]]
        for source, target in step["gate"]["pairs"]:
            hosts += [source.partition(":")[0], target.partition(":")[0]]
        if step["gate"]["name"] in ("cross_rack", "soak"):
            hosts += [end.device for link in self.topology.uplinks() for end in link.ends]
        return list(dict.fromkeys(hosts))

    def _legs(self) -> list[tuple[str, str]]:
        """Return both directions of every link between switches, as their logical ends."""
        ends = [[str(self.topology.logical(end)) for end in link.ends] for link in self.topology.uplinks()]
        return [pair for a, b in ends for pair in ((a, b), (b, a))]

    def _too_big(self, sources: Sequence[str], ip_mtus: Sequence[int], states: Mapping[str, State]) -> dict[str, Any]:
        """Send packets that a router must refuse, while one is still at the old size, and wait for its answer."""
        asked = too_big.questions(self.topology, {**self.states, **states}, sources, max(ip_mtus))
        replies = self._probes(list(asked.items()), ip_mtus, 1, dict.fromkeys(asked)) if asked else {}
        return {"asked": asked, "too_big": replies}

    def _soak(self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int]) -> dict[str, Reply]:
        """Keep packets of both sizes flowing for the soak's time."""
        return self._pings(pairs, ip_mtus, max(ECHOES, round(self.soak_seconds / ECHO_INTERVAL)))

    def _probes(
        self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int], flows: int, refuse: Mapping[str, int | None]
    ) -> dict[str, Reply]:
        """Start every responder first, then probe from every source at once."""
        listening: dict[str, list[str]] = {}
        for _source, target in pairs:
            host = target.partition(":")[0]
            if (address := self.address(target)) not in listening.setdefault(host, []):
                listening[host].append(address)
        replies = dict(
            zip(listening, everywhere(lambda item: self._respond(*item), listening.items()), strict=True),
        )
        silent = {host: reply for host, reply in replies.items() if "error" in reply}
        sources: dict[str, list[str]] = {}
        for source, target in pairs:
            sources.setdefault(source, []).append(target)
        answers = everywhere(lambda item: self._probe(*item, ip_mtus, flows, refuse[item[0]]), sources.items())
        return {**silent, **dict(zip(sources, answers, strict=True))}

    def _respond(self, host: str, addresses: list[str]) -> Reply:
        request = {"verb": "respond", "addresses": addresses, "port": PORT, "seconds": RESPONDER_SECONDS}
        return self._ask(host, request)

    def _probe(self, source: str, targets: list[str], ip_mtus: Sequence[int], flows: int, refuse: int | None) -> Reply:
        return self._ask(
            source.partition(":")[0],
            {
                "verb": "probe",
                "source": self.address(source),
                "targets": [{"host": target, "address": self.address(target)} for target in targets],
                "port": PORT,
                "sizes": list(ip_mtus),
                "refuse": refuse,
                "flows": flows,
                "attempts": ATTEMPTS,
                "timeout": 1.0,
            },
        )

    def _pings(self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int], count: int) -> dict[str, Reply]:
        """Ping as an operator would: ICMP with DF, bound by routes, from every source at once."""
        sources: dict[str, list[dict[str, str]]] = {}
        for source, target in pairs:
            sources.setdefault(source, []).append({"host": target, "address": self.address(target)})

        def ping(item: tuple[str, list[dict[str, str]]]) -> Reply:
            source, targets = item
            request = {
                "verb": "ping",
                "source": self.address(source),
                "targets": targets,
                "ip_mtus": list(ip_mtus),
                "count": count,
            }
            return self._ask(source.partition(":")[0], request)

        return dict(zip(sources, everywhere(ping, sources.items()), strict=True))

    def _ask(self, host: str, request: Mapping[str, Any]) -> Reply:
        run = self.accesses[host].run_program
        if run is None:
            return {"error": f"{host} runs no programs of ours: it cannot probe"}
        try:
            return run(request, False)
        except JumboError as error:
            return {"error": str(error)}

    def _device_pings(self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int]) -> list[Reply]:
        wanted = [(source, target, size) for source, target in pairs for size in ip_mtus]
        return everywhere(lambda item: self._device_ping(*item), wanted)

    def _device_ping(self, source: str, target: str, ip_mtu: int) -> Reply:
        host, _colon, interface = source.partition(":")
        row = {"host": host, "interface": interface, "peer": target, "target": None, "ip_mtu": ip_mtu}
        try:
            row["target"] = self.address(target)
            driver = open_driver(self.accesses[host])
            return {**row, **driver.ping(self.address(target), ip_mtu, self.address(source), ECHOES)}
        except JumboError as error:
            return {**row, "error": str(error)}

    def address(self, end: str) -> str:
        """Return the IPv4 address of `device:interface`."""
        host, _colon, interface = end.partition(":")
        addresses = self.states.get(host, {}).get("interfaces", {}).get(interface, {}).get("addresses") or []
        for address in addresses:
            if ":" not in address:
                return str(address).partition("/")[0]
        raise JumboError("this interface has no IPv4 address", host=host, object=interface)


def lost(replies: Mapping[str, Reply]) -> bool:
    """Tell whether any flow that was sent had no answer."""
    rows = [row for reply in replies.values() for row in reply.get("flows", [])]
    return any(row["sent"] and not row["received"] for row in rows)


def over_new_connections(access: Access) -> Access:
    """Return the same way in, but never over a connection that is already there."""
    run = access.run_program
    return access if run is None else replace(access, run_program=lambda request, _new: run(request, True))


def beyond_link(states: Mapping[str, State], end: str) -> int | None:
    """Return one byte more than the link's MTU, which the sender's own kernel must refuse; None where it is unknown."""
    host, _colon, interface = end.partition(":")
    found = states.get(host, {}).get("interfaces", {}).get(interface, {}).get("ip_mtu")
    return int(found) + 1 if found else None
