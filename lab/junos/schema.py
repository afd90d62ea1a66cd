"""The configuration statements that the device knows. What is not here is refused as Junos refuses it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

CONTAINER, LIST, LEAF, LEAVES, FLAG = "container", "list", "leaf", "leaves", "flag"
_EMPTY: Mapping[str, Statement] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    word: how it is written in text; tag: its XML element. bare: the entries of a list stand in text without its word.
    joined: what is in the container stands on its line (`family inet`). inner: the element around the value in XML.
    presence: it means something when it is empty. check: returns why a value is refused, None if it is good.
    """

    kind: str
    word: str = ""
    tag: str = ""
    children: Mapping[str, Statement] = field(default_factory=lambda: _EMPTY)
    bare: bool = False
    joined: bool = False
    inner: str = ""
    presence: bool = False
    natural: bool = False
    check: Callable[[str], str | None] | None = None

    @property
    def entries(self) -> Statement | None:
        """Return the list whose entries stand here without a word."""
        return next((child for child in self.children.values() if child.bare), None)

    def by_tag(self, tag: str) -> Statement | None:
        """Return the child of that XML element."""
        return next((child for child in self.children.values() if child.tag == tag), None)


def within(low: int, high: int) -> Callable[[str], str | None]:
    """Return the check of a number; the wording is the one Junos uses for numbers in general, as far as is known."""

    def check(value: str) -> str | None:
        if value.startswith("<"):  # a pattern, in a group
            return None
        if not value.isdigit():
            return f"Invalid numeric value: '{value}'"
        return None if low <= int(value) <= high else f"Value {value} is not within range ({low}..{high})"

    return check


def _prefix(version: int) -> Callable[[str], str | None]:
    def check(value: str) -> str | None:
        try:
            good = ipaddress.ip_interface(value).version == version and "/" in value
        except ValueError:
            good = False
        return None if good else f"invalid value '{value}' in ip address or prefix"

    return check


def _pattern(text: str) -> Callable[[str], str | None]:
    compiled = re.compile(text)
    return lambda value: None if compiled.fullmatch(value) else f"invalid value '{value}'"


def leaf(check: Callable[[str], str | None] | None = None, *, inner: str = "", tag: str = "") -> Statement:
    """Return a statement with one value."""
    return Statement(LEAF, check=check, inner=inner, tag=tag)


def leaves() -> Statement:
    """Return a statement with any number of values."""
    return Statement(LEAVES)


def flag() -> Statement:
    """Return a statement without a value."""
    return Statement(FLAG)


def block(*, presence: bool = False, joined: bool = False, **children: Statement) -> Statement:
    """Return a container; underscores in names are dashes, those at an end are not there."""
    return Statement(CONTAINER, children=_named(children), presence=presence, joined=joined)


def items(
    *, bare: bool = False, natural: bool = False, presence: bool = True, check: object = None, **children: Statement
) -> Statement:
    """Return a list of named entries."""
    checked = check if callable(check) else None
    return Statement(LIST, children=_named(children), bare=bare, natural=natural, presence=presence, check=checked)


def entries_of(children: Mapping[str, Statement]) -> Statement:
    """Return a list of named entries that have these children."""
    return Statement(LIST, children=_named(children), presence=True)


def _named(children: Mapping[str, Statement]) -> Mapping[str, Statement]:
    named = {}
    for key, child in children.items():
        word = key.strip("_").replace("_", "-").replace("802-3ad", "802.3ad")
        named[word] = Statement(
            child.kind,
            word,
            child.tag or word,
            child.children,
            child.bare,
            child.joined,
            child.inner,
            child.presence,
            child.natural,
            child.check,
        )
    return MappingProxyType(named)


_INTERFACE = _pattern(r"(?:[a-z]{2,4}-\d+/\d+/\d+(?::\d+)?|(?:ae|irb|vlan|lo|fxp|em|me|vme|st|gr|vtep)\d*|<.+>)")
_UNIT_NUMBER = within(0, 1_073_741_823)
_VLAN_ID = within(1, 4094)
_MTU = within(256, 65535)  # a box's own range is smaller: hardware.py


def _family(version: int) -> Statement:
    address = items(natural=True, check=_prefix(version), primary=flag(), preferred=flag())
    return block(presence=True, mtu=leaf(_MTU), address=address)


def _unit() -> Statement:
    family = block(
        joined=True,
        inet=_family(4),
        inet6=_family(6),
        iso=block(presence=True, mtu=leaf(_MTU), address=items()),
        mpls=block(presence=True, mtu=leaf(_MTU)),
        ethernet_switching=block(
            presence=True,
            interface_mode=leaf(_pattern("access|trunk")),
            port_mode=leaf(_pattern("access|trunk")),
            vlan=block(members=leaves()),
        ),
    )
    return items(
        natural=True,
        check=_UNIT_NUMBER,
        description=leaf(),
        disable=flag(),
        encapsulation=leaf(),
        vlan_id=leaf(_VLAN_ID),
        family=family,
    )


def _ether_options() -> Statement:
    bundle = leaf(_pattern(r"ae\d+"), inner="bundle", tag="ieee-802.3ad")
    return block(_802_3ad=bundle, auto_negotiation=flag(), no_auto_negotiation=flag(), no_flow_control=flag())


def _interfaces() -> Statement:
    lacp = block(presence=True, active=flag(), passive=flag(), periodic=leaf(_pattern("fast|slow")))
    settings = _settings(lacp)
    entry = Statement(
        LIST,
        children=_named({"apply_groups": leaves(), **settings}),
        bare=True,
        natural=True,
        presence=False,
        check=_INTERFACE,
    )
    ports = {
        "member": items(check=_INTERFACE),
        "member_range": items(check=_INTERFACE, to=leaf(_INTERFACE, tag="end-range")),
    }
    interface_range = entries_of({**ports, **settings})
    return block(apply_groups=leaves(), interface_range=interface_range, interface=entry)


def _settings(lacp: Statement) -> dict[str, Statement]:
    """Return what can be said of an interface, or of a range of them."""
    return {
        "description": leaf(),
        "disable": flag(),
        "vlan_tagging": flag(),
        "flexible_vlan_tagging": flag(),
        "native_vlan_id": leaf(_VLAN_ID),
        "speed": leaf(),
        "mtu": leaf(_MTU),
        "encapsulation": leaf(),
        "gigether_options": _ether_options(),
        "ether_options": _ether_options(),
        "aggregated_ether_options": block(minimum_links=leaf(within(1, 64)), lacp=lacp),
        "unit": _unit(),
    }


def _system() -> Statement:
    secrets = block(encrypted_password=leaf(), ssh_rsa=items(), ssh_ed25519=items())
    user = items(full_name=leaf(), uid=leaf(), class_=leaf(), authentication=secrets)
    return block(
        host_name=leaf(),
        root_authentication=secrets,
        domain_name=leaf(),
        time_zone=leaf(),
        name_server=items(),
        login=block(message=leaf(), user=user),
        services=block(
            ssh=block(presence=True, root_login=leaf()),
            netconf=block(ssh=block(presence=True, port=leaf()), rfc_compliant=flag()),
        ),
        internet_options=block(
            no_path_mtu_discovery=flag(), no_ipv6_path_mtu_discovery=flag(), tcp_mss=leaf(within(64, 65535))
        ),
        ntp=block(server=items()),
    )


def _routing() -> dict[str, Statement]:
    route = items(next_hop=leaves(), discard=flag(), preference=leaf(), metric=leaf())
    policy = items(
        term=items(from_=block(protocol=leaves()), then=block(accept=flag(), reject=flag())),
        then=block(accept=flag(), reject=flag(), load_balance=leaf(_pattern("per-packet|per-flow"))),
    )
    # shutdown: Junos 19.1 and later; without it a neighbour can only be deactivated, which the device does not know.
    shutdown = block(presence=True, notify_message=leaf())
    families = block(inet=block(presence=True, unicast=flag()), inet6=block(presence=True, unicast=flag()))
    neighbor = items(description=leaf(), shutdown=shutdown, local_address=leaf(), peer_as=leaf(), family=families)
    group = items(
        type=leaf(_pattern("external|internal")),
        export=leaves(),
        family=families,
        peer_as=leaf(),
        local_as=leaf(),
        multipath=block(presence=True, multiple_as=flag()),
        shutdown=shutdown,
        neighbor=neighbor,
    )
    bgp = block(shutdown=shutdown, group=group)
    ospf_interface = items(interface_type=leaf(), metric=leaf(within(1, 65535)), passive=flag(), disable=flag())
    isis_interface = items(point_to_point=flag(), passive=flag(), disable=flag())
    return {
        "routing-options": block(
            router_id=leaf(),
            autonomous_system=leaf(),
            static=block(route=route),
            rib=items(static=block(route=route)),
            forwarding_table=block(export=leaves()),
        ),
        "protocols": block(
            bgp=bgp,
            ospf=block(overload=flag(), area=items(interface=ospf_interface)),
            isis=block(overload=flag(), interface=isis_interface),
            lldp=block(interface=items(disable=flag())),
            router_advertisement=block(interface=items(link_mtu=leaf(), prefix=items())),
        ),
        "policy-options": block(policy_statement=policy),
    }


def _configuration() -> Statement:
    vlan = items(bare=True, description=leaf(), vlan_id=leaf(_VLAN_ID), l3_interface=leaf())
    parts = {
        "version": leaf(),
        "system": _system(),
        "chassis": block(aggregated_devices=block(ethernet=block(device_count=leaf()))),
        "interfaces": _interfaces(),
        "snmp": block(contact=leaf(), location=leaf(), community=items(authorization=leaf())),
        **_routing(),
        "vlans": block(vlan=vlan),
    }
    inherited = {"groups": entries_of(parts), "apply_groups": leaves()}
    return Statement(
        CONTAINER, tag="configuration", children=_named({"version": parts["version"], **inherited, **parts})
    )


CONFIGURATION = _configuration()
