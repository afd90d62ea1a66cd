"""A plan as frozen values: changes, gates, steps. Sizes are bytes of IP packet; a device's own numbers stand beside."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

FIELDS = ("ip_mtu", "route_mtu", "drained", "jumbo", "persisted")
PHASES = ("reload", "l2", "host_link", "svi", "drain", "link", "undrain", "lift", "soak", "persist")


@functools.lru_cache(maxsize=1 << 16)
def _parts(name: str) -> tuple[str, str | None]:
    """Divide "interface prefix"; many hosts have the same."""
    interface, _space, prefix = name.partition(" ")
    return interface, prefix or None


@dataclass(frozen=True)
class Change:
    """One value of one object of one host, from what it is to what it shall be.

    `object` is an interface, or "interface prefix" for an explicit route (field route_mtu). Changes of one host are
    applied in the order of their step and taken back in the reverse one.
    """

    host: str
    object: str
    field: str
    before: Any
    to: Any
    from_device_mtu: int | None = None
    to_device_mtu: int | None = None

    @property
    def interface(self) -> str:
        """The interface that the object is or stands on."""
        return _parts(self.object)[0]

    @property
    def prefix(self) -> str | None:
        """The prefix of an explicit route, None for all that isn't one."""
        return _parts(self.object)[1]

    def reverse(self) -> Change:
        """Return the change that takes this one back."""
        return replace(
            self,
            before=self.to,
            to=self.before,
            from_device_mtu=self.to_device_mtu,
            to_device_mtu=self.from_device_mtu,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return {host, object, field, from, to, from_device_mtu, to_device_mtu}."""
        return {
            "host": self.host,
            "object": self.object,
            "field": self.field,
            "from": self.before,
            "to": self.to,
            "from_device_mtu": self.from_device_mtu,
            "to_device_mtu": self.to_device_mtu,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Change:
        """Return the change that a plan or a journal line holds."""
        return cls(
            host=data["host"],
            object=data["object"],
            field=data["field"],
            before=data["from"],
            to=data["to"],
            from_device_mtu=data.get("from_device_mtu"),
            to_device_mtu=data.get("to_device_mtu"),
        )


@dataclass(frozen=True)
class Gate:
    """What must be proven: `pairs` of "device:interface" texts (from, to), at each of `ip_mtus`, with `flows` each."""

    name: str  # rack_receive | gateway | lifted | leg | cross_rack | soak
    pairs: tuple[tuple[str, str], ...]
    ip_mtus: tuple[int, ...]
    flows: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Return {name, pairs, ip_mtus, flows}."""
        return {
            "name": self.name,
            "pairs": [list(pair) for pair in self.pairs],
            "ip_mtus": list(self.ip_mtus),
            "flows": self.flows,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Gate:
        """Return the gate that a plan holds."""
        pairs = tuple((pair[0], pair[1]) for pair in data["pairs"])
        return cls(data["name"], pairs, tuple(data["ip_mtus"]), data["flows"])


@dataclass(frozen=True)
class DeadMan:
    """What takes a step back by itself: a row of traits, after so many seconds; `others`: (device, its other kind)."""

    kind: str
    seconds: int
    others: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return {kind, seconds, others: {device: kind}}."""
        return {"kind": self.kind, "seconds": self.seconds, "others": dict(self.others)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DeadMan:
        """Return the one that plan.json holds."""
        return cls(data["kind"], data["seconds"], tuple((data.get("others") or {}).items()))


@dataclass(frozen=True)
class Outage:
    """A declared loss of every size on a link, in seconds."""

    link: str
    seconds: int

    def as_dict(self) -> dict[str, Any]:
        """Return {link, seconds}."""
        return {"link": self.link, "seconds": self.seconds}


@dataclass(frozen=True)
class Step:
    """What is applied, proven and confirmed together. `needs`: ids of the steps that must be confirmed before."""

    id: str
    stage: str
    wave: int
    phase: str
    changes: tuple[Change, ...]
    needs: tuple[str, ...] = ()
    precondition: str = ""
    gate: Gate | None = None
    dead_man: DeadMan | None = None
    atomic: bool = False
    outage: tuple[Outage, ...] = ()

    @property
    def undo(self) -> tuple[Change, ...]:
        """The changes that take this step back, in their order."""
        return tuple(change.reverse() for change in reversed(self.changes))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that this step changes, in order."""
        return tuple(dict.fromkeys(change.host for change in self.changes))

    def as_dict(self) -> dict[str, Any]:
        """Return the step in the shape that plan.json and the playbooks use."""
        return {
            "id": self.id,
            "stage": self.stage,
            "wave": self.wave,
            "phase": self.phase,
            "atomic": self.atomic,
            "needs": list(self.needs),
            "precondition": self.precondition,
            "changes": [change.as_dict() for change in self.changes],
            "gate": self.gate.as_dict() if self.gate else None,
            "dead_man": self.dead_man.as_dict() if self.dead_man else None,
            "outage": [outage.as_dict() for outage in self.outage],
            "undo": [change.as_dict() for change in self.undo],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        """Return the step that plan.json holds; `undo` follows from the changes."""
        dead_man = data.get("dead_man")
        return cls(
            id=data["id"],
            stage=data["stage"],
            wave=data["wave"],
            phase=data["phase"],
            changes=tuple(Change.from_dict(change) for change in data["changes"]),
            needs=tuple(data["needs"]),
            precondition=data["precondition"],
            gate=Gate.from_dict(data["gate"]) if data.get("gate") else None,
            dead_man=DeadMan.from_dict(dead_man) if dead_man else None,
            atomic=data["atomic"],
            outage=tuple(Outage(outage["link"], outage["seconds"]) for outage in data["outage"]),
        )


@dataclass(frozen=True)
class Plan:
    """Steps in order, and what a person should read before saying yes.

    `clamps`: [{link, ip_mtu, limited_by, sentence}]; `notes`: sentences; `exposures`: [{class, segment, ip_mtu,
    from_step, to_step, sentence}] - traffic that pins do not bound.
    """

    steps: tuple[Step, ...]
    clamps: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    exposures: tuple[Mapping[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return {steps, clamps, notes, exposures} as plain data."""
        return {
            "steps": [step.as_dict() for step in self.steps],
            "clamps": [dict(clamp) for clamp in self.clamps],
            "notes": list(self.notes),
            "exposures": [dict(exposure) for exposure in self.exposures],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Return the plan that plan.json holds."""
        return cls(
            steps=tuple(Step.from_dict(step) for step in data["steps"]),
            clamps=tuple(dict(clamp) for clamp in data["clamps"]),
            notes=tuple(data["notes"]),
            exposures=tuple(dict(exposure) for exposure in data["exposures"]),
        )

    def step(self, step_id: str) -> Step | None:
        """Return the step of that id."""
        return next((step for step in self.steps if step.id == step_id), None)


def act_of(changes: Sequence[Mapping[str, Any]]) -> str:
    """Return what making these changes of one host is: `apply` (behind a dead-man), `lift` (of prefixes) or `persist`.

    `changes`: the dicts of a plan or a journal.
    """
    if any(change["field"] == "persisted" for change in changes):
        return "persist"
    lifts = all(change["field"] == "route_mtu" and " " in change["object"] for change in changes)
    return "lift" if lifts else "apply"
