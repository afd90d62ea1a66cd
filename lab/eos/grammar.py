"""Which configuration lines exist, as data: mode by mode, in the order of the running-config.

It is no complete EOS grammar, only the part that fabrics use. A line that is not here is refused as EOS refuses
what it does not know, so that a typing error in a change is noticed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

WHOLE_LINE = -1
NUMBER = "<number>"  # a head of any number, as in access lists


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of configuration line.

    head: the fixed words. args: what may follow them. keyed: how many of the following words name the thing, so that
    a second line with the same key replaces the first. enters: the mode that the line opens. on: the default is on,
    so that the negated form is what is stored.
    """

    head: str
    args: str = ".+"
    keyed: int = 0
    enters: str = ""
    on: bool = False
    names: bool = False
    heredoc: bool = False

    def key(self, words: list[str]) -> str:
        """Return the identity of the setting within its block."""
        if self.keyed == WHOLE_LINE:
            return " ".join(words)
        return " ".join(words[: len(self.head.split()) + self.keyed])


def _flags(*heads: str) -> tuple[Rule, ...]:
    return tuple(Rule(head, "") for head in heads)


def _values(*heads: str, keyed: int = 0) -> tuple[Rule, ...]:
    return tuple(Rule(head, ".+", keyed) for head in heads)


def _lines(*heads: str) -> tuple[Rule, ...]:
    return tuple(Rule(head, ".*", WHOLE_LINE) for head in heads)


def _sections(mode: str, *heads: str) -> tuple[Rule, ...]:
    return tuple(Rule(head, ".+", WHOLE_LINE, mode) for head in heads)


_ADDRESS = r"\d+\.\d+\.\d+\.\d+/\d+"

GLOBAL = (
    *_lines("aaa"),
    *_values("username", keyed=1),
    *_values("alias", keyed=1),
    *_sections("daemon", "daemon"),
    *_lines("transceiver", "queue-monitor", "platform", "hardware", "errdisable"),
    *_values("load-interval default"),
    *_lines("service", "logging"),
    *_values("hostname", "ip domain-name", "dns domain"),
    *_lines("ip name-server", "ntp", "snmp-server", "radius-server", "tacacs-server", "lldp"),
    *_values("spanning-tree mode"),
    *_lines("spanning-tree", "system l1"),
    *_values("clock timezone"),
    Rule("vlan internal order", ".+"),
    Rule("vlan", r"[\d,-]+", WHOLE_LINE, "vlan"),
    *_sections("vrf", "vrf instance"),
    Rule("interface defaults", "", WHOLE_LINE, "defaults"),
    Rule("interface", r".+", WHOLE_LINE, "interface", names=True),
    *_lines("mac address-table"),
    Rule("ip access-list standard", ".+", WHOLE_LINE, "acl"),
    *_sections("acl", "ip access-list", "ipv6 access-list"),
    Rule("system control-plane", "", WHOLE_LINE, "control-plane"),
    *_values("ip virtual-router mac-address", "ip icmp rate-limit-unreachable", "ipv6 icmp rate-limit-unreachable"),
    Rule("ip routing", r"(vrf \S+)?", WHOLE_LINE),
    Rule("ipv6 unicast-routing", r"(vrf \S+)?", WHOLE_LINE),
    *_lines("ip prefix-list", "ip community-list", "ip extcommunity-list"),
    Rule("mlag configuration", "", WHOLE_LINE, "mlag"),
    *_lines("ip route", "ipv6 route"),
    *_sections("route-map", "route-map", "class-map", "policy-map"),
    *_sections("peer-filter", "peer-filter"),
    *_sections("bgp", "router bgp"),
    *_sections("ospf", "router ospf", "router isis"),
    *_sections("management", "management api", "management"),
    *_sections("daemon", "event-handler"),
    Rule("banner login", "", heredoc=True),
    Rule("banner motd", "", heredoc=True),
    Rule("switchport default mode", "routed|access"),
)

INTERFACE = (
    *_values("description"),
    Rule("shutdown", ""),
    *_values("load-interval"),
    Rule("mtu", r"\d+"),
    *_values("logging event link-status"),
    *_values("speed"),
    Rule("l2 mtu", r"\d+"),
    Rule("l2 mru", r"\d+"),
    Rule("switchport access vlan", r"\d+"),
    Rule("switchport trunk native vlan", r"\d+|tag"),
    Rule("switchport trunk allowed vlan", r"[\d,-]+|all|none"),
    Rule("switchport mode", "access|trunk|dot1q-tunnel"),
    *_lines("switchport trunk group"),
    Rule("switchport", "", on=True),
    Rule("channel-group", r"\d+ mode (active|passive|on)"),
    *_values("lacp rate", "lacp timer", "lacp port-priority", "lacp system-id", "port-channel min-links"),
    *_values("port-channel lacp fallback", "port-channel lacp fallback timeout"),
    Rule("mlag", r"\d+"),
    Rule("encapsulation dot1q vlan", r"\d+"),
    Rule("vrf", r"\S+"),
    Rule("ip address virtual", _ADDRESS),
    Rule("ip address", rf"{_ADDRESS} secondary", WHOLE_LINE),
    Rule("ip address", _ADDRESS),
    *_lines("ip virtual-router address", "ipv6 address", "ipv6 nd", "ip helper-address"),
    *_flags("ipv6 enable", "ip proxy-arp", "pim ipv4 sparse-mode"),
    *_values("ip access-group", "ipv6 access-group", "traffic-policy", "mac access-group", keyed=0),
    *_values("ip ospf", "isis", keyed=1),
    Rule("autostate", "", on=True),
    Rule("lldp transmit", "", on=True),
    Rule("lldp receive", "", on=True),
    Rule("snmp trap link-change", "", on=True),
    *_lines("spanning-tree", "storm-control", "qos", "error-correction"),
    *_values("flowcontrol send", "flowcontrol receive", "arp aging timeout", "bfd interval"),
    *_flags("sflow enable"),
    *_values("vxlan source-interface", "vxlan udp-port", "vxlan virtual-router encapsulation mac-address"),
    *_values("vxlan vlan", "vxlan vrf", keyed=2),
    *_lines("vxlan"),
)

MODES: dict[str, tuple[Rule, ...]] = {
    "global": GLOBAL,
    "interface": INTERFACE,
    # A public design tool knows only these two settings here: `mtu` and the ethernet shutdown default.
    "defaults": (Rule("mtu", r"\d+"), Rule("ethernet", "", WHOLE_LINE, "defaults-ethernet")),
    "defaults-ethernet": (Rule("shutdown", "", on=True),),
    "vlan": (*_values("name", "state"), *_lines("trunk group")),
    "vrf": _values("rd", "description"),
    "acl": (Rule("statistics per-entry", ""), *_lines("permit", "deny", "remark"), Rule(NUMBER, ".+")),
    "control-plane": (*_values("tcp mss ceiling"), *_lines("ip access-group", "ipv6 access-group")),
    "mlag": (
        *_values("domain-id", "local-interface", "peer-address", "peer-link", "heartbeat-interval", "dual-primary"),
        *_values("reload-delay mlag", "reload-delay non-mlag", "reload-delay"),
    ),
    "route-map": _lines("match", "set", "description", "continue", "sub-route-map", "class"),
    "peer-filter": (Rule(NUMBER, ".+"),),
    "bgp": (
        *_values("router-id", "maximum-paths", "update wait-for-convergence", "graceful-restart", "distance bgp"),
        *_lines("bgp", "timers", "redistribute", "network", "update", "graceful-restart-helper", "rd", "route-target"),
        *_values("neighbor", keyed=2),
        *_sections("bgp", "address-family", "vlan-aware-bundle"),
        Rule("vlan", r"\d+", WHOLE_LINE, "bgp"),
        Rule("vrf", r"\S+", WHOLE_LINE, "bgp"),
    ),
    "ospf": (
        *_values("router-id", "max-lsa", "net", "is-type", "maximum-paths", "log-adjacency-changes"),
        *_lines("network", "passive-interface", "area", "redistribute", "default-information", "timers", "bfd"),
        *_sections("ospf", "address-family"),
    ),
    "management": (
        Rule("shutdown", "", on=True),
        *_lines("protocol", "cors", "idle-timeout", "authentication", "ssl", "password", "entropy", "transport"),
        *_values("connection per-host", "qos dscp"),
        Rule("vrf", r"\S+", WHOLE_LINE, "management"),
    ),
    "daemon": (*_values("exec", "trigger", "action", "delay", "heartbeat"), *_lines("option"), Rule("shutdown", "")),
}


def _index(rules: tuple[Rule, ...]) -> dict[str, list[Rule]]:
    index: dict[str, list[Rule]] = {}
    for rule in rules:
        index.setdefault(rule.head.split()[0], []).append(rule)
    for found in index.values():  # the longest head wins: `vlan internal order` is no vlan
        found.sort(key=lambda rule: -len(rule.head.split()))
    return index


_INDEX = {mode: _index(rules) for mode, rules in MODES.items()}
RANK = {mode: {rule.head: rank for rank, rule in enumerate(rules)} for mode, rules in MODES.items()}


def candidates(mode: str, words: list[str]) -> list[Rule]:
    """Return the rules of the mode that begin with the line's first word."""
    index = _INDEX[mode]
    return index.get(words[0]) or (index.get(NUMBER, []) if words[0].isdigit() else [])


def matched_words(rule: Rule, words: list[str]) -> int:
    """Return how many of the rule's fixed words the line has."""
    count = 0
    for head, word in zip(rule.head.split(), words, strict=False):
        if head != word and not (head == NUMBER and word.isdigit()):
            break
        count += 1
    return count


def fits(rule: Rule, words: list[str]) -> bool:
    """Tell whether the line is of this rule, arguments included."""
    size = len(rule.head.split())
    return matched_words(rule, words) == size and re.fullmatch(rule.args, " ".join(words[size:])) is not None


def find(mode: str, words: list[str]) -> Rule | None:
    """Return the rule of a line in this mode, None if the mode has none."""
    return next((rule for rule in candidates(mode, words) if fits(rule, words)), None)
