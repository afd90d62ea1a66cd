"""What a commit refuses: the checks that need the whole configuration."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import Complaint
from .hardware import LOWEST_MTU, MPLS_OVERHEAD, OVERHEAD, Hardware
from .inherit import effective, undefined
from .ports import ETHERNET, LAG, LOOPBACK, MANAGEMENT, TUNNEL, kind_of, lag_of, media_mtu, own_mtu, tagging_of
from .tree import Tree, branch, entries, has, value

_FAMILIES = ("inet", "inet6", "iso", "mpls")


def problems(config: Tree, hardware: Hardware) -> list[Complaint]:
    """Return why a configuration cannot be committed, nothing where it can; what it inherits counts."""
    missing = undefined(config)
    found = [Complaint(f"configuration group {name} is not defined", "[edit]", "apply-groups") for name in missing]
    config, _origins = effective(config)
    interfaces = entries(branch(config, "interfaces"), "interface")
    found += [
        Complaint("a pattern stands in groups only", "[edit interfaces]", name) for name in interfaces if name[0] == "<"
    ]
    for name, block in interfaces.items():
        found += [*_media(name, block, hardware), *_bundle(name, block), *_units(name, block)]
    return found


def _media(name: str, block: Tree, hardware: Hardware) -> Iterator[Complaint]:
    """Yield what is wrong with a media MTU. The words for a kind of interface that has none are not confirmed."""
    media, kind, path = own_mtu(block), kind_of(name), f"[edit interfaces {name}]"
    if media is None:
        return
    if kind in (LOOPBACK, MANAGEMENT, TUNNEL):
        yield Complaint("mtu: not supported on this interface", path, "mtu", daemon="dcd")
    elif not LOWEST_MTU <= media <= hardware.max_mtu:
        # Where a box checks its own range, when it is set or committed, is not confirmed: at the commit, the later.
        message = f"mtu: '{media}': Value {media} is not within range ({LOWEST_MTU}..{hardware.max_mtu})"
        yield Complaint(message, path, "mtu", daemon="dcd")


def _bundle(name: str, block: Tree) -> Iterator[Complaint]:
    """Yield what is wrong with a member. Public projects remove its MTU first; the refusal's words are ours."""
    lag, path = lag_of(block), f"[edit interfaces {name}]"
    if not lag:
        return
    if own_mtu(block) is not None:
        yield Complaint(f"mtu: a member of {lag} has no MTU of its own", path, "mtu", daemon="dcd")
    if entries(block, "unit"):
        yield Complaint("logical unit is not allowed on aggregated links", path, "unit", daemon="dcd")


def _units(name: str, block: Tree) -> Iterator[Complaint]:
    kind, tagging = kind_of(name), tagging_of(block)
    media = media_mtu(block)
    for number, unit in entries(block, "unit").items():
        path = f"[edit interfaces {name} unit {number}"
        if has(unit, "vlan-id") and tagging == "plain" and kind in (ETHERNET, LAG):
            message = "VLAN-ID can only be specified on tagged ethernet interfaces"
            yield Complaint(message, f"{path}]", "vlan-id", daemon="dcd")
        if number != "0" and tagging == "plain" and kind in (ETHERNET, LAG):
            yield Complaint("Only unit 0 is valid for this encapsulation", f"{path}]", "unit", daemon="dcd")
        yield from _families(unit, path, media, tagging, kind)


def _families(unit: Tree, path: str, media: int, tagging: str, kind: str) -> Iterator[Complaint]:
    """Yield families that want more than the media MTU: the text of terraform-provider-junos#451."""
    for family in _FAMILIES:
        own = value(unit, "family", family, "mtu")
        if own is None or kind in (LOOPBACK, TUNNEL):
            continue
        overhead = OVERHEAD[tagging] + (MPLS_OVERHEAD if family == "mpls" else 0)
        if int(own) > media - overhead:
            message = (
                f"Family MTU {own} is too large relative to device MTU {media}; Protocol overhead should be {overhead}"
            )
            yield Complaint(message, f"{path} family]", family, daemon="dcd")
