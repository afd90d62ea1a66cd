"""Reads an inventory into an Intent, or raises InvalidIntent with everything that is wrong with it."""

from __future__ import annotations

from typing import Any, Mapping

from .encapsulation import LEAST_INSIDE, encapsulation_overhead, left_inside, underlay_needs
from .errors import InvalidIntent, JumboError
from .intent_lists import read_addresses, read_lags, read_links, read_pairs, read_sessions, read_waivers
from .intent_segments import SegmentReader
from .intent_types import Device, End, Intent, Lag, Link, Member, Pair, Segment, Through, Waiver
from .intent_values import IP_MTU_RANGE, LISTS, PLATFORMS, SCALARS, Problems, Where, items, text
from .racks import assign_racks

__all__ = [
    "Device",
    "End",
    "Intent",
    "InvalidIntent",
    "Lag",
    "Link",
    "Member",
    "Pair",
    "Segment",
    "Through",
    "Waiver",
    "read_intent",
]

_SHOWN = 60  # characters of a value in a message

Hosts = Mapping[str, Mapping[str, Any]]


def read_intent(hosts: Hosts) -> Intent:
    """Return what the inventory asks for, checked.

    `hosts`: {name: {"platform", "groups", "variables": {"jumbo_*": ...}}}. All sizes are bytes of IP packet. Raises
    InvalidIntent with every problem found, each naming host, variable, value, the allowed values and what to do.
    """
    problems, hosts = Problems(), {name: hosts[name] for name in sorted(hosts)}
    devices = _devices(hosts, problems)
    values = {name: _scalar(hosts, name, problems) for name in SCALARS}
    lists = {name: _shared(hosts, name, problems) for name in LISTS}
    intent = _build(hosts, devices, values, lists, problems)
    _check(intent, Where(problems, "", "jumbo_segments"))
    problems.raise_if_any()
    return intent


def _devices(hosts: Hosts, problems: Problems) -> dict[str, Device]:
    devices = {}
    for name, entry in hosts.items():
        variables = entry.get("variables") or {}
        platform = entry.get("platform")
        if platform not in PLATFORMS:
            where = Where(problems, str(name), "ansible_network_os")
            where.bad("this platform is not known", platform, ", ".join(PLATFORMS), "Set ansible_network_os")
        rack = variables.get("jumbo_rack")
        if rack is not None:
            rack = text(Where(problems, str(name), "jumbo_rack"), rack, "the name of the rack")
        addresses = read_addresses(Where(problems, str(name), "jumbo_addresses"), variables.get("jumbo_addresses", {}))
        groups = frozenset(str(group) for group in entry.get("groups") or ())
        devices[str(name)] = Device(str(name), str(platform), groups, rack, addresses)
    return devices


def _shared(hosts: Hosts, variable: str, problems: Problems) -> tuple[str, Any]:
    """Return (a host that sees the variable, its value); hosts that see another value are a problem.

    The host is "" where all see the same: what is wrong with a fabric-wide value is no host's fault.
    """
    seen = [(str(name), (entry.get("variables") or {}).get(variable)) for name, entry in hosts.items()]
    first = next(((name, value) for name, value in seen if value is not None), None)
    if first is None:
        return ("", None)
    default = SCALARS[variable].default if variable in SCALARS else ()
    for name, value in seen:
        if value is not first[1] and value != first[1] and not (value is None and first[1] == default):
            advice = "It is one value for the whole fabric: set it in group_vars/all"
            what = "sees no value" if value is None else "sees another value"
            message = f"this host {what} of a variable that {first[0]} sees as {_short(first[1])}"
            problems.add(message, host=name, variable=variable, wish=value, limit="one value", advice=advice)
            break
    return ("", first[1])


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."


def _scalar(hosts: Hosts, variable: str, problems: Problems) -> Any:
    host, value = _shared(hosts, variable, problems)
    scalar = SCALARS[variable]
    return scalar.default if value is None else scalar.read(Where(problems, host, variable), value, scalar.default)


def _excluded(hosts: Hosts, problems: Problems) -> tuple[str, ...]:
    """Return "device:pattern" texts; an entry without a device means the host that sees it."""
    excluded = set()
    for name, host in hosts.items():
        where = Where(problems, str(name), "jumbo_excluded_interfaces")
        for entry in items(where, (host.get("variables") or {}).get("jumbo_excluded_interfaces", [])):
            pattern = text(where, entry, "an interface")
            if pattern:
                excluded.add(pattern if pattern.partition(":")[0] in hosts else f"{name}:{pattern}")
    return tuple(sorted(excluded))


def _interfaces(devices: Mapping[str, Device], links: tuple[Link, ...], lags: tuple[Lag, ...]) -> dict[str, set[str]]:
    """Return the interfaces that the inventory names, by device; LAG members give way to their LAG."""
    found = {name: set(device.addresses) for name, device in devices.items()}
    for link in links:
        for end in link.ends:
            found[end.device].add(end.interface)
    for lag in lags:
        found[lag.device].add(lag.name)
        found[lag.device] -= set(lag.members)
    return found


def _build(
    hosts: Hosts,
    devices: dict[str, Device],
    values: dict[str, Any],
    lists: dict[str, tuple[str, Any]],
    problems: Problems,
) -> Intent:
    where = {name: Where(problems, host, name) for name, (host, _value) in lists.items()}
    given = {name: [] if value is None else value for name, (_host, value) in lists.items()}
    links = read_links(where["jumbo_links"], given["jumbo_links"], devices)
    lags = read_lags(where["jumbo_lags"], given["jumbo_lags"], devices)
    switches = [name for name, device in devices.items() if not device.is_host]
    pairs = read_pairs(where["jumbo_pairs"], given["jumbo_pairs"], switches)
    sizes = (values["jumbo_ip_mtu"], values["jumbo_baseline_ip_mtu"])
    reader = SegmentReader(where["jumbo_segments"], devices, _interfaces(devices, links, lags), sizes)
    return Intent(
        devices=devices,
        links=links,
        lags=lags,
        pairs=pairs,
        segments=reader.read(given["jumbo_segments"]),
        control_sessions=read_sessions(where["jumbo_control_sessions"], given["jumbo_control_sessions"], switches),
        ip_mtu=values["jumbo_ip_mtu"],
        underlay_ip_mtu=values["jumbo_underlay_ip_mtu"],
        baseline_ip_mtu=values["jumbo_baseline_ip_mtu"],
        encapsulations=values["jumbo_encapsulations"],
        excluded_interfaces=_excluded(hosts, problems),
        stages=values["jumbo_stages"],
        approve=values["jumbo_approve"],
        approved=values["jumbo_approved"],
        resume=values["jumbo_resume"],
        confirm_within=values["jumbo_confirm_within"],
        soak_seconds=values["jumbo_soak"],
        max_wave=values["jumbo_max_wave"],
        allow_reload=values["jumbo_allow_reload"],
        reload_window=values["jumbo_reload_window"],
        reload_within=values["jumbo_reload_within"],
        waivers=read_waivers(where["jumbo_waivers"], given["jumbo_waivers"]),
        canary=tuple(name for name, device in devices.items() if "canary" in device.groups),
    )


def _check(intent: Intent, where: Where) -> None:
    """Check what needs more than one variable."""
    consequences = bool(where.problems.found)  # a rack may be unknown only because a link or a segment is bad
    _check_sizes(intent, where.problems)

    def report(message: str, **facts: Any) -> None:
        if not consequences or facts.get("wish") is not None:
            where.problems.add(message, **facts)

    racks = assign_racks(intent, report)
    lost = [] if consequences else [name for name in intent.canary if name not in racks]
    for name in lost:
        where.problems.add(
            "this device of the group canary is in no rack",
            host=name,
            variable="groups",
            wish="canary",
            limit="leafs or hosts of exactly one rack",
            advice="Take it out of the group",
        )
    chosen = sorted({racks[name] for name in intent.canary if name in racks})
    if len(chosen) > 1:
        where.problems.add(
            "the group canary spans several racks",
            host=intent.canary[0],
            variable="groups",
            wish={name: racks[name] for name in intent.canary if name in racks},
            limit="leafs or hosts of exactly one rack",
            advice="Leave one rack in the group",
        )


def _check_underlay(intent: Intent, problems: Problems) -> None:
    """Check that the underlay holds the jumbo packets with their encapsulation, and that this leaves enough inside."""
    largest, highest = max([intent.ip_mtu, *(s.ip_mtu for s in intent.segments if s.role == "jumbo")]), IP_MTU_RANGE[1]
    try:
        left = left_inside(intent.underlay_ip_mtu, intent.encapsulations)
    except JumboError as error:
        needed = LEAST_INSIDE + encapsulation_overhead(intent.encapsulations)
        problems.add(
            error.message,
            variable="jumbo_underlay_ip_mtu",
            wish=intent.underlay_ip_mtu,
            limit=f"{needed}-{highest}" if needed <= highest else f"nothing: {needed} is above {highest}",
            advice="Raise it, or take one of these out of jumbo_encapsulations",
        )
        return
    if left < largest:
        needed = underlay_needs(largest, intent.encapsulations)
        problems.add(
            f"the underlay must carry {largest} bytes and {needed - largest} of encapsulation",
            variable="jumbo_underlay_ip_mtu",
            wish=intent.underlay_ip_mtu,
            limit=f"{needed}-{highest}" if needed <= highest else f"nothing: {needed} is above {highest}",
            advice=f"Raise it, or lower jumbo_ip_mtu by at least {largest - left}",
        )


def _check_sizes(intent: Intent, problems: Problems) -> None:
    _check_underlay(intent, problems)
    for segment in intent.segments:
        if segment.role == "jumbo" and segment.ip_mtu < intent.baseline_ip_mtu <= intent.ip_mtu:
            problems.add(
                "this segment is wanted below the baseline, which all of the fabric carries",
                object=segment.name,
                variable="jumbo_segments",
                wish=segment.ip_mtu,
                limit=f"{intent.baseline_ip_mtu}-{intent.ip_mtu}",
                advice="Correct its ip_mtu; if it really carries less today, lower jumbo_baseline_ip_mtu",
            )
    if intent.baseline_ip_mtu > intent.ip_mtu:
        problems.add(
            "the baseline is above the target",
            variable="jumbo_baseline_ip_mtu",
            wish=intent.baseline_ip_mtu,
            limit=f"1280-{intent.ip_mtu}",
            advice="The baseline is what the fabric carries before the roll-out",
        )
