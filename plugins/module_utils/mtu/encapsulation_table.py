"""What each encapsulation adds, as data: its options, its sizes, and where they are written down. Sizes are bytes.

An inner IP packet of n bytes becomes `ceil((n + inside) / block) * block + outside`. Only ESP has a block: it pads.
A row with families puts an IP header of one of them in front; the others (MPLS, tags, MACsec, PPPoE) lengthen the frame
and count, like everything here, against what the underlay's interface carries above its own Ethernet header.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Union

from .errors import JumboError

IP_HEADER = {4: 20, 6: 40}  # RFC 791 without options, RFC 8200
UDP = 8  # RFC 768
ETHERNET = 14  # addresses and EtherType, no check sequence
TAG = 4  # IEEE 802.1Q
LABEL = 4  # RFC 3032


@dataclass(frozen=True)
class Sizes:
    """What one encapsulation with settled options does to a size; see the module."""

    outside: int
    inside: int = 0
    block: int = 1


@dataclass(frozen=True)
class Flag:
    """An option that is true or false."""

    default: bool = False

    @property
    def allowed(self) -> str:
        """The values, for a message."""
        return "true, false"

    def accepts(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Count:
    """An option that is a whole number in steps."""

    default: int
    low: int
    high: int
    step: int = 1

    @property
    def allowed(self) -> str:
        """The values, for a message."""
        return f"{self.low}-{self.high}" + (f" in steps of {self.step}" if self.step > 1 else "")

    def accepts(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.low <= value <= self.high and (value - self.low) % self.step == 0


@dataclass(frozen=True)
class Word:
    """An option that is a word of a closed set."""

    default: str
    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The values, for a message."""
        return ", ".join(self.words)

    def accepts(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return isinstance(value, str) and value in self.words


Option = Union[Flag, Count, Word]
Options = Mapping[str, Any]
Rule = Callable[[int, Options], Sizes]


@dataclass(frozen=True)
class Encapsulation:
    """One row. `families`: the IP versions that its outer header may have, the usual one first; none: no IP header."""

    rule: Rule
    options: Mapping[str, Option]
    source: str
    families: tuple[int, ...] = (4, 6)


# ESP: (explicit IV, ICV, block that the cipher works in). RFC 4303 pads to 4 bytes at least.
ESP_CIPHERS = {
    "aes_gcm": (8, 16, 4),  # RFC 4106
    "aes_cbc_sha1": (16, 12, 16),  # RFC 3602 with RFC 2404
    "aes_cbc_sha256": (16, 16, 16),  # RFC 3602 with RFC 4868
    "aes_cbc_sha512": (16, 32, 16),
    "chacha20_poly1305": (8, 16, 4),  # RFC 7634
    "null_sha256": (0, 16, 4),  # RFC 2410 with RFC 4868
}
_ESP_HEADER = 8  # SPI and sequence number
_ESP_TRAILER = 2  # pad length and next header, padded together with the payload


def _contradiction(option: str, value: Any, only_with: str) -> JumboError:
    advice = f"Take {option} away, or say {only_with}"
    return JumboError(
        f"the option {option!r} means nothing here", wish=value, limit=f"only with {only_with}", advice=advice
    )


def _inner_frame(options: Options) -> int:
    return ETHERNET + (TAG if options["inner_tagged"] else 0)


def _vxlan(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + UDP + 8 + _inner_frame(options))


def _geneve(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + UDP + 8 + options["option_bytes"] + _inner_frame(options))


def _tunnel_limit(family: int, options: Options) -> int:
    """Bytes of the destination option that Linux adds to IPv6 tunnels unless told not to (RFC 2473, section 4.1.1)."""
    if options["encapsulation_limit"] and family != 6:  # noqa: PLR2004
        raise _contradiction("encapsulation_limit", True, "an IPv6 outer header (a trailing 6 in the name)")
    return 8 if options["encapsulation_limit"] else 0


def _gre_header(options: Options) -> int:
    return 4 + 4 * sum(1 for name in ("key", "sequence", "checksum") if options[name])


def _gre(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + _tunnel_limit(family, options) + _gre_header(options))


def _l2gre(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + _gre_header(options) + _inner_frame(options))


def _nvgre(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + 8 + _inner_frame(options))  # the key, which carries the network, is always there


def _ipip(family: int, options: Options) -> Sizes:
    return Sizes(IP_HEADER[family] + _tunnel_limit(family, options))


def _esp(family: int, options: Options) -> Sizes:
    vector, check, block = ESP_CIPHERS[options["cipher"]]
    outside = IP_HEADER[family] + (UDP if options["nat_t"] else 0) + _ESP_HEADER + vector + check
    # In transport mode the packet's own header stays in front: only what follows it is padded.
    inside = _ESP_TRAILER - (IP_HEADER[family] if options["mode"] == "transport" else 0)
    return Sizes(outside, inside, block)


def _erspan(family: int, options: Options) -> Sizes:
    kind, platform_header = options["type"], options["platform_header"]
    if platform_header and kind != "III":
        raise _contradiction("platform_header", True, "type: III")
    header = {"I": 4, "II": 8 + 8, "III": 8 + 12}[kind]  # type I is bare GRE; II and III have a sequence number
    return Sizes(IP_HEADER[family] + header + (8 if platform_header else 0) + _inner_frame(options))


def _srv6(family: int, options: Options) -> Sizes:
    """Count the segments that travel in the header: reduced, the first one is the destination address only."""
    carried = options["segments"] - (1 if options["reduced"] else 0)
    routing = 8 + 16 * carried if carried else 0
    return Sizes(IP_HEADER[family] + routing + (ETHERNET if options["inner_ethernet"] else 0))


def _mpls(_family: int, options: Options) -> Sizes:
    for name in ("control_word", "inner_tagged"):
        if options[name] and not options["inner_ethernet"]:
            raise _contradiction(name, True, "inner_ethernet: true (a pseudowire)")
    frame = _inner_frame(options) if options["inner_ethernet"] else 0
    return Sizes(LABEL * options["labels"] + (4 if options["control_word"] else 0) + frame)


def _macsec(_family: int, options: Options) -> Sizes:
    return Sizes(8 + (8 if options["sci"] else 0) + options["icv_bytes"])


_INNER_TAG = {"inner_tagged": Flag()}
_GRE_OPTIONS = {"key": Flag(), "sequence": Flag(), "checksum": Flag()}
_TUNNEL = {"encapsulation_limit": Flag()}

TABLE: Mapping[str, Encapsulation] = {
    "vxlan": Encapsulation(_vxlan, _INNER_TAG, "RFC 7348"),
    "geneve": Encapsulation(_geneve, {**_INNER_TAG, "option_bytes": Count(0, 0, 252, 4)}, "RFC 8926"),
    "gre": Encapsulation(_gre, {**_GRE_OPTIONS, **_TUNNEL}, "RFC 2784, RFC 2890"),
    "l2gre": Encapsulation(_l2gre, {**_GRE_OPTIONS, "key": Flag(True), **_INNER_TAG}, "RFC 1701, RFC 2890"),
    "nvgre": Encapsulation(_nvgre, _INNER_TAG, "RFC 7637"),
    "ipip": Encapsulation(_ipip, _TUNNEL, "RFC 2003, RFC 2473"),
    "ipsec_esp": Encapsulation(
        _esp,
        {
            "cipher": Word("aes_gcm", tuple(sorted(ESP_CIPHERS))),
            "mode": Word("tunnel", ("tunnel", "transport")),
            "nat_t": Flag(),
        },
        "RFC 4303, RFC 4106, RFC 3948",
    ),
    # Linux, FreeBSD and Go pad to 16 bytes, but never above the tunnel's own MTU: its largest packet is not padded.
    "wireguard": Encapsulation(
        lambda family, _options: Sizes(IP_HEADER[family] + UDP + 16 + 16), {}, "wireguard.com/protocol"
    ),
    "gtpu": Encapsulation(lambda family, _options: Sizes(IP_HEADER[family] + UDP + 8), {}, "3GPP TS 29.281"),
    "erspan": Encapsulation(
        _erspan,
        {"type": Word("II", ("I", "II", "III")), "platform_header": Flag(), **_INNER_TAG},
        "draft-foschiano-erspan-03",
    ),
    "srv6": Encapsulation(
        _srv6,
        {"segments": Count(1, 1, 127), "reduced": Flag(), "inner_ethernet": Flag()},
        "RFC 8754, RFC 8986",
        families=(6,),
    ),
    "mpls": Encapsulation(
        _mpls,
        {"labels": Count(1, 1, 16), "inner_ethernet": Flag(), "control_word": Flag(), **_INNER_TAG},
        "RFC 3032, RFC 4448",
        families=(),
    ),
    "qinq": Encapsulation(
        lambda _family, options: Sizes(TAG * options["tags"]), {"tags": Count(1, 1, 2)}, "IEEE 802.1Q", families=()
    ),
    "macsec": Encapsulation(_macsec, {"sci": Flag(True), "icv_bytes": Count(16, 8, 16)}, "IEEE 802.1AE", families=()),
    "pppoe": Encapsulation(lambda _family, _options: Sizes(8), {}, "RFC 2516", families=()),
}


def _names() -> dict[str, tuple[str, int | None]]:
    """Return {name: (row, IP version of the outer header)}; a trailing 6 means IPv6 where a row has both."""
    found: dict[str, tuple[str, int | None]] = {}
    for name, row in TABLE.items():
        found[name] = (name, row.families[0] if row.families else None)
        if len(row.families) > 1:
            found[f"{name}6"] = (name, 6)
    return found


NAMED = _names()
NAMES = tuple(sorted(NAMED))
