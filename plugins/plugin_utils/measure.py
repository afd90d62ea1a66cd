"""Measuring what a gate wants to know: probes between hosts, pings from devices, counters before and after."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import too_big
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.crossed import drained_by, not_crossed, ports_to_cross
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.families import IPV4, IPV6, addresses_of
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.gates import EVIDENCE
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.growth import growth
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

READINGS, READ_AGAIN = 5, 1.0
"""How often, and after how many seconds, counters are read again: switches show what they count a little later."""

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
        self._cross_the_rest(step, fresh, evidence)
        if gate["name"] == "gateway":
            evidence.update(self._too_big([target for _source, target in pairs], gate["ip_mtus"], evidence["after"]))
        return evidence

    def _cross_the_rest(self, step: Step, fresh: Sequence[Access], evidence: dict[str, Any]) -> None:
        """Ping the legs between switches that no hash has chosen, and read again until every way was taken."""
        gate, drained = step["gate"], drained_by(step)
        for reading in range(READINGS):
            packets = growth(evidence["before"], evidence["after"]).packets
            idle = not_crossed(gate, self.topology, packets, drained)
            if not idle:
                return
            if not reading and "device_pings" not in evidence:
                evidence["device_pings"] = self._device_pings(self._legs(idle), gate["ip_mtus"])
            time.sleep(READ_AGAIN)
            evidence["after"] = fabric.read_states(fresh, interfaces=self._interfaces())

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
        hosts += [port.partition(":")[0] for port in ports_to_cross(step["gate"], self.topology)]
        if step["gate"]["name"] in ("cross_rack", "soak"):
            hosts += [end.device for link in self.topology.uplinks() for end in link.ends]
        return list(dict.fromkeys(hosts))

    def _legs(self, ports: Collection[str] | None = None) -> list[tuple[str, str]]:
        """Return both directions of every link between switches, as their logical ends; of these ports only."""
        links = self.topology.uplinks()
        chosen = [link for link in links if ports is None or any(str(end) in ports for end in link.ends)]
        ends = [[str(self.topology.logical(end)) for end in link.ends] for link in chosen]
        return [pair for a, b in ends for pair in ((a, b), (b, a))]

    def _too_big(self, sources: Sequence[str], ip_mtus: Sequence[int], states: Mapping[str, State]) -> dict[str, Any]:
        """Send packets that a router must refuse, while one is still at the old size, and wait for its answer."""
        asked = too_big.questions(self.topology, {**self.states, **states}, sources, max(ip_mtus))
        replies = self._probes(list(asked.items()), ip_mtus, 1, dict.fromkeys(asked), (IPV4,)) if asked else {}
        return {"asked": asked, "too_big": replies}

    def _soak(self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int]) -> dict[str, Reply]:
        """Keep packets of both sizes flowing for the soak's time."""
        return self._pings(pairs, ip_mtus, max(ECHOES, round(self.soak_seconds / ECHO_INTERVAL)))

    def _probes(
        self,
        pairs: Sequence[tuple[str, str]],
        ip_mtus: Sequence[int],
        flows: int,
        refuse: Mapping[str, int | None],
        families: Sequence[int] = (IPV4, IPV6),
    ) -> dict[str, Reply]:
        """Start every responder first, then probe from every source at once, in each family that both ends have."""
        trips = self._trips(pairs, families)
        listening: dict[str, list[str]] = {}
        for targets in trips.values():
            for target, address in targets:
                host = target.partition(":")[0]
                if address not in listening.setdefault(host, []):
                    listening[host].append(address)
        replies = dict(
            zip(listening, everywhere(lambda item: self._respond(*item), listening.items()), strict=True),
        )
        silent = {host: reply for host, reply in replies.items() if "error" in reply}

        def probe(item: tuple[tuple[str, str], list[tuple[str, str]]]) -> Reply:
            (source, own), targets = item
            return self._probe(source, own, targets, ip_mtus, flows, refuse[source])

        return {**silent, **_by_source(trips, everywhere(probe, trips.items()), "flows")}

    def _trips(
        self, pairs: Sequence[tuple[str, str]], families: Sequence[int]
    ) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Return {(source, its address): [(target, its address)]}; one family in each, in the order of the pairs."""
        trips: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for source, target in pairs:
            own, theirs = self._addresses(source), self._addresses(target)
            common = [family for family in families if family in own and family in theirs]
            if not common:
                message = f"this interface and {target} have no address of the same family in their segments"
                host, _colon, interface = source.partition(":")
                raise JumboError(message, host=host, object=interface)
            for family in common:
                trips.setdefault((source, own[family]), []).append((target, theirs[family]))
        return trips

    def _respond(self, host: str, addresses: list[str]) -> Reply:
        request = {"verb": "respond", "addresses": addresses, "port": PORT, "seconds": RESPONDER_SECONDS}
        return self._ask(host, request)

    def _probe(
        self,
        source: str,
        address: str,
        targets: Sequence[tuple[str, str]],
        ip_mtus: Sequence[int],
        flows: int,
        refuse: int | None,
    ) -> Reply:
        return self._ask(
            source.partition(":")[0],
            {
                "verb": "probe",
                "source": address,
                "targets": [{"host": target, "address": theirs} for target, theirs in targets],
                "port": PORT,
                "sizes": list(ip_mtus),
                "refuse": refuse,
                "flows": flows,
                "attempts": ATTEMPTS,
                "timeout": 1.0,
            },
        )

    def _pings(self, pairs: Sequence[tuple[str, str]], ip_mtus: Sequence[int], count: int) -> dict[str, Reply]:
        """Ping as an operator would: ICMP with DF, bound by routes, from every source at once, in every family."""
        trips = self._trips(pairs, (IPV4, IPV6))

        def ping(item: tuple[tuple[str, str], list[tuple[str, str]]]) -> Reply:
            (source, own), targets = item
            request = {
                "verb": "ping",
                "source": own,
                "targets": [{"host": target, "address": address} for target, address in targets],
                "ip_mtus": list(ip_mtus),
                "count": count,
            }
            return self._ask(source.partition(":")[0], request)

        return _by_source(trips, everywhere(ping, trips.items()), "pings")

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

    def _addresses(self, end: str) -> dict[int, str]:
        return addresses_of(end, self.states, self.topology)

    def address(self, end: str) -> str:
        """Return the IPv4 address of `device:interface`."""
        address = self._addresses(end).get(IPV4)
        if address is None:
            host, _colon, interface = end.partition(":")
            raise JumboError("this interface has no IPv4 address", host=host, object=interface)
        return address


def _by_source(trips: Iterable[tuple[str, str]], replies: Sequence[Reply], rows: str) -> dict[str, Reply]:
    """Return one reply for each source: the first that is an error, else that with the rows of all families."""
    found: dict[str, Reply] = {}
    for (source, _own), reply in zip(trips, replies, strict=True):
        before = found.get(source)
        if before is None or "error" in reply:
            found[source] = reply
        elif "error" not in before:
            found[source] = {**before, rows: [*before.get(rows, ()), *reply.get(rows, ())]}
    return found


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
