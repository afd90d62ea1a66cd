"""The `ip` and shell texts that build cables and boot nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .addressing import family_of
from .fabric import Aggregate, Bridge, Bundle, Cable, Fabric, Node, Route
from .platforms import CABLE_MTU, DEFAULT_IP_MTU

IPV4, IPV6 = 4, 6
BUNDLED = 255  # in an address, where a cable's lane would be
LEAST_IP_MTU = 1280  # of IPv6 (RFC 8200)
_AGGREGATES = 128  # in an address, where VLANs of a node count from 0


def cable_commands(fabric: Fabric) -> str:
    """Return the plant's batch: every cable. Its ends go up with the node behind them."""
    cables = (line for cable in fabric.cables for line in _cable(cable))
    return "\n".join([*cables, *(line for bundle in fabric.bundles for line in _bundle(bundle))]) + "\n"


def offload_script(fabric: Fabric) -> str:
    """Return the shell text that makes cables carry what a wire carries: no packet larger than its sender's segment.

    A macvlan cannot switch segmentation off; the cable under it does the work instead, and `gso_max_segs 1` keeps the
    sender's own hooks from seeing packets larger than the wire.
    """
    wires = [wire for cable in fabric.cables for wire in cable.wires()]
    wires += [(bundle.plant_end, bundle.splitter) for bundle in fabric.bundles]
    names = " ".join(name for wire in wires for name in wire)
    return f"for name in {names}; do ethtool -K $name tso off gso off gro off; done >/dev/null 2>&1 || true\n"


def port_commands(node: Node, pid: int) -> str:
    """Return the plant's batch that gives a node its ports, each a macvlan on the end of its cable."""
    return "".join(
        f"link add link {port.plant_end} name {port.kernel} netns {pid} mtu {node.boot_mtu(port)} gso_max_segs 1 "
        "type macvlan mode passthru\n"
        for port in node.ports
    )


def unplug_commands(node: Node) -> str:
    """Return a node's batch that takes its ports out."""
    return "".join(f"link del {port.kernel}\n" for port in node.ports)


def boot_commands(node: Node, routes: Iterable[Route] | None = None) -> str:
    """Return a node's batch: bridges, addresses, links up, routes: all of it, or these."""
    lines = ["link set lo up"]
    lines += [
        f"link add {bridge.kernel} address {bridge_mac(node, bridge)} type bridge mcast_snooping 0"
        for bridge in node.bridges
    ]
    lines += [f"link set {port.kernel} master {port.bridge}" for port in node.ports if port.bridge]
    lines += [line for aggregate in node.aggregates for line in _aggregate(node, aggregate)]
    # A bridge takes the MTU of its ports until it is told one: it is the SVI's.
    lines += [f"link set {bridge.kernel} mtu {DEFAULT_IP_MTU} gso_max_segs 1 up" for bridge in node.bridges]
    lines += [f"link set {port.kernel} up" for port in node.ports]
    lines += [line for interface in node.addresses for line in address_commands(node, interface, "replace")]
    lines += route_commands(node, routes=routes)
    return "\n".join(lines) + "\n"


def _aggregate(node: Node, aggregate: Aggregate) -> Iterator[str]:
    """Yield what makes a switch's aggregate: as a port on its cable, on a cable of its own inside the node."""
    ends = (aggregate.under, aggregate.splitter)
    number = _AGGREGATES + aggregate.number
    yield _wire(ends, [_mac(node.listen, number), _mac(node.listen, number + _AGGREGATES // 2)])
    yield from (f"link set {end} addrgenmode none" for end in ends)
    size = f"mtu {DEFAULT_IP_MTU} gso_max_segs 1"
    yield f"link add link {aggregate.under} name {aggregate.kernel} {size} type macvlan mode passthru"
    yield from (f"link set {name} up" for name in (aggregate.under, aggregate.kernel))


def address_commands(node: Node, interface: str, verb: str) -> Iterator[str]:
    """Yield the commands that give an interface its addresses, or take them away."""
    for prefix in node.addresses.get(interface, ()):
        yield f"addr {verb} {prefix} dev {node.kernel(interface)}"


def route_commands(
    node: Node,
    usable: Callable[[str], bool] = lambda _interface: True,
    routes: Iterable[Route] | None = None,
) -> Iterator[str]:
    """Yield the commands that set a node's routes, or these, over those interfaces only that can be used."""
    for route in node.routes if routes is None else routes:
        hops = [hop for hop in route.hops if usable(hop[1])]
        if hops:
            yield f"route replace {_route(node, Route(route.prefix, tuple(hops)))}"


def unroute_commands(prefixes: Iterable[str]) -> Iterator[str]:
    """Yield the commands that take routes away."""
    yield from (f"route del {prefix}" for prefix in prefixes)


def persisted_commands(content: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """Yield the commands by which a host's boot applies its persisted file before it is plugged in.

    Routes come first, so that a pin is there before its link. Interfaces that keep an IPv6 MTU come later, see
    `carrier_commands`.
    """
    yield from (("ip", "route", "replace", *text.split()) for text in _routes(content, IPV4))
    yield from (("ip", "rule", "add", *text.split()) for text in _texts(content.get("rules")))
    later = dict(_entries(content.get("ipv6")))
    links = [(name, ip_mtu) for name, ip_mtu in _entries(content.get("links")) if name not in later]
    yield from (("ip", "link", "set", name, "mtu", str(ip_mtu)) for name, ip_mtu in links)


def carrier_commands(content: Mapping[str, object]) -> Mapping[str, list[tuple[str, ...]]]:
    """Return, by interface, what a boot does only when the interface has its first carrier: IPv6 is made then.

    Before, the kernel would take the link's MTU for IPv6 when the carrier comes, and rewrite what had been pinned
    (net/ipv6/addrconf.c, addrconf_notify). So the link is raised only now, with its IPv6 MTU away from the routes'.
    """
    links, commands = dict(_entries(content.get("links"))), {}
    for name, value in _entries(content.get("ipv6")):
        settings = dict(_entries(value))
        mine = [text for text in _routes(content, IPV6) if f" dev {name} " in f"{text} "]
        commands[name] = [
            *(_sysctl(name, setting, wanted) for setting, wanted in settings.items() if setting != "mtu"),
            *([_sysctl(name, "mtu", LEAST_IP_MTU)] if name in links else []),
            *([("ip", "link", "set", name, "mtu", str(links[name]))] if name in links else []),
            *(_sysctl(name, setting, wanted) for setting, wanted in settings.items() if setting == "mtu"),
            *(("ip", "-6", "route", "replace", *text.split()) for text in mine),
        ]
    return commands


def _sysctl(name: str, setting: str, value: object) -> tuple[str, ...]:
    return ("sysctl", "-q", "-w", f"net/ipv6/conf/{name}/{setting}={value}")


def _routes(content: Mapping[str, object], family: int) -> list[str]:
    """Return the persisted routes of a family; the prefix tells it, an IPv4 route may have an IPv6 gateway."""
    return [text for text in _texts(content.get("routes")) if family_of(text.split(" via ")[0]) == family]


def _entries(value: object) -> Iterable[tuple[str, object]]:
    return value.items() if isinstance(value, dict) else ()


def _cable(cable: Cable) -> Iterator[str]:
    for number, wire in enumerate(cable.wires()):
        yield _wire(wire, [wire_mac(cable.number, side, number) for side in (1, 2)])


def _bundle(bundle: Bundle) -> Iterator[str]:
    yield _wire((bundle.plant_end, bundle.splitter), [bundle_mac(bundle), wire_mac(bundle.number, 2, BUNDLED)])
    yield f"link set dev {bundle.splitter} up"


def _wire(ends: tuple[str, str], macs: Sequence[str]) -> str:
    """Return the command for one pair of plant ends."""
    (a, b), (mac_a, mac_b) = ends, macs
    return f"link add {a} address {mac_a} mtu {CABLE_MTU} type veth peer name {b} address {mac_b} mtu {CABLE_MTU}"


def wire_mac(number: int, side: int, lane: int = 0) -> str:
    """Return the address of one end of a cable, which the port on it takes over."""
    return f"02:4a:{number >> 8:02x}:{number & 255:02x}:{lane:02x}:{side:02x}"


def bundle_mac(bundle: Bundle) -> str:
    """Return the address of a host's aggregate."""
    return wire_mac(bundle.number, 1, BUNDLED)


def bridge_mac(node: Node, bridge: Bridge) -> str:
    """Return the address of a VLAN's SVI."""
    return _mac(node.listen, node.bridges.index(bridge))


def _mac(listen: str, number: int) -> str:
    first, second, third = (int(part) for part in listen.split(".")[1:])
    return f"02:4b:{first:02x}:{second:02x}:{third:02x}:{number & 255:02x}"


def _route(node: Node, route: Route) -> str:
    hops = [f"via {gateway} dev {node.kernel(interface)}" for gateway, interface in route.hops]
    return f"{route.prefix} {hops[0]}" if len(hops) == 1 else f"{route.prefix} nexthop {' nexthop '.join(hops)}"


def _texts(value: object) -> Iterable[str]:
    """Return the entries that are one line of text: the file is written by others."""
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, str) and "\n" not in entry]
