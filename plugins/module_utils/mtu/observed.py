"""What was measured, in one shape: probes and pings of hosts, pings of devices. A missing row is an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence


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


Observations = Mapping[Any, Seen]  # by (pair, size)


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


def from_probes(
    gate: Mapping[str, Any], replies: Mapping[str, Any], addresses: Mapping[str, str]
) -> tuple[dict[Any, Seen], dict[Any, str | None]]:
    """Return ({(pair, size): Seen}, {pair: what is wrong with the refusal of a larger packet, or None}).

    The refusal validates the probe: where the sender's own kernel lets a packet above its link MTU pass, neither DF nor
    size are what we think.
    """
    seen: dict[Any, Seen] = {}
    refusals: dict[Any, str | None] = {}
    for source, target in map(tuple, gate["pairs"]):
        reply, trouble = reply_of(replies, source)
        rows = _rows(reply.get("flows", []), target, addresses) if reply else []
        for size in gate["ip_mtus"]:
            fitting = [row for row in rows if row.get("ip_mtu") == size]
            errors = (trouble,) if trouble else _too_few(source, target, size, len(fitting), gate["flows"])
            seen[(source, target), size] = _probe(fitting, size, errors)
        refusals[source, target] = None if trouble else _refusal(rows, gate["ip_mtus"])
    return seen, refusals


def _too_few(source: str, target: str, size: int, measured: int, wanted: int) -> tuple[str, ...]:
    if measured >= wanted:
        return ()
    return (f"{source} to {target} at {size}: {measured} of {wanted} flows were measured",)


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


def from_pings(gate: Mapping[str, Any], replies: Mapping[str, Any], addresses: Mapping[str, str]) -> dict[Any, Seen]:
    """Return {(pair, size): Seen} of ICMP echoes with DF that hosts sent."""
    seen = {}
    for source, target in map(tuple, gate["pairs"]):
        reply, trouble = reply_of(replies, source)
        rows = _rows(reply.get("pings", []), target, addresses) if reply else []
        for size in gate["ip_mtus"]:
            fitting = [row for row in rows if row.get("ip_mtu") == size]
            seen[(source, target), size] = _ping(fitting, trouble or f"{source} to {target} at {size} was not measured")
    return seen


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
