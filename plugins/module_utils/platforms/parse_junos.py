"""What Junos prints: `show interfaces [extensive]` as XML, JSON and text, and ping.

A physical interface counts its Ethernet header (`device_mtu`); the IP MTU is the one of family inet on a unit. How many
tags a port carries is not told here, so a physical interface without a family has no `ip_mtu`: it isn't guessed.
"""

from __future__ import annotations

import json
import re
from typing import Any, Iterator
from xml.etree import ElementTree

from ..mtu.capability import accepted_at_least
from ..mtu.errors import JumboError

_SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) packets received")
_REMOTE = re.compile(
    r"bytes from (\S+?): (?:frag needed and DF set \(MTU (\d+)\)|Packet too big mtu = (\d+))", re.IGNORECASE
)
_LOCAL = re.compile(r"sendto: Message too long", re.IGNORECASE)


def parse_ping(text: str) -> dict[str, Any]:
    """Read `ping ... do-not-fragment`, text or the XML of the ping RPC; the shape of the filter parse_ping."""
    summary = _SUMMARY.search(text)
    if summary is None:
        sent, received = _tag(text, "probes-sent"), _tag(text, "responses-received")
    else:
        sent, received = int(summary.group(1)), int(summary.group(2))
    remote, local = _REMOTE.search(text), bool(_LOCAL.search(text))
    loss = round(100 * (sent - received) / sent, 2) if sent and received is not None else None
    reported = (remote.group(2) or remote.group(3)) if remote else None
    return {
        "sent": sent,
        "received": received,
        "loss_percent": loss,
        "too_big_local": None if sent is None and not local else local,
        "too_big_reported_by": remote.group(1) if remote else None,
        "reported_mtu": int(reported) if reported else None,
    }


def _tag(text: str, name: str) -> int | None:
    match = re.search(rf"<{name}>\s*(\d+)\s*</{name}>", text)
    return int(match.group(1)) if match else None


def parse_interfaces(output: Any) -> list[dict[str, Any]]:
    """Read the RPC get-interface-information: XML text, JSON text or its data, or the plain text of the command."""
    if isinstance(output, str):
        start = output.lstrip()
        if start.startswith("<"):
            return list(_from_tree(_tree_of_xml(output)))
        if not start.startswith("{"):
            return list(_from_text(output))
        try:
            output = json.loads(output)
        except ValueError as error:
            raise JumboError(f"this is no JSON output of show interfaces: {error}") from None
    return list(_from_tree(_tree_of_json(output)))


def _tree_of_xml(text: str) -> dict[str, Any]:
    """Return {tag: [text or tree, ...]} without name spaces."""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - the reply of a device that we log in to
    except ElementTree.ParseError as error:
        raise JumboError(f"this is no XML output of show interfaces: {error}") from None
    return {_plain(root.tag): [_element(root)]}


def interfaces_of_element(physical: Any) -> list[dict[str, Any]]:
    """Return a `physical-interface` element, then its units, as parse_interfaces does."""
    return list(_from_tree({"physical-interface": [_element(physical)]}))


def _element(element: ElementTree.Element) -> Any:
    tree: dict[str, Any] = {}
    for child in element:
        tree.setdefault(_plain(child.tag), []).append(_element(child))
    return tree or (element.text or "").strip()


def _plain(tag: str) -> str:
    return tag.rpartition("}")[2]


def _tree_of_json(data: Any) -> Any:
    """Return the same shape from Junos' JSON, whose leaves are [{"data": text}]."""
    if isinstance(data, dict):
        if "data" in data:
            return data["data"] if isinstance(data["data"], str) else ""
        return {key: _tree_of_json(value) for key, value in data.items() if key != "attributes"}
    return [_tree_of_json(item) for item in data] if isinstance(data, list) else data


def _find(tree: Any, name: str) -> Iterator[Any]:
    """Yield every node of that name, at any depth, outermost first."""
    for key, nodes in tree.items() if isinstance(tree, dict) else ():
        for node in nodes if isinstance(nodes, list) else [nodes]:
            if key == name:
                yield node
            else:
                yield from _find(node, name)


def _text(tree: Any, name: str) -> str | None:
    nodes = tree.get(name) if isinstance(tree, dict) else None
    found = nodes[0] if isinstance(nodes, list) and nodes else nodes
    return found.strip() if isinstance(found, str) else None


def _number(text: str | None) -> int | None:
    """Return a number; "Unlimited" and what is missing are no size."""
    return int(text) if text and text.isdigit() else None


def _count(tree: Any, *names: str) -> int | None:
    found = (_number(node) for name in names for node in _find(tree, name) if isinstance(node, str))
    return next((value for value in found if value is not None), None)


def _from_tree(tree: Any) -> Iterator[dict[str, Any]]:
    for physical in _find(tree, "physical-interface"):
        units = list(_find(physical, "logical-interface"))
        sizes = [size for size in map(_inet, units) if size]
        name, up = _text(physical, "name") or "", _text(physical, "oper-status")
        own = {key: value for key, value in physical.items() if key != "logical-interface"}
        counters = {
            "oversize": _count(own, "input-oversized-frames", "input-giants"),
            "runts": _count(own, "input-runts"),
            "crc": _count(own, "input-crc-errors"),
            "input_errors": _count(own, "input-errors"),
            "length_errors": None,
            "input_packets": _count(own, "input-packets"),
        }
        device = _number(_text(physical, "mtu"))
        is_up = up == "up" if up else None
        yield _interface(name, min(sizes, default=None), device, is_up, counters)
        for unit in units:
            yield _interface(_text(unit, "name") or "", _inet(unit), None, is_up, None, parent=name)


def _inet(unit: Any) -> int | None:
    for family in _find(unit, "address-family"):
        if _text(family, "address-family-name") == "inet":
            return _number(_text(family, "mtu"))
    return None


def _interface(
    name: str, size: int | None, device: int | None, up: bool | None, counters: Any, parent: str | None = None
) -> dict[str, Any]:
    names = ("oversize", "runts", "crc", "input_errors", "length_errors", "input_packets")
    return {
        "name": name,
        "kind": _kind(name, parent),
        "ip_mtu": size,
        "mru": accepted_at_least(device, size),
        "device_mtu": device,
        "configured_mtu": None,
        "persisted_mtu": None,
        "max_ip_mtu": None,
        "parent": parent,
        "members": None,
        "oper_up": up,
        "addresses": None,
        "counters": counters or dict.fromkeys(names),
        "neighbours": None,
    }


def _kind(name: str, parent: str | None) -> str:
    base = name.partition(".")[0]
    kinds = {"irb": "svi", "vlan": "svi", "ae": "lag", "lo": "loopback", "fxp": "management", "em": "management"}
    kinds.update({"me": "management", "gr": "tunnel", "ip": "tunnel", "vtep": "tunnel", "st": "tunnel"})
    found = kinds.get(re.sub(r"[-\d/].*", "", base))
    return found or ("subinterface" if parent else "physical")


_PHYSICAL = re.compile(
    r"^Physical interface: (?P<name>[^,\s]+), (?P<admin>[^,]+), Physical link is (?P<link>\w+)", re.MULTILINE
)
_LOGICAL = re.compile(r"^\s+Logical interface (?P<name>\S+)", re.MULTILINE)


def _from_text(text: str) -> Iterator[dict[str, Any]]:
    for header, block in _blocks(_PHYSICAL, text):
        units = list(_blocks(_LOGICAL, block))
        own = block[: units[0][0].start()] if units else block
        sizes = [size for size in (_search(r"Protocol inet, MTU: (\d+)", body) for _unit, body in units) if size]
        counters = {
            "oversize": _search(r"Oversized frames\s+(\d+)", own, r"Giants: (\d+)"),
            "runts": _search(r"Runts: (\d+)", own),
            "crc": _search(r"CRC/Align errors\s+(\d+)", own),
            "input_errors": _search(r"Input errors:\s+Errors: (\d+)", own),
            "length_errors": None,
            "input_packets": _search(r"Input\s+packets\s*:\s+(\d+)", own),
        }
        up = header["link"] == "Up"
        device = _search(r"\bMTU: (\d+)", own)
        yield _interface(header["name"], min(sizes, default=None), device, up, counters)
        for unit, body in units:
            size = _search(r"Protocol inet, MTU: (\d+)", body)
            yield _interface(unit["name"], size, None, up, None, parent=header["name"])


def _blocks(header: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    found = list(header.finditer(text))
    for match, end in zip(found, [*(other.start() for other in found[1:]), len(text)]):
        yield match, text[match.start() : end]


def _search(pattern: str, text: str, other: str | None = None) -> int | None:
    match = re.search(pattern, text) or (re.search(other, text) if other else None)
    return int(match.group(1)) if match else None
