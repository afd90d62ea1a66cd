"""What encapsulations cost: the underlay that an inner size needs, and what an underlay leaves inside. Pure arithmetic.

A stack is a list, the outermost encapsulation first: `[ipsec_esp, vxlan]` is VXLAN inside of ESP. Items are names or
`{type, options}`; the table says which. Sizes are bytes of IP packet, inside and outside.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .encapsulation_table import NAMED, NAMES, TABLE, Sizes
from .errors import JumboError
from .units import IP_MTU_RANGE, whole_number

__all__ = ["LEAST_INSIDE", "NAMES", "encapsulation_overhead", "left_inside", "underlay_needs"]

LEAST_INSIDE = 1280  # RFC 8200, section 5: less carries no IPv6


@dataclass(frozen=True)
class Layer:
    """One encapsulation of a stack, its options settled."""

    name: str
    sizes: Sizes
    family: int | None  # of the IP header in front afterwards; None: none is added
    wraps: int | None  # the IP version that what is inside must have; None: anything

    def outer(self, size: int) -> int:
        """Return the size of a packet of `size` bytes once it is encapsulated."""
        padded = -(-(size + self.sizes.inside) // self.sizes.block) * self.sizes.block
        return padded + self.sizes.outside

    def inner(self, size: int) -> int:
        """Return the largest packet whose encapsulation fits in `size` bytes."""
        room = (size - self.sizes.outside) // self.sizes.block * self.sizes.block
        return room - self.sizes.inside

    @property
    def worst(self) -> int:
        """The most that any packet grows by."""
        return self.sizes.outside + self.sizes.inside + self.sizes.block - 1


def read_stack(encapsulations: Any) -> tuple[Layer, ...]:
    """Return the layers of a stack, the outermost first.

    Raises JumboError for names and options that don't exist, values out of range, and what contradicts itself.
    """
    if isinstance(encapsulations, (str, Mapping)):
        encapsulations = [encapsulations]
    if not isinstance(encapsulations, Sequence):
        raise JumboError(
            "the encapsulations are no list", wish=encapsulations, limit="a list of names or {type, options}"
        )
    layers = tuple(_layer(item) for item in encapsulations)
    for layer, below in zip(layers, layers[1:]):
        if layer.wraps is not None and below.family != layer.wraps:
            carried = f"an IPv{below.family} packet" if below.family else "no IP packet"
            message = (
                f"{layer.name} in transport mode protects an IPv{layer.wraps} packet, {below.name} makes {carried}"
            )
            advice = "Use tunnel mode, or the name for the other IP version"
            raise JumboError(message, wish=layer.name, limit="an item of the same IP version inside", advice=advice)
    return layers


def _layer(item: Any) -> Layer:
    name, given = (str(item), {}) if isinstance(item, str) else _typed(item)
    if name not in NAMED:
        similar = difflib.get_close_matches(name, NAMES, n=1)
        advice = f"Did you mean {similar[0]}?" if similar else None
        raise JumboError("unknown encapsulation", wish=name, limit=", ".join(NAMES), advice=advice)
    base, family = NAMED[name]
    row = TABLE[base]
    for option, value in given.items():
        if option not in row.options:
            allowed = ", ".join(sorted(row.options)) or "none"
            raise JumboError(f"unknown option of the encapsulation {name!r}", wish=option, limit=allowed)
        if not row.options[option].accepts(value):
            message = f"the option {option!r} of the encapsulation {name!r} is wrong"
            raise JumboError(message, wish=value, limit=row.options[option].allowed)
    settled = {option: given.get(option, kind.default) for option, kind in row.options.items()}
    try:
        sizes = row.rule(family or 0, settled)
    except JumboError as error:
        raise JumboError(f"{name}: {error.message}", wish=error.wish, limit=error.limit, advice=error.advice) from None
    return Layer(name, sizes, family, family if settled.get("mode") == "transport" else None)


def _typed(item: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(item, Mapping) or not isinstance(item.get("type"), str) or set(item) - {"type", "options"}:
        raise JumboError("an encapsulation is a name or {type, options}", wish=item, limit=", ".join(NAMES))
    options = {} if item.get("options") is None else item["options"]
    if not isinstance(options, Mapping):
        limit = "{option: value}"
        raise JumboError(f"the options of the encapsulation {item['type']!r} are no mapping", wish=options, limit=limit)
    return str(item["type"]), options


def _outer(layers: Sequence[Layer], size: int) -> int:
    for layer in reversed(layers):
        size = layer.outer(size)
    return size


def _inner(layers: Sequence[Layer], size: int) -> int:
    for layer in layers:
        size = layer.inner(size)
    return size


def underlay_needs(inner_ip_mtu: int, encapsulations: Any) -> int:
    """Return the IP MTU that the underlay must have for inner packets of up to `inner_ip_mtu` bytes.

    9000 inside of `vxlan` needs 9050. ESP is padded as that very size is; no smaller packet gets longer than it.
    """
    layers = read_stack(encapsulations)
    size = _outer(layers, whole_number(inner_ip_mtu, "the inner IP MTU"))
    if size > IP_MTU_RANGE[1]:
        limit = f"at most {max(_inner(layers, IP_MTU_RANGE[1]), 0)}"
        advice = "Make it smaller, or take an encapsulation away"
        message = f"{_named(layers)} would make packets of {size} bytes"
        raise JumboError(message, wish=inner_ip_mtu, limit=limit, advice=advice)
    return size


def left_inside(underlay_ip_mtu: int, encapsulations: Any, least: int = LEAST_INSIDE) -> int:
    """Return the largest inner packet that fits into an underlay of that IP MTU; never more than really fits.

    Raises JumboError, naming the encapsulations and the way out, where that is below `least`.
    """
    layers = read_stack(encapsulations)
    size = _inner(layers, whole_number(underlay_ip_mtu, "the IP MTU of the underlay"))
    if size < least:
        needed = _outer(layers, least)
        raise JumboError(
            f"{_named(layers)} in an underlay of {underlay_ip_mtu} leaves {max(size, 0)} bytes, less than {least}",
            wish=underlay_ip_mtu,
            limit=f"{needed}-{IP_MTU_RANGE[1]}" if needed <= IP_MTU_RANGE[1] else "fewer encapsulations",
            advice=f"Raise the underlay to {needed} or more, or take an encapsulation away",
        )
    return size


def _named(layers: Sequence[Layer]) -> str:
    """Return a stack as it is on the wire, the outermost first."""
    return " over ".join(layer.name for layer in layers) or "no encapsulation"


def encapsulation_overhead(encapsulations: Any, inner_ip_mtu: int | None = None) -> int:
    """Return the bytes that a stack adds to an inner packet of that size; without a size the most it adds to any.

    `vxlan` is 50: IP 20, UDP 8, VXLAN 8, inner Ethernet 14. Only ESP adds another number for another size.
    """
    if inner_ip_mtu is not None:
        return underlay_needs(inner_ip_mtu, encapsulations) - inner_ip_mtu
    return sum(layer.worst for layer in read_stack(encapsulations))
