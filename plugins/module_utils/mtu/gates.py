"""Judges what a gate measured. A measurement that is missing is an error, never a pass; a failure names who."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from .crossed import drained_by, not_crossed, ports_to_cross
from .families import families_between
from .growth import Growth, growth
from .intent_types import End
from .localise import Facts, Loss, localise
from .observed import Seen, address_book, from_device_pings, from_pings, from_probes
from .steps import Step
from .topology import Topology

SUCCESS, FAILURE, ERROR, SKIPPED = "success", "failure", "error", "skipped"
_SHOWN = 3  # pairs named in a sentence
EVIDENCE = {"gateway": "device_pings", "leg": "device_pings", "lifted": "pings", "soak": "pings"}
"""What a gate is judged by; gates that are not named here are judged by probes between hosts."""


@dataclass(frozen=True)
class GateResult:
    """A gate's verdict, what was expected, what was found, who is to blame: [{host, interface, reason, evidence}]."""

    name: str
    verdict: str  # success | failure | error | skipped
    expected: str
    actual: str
    findings: tuple[Mapping[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return {name, verdict, expected, actual, findings}."""
        findings = [dict(finding) for finding in self.findings]
        return {
            "name": self.name,
            "verdict": self.verdict,
            "expected": self.expected,
            "actual": self.actual,
            "findings": findings,
        }


def judge(step: Step | Mapping[str, Any], evidence: Mapping[str, Any], topology: Topology) -> GateResult:
    """Judge the gate of a step (a Step, or the dict of plan.json).

    `evidence`: {"probes": {source: reply}, "pings": {source: reply}, "device_pings": [row], "before": {host: state},
    "after": {host: state}}, whatever of it the gate needs; replies as in the contract of the programs on hosts. In
    cross_rack, device_pings over links (if given) sharpen the findings.
    """
    data = step.as_dict() if isinstance(step, Step) else step
    gate = data.get("gate")
    if not gate or not gate["pairs"]:
        return GateResult(gate["name"] if gate else "none", SKIPPED, "nothing to prove", "no pairs")
    return _Judge(data, gate, evidence, topology).result()


@dataclass(frozen=True)
class _Case:
    """One pair's verdict: ok, error, unreachable, or what is wrong with its large packets."""

    pair: tuple[str, str]
    kind: str
    text: str
    seen: Seen


class _Judge:
    def __init__(
        self, step: Mapping[str, Any], gate: Mapping[str, Any], evidence: Mapping[str, Any], topology: Topology
    ) -> None:
        self.step = step
        self.gate = gate
        self.evidence = evidence
        self.topology = topology
        self.size = max(gate["ip_mtus"])
        before, after = evidence.get("before") or {}, evidence.get("after") or {}
        self.addresses = {**address_book(before), **address_book(after)}
        self.families = families_between({**before, **after}, topology)
        self.growth = growth(before, after)
        self.after = after
        self.too_long = _of_members(self.growth.too_long, topology)

    def result(self) -> GateResult:
        """Judge every pair, then what was read back and counted."""
        cases = self._cases()
        errors = [case.text for case in cases if case.kind == ERROR]
        bad = [case for case in cases if case.kind not in {SUCCESS, ERROR}]
        findings, untold = self._read_back()
        errors += untold
        low = [f"{f['host']}:{f['interface']} {f['reason']}" for f in findings]
        findings += [f for f in self._findings(cases, bad) if not _names(findings, f)]
        counted = self._counted()
        findings += [f for f in counted if not _names(findings, f)]
        low += [f"{f['host']}:{f['interface']} {f['reason']}" for f in counted]
        low += [
            f"{loss.source} to {loss.target}: {loss.size} bytes are lost over this link" for loss in self._leg_losses()
        ]
        idle = not_crossed(self.gate, self.topology, self.growth.packets, drained_by(self.step))
        errors += [f"{port} has received nothing meanwhile: no probe took this way" for port in idle]
        for host, _colon, interface in (port.partition(":") for port in idle):
            findings.append(_finding(host, interface, "no probe took this way", "it has received nothing meanwhile"))
        errors += _not_judged(self.growth, soak=self.gate["name"] == "soak")
        verdict = FAILURE if bad or low else ERROR if errors else SUCCESS
        actual = self._actual(cases, [*[case.text for case in bad], *low, *errors])
        return GateResult(self.gate["name"], verdict, self._expected(), actual, tuple(findings))

    # ------------------------------------------------------------------ pairs

    def _cases(self) -> list[_Case]:
        wanted = EVIDENCE.get(self.gate["name"], "probes")
        refusals: Mapping[Any, str | None] = {}
        if wanted == "device_pings":
            seen = from_device_pings(self.gate, self.evidence.get(wanted) or [])
        elif wanted == "pings":
            seen = from_pings(self.gate, self.evidence.get(wanted) or {}, self.addresses, self.families)
        else:
            replies = self.evidence.get(wanted) or {}
            seen, refusals = from_probes(self.gate, replies, self.addresses, self.families)
        pairs = [(pair[0], pair[1]) for pair in self.gate["pairs"]]
        return [self._case(pair, seen, refusals.get(pair)) for pair in pairs]

    def _case(self, pair: tuple[str, str], seen: Mapping[Any, Seen], refusal: str | None) -> _Case:
        large = seen[pair, self.size]
        small = [seen[pair, size] for size in self.gate["ip_mtus"] if size != self.size]
        name = f"{pair[0]} to {pair[1]}"
        errors = [error for one in (large, *small) for error in one.errors]
        if errors:
            return _Case(pair, ERROR, errors[0], large)
        if small and not all(one.flows > one.lost for one in small):
            return _Case(pair, "unreachable", f"{name}: not even {min(self.gate['ip_mtus'])} bytes pass", large)
        if any(one.lost for one in small):
            lost = sum(one.lost for one in small)
            return _Case(pair, "lost small", f"{name}: {lost} flows of the old size were lost", large)
        if large.local_mtu is not None:
            return _Case(
                pair, "local", f"{name}: the sender itself refuses {self.size} bytes ({large.local_mtu})", large
            )
        if large.lost:
            return _Case(pair, "lost", f"{name}: {self.size} bytes lost in {large.lost} of {large.flows} flows", large)
        return self._whole(pair, name, large, small, refusal)

    def _whole(
        self, pair: tuple[str, str], name: str, large: Seen, small: Sequence[Seen], refusal: str | None
    ) -> _Case:
        """Judge packets that arrived: in one piece, at full length, and only as large as the sender's link allows."""
        if large.reassembled or any(one.reassembled for one in small):
            return _Case(pair, "fragments", f"{name}: packets arrived in fragments", large)
        if large.short is not None:
            return _Case(pair, "short", f"{name}: {self.size} bytes were sent, {large.short} arrived", large)
        if refusal:
            kind = ERROR if "was tried" in refusal else "not refused"
            return _Case(pair, kind, f"{name}: {refusal}", large)
        return _Case(pair, SUCCESS, "", large)

    # ------------------------------------------------------------------ blame

    def _read_back(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return (findings: interfaces of this step whose size is not the planned one, who tells none)."""
        found, untold = [], []
        for change in self.step.get("changes", ()):
            if change["field"] != "ip_mtu" or "interfaces" not in self.after.get(change["host"], {}):
                continue
            interface = self.after[change["host"]]["interfaces"].get(change["object"]) or {}
            size = interface.get("ip_mtu")
            if size is None:
                untold.append(
                    f"{change['host']}:{change['object']} does not tell its IP MTU, {change['to']} was planned"
                )
            elif size != change["to"]:
                reason = f"it reads back an IP MTU of {size}"
                found.append(_finding(change["host"], change["object"], reason, f"{change['to']} was planned"))
        return found, untold

    def _findings(self, cases: Sequence[_Case], bad: Sequence[_Case]) -> list[dict[str, Any]]:
        found = []
        for case in bad:
            end = case.pair[1] if case.kind == "unreachable" else case.pair[0]
            if case.kind not in {"lost", "fragments", "short"}:
                host, _colon, interface = end.partition(":")
                found.append(_finding(host, interface, _REASONS[case.kind], case.text))
        losses = [self._loss(case) for case in bad if case.kind in {"lost", "fragments", "short"}]
        clean = [case.pair for case in cases if case.kind == SUCCESS]
        return [*_unique(found), *localise([*losses, *self._leg_losses()], clean, self._facts(), self.topology)]

    def _loss(self, case: _Case) -> Loss:
        seen = case.seen
        lost = seen.lost or seen.flows  # in fragments or cut short: no flow arrived whole
        return Loss(case.pair[0], case.pair[1], self.size, lost, seen.flows, seen.too_big)

    def _leg_losses(self) -> list[Loss]:
        """Read pings over single links that came with a probe between hosts."""
        rows = self.evidence.get("device_pings") or []
        if EVIDENCE.get(self.gate["name"]) == "device_pings":
            return []
        pairs = list(dict.fromkeys((f"{row.get('host')}:{row.get('interface')}", str(row.get("peer"))) for row in rows))
        seen = from_device_pings({"pairs": pairs, "ip_mtus": self.gate["ip_mtus"]}, rows)
        small = min(self.gate["ip_mtus"])
        legs = [pair for pair in pairs if seen[pair, self.size].lost and seen[pair, small].carried]
        return [Loss(a, b, self.size, 1, 1, seen[(a, b), self.size].too_big) for a, b in legs]

    def _facts(self) -> Facts:
        read_back = {}
        for host, state in self.after.items():
            for name, interface in (state.get("interfaces") or {}).items():
                if interface.get("ip_mtu") is not None:
                    read_back[f"{host}:{name}"] = interface["ip_mtu"]
        return Facts(read_back, self.too_long, self.addresses)

    def _counted(self) -> list[dict[str, Any]]:
        """Return the ports that counted frames as too long meanwhile; large packets flowed, or a pair has failed."""
        found = []
        for end, count in sorted(self.too_long.items()):
            if count > 0:
                host, _colon, interface = end.partition(":")
                found.append(_finding(host, interface, "it counts frames as too long", f"{count} meanwhile"))
        return found

    # ------------------------------------------------------------------ sentences

    def _expected(self) -> str:
        sizes = " and ".join(str(size) for size in self.gate["ip_mtus"])
        flows = f" in {self.gate['flows']} flows each" if self.gate["flows"] > 1 else ""
        number = len(self.gate["pairs"])
        text = f"{number} pairs carry {sizes} bytes{flows}" if number != 1 else f"1 pair carries {sizes} bytes{flows}"
        if self.gate["name"] not in EVIDENCE:
            text += ", unfragmented, and no sender passes its own link MTU"
        telling = sum(
            port in self.growth.packets for port in ports_to_cross(self.gate, self.topology, drained_by(self.step))
        )
        text += f", all {telling} ports on their ways receive packets" if telling else ""
        counting = len(self.growth.too_long)
        return text + (f", none of the {counting} ports that count sees a frame too long" if counting else "")

    def _actual(self, cases: Sequence[_Case], problems: Sequence[str]) -> str:
        good = sum(1 for case in cases if case.kind == SUCCESS)
        text = f"{good} of {len(cases)} pairs do" if len(cases) != 1 else f"{good} of 1 pair does"
        if problems:
            more = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            text += ": " + "; ".join(problems[:_SHOWN]) + more
        return text


_REASONS = {
    "unreachable": "it does not answer at any size: this is no matter of MTU",
    "local": "it refuses to send packets of this size itself",
    "lost small": "packets of the old size are lost: this is no matter of MTU",
    "not refused": "its probes prove nothing: size or DF are not what was asked for",
}


def _not_judged(change: Growth, *, soak: bool) -> list[str]:
    """Return what keeps the counters from being judged; a soak is nothing without a port that counts."""
    problems = [f"{host} was read only once" for host in change.missing]
    problems += [f"the counters of {end} were cleared meanwhile" for end in change.cleared]
    if soak and not change.too_long:
        problems.append("no device counts frames that are too long")
    return problems


def _of_members(too_long: Mapping[str, int], topology: Topology) -> dict[str, int]:
    """Return what ports counted without the sums of LAGs: where a member counts, it is the member that is meant."""
    ends = {end: End(*end.split(":", 1)) for end, count in too_long.items() if count > 0}
    sums = {str(topology.logical(port)) for port in ends.values() if topology.logical(port) != port}
    return {end: count for end, count in too_long.items() if end not in sums}


def _finding(host: str, interface: str, reason: str, evidence: str) -> dict[str, Any]:
    return {"host": host, "interface": interface, "reason": reason, "evidence": evidence}


def _names(findings: Iterable[Mapping[str, Any]], other: Mapping[str, Any]) -> bool:
    return any(f["host"] == other["host"] and f["interface"] == other["interface"] for f in findings)


def _unique(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the first finding of each interface: one silent host fails many pairs."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for finding in findings:
        kept.setdefault((finding["host"], finding["interface"]), finding)
    return list(kept.values())
