"""Bytes that an encapsulation adds between the inner IP packet and the outer one. Pure arithmetic.

Overhead here is outer IP size minus inner IP size, so an inner Ethernet header counts where one is carried.
Sources: RFC 7348 (VXLAN), 8926 (Geneve), 2784/2890 (GRE), 7637 (NVGRE), 4303 with 4106/3602 (ESP), 2003/2473
(IP in IP), 3032 (MPLS), 2516 (PPPoE), 3GPP TS 29.281 (GTP-U), wireguard.com/protocol (WireGuard).
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from .errors import JumboError

_IP = {4: 20, 6: 40}
_UDP = 8
_ETHERNET = 14
_TAG = 4

# ESP: header 8 (SPI, sequence), trailer 2 (pad length, next header); per cipher: (IV, ICV, block to pad to).
_ESP_CIPHERS = {
    "aes_gcm": (8, 16, 4),
    "aes_cbc_sha1": (16, 12, 16),
    "aes_cbc_sha256": (16, 16, 16),
    "aes_cbc_sha512": (16, 32, 16),
    "chacha20_poly1305": (8, 16, 4),
    "null_sha256": (0, 16, 4),
}


def _number(options: Mapping[str, Any], name: str, default: int, highest: int) -> int:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= highest:
        raise JumboError(f"the option {name!r} of an encapsulation is wrong", wish=value, limit=f"0-{highest}")
    return int(value)


def _esp(family: int, options: Mapping[str, Any]) -> int:
    """Return the largest growth of a packet: every cipher pads, and the worst remainder counts."""
    cipher = options.get("cipher", "aes_gcm")
    if cipher not in _ESP_CIPHERS:
        raise JumboError("unknown ESP cipher", wish=cipher, limit=", ".join(sorted(_ESP_CIPHERS)))
    mode = options.get("mode", "tunnel")
    if mode not in {"tunnel", "transport"}:
        raise JumboError("unknown ESP mode", wish=mode, limit="tunnel, transport")
    vector, check, block = _ESP_CIPHERS[cipher]
    outer = _IP[family] if mode == "tunnel" else 0
    return outer + (_UDP if options.get("nat_t") else 0) + 8 + vector + (block - 1) + 2 + check


def _vxlan(family: int, options: Mapping[str, Any]) -> int:
    return _IP[family] + _UDP + 8 + _ETHERNET + (_TAG if options.get("inner_tagged") else 0)


def _geneve(family: int, options: Mapping[str, Any]) -> int:
    return _vxlan(family, options) + _number(options, "option_bytes", 0, 252)


def _gre(family: int, options: Mapping[str, Any]) -> int:
    extra = 4 * sum(1 for name in ("key", "sequence", "checksum") if options.get(name))
    return _IP[family] + 4 + extra


def _l2gre(family: int, options: Mapping[str, Any]) -> int:
    return _gre(family, {"key": True, **options}) + _ETHERNET + (_TAG if options.get("inner_tagged") else 0)


_Rule = Callable[[int, Mapping[str, Any]], int]

# Name -> (rule, options it takes). A trailing 6 means an IPv6 outer header.
_RULES: dict[str, tuple[_Rule, frozenset[str]]] = {
    "vxlan": (_vxlan, frozenset({"inner_tagged"})),
    "geneve": (_geneve, frozenset({"inner_tagged", "option_bytes"})),
    "gre": (_gre, frozenset({"key", "sequence", "checksum"})),
    "l2gre": (_l2gre, frozenset({"key", "sequence", "checksum", "inner_tagged"})),
    "nvgre": (_l2gre, frozenset({"inner_tagged"})),
    "ipip": (lambda family, _options: _IP[family], frozenset()),
    "ipsec_esp": (_esp, frozenset({"cipher", "mode", "nat_t"})),
    "wireguard": (lambda family, _options: _IP[family] + _UDP + 16 + 16, frozenset()),
    "gtpu": (lambda family, _options: _IP[family] + _UDP + 8, frozenset()),
}
_PLAIN: dict[str, _Rule] = {
    "mpls": lambda _family, options: 4 * _number(options, "labels", 1, 16),
    "qinq": lambda _family, _options: _TAG,
    "pppoe": lambda _family, _options: 8,
}
_PLAIN_OPTIONS = {"mpls": frozenset({"labels"}), "qinq": frozenset(), "pppoe": frozenset()}

NAMES = tuple(sorted([*_RULES, *(f"{name}6" for name in _RULES), *_PLAIN]))


def _one(item: Any) -> int:
    name, options = (item, {}) if isinstance(item, str) else _typed(item)
    if name in _PLAIN:
        rule, known, family = _PLAIN[name], _PLAIN_OPTIONS[name], 4
    else:
        base, family = (name[:-1], 6) if name.endswith("6") and name[:-1] in _RULES else (name, 4)
        if base not in _RULES:
            raise JumboError("unknown encapsulation", wish=name, limit=", ".join(NAMES))
        rule, known = _RULES[base]
    unknown = sorted(set(options) - known)
    if unknown:
        allowed = ", ".join(sorted(known)) or "none"
        raise JumboError(f"unknown option of the encapsulation {name!r}", wish=unknown[0], limit=allowed)
    return rule(family, options)


def _typed(item: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(item, Mapping) or not isinstance(item.get("type"), str) or set(item) - {"type", "options"}:
        raise JumboError("an encapsulation is a name or {type, options}", wish=item, limit=", ".join(NAMES))
    options = item.get("options") or {}
    if not isinstance(options, Mapping):
        raise JumboError(f"the options of the encapsulation {item['type']!r} are no mapping", wish=options)
    return item["type"], options


def encapsulation_overhead(encapsulations: Sequence[Any]) -> int:
    """Return the bytes that these encapsulations, one inside the other, add to an inner IP packet.

    Items are names (`vxlan`: IP 20 + UDP 8 + VXLAN 8 + inner Ethernet 14 = 50) or `{type, options}`. A trailing 6
    means an IPv6 outer header. ESP counts its worst padding.
    """
    if isinstance(encapsulations, (str, Mapping)):
        encapsulations = [encapsulations]
    return sum(_one(item) for item in encapsulations)
