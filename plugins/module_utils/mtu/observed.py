"""What was measured, in one shape: probes and pings of hosts, pings of devices. A missing row is an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from .families import IPV6, Families


@dataclass(frozen=True)
class Seen:
    """What became of one pair's packets of one size (bytes of IP packet).

    `flows`: flows measured; `lost`: those of them without an answer; `errors`: why something could not be measured;
    `local_mtu`: the sender's own kernel refused, at this limit; `too_big`: (reporter, MTU) of "fragmentation needed";
    `short`: a smaller size that arrived instead; `reassembled`: it came in fragments.
    """

    flows: int = 0
    lost: int = 0
    errors: tuple[str, ...] = ()
    local_mtu: int | None = None
    too_big: tuple[tuple[str, int | None], ...] = ()
    short: int | None = None
    reassembled: bool = False

    @property
    def carried(self) -> bool:
        """True where every flow arrived whole."""
        return bool(self.flows) and not (self.lost or self.errors or self.reassembled or self.short or self.local_mtu)


def reply_of(replies: Mapping[str, Any], source: str) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return (reply, trouble) of a source, whose replies are kept by "device:interface" or by device."""
    reply = replies.get(source, replies.get(source.partition(":")[0]))
    if reply is None:
        return None, f"{source} was not asked"
    error = reply.get("error")
    if error or reply.get("ok") is False:
        text = error.get("message") if isinstance(error, Mapping) else error
        return None, f"{source}: {text or 'it gave no reason'}"
    return reply, None


def _rows(rows: Iterable[Mapping[str, Any]], target: str, addresses: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the rows about a target: named in full, by its device, or by its address."""
    names = {target, target.partition(":")[0]}
    return [
        row
        for row in rows
        if row.get("host") in names or addresses.get(str(row.get("dst"))) == target or row.get("dst") in names
    ]


def _any_family(_source: str, _target: str) -> list[int | None]:
    return [None]


def _of_family(rows: Sequence[Mapping[str, Any]], family: int | None) -> list[Mapping[str, Any]]:
    """Return the rows of one IP family; all of them where it is None."""
    return [row for row in rows if family is None or (":" in str(row.get("dst"))) == (family == IPV6)]


def from_probes(
    gate: Mapping[str, Any],
    replies: Mapping[str, Any],
    addresses: Mapping[str, str],
    families: Families = _any_family,
) -> tuple[dict[Any, Seen], dict[Any, str | None]]:
    """Return ({(pair, size): Seen}, {pair: what is wrong with the refusal of a larger packet, or None}).

    The refusal validates the probe: where the sender's own kernel lets a packet above its link MTU pass, neither DF nor
    size are what we think. What is asked for is asked of each family.
    """
    seen: dict[Any, Seen] = {}
    refusals: dict[Any, str | None] = {}
    for source, target in map(tuple, gate["pairs"]):
        reply, trouble = reply_of(replies, source)
        rows = _rows(reply.get("flows", []), target, addresses) if reply else []
        each = [(family, _of_family(rows, family)) for family in families(source, target)]
        for size in gate["ip_mtus"]:
            fitting = [row for row in rows if row.get("ip_mtu") == size]
            few = [_too_few(source, target, size, family, mine, gate["flows"]) for family, mine in each]
            errors = (trouble,) if trouble else tuple(text for text in few if text)
            seen[(source, target), size] = _probe(fitting, size, errors)
        refused = [] if trouble else [_refusal(mine, gate["ip_mtus"]) for _family, mine in each]
        refusals[source, target] = next((text for text in refused if text), None)
    return seen, refusals


def _too_few(
    source: str, target: str, size: int, family: int | None, rows: Sequence[Mapping[str, Any]], wanted: int
) -> str | None:
    measured = sum(1 for row in rows if row.get("ip_mtu") == size)
    if measured >= wanted:
        return None
    return f"{source} to {target} at {size}{_named(family)}: {measured} of {wanted} flows were measured"


def _named(family: int | None) -> str:
    return f" in IPv{family}" if family else ""


def _probe(rows: Sequence[Mapping[str, Any]], size: int, errors: tuple[str, ...]) -> Seen:
    problems = list(errors)
    answered = [row for row in rows if row.get("received")]
    lengths = {length for row in answered for length in row.get("reported") or ()}
    if any(row.get("reassembled") is None or not row.get("reported") for row in answered):
        problems.append("a responder did not tell how the packets arrived")
    if any(not row.get("sent") and row.get("local_error_mtu") is None for row in rows):
        problems.append("a flow was not sent")
    return Seen(
        flows=len(rows),
        lost=len(rows) - len(answered),
        errors=tuple(problems),
        local_mtu=next((row["local_error_mtu"] for row in rows if row.get("local_error_mtu")), None),
        too_big=tuple(sorted({(str(big["from"]), big.get("mtu")) for row in rows for big in row.get("too_big") or ()})),
        short=min((length for length in lengths if length < size), default=None),
        reassembled=any(bool(row.get("reassembled")) for row in answered),
    )


def _refusal(rows: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> str | None:
    above = [row for row in rows if (row.get("ip_mtu") or 0) > max(sizes)]
    if not above:
        return "no packet above the sender's link MTU was tried"
    row = above[0]
    if row.get("received"):
        return f"a packet of {row['ip_mtu']} bytes passed, above the sender's link MTU"
    if row.get("local_error_mtu") is None:
        return f"the sender's kernel did not refuse {row['ip_mtu']} bytes"
    if row["local_error_mtu"] < max(sizes):
        return f"the sender's link MTU is {row['local_error_mtu']}"
    return None


def from_pings(
    gate: Mapping[str, Any],
    replies: Mapping[str, Any],
    addresses: Mapping[str, str],
    families: Families = _any_family,
) -> dict[Any, Seen]:
    """Return {(pair, size): Seen} of ICMP echoes with DF that hosts sent, those of all families together."""
    seen = {}
    for source, target in map(tuple, gate["pairs"]):
        reply, trouble = reply_of(replies, source)
        rows = _rows(reply.get("pings", []), target, addresses) if reply else []
        for size in gate["ip_mtus"]:
            fitting = [row for row in rows if row.get("ip_mtu") == size]
            name = f"{source} to {target} at {size}"
            each = [
                _ping(_of_family(fitting, family), trouble or f"{name}{_named(family)} was not measured")
                for family in families(source, target)
            ]
            seen[(source, target), size] = _together(each)
    return seen


def _together(each: Sequence[Seen]) -> Seen:
    """Return what became of the packets of all families."""
    return Seen(
        flows=sum(one.flows for one in each),
        lost=sum(one.lost for one in each),
        errors=tuple(error for one in each for error in one.errors),
        local_mtu=next((one.local_mtu for one in each if one.local_mtu is not None), None),
        too_big=tuple(big for one in each for big in one.too_big),
    )


def from_device_pings(gate: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> dict[Any, Seen]:
    """Return {(pair, size): Seen} of ICMP echoes with DF that devices sent."""
    known = list(rows)
    seen = {}
    for source, target in map(tuple, gate["pairs"]):
        mine = [
            row for row in known if f"{row.get('host')}:{row.get('interface')}" == source and row.get("peer") == target
        ]
        for size in gate["ip_mtus"]:
            fitting = [row for row in mine if row.get("ip_mtu") == size]
            seen[(source, target), size] = _ping(fitting, f"{source} to {target} at {size} was not measured")
    return seen


def _ping(rows: Sequence[Mapping[str, Any]], missing: str) -> Seen:
    """Read one row; some loss is not a matter of size, no answer at all is."""
    if not rows:
        return Seen(errors=(missing,))
    row = rows[0]
    local = row.get("local_error_mtu")
    if local is None and (row.get("too_big_local") or row.get("local")):
        local = row.get("reported_mtu") or 0
    by = row.get("too_big_by") or row.get("too_big_reported_by")
    trouble = _trouble(row)
    if trouble and local is None:
        return Seen(errors=(trouble,))
    return Seen(
        flows=1,
        lost=0 if row.get("received") else 1,
        local_mtu=local if not row.get("received") else None,
        too_big=((str(by), row.get("reported_mtu")),) if by else (),
    )


def _trouble(row: Mapping[str, Any]) -> str | None:
    error = row.get("error")
    if error:
        return str(error)
    return None if row.get("sent") else f"{row.get('host')}: nothing was sent"


def address_book(states: Mapping[str, Any]) -> dict[str, str]:
    """Return {address: "device:interface"} of all that the states name."""
    book: dict[str, str] = {}
    for host, state in states.items():
        for name, interface in (state.get("interfaces") or {}).items() if isinstance(state, Mapping) else ():
            for prefix in interface.get("addresses") or ():
                book[str(prefix).partition("/")[0]] = f"{host}:{name}"
    return book
