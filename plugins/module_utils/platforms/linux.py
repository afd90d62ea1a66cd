"""The Linux driver: requests to the `probe` package on the host, and its answers in the one shape of all platforms."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.steps import act_of
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Change, Handle, State
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.nic_counters import oversize_counters
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.multicast import GROUPS, TABLE

BOOT_DEFAULT = 1500
"""What the lab's boot gives a link that its persisted file does not name, in bytes of IP packet."""

LONGEST_ID = 64


class LinuxDriver:
    """A Linux host: link MTU and route pins, kept by a guard process; see docs/explanation/architecture.md."""

    def __init__(self, access: Access) -> None:
        self.access = access

    def read(self, *, only_interfaces: bool = False, interfaces: Sequence[str] | None = None) -> State:  # noqa: ARG002
        """Return the state; see platforms.base.Driver."""
        return self.state_of(self._ask(read_request(interfaces)))

    def state_of(self, raw: Mapping[str, Any]) -> State:
        """Return the reply to a `read` request as a state."""
        return {
            "host": self.access.host,
            "platform": "linux",
            "model": None,
            "version": raw["kernel"],
            "interfaces": {name: _interface(link, raw["persisted"]) for name, link in raw["interfaces"].items()},
            "pending": pending_of(raw["guards"]),
            "saved": None,
            "unsaved_diff": "",
            "routes": raw["routes"],
            "guard": raw["guard"],
            "guards": raw["guards"],
            "persistence": raw["persistence"],
            "unpersistable_routes": raw["unpersistable_routes"],
            "forwarding": raw["forwarding"],
            "forwarding_by": raw["forwarding_by"],
            "link_readers": raw["link_readers"],
            "fragments_sent": raw["fragments_sent"],
            "ipv6": raw["ipv6"],
            "arp": raw["arp"],
        }

    def pending(self) -> dict[str, Any]:
        """Return what waits for a confirmation: a guard that is armed."""
        return pending_of(self._ask({"verb": "read", "interfaces": []})["guards"])

    def ping(self, target: str, ip_mtu: int, source: str | None = None, count: int = 3) -> dict[str, Any]:
        """DF ping with the host's own ping(8), bound by its routes."""
        request = {
            "verb": "ping",
            "targets": [{"host": target, "address": target}],
            "ip_mtus": [ip_mtu],
            "count": count,
        }
        (row,) = self._ask({**request, "source": source})["pings"]
        sent, received = row["sent"], row["received"]
        return {
            "sent": sent,
            "received": received,
            "loss_percent": 100.0 * (sent - received) / sent if sent else None,
            "too_big_local": bool(row["local"]),
            "too_big_reported_by": row["too_big_by"],
            "reported_mtu": row["reported_mtu"],
        }

    def diff(self, changes: Sequence[Change]) -> str:
        """Return what the changes would do, line by line, from what the host says now; nothing is written."""
        state = self.read()
        return "\n".join(line for change in changes for line in self._preview(state, change))

    def _preview(self, state: State, change: Change) -> list[str]:
        name, _blank, prefix = change["object"].partition(" ")
        interface = state["interfaces"].get(name)
        if interface is None:
            raise JumboError("there is no such interface", host=self.access.host, object=name)
        if change["field"] == "ip_mtu":
            limit = interface["max_ip_mtu"]
            if limit is not None and change["to"] > limit:
                raise JumboError(
                    "the device's maximum", host=self.access.host, object=name, wish=change["to"], limit=limit
                )
            return [f"-link {name} mtu {interface['ip_mtu']}", f"+link {name} mtu {change['to']}"]
        if change["field"] == "persisted":
            what = "link and routes of {} as they run" if change["to"] else "no lift of {}"
            return [f"+boot configuration: {what.format(name)}"]
        if prefix:
            return [
                f"-route {prefix} dev {name} mtu {change['from']}",
                f"+route {prefix} dev {name} mtu {change['to']}",
            ]
        routes = [route for route in state["routes"] if route["interface"] == name]
        lines = [f"+route {r['prefix']} dev {name} mtu {change['to']}" for r in routes if r["mtu"] != change["to"]]
        if not any(route["prefix"] == GROUPS for route in routes):
            # Where sockets without an interface send multicast already, it needs no table and rule of its own.
            lines.append(f"+route {GROUPS} dev {name} mtu {change['to']}, in table {TABLE} with a rule, or in main")
        return lines

    def apply(self, changes: Sequence[Change], within: int, name: str) -> Handle:
        """Carry the changes out with the guard armed; lifts and persisting stand on a guard that is confirmed."""
        handle: Handle = {"name": name, "changes": [dict(change) for change in changes], "changed": bool(changes)}
        kind = act_of(changes)
        if kind == "lift":
            reply = self._ask(prefix_request(changes))
        elif kind == "persist":
            names = sorted({change["object"] for change in changes})
            reply = self._persist(names) if all(change["to"] for change in changes) else self._unpersist(names)
        else:
            changed = self._with_waivers(changes)
            request = {"verb": "apply", "id": guard_id(name), "within": within, "changes": changed}
            reply = self._ask({**request, "by": self.access.operator})
        facts = _boot_facts if kind == "persist" else _facts
        difference = _difference(facts(reply.get("before") or {}), facts(reply.get("after") or {}))
        return {**handle, "diff": difference, "notes": reply.get("notes", [])}

    def _with_waivers(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        """Tell the host where a person has accepted senders that no pin bounds: they are no reason to go back."""
        return [
            {**change, "exposure": "waived"} if {change["object"], "*"} & self.access.waived else dict(change)
            for change in changes
        ]

    def _unpersist(self, names: Sequence[str]) -> dict[str, Any]:
        """Take lifts out of the boot configuration; a guard keeps the pins that run."""
        return self._ask({"verb": "unpersist", "interfaces": list(names)}, new_connection=True)

    def _persist(self, names: Sequence[str]) -> dict[str, Any]:
        """Write the boot configuration and let the guards go, in one login; where there is none, the guards stay."""
        requests = [{"verb": "persist", "interfaces": names}, {"verb": "release", "interfaces": names}]
        reply = self._ask({"verb": "many", "requests": requests})["replies"][0]
        self._require_persisted(reply)
        notes = ["running only: the boot configuration of this host is not ours to write"]
        return {**reply, "notes": notes if reply["persisted"] is None else []}

    def _require_persisted(self, reply: Mapping[str, Any]) -> None:
        """Refuse what would not survive a reboot although there is a place to keep it; null says that there is none."""
        if reply["persisted"] is False:
            routes = "; ".join(reply["not_persisted"]) or "not told which"
            raise JumboError(
                f"a reboot would lose what was confirmed, its boot configuration cannot hold these routes: {routes}",
                host=self.access.host,
                object=", ".join(dict.fromkeys(_devices(reply["not_persisted"]))) or None,
                advice="A daemon or DHCP makes them: make them static, or leave the interface out of the roll-out.",
            )

    def confirm(self, handle: Handle) -> dict[str, Any]:
        """Confirm over a new connection. Nothing waits for a lift: it stands on a guard that is confirmed already."""
        if act_of(handle["changes"]) == "apply":
            reply = self._ask({"verb": "confirm", "id": guard_id(handle["name"])}, new_connection=True)
            self._require_persisted(reply)
            return {"confirmed": True, "persisted": reply["persisted"]}
        return {"confirmed": True, "persisted": None}

    def revert(self, handle: Handle) -> dict[str, Any]:
        """Take back what the handle says; pins at this sender are read back by the host before anything else.

        A persisted lift leaves the boot configuration, whether the lift itself is taken back or was made by others.
        """
        if handle.get("changed") is False:  # an intent of the journal does not say: it counts
            return {"reverted": True, "notes": []}
        kind, changes = act_of(handle["changes"]), handle["changes"]
        request: dict[str, Any] = {"verb": "revert", "id": guard_id(handle["name"]), "changes": changes}
        if kind == "lift":
            backwards = [{**change, "from": change["to"], "to": change["from"]} for change in changes]
            request = prefix_request(backwards)
        elif kind == "persist":
            reply = self._unpersist(sorted({change["object"] for change in changes}))
            return {"reverted": True, "notes": list(reply.get("notes", []))}
        reply = self._ask(request, new_connection=True)
        return {"reverted": True, "notes": list(reply.get("notes", []))}

    def _ask(self, request: Mapping[str, Any], *, new_connection: bool = False) -> dict[str, Any]:
        if self.access.run_program is None:
            raise JumboError("no way to run a program on this host", host=self.access.host)
        return self.access.run_program(request, new_connection)


def _devices(routes: Iterable[str]) -> Iterator[str]:
    for words in map(str.split, routes):
        if "dev" in words[:-1]:
            yield words[words.index("dev") + 1]


def read_request(interfaces: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the request that reads a host, all of its interfaces or those named."""
    return {"verb": "read", "interfaces": None if interfaces is None else list(interfaces)}


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    """Return what the host itself says has changed, as lines."""
    old, new = set(before), set(after)
    return "\n".join([f"-{line}" for line in sorted(old - new)] + [f"+{line}" for line in sorted(new - old)])


def _facts(snapshot: Mapping[str, Any]) -> list[str]:
    """Return a snapshot as lines: {interface: {ip_mtu, routes}} or {object: [{route, ip_mtu}]}."""
    lines = []
    for name, seen in snapshot.items():
        if isinstance(seen, Mapping):
            lines += [f"link {name} mtu {seen['ip_mtu']}", *(f"route {route}" for route in seen["routes"])]
        else:
            lines += [f"route {entry['route']}" for entry in seen]
    return lines


def _boot_facts(content: Mapping[str, Any]) -> list[str]:
    """Return a boot configuration as lines: {links: {name: bytes}, routes: [text], rules: [text]}."""
    lines = [f"boot link {name} mtu {size}" for name, size in content.get("links", {}).items()]
    return lines + [f"boot {part[:-1]} {text}" for part in ("routes", "rules") for text in content.get(part, [])]


def prefix_request(changes: Sequence[Change]) -> dict[str, Any]:
    """Return the request that gives explicit prefixes their new size: a lift, or a pin where all become smaller."""
    smaller = all(change["from"] is not None and change["to"] < change["from"] for change in changes)
    return {"verb": "pin" if smaller else "lift", "changes": [dict(change) for change in changes]}


def guard_id(name: str) -> str:
    """Return the id under which the host remembers a step: it becomes a folder's name there."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", name)
    if len(plain) > LONGEST_ID:
        plain = plain[:40] + "-" + hashlib.sha256(name.encode()).hexdigest()[:16]
    return plain


def pending_of(guards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a host's guards as a pending change: one whose verdict is still open, alive or not, waits for somebody."""
    for guard in guards:
        if guard.get("verdict") == "armed":
            return {"owner": "ours", "name": guard["id"], "seconds_left": guard.get("seconds_left")}
    return {"owner": "none", "name": None, "seconds_left": None}


def _interface(link: Mapping[str, Any], persisted: Mapping[str, Any] | None) -> dict[str, Any]:
    boot = None if persisted is None else persisted.get("links", {}).get(link["name"], BOOT_DEFAULT)
    return {
        "name": link["name"],
        "kind": link["kind"],
        "ip_mtu": link["mtu"],
        "mru": link["mtu"],  # a NIC receives at least its MTU; what it receives beyond is not told
        "device_mtu": link["mtu"],
        "configured_mtu": None,
        "persisted_mtu": boot,
        "max_ip_mtu": link["max_mtu"],
        "parent": link["parent"],
        "members": link["members"],
        "oper_up": link["oper_up"],
        "addresses": link["addresses"],
        "counters": _counters(link),
        "neighbours": None,
        "vlans": None,
    }


def _counters(link: Mapping[str, Any]) -> dict[str, Any]:
    receive = (link.get("stats64") or {}).get("rx") or {}
    too_long = oversize_counters(link["ethtool"], link["driver"]) if link.get("ethtool") else {}
    return {
        "oversize": sum(too_long.values()) if too_long else None,
        "runts": None,
        "crc": receive.get("crc_errors"),
        "input_errors": receive.get("errors"),
        "length_errors": receive.get("length_errors"),
        "input_packets": receive.get("packets"),
    }
