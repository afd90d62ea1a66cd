"""What the configuration makes of each interface: the part of `show interfaces` that needs no data plane."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .config import Config, lag_names, natural, port_numbers

ETHERNET, LAG, VE, MANAGEMENT, LOOPBACK = "ethernet", "lag", "ve", "management", "loopback"
_SPEEDS = {"": "1", "10": "10", "25": "25", "40": "40", "100": "100"}  # gigabit per second
_NAME = re.compile(r"(?P<speed>\d*)GigabitEthernet(?P<number>\d+/\d+/\d+)")


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface: `name` as `show interfaces` prints it, `stanza` where it is configured, `ip_mtu` as stated."""

    name: str
    kind: str
    stanza: str
    number: str
    enabled: bool
    title: str
    ip_mtu: int | None
    addresses: tuple[str, ...]
    gigabits: str = ""
    vlans: tuple[int, ...] = ()
    tagged: bool = False
    lag: str = ""
    members: tuple[str, ...] = ()

    @property
    def is_routed(self) -> bool:
        """Whether it has addresses of its own."""
        return bool(self.addresses)


def port_number(name: str) -> str:
    """Return 1/1/1 of GigabitEthernet1/1/1; raises ValueError for what is no port of a FastIron box."""
    found = _NAME.fullmatch(name)
    if not found or found["speed"] not in _SPEEDS:
        raise ValueError(f"{name} is no port of a FastIron box, such as GigabitEthernet1/1/1 or 10GigabitEthernet1/2/1")
    return found["number"]


def ve_number(name: str) -> str:
    """Return 10 of Ve10; raises ValueError for what is no virtual interface."""
    found = re.fullmatch(r"Ve(\d+)", name)
    if not found:
        raise ValueError(f"{name} is no virtual interface of a FastIron box, such as Ve10")
    return found[1]


def interfaces_of(config: Config, ports: Iterable[str]) -> dict[str, Interface]:
    """Return every interface by name: the box's ports, its LAGs, its virtual interfaces, management."""
    found = [*_ports(config, ports), *_lags(config), *_virtual(config)]
    return {interface.name: interface for interface in found}


def _ports(config: Config, names: Iterable[str]) -> Iterator[Interface]:
    lags = {number: f"lg{lag}" for lag, members in _members(config) for number in members}
    vlans = list(_vlans(config))
    for name in sorted(names, key=natural):
        number = port_number(name)
        mine = [(vlan, tagged) for vlan, tagged, members in vlans if number in members]
        plain = _interface(config, name, ETHERNET, f"interface ethernet {number}")
        yield replace(
            plain,
            gigabits=_SPEEDS[name.partition("Gig")[0]],
            vlans=tuple(vlan for vlan, _tagged in mine),
            tagged=any(tagged for _vlan, tagged in mine),
            lag=lags.get(number, ""),
        )
    management = _interface(config, "GigEthernetmgmt1", MANAGEMENT, "interface management 1")
    yield replace(management, number="mgmt1", gigabits="1")


def _lags(config: Config) -> Iterator[Interface]:
    for number, members in _members(config):
        plain = _interface(config, f"Lag lg{number}", LAG, f"interface lag {number}")
        mine = [vlan for vlan, _tagged, ports in _vlans(config) if ports & {f"lg{number}", *members}]
        yield replace(plain, members=tuple(members), vlans=tuple(mine))


def _virtual(config: Config) -> Iterator[Interface]:
    for stanza in config.matching("interface"):
        _interface_word, kind, number = stanza.split()
        if kind == "loopback":
            yield _interface(config, f"Loopback{number}", LOOPBACK, stanza)
        if kind == "ve":
            line = f"router-interface ve {number}"
            found = tuple(int(vlan.split()[1]) for vlan in config.matching("vlan") if config.has(line, vlan))
            yield replace(_interface(config, f"Ve{number}", VE, stanza), vlans=found)


def _interface(config: Config, name: str, kind: str, stanza: str) -> Interface:
    addresses = [*config.values("ip address", stanza), *config.values("ipv6 address", stanza)]
    return Interface(
        name=name,
        kind=kind,
        stanza=stanza,
        number=stanza.rpartition(" ")[2],
        enabled=not config.has("disable", stanza),
        title=config.value("port-name", stanza) or "",
        ip_mtu=int(stated) if (stated := config.value("ip mtu", stanza)) else None,
        addresses=tuple(prefix(address) for address in addresses),
    )


def prefix(address: str) -> str:
    """Return 10.0.0.1/24, however the mask was written."""
    if "/" in address:
        return address
    host, mask = address.split()[:2]
    bits = sum(int(part).bit_count() for part in mask.split("."))
    return f"{host}/{bits}"


def _members(config: Config) -> Iterator[tuple[str, list[str]]]:
    for stanza in config.matching("lag"):
        found = re.search(r"id (\d+)", stanza)
        if found:
            yield found[1], [port for line in config.values("ports", stanza) for port in port_numbers(line)]


def _vlans(config: Config) -> Iterator[tuple[int, bool, set[str]]]:
    for stanza in config.matching("vlan"):
        for word in ("tagged", "untagged"):
            lines = config.values(word, stanza)
            members = {port for line in lines for port in (*port_numbers(line), *lag_names(line))}
            yield int(stanza.split()[1]), word == "tagged", members
