"""What Junos's words mean to a step: statements of an MTU, the history of commits, refusals. No I/O.

A port's media MTU counts its header: 14 bytes, tagged 18, flexible 22 (mtu/units.py); a family's MTU is the IP MTU and
follows the media MTU where it has no statement of its own. One object of a change is a physical port or aggregate - all
its units - or one unit of irb.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.platform_table import LAYER2
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Change
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.junos_bgp import Neighbour, Peers, source_of

PREFIX = "jumbo-"
"""The log of every commit of ours starts with this: what does not is somebody else's."""

DEFAULT_IP_MTU = 1500
"""Of family inet without any statement: a port shows 1514, with vlan-tagging 1518, with flexible-vlan-tagging 1522."""

IP_FAMILIES = ("inet", "inet6")
LONGEST_NAME = 60

_SVI = re.compile(r"(?P<name>irb|vlan)\.(?P<unit>\d+)")


# ---------------------------------------------------------------------- statements


class Key(NamedTuple):
    """Where an MTU is stated: at an interface, or at a family of its unit. Or where a BGP neighbour is shut down.

    `neighbour` is reached over the interface, and stands in the group `group`.
    """

    interface: str
    unit: str | None = None
    family: str | None = None
    group: str | None = None
    neighbour: str | None = None

    @property
    def words(self) -> str:
        """Return the statement's path, as set commands have it."""
        if self.neighbour:
            return f'protocols bgp group "{self.group}" neighbor {self.neighbour} shutdown'
        inner = f" unit {self.unit} family {self.family}" if self.family else ""
        return f"interfaces {self.interface}{inner} mtu"


Statements = Dict[Key, Optional[int]]
"""What is stated, in the numbers of the device, SHUT for `shutdown`; None where there is no statement."""

SHUT = 1


@dataclass(frozen=True)
class Port:
    """An interface as configured. `families`: {(unit, family): MTU of its own, None where it follows the media MTU}.

    `neighbours`: the BGP neighbours that are reached over it; `others`: peers that no drain shuts down. `inherited`:
    {where an MTU is in force that is not stated there: the group or interface range that it comes from}; a statement of
    our own goes before it.
    """

    name: str
    tagging: str
    media: int | None
    lag: str | None
    families: Mapping[tuple[str, str], int | None]
    neighbours: tuple[Neighbour, ...] = ()
    others: tuple[str, ...] = ()
    inherited: Mapping[Key, str] = field(default_factory=dict)

    @property
    def overhead(self) -> int:
        """Return what the media MTU counts beside the IP packet."""
        return LAYER2[self.tagging]

    @property
    def media_in_force(self) -> int:
        """Return the media MTU that is stated, else the default."""
        return self.media or DEFAULT_IP_MTU + self.overhead


def ports_of(configuration: Any) -> dict[str, Port]:
    """Read the `configuration` element of get-configuration."""
    found = {}
    peers = Peers(configuration)
    for element in configuration.findall(".//interfaces/interface"):
        name = text(element, "name") or ""
        families = {
            (text(unit, "name") or "", family): _number(text(unit, f"family/{family}/mtu"))
            for unit in element.findall("unit")
            for family in (*IP_FAMILIES, "iso", "mpls")
            if unit.find(f"family/{family}") is not None
        }
        lag = text(element, ".//ieee-802.3ad/bundle")
        near, others = peers.over(element)
        own = dict(_inherited(name, element))
        found[name] = Port(name, _tagging(element), _number(text(element, "mtu")), lag, families, near, others, own)
    return found


def _inherited(name: str, element: Any) -> Iterator[tuple[Key, str]]:
    """Yield the MTUs that come from a group or an interface range; get-configuration says so where it is asked to."""
    places = [
        (Key(name), element.find("mtu")),
        *(
            (Key(name, text(unit, "name"), family), unit.find(f"family/{family}/mtu"))
            for unit in element.findall("unit")
            for family in IP_FAMILIES
        ),
    ]
    for key, found in places:
        source = source_of(found)
        if source:
            yield key, source


def _tagging(element: Any) -> str:
    if element.find("flexible-vlan-tagging") is not None:
        return "flexible"
    return "tagged" if element.find("vlan-tagging") is not None else "untagged"


def text(element: Any, path: str) -> str | None:
    """Return the text of an element below, None where it is missing."""
    found = element.findtext(path)
    return found.strip() if found is not None else None


def _number(value: str | None) -> int | None:
    return int(value) if value and value.isdigit() else None


def statements(changes: Sequence[Change], side: str, ports: Mapping[str, Port], sizes: Mapping[str, int]) -> Statements:
    """Return the statements that give each object the change's `from` or `to`. `sizes`: the IP MTU each has now.

    A media MTU that is larger than its family needs stays; then the family gets a statement of its own.
    """
    found: Statements = {}
    for change in changes:
        name = change["object"]
        if is_drain(change):
            found.update(dict.fromkeys(shut_by(change), SHUT if change[side] else None))
            continue
        size = int(change[side])
        match = _SVI.fullmatch(name)
        if match:
            port = ports.get(match["name"]) or Port(match["name"], "untagged", None, None, {})
            found.update(
                {**_held(port, size, sizes, [c["object"] for c in changes]), **_of_svi(port, match["unit"], size)}
            )
        else:
            found.update(_of_port(ports.get(name) or Port(name, "untagged", None, None, {}), size, sizes.get(name)))
    return found


def _of_port(port: Port, size: int, now: int | None) -> Statements:
    media = port.media_in_force
    needed = size + port.overhead
    follows = now is None or media == now + port.overhead
    chosen = needed if follows or media < needed else media
    found: Statements = {Key(port.name): chosen} if chosen != media else {}
    for (unit, family), own in port.families.items():
        if family in IP_FAMILIES and (own is not None or chosen != needed):
            found[Key(port.name, unit, family)] = size
    return found


def _of_svi(port: Port, unit: str, size: int) -> Statements:
    families = [family for other, family in port.families if other == unit and family in IP_FAMILIES]
    found: Statements = {Key(port.name, unit, family): size for family in families or ["inet"]}
    needed = size + port.overhead
    if needed > port.media_in_force:
        found[Key(port.name)] = needed
    return found


def _held(port: Port, size: int, sizes: Mapping[str, int], objects: Sequence[str]) -> Statements:
    """Return what keeps the other units of irb at their size: they would follow its media MTU, which all share."""
    if size + port.overhead <= port.media_in_force:
        return {}
    return {
        Key(port.name, unit, family): sizes[name]
        for (unit, family), own in port.families.items()
        if own is None and family in IP_FAMILIES and (name := f"{port.name}.{unit}") not in objects and name in sizes
    }


def stated(keys: Iterable[Key], ports: Mapping[str, Port]) -> Statements:
    """Return what is stated now at these places."""
    found: Statements = {}
    for key in keys:
        port = ports.get(key.interface)
        if port is None or key in port.inherited:
            found[key] = None
        elif key.neighbour:
            own = any(n.own and (n.group, n.address) == (key.group, key.neighbour) for n in port.neighbours)
            found[key] = SHUT if own else None
        else:
            found[key] = port.families.get((key.unit or "", key.family)) if key.family else port.media
    return found


def lines(wanted: Statements, now: Statements) -> list[str]:
    """Return the set commands that make `wanted` of `now`: what is larger first, though one commit takes them all."""
    return [
        f"delete {key.words}" if value is None else f"set {key.words}" if key.neighbour else f"set {key.words} {value}"
        for key, value in wanted.items()
        if value != now.get(key)
    ]


def pack(found: Statements) -> list[list[Any]]:
    """Return statements as JSON."""
    return [[*key, value] for key, value in found.items()]


def unpack(packed: Iterable[Sequence[Any]]) -> Statements:
    """Return statements from JSON."""
    return {Key(*entry[:-1]): entry[-1] for entry in packed}


def is_drain(change: Change) -> bool:
    """Tell whether a change is about BGP sessions."""
    return bool(change["field"] == "drained")


def shut_by(change: Change) -> list[Key]:
    """Return where a drain states `shutdown`."""
    return [Key(change["object"], group=n["group"], neighbour=n["address"]) for n in change.get("shut") or ()]


# ---------------------------------------------------------------------- the history of commits


@dataclass(frozen=True)
class Entry:
    """One commit. `minutes`: it was confirmed with that time; `marked`: Junos says that its time still runs."""

    number: int
    user: str
    client: str
    at: int
    date: str
    log: str
    minutes: int | None
    marked: bool

    @property
    def is_ours(self) -> bool:
        """Tell whether a run of this project made it."""
        return self.log.startswith(PREFIX)

    def belongs_to(self, step: str) -> bool:
        """Tell whether a step made it, or took it back."""
        return self.log.partition(":")[0] == step

    def who(self) -> str:
        """Return who made it, how and when."""
        said = f" ({self.log})" if self.log else ""
        return f"{self.user} via {self.client} at {self.date}{said}"


def history_of(information: Any) -> list[Entry]:
    """Read get-commit-information, newest first."""
    return [_entry(element) for element in information.iter("commit-history")]


def _entry(element: Any) -> Entry:
    date, comment, log = element.find("date-time"), text(element, "comment") or "", text(element, "log") or ""
    minutes = re.search(r"commit confirmed, rollback in (\d+)mins", f"{comment} {log}")
    return Entry(
        number=int(text(element, "sequence-number") or 0),
        user=text(element, "user") or "",
        client=text(element, "client") or "",
        at=int(date.get("seconds") or 0) if date is not None else 0,
        date=(date.text or "").strip() if date is not None else "",
        log=log or (comment if comment.startswith(PREFIX) else ""),
        minutes=int(minutes[1]) if minutes else None,
        marked=element.find("commit-confirmed") is not None,
    )


def seconds_left(history: Sequence[Entry], now: int) -> int | None:
    """Return the seconds until Junos goes back by itself, None where nothing waits for a confirmation.

    Newer releases mark the newest entry while its time runs; the remark of older ones stays, and its time tells.
    """
    newest = history[0] if history else None
    if newest is None or newest.minutes is None:
        return None
    left = newest.minutes * 60 - (now - newest.at)
    return max(left, 0) if newest.marked or left > 0 else None


def step_name(name: str) -> str:
    """Return what the log of a step's commits begins with: ours by its prefix, unique to the step."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", name)
    if not plain.startswith(PREFIX):
        if len(plain) > LONGEST_NAME:
            plain = plain[:40] + "-" + hashlib.sha256(name.encode()).hexdigest()[:12]
        plain = PREFIX + plain
    return plain


def trial_log(step: str, minutes: int) -> str:
    """Return the log of a confirmed commit. It repeats Junos's own remark, which a log may stand in the place of."""
    return f"{step}: commit confirmed, rollback in {minutes}mins"


def minutes_of(seconds: int) -> int:
    """Return a time to confirm in whole minutes, rounded up: Junos's commit-configuration counts minutes."""
    return max(1, -(-seconds // 60))


def describe(history: Sequence[Entry], now: int, dirty: bool) -> dict[str, Any]:
    """Return what waits: {owner, name, kind: timer | candidate | None, seconds_left, advice}."""
    left = seconds_left(history, now)
    if left is not None:
        newest = history[0]
        owner = "ours" if newest.is_ours else "foreign"
        name = newest.log.partition(":")[0] if newest.is_ours else f"commit confirmed of {newest.who()}"
        advice = (
            "Take its run back, or wait: Junos goes back by itself when the time is over."
            if newest.is_ours
            else "Its owner has to confirm it, or to wait until Junos goes back by itself."
        )
        return {"owner": owner, "name": name, "kind": "timer", "seconds_left": left, "advice": advice}
    if dirty:
        advice = "Its owner has to commit it, or to discard it: `rollback 0` in configuration mode."
        name = "changed candidate configuration"
        return {"owner": "foreign", "name": name, "kind": "candidate", "seconds_left": None, "advice": advice}
    return {"owner": "none", "name": None, "kind": None, "seconds_left": None, "advice": None}


# ---------------------------------------------------------------------- refusals


_FAMILY = re.compile(
    r"Family MTU (?P<wish>\d+) is too large relative to device MTU (?P<media>\d+)[;,]? *"
    r"(?:Protocol overhead should be (?P<overhead>\d+))?"
)
_RANGE = re.compile(r"(?P<wish>\d+) is not within range \((?P<low>\d+)\.\.(?P<high>\d+)\)")
_PATH = re.compile(r"edit interfaces (?P<interface>\S+?)(?: unit (?P<unit>\d+))?[ \]]")
_LOCKED = re.compile(
    r"database locked by:\s*(?P<user>\S+) terminal\s+\S*\s*\(pid (?P<pid>\d+)\) on since (?P<since>[^,\n]+)"
)


def refusal(said: str, path: str, ports: Mapping[str, Port], host: str) -> JumboError:
    """Return what Junos refused as one sentence: host, interface, wish and limit, as far as it tells them."""
    where = _PATH.search(path or said)
    name = _object(where)
    locked, family, range_ = _LOCKED.search(said), _FAMILY.search(said), _RANGE.search(said)
    if locked:
        return JumboError(
            f"the configuration database is locked by {locked['user']} since {locked['since'].strip()} "
            f"(pid {locked['pid']})",
            host=host,
            advice="Wait until its owner has left configuration mode. Nothing was changed.",
        )
    if "database modified" in said:
        return JumboError(
            "the candidate configuration has changes of somebody else that are not committed",
            host=host,
            advice="Its owner has to commit it, or to discard it: `rollback 0` in configuration mode.",
        )
    if family:
        overhead = int(family["overhead"] or 14)
        advice = (
            "Raise its media MTU as well; other units of irb that would follow need a family MTU of their own first."
        )
        message = f"Junos refused the family MTU: the interface's media MTU is {family['media']}"
        limit = int(family["media"]) - overhead
        return JumboError(message, host=host, object=name, wish=int(family["wish"]), limit=limit, advice=advice)
    if range_:
        overhead = ports[where["interface"]].overhead if where and where["interface"] in ports else LAYER2["untagged"]
        return JumboError(
            f"Junos refused a media MTU of {range_['wish']}, it takes {range_['low']} to {range_['high']}",
            host=host,
            object=name,
            wish=int(range_["wish"]) - overhead,
            limit=int(range_["high"]) - overhead,
            advice="Lower jumbo_underlay_ip_mtu, or leave it: links are clamped to what both ends can do.",
        )
    sentence = " ".join(part.strip() for part in said.splitlines() if part.strip()) or "no reason given"
    return JumboError(f"Junos refused: {sentence}", host=host, object=name)


def _object(where: re.Match[str] | None) -> str | None:
    if where is None:
        return None
    is_unit = where["unit"] and where["interface"] in ("irb", "vlan")
    return f"{where['interface']}.{where['unit']}" if is_unit else where["interface"]
