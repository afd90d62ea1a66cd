"""What makes one of several while a lab is up: aggregates over their members, and paired switches (MLAG).

The kernel's own bonding is not needed. In the plant, what a host sends is given to one of the members that are up, by a
hash of addresses and ports; what arrives by any of them is the host's. A switch's aggregate that routes does the same
inside its node, over ports that count and limit for themselves. Two paired switches share their tables of
addresses, and what comes by the peer link goes to no aggregate whose other member is up: its host has it already.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
from asyncio.subprocess import Process
from collections.abc import Iterable, Iterator, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End

from .addressing import family_of
from .fabric import Bundle, Fabric, Node, Pair, Port
from .namespaces import Namespace
from .wiring import bridge_mac, bundle_mac, wire_mac

_LOG = logging.getLogger(__name__)
_SPLIT, _SHIELD, _PARTS = "jumbo_lab_split", "jumbo_lab_pair", "jumbo_lab_lag"
_SEED = "0x6a756d62"  # the same flow takes the same member for as long as the members are the same
_LINK = re.compile(r"^\d+: (?P<name>[^:@]+)(?:@[^:]*)?: <(?P<flags>[^>]*)>")
_HASHES = {"ip": "ip saddr . ip daddr", "ip6": "ip6 saddr . ip6 daddr"}
_BATCH = ("bridge", "-force", "-batch", "-")


class Aggregates:
    """Follows the cables of one lab."""

    def __init__(self, fabric: Fabric, plant: Namespace) -> None:
        self._fabric = fabric
        self._plant = plant
        self._nodes: dict[str, Namespace] = {}
        self._up: frozenset[str] = frozenset()
        self._lock = asyncio.Lock()
        self._monitor: Process | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Lay the aggregates' rules and begin to follow the members; nothing where the lab has none."""
        routed = any(node.aggregates for node in self._fabric.nodes.values())
        if not self._fabric.bundles and not self._fabric.pairs and not routed:
            return
        self._monitor = await self._plant.spawn("ip", "-o", "monitor", "link")
        if self._fabric.bundles:
            await self._plant.run("nft", "-f", "-", text=split_rules(self._fabric.bundles), only_net=True)
        await self._settle()
        self._task = asyncio.get_running_loop().create_task(self._follow(self._monitor))

    async def stop(self) -> None:
        """Follow no more."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def boot(self, namespace: Namespace) -> None:
        """Bring a switch that has just booted in line with its members, and with the one it is paired with."""
        paired = any(end.device == namespace.name for pair in self._fabric.pairs for end in pair.ends)
        if paired or self._fabric.nodes[namespace.name].aggregates:
            async with self._lock:
                self._nodes[namespace.name] = namespace
                await self._share(namespace)

    def leave(self, name: str) -> None:
        """Forget a node that goes down."""
        self._nodes.pop(name, None)

    async def _follow(self, monitor: Process) -> None:
        assert monitor.stdout is not None  # noqa: S101 - for the type checker: it was asked for
        async for _line in monitor.stdout:
            try:
                await self._settle()
            except JumboError as error:  # a node that is going down; its next boot is told anew
                _LOG.info("%s", error)

    async def _settle(self) -> None:
        """Bring everything in line with which members are up."""
        async with self._lock:
            up = read_up(await self._plant.run("ip", "-o", "link", only_net=True))
            if up == self._up:
                return
            before, self._up = self._up, up
            changed = [bundle for bundle in self._fabric.bundles if _usable(bundle, up) != _usable(bundle, before)]
            if changed:
                await self._plant.run("nft", "-f", "-", text=choose_rules(changed, up), only_net=True)
            for namespace in list(self._nodes.values()):
                await self._share(namespace)

    async def _share(self, namespace: Namespace) -> None:
        node = self._fabric.nodes[namespace.name]
        if node.aggregates:
            await namespace.run("nft", "-f", "-", text=part_rules(node, self._up), only_net=True)
            await namespace.run("ip", "-batch", "-", text=carrier_commands(node, self._up), only_net=True)
        for pair in self._fabric.pairs:
            here = next((end for end in pair.ends if end.device == namespace.name), None)
            if here:
                await namespace.run("nft", "-f", "-", text=shield_rules(self._fabric, pair, here, self._up))
                commands = table_commands(self._fabric, pair, here, self._up)
                await namespace.run(*_BATCH, text="\n".join([*commands, ""]))


def read_up(listing: str) -> frozenset[str]:
    """Return the interfaces that have a carrier, of what `ip -o link` printed."""
    found = filter(None, map(_LINK.match, listing.splitlines()))
    return frozenset(link["name"] for link in found if "LOWER_UP" in link["flags"].split(","))


def split_rules(bundles: Sequence[Bundle]) -> str:
    """Return the plant's rules of all aggregates: from the members to the host, and a chain for the other way."""
    lines = [f"table netdev {_SPLIT} {{"]
    for bundle in bundles:
        lines.append(_chain(f"from_{bundle.splitter}", bundle.splitter, "drop"))
        lines += [_chain(f"from_{member}", member, f'fwd to "{bundle.splitter}"') for member in bundle.members]
    return "\n".join([*lines, "}", ""])


def choose_rules(bundles: Iterable[Bundle], up: frozenset[str]) -> str:
    """Return the change by which hosts send over those members only that are up."""
    lines = []
    for bundle in bundles:
        chain = f"netdev {_SPLIT} from_{bundle.splitter}"
        lines.append(f"flush chain {chain}")
        lines += [f"add rule {chain} {rule}" for rule in _choices(_usable(bundle, up))]
    return "\n".join([*lines, ""])


def part_rules(node: Node, up: frozenset[str]) -> str:
    """Return what a switch gives its aggregates' packets to: those members that are up, and from them to the whole."""
    declared, rules = [], []
    for aggregate in node.aggregates:
        usable = [port.kernel for port in aggregate.members if port.plant_end in up]
        ways = {port.kernel: [f'fwd to "{aggregate.splitter}"'] for port in aggregate.members}
        for name, choices in ({aggregate.splitter: list(_choices(usable))} | ways).items():
            declared.append(_chain(f"from_{name}", name, ""))
            rules.append(f"flush chain netdev {_PARTS} from_{name}")
            rules += [f"add rule netdev {_PARTS} from_{name} {rule}" for rule in choices]
    return "\n".join([f"table netdev {_PARTS} {{", *declared, "}", *rules, ""])


def carrier_commands(node: Node, up: frozenset[str]) -> str:
    """Return what gives aggregates a link as long as one of their members has one."""
    states = {one: any(port.plant_end in up for port in one.members) for one in node.aggregates}
    return "".join(f"link set {one.splitter} {'up' if linked else 'down'}\n" for one, linked in states.items())


def shield_rules(fabric: Fabric, pair: Pair, here: End, up: frozenset[str]) -> str:
    """Return what one of two paired switches does not pass on, since its host got it from the other.

    And what it routes in the other's place: hosts behind both send to the address of the first, by either uplink.
    """
    node = fabric.nodes[here.device]
    lanes = [f'"{port.kernel}"' for port in node.ports if port.trunk == here.interface]
    shared = [f'"{port.kernel}"' for port, there in _shared(fabric, pair, here) if there.plant_end in up]
    drop = f"iifname {{ {', '.join(lanes)} }} oifname {{ {', '.join(shared)} }} drop" if lanes and shared else ""
    chains = [
        f"chain forward {{ type filter hook forward priority 0; policy accept;\n{drop}\n}}",
        "chain prerouting { type filter hook prerouting priority 0; policy accept;",
        *_stand_in_rules(fabric, pair, here, lanes),
        "}",
    ]
    text = "\n".join(chains)
    return f"table bridge {_SHIELD}\ndelete table bridge {_SHIELD}\ntable bridge {_SHIELD} {{\n{text}\n}}\n"


def _stand_in_rules(fabric: Fabric, pair: Pair, here: End, lanes: Sequence[str]) -> Iterator[str]:
    """Yield what takes hosts' packets to the other switch's SVI in, unless they are for itself (MLAG peer gateway)."""
    node, other = fabric.nodes[here.device], fabric.nodes[_opposite(pair, here).device]
    svis = {bridge.name: bridge for bridge in other.bridges if bridge.interface and bridge.vlan != pair.vlan}
    for bridge in (bridge for bridge in node.bridges if bridge.interface and bridge.name in svis):
        there = svis[bridge.name]
        for word, family, beside in (("ip", 4, []), ("ip6", 6, ["fe80::/10"])):
            own = [prefix for prefix in other.addresses.get(there.interface or "", ()) if family_of(prefix) == family]
            subnets = [str(ipaddress.ip_interface(prefix).network) for prefix in own]
            within = ", ".join([*subnets, *beside])
            if own and lanes:
                came = f"iifname != {{ {', '.join(lanes)} }} ether daddr {bridge_mac(other, there)}"
                taken = f"ether daddr set {bridge_mac(node, bridge)} meta pkttype set host"
                yield f"{came} {word} daddr != {{ {within} }} {taken}"


def table_commands(fabric: Fabric, pair: Pair, here: End, up: frozenset[str]) -> Iterator[str]:
    """Yield what one of two paired switches knows of addresses behind it and behind the other.

    It learns none from the peer link: what a shared host sends by the other one would seem to have moved there.
    """
    node, other = fabric.nodes[here.device], fabric.nodes[_opposite(pair, here).device]
    lanes = {port.bridge: port.kernel for port in node.ports if port.trunk == here.interface}
    yield from (f"link set dev {kernel} learning off" for kernel in lanes.values())
    own = {_mac_behind(fabric, port): port for port in node.ports if port.bridge and not port.trunk}
    near = {mac: port.kernel for mac, port in own.items() if port.plant_end in up}
    yield from (f"fdb replace {mac} dev {kernel} master static" for mac, kernel in near.items())
    names = {bridge.name: lanes[bridge.kernel] for bridge in node.bridges if bridge.kernel in lanes}
    for bridge in (bridge for bridge in other.bridges if bridge.name in names):
        behind = [port for port in other.ports if port.bridge == bridge.kernel and not port.trunk]
        far = [mac for mac in (_mac_behind(fabric, port) for port in behind) if mac not in near]
        for mac in (bridge_mac(other, bridge), *far):
            yield f"fdb replace {mac} dev {names[bridge.name]} master static"


def _shared(fabric: Fabric, pair: Pair, here: End) -> Iterator[tuple[Port, Port]]:
    """Yield this switch's ports of shared aggregates, each with the other switch's."""
    node, other = fabric.nodes[here.device], fabric.nodes[_opposite(pair, here).device]
    for port in node.ports:
        for there in other.ports:
            if port.mlag is not None and port.mlag == there.mlag:
                yield port, there


def _opposite(pair: Pair, here: End) -> End:
    return pair.ends[1] if here == pair.ends[0] else pair.ends[0]


def _mac_behind(fabric: Fabric, port: Port) -> str:
    """Return the address of the host at a switch's port."""
    for bundle in fabric.bundles:
        if port.peer in {end for _cable, end in bundle.cables}:
            return bundle_mac(bundle)
    cable = next(cable for cable in fabric.cables if port.peer in (cable.a, cable.b))
    return wire_mac(cable.number, 1 if port.peer == cable.a else 2)


def _usable(bundle: Bundle, up: frozenset[str]) -> list[str]:
    return [member for member in bundle.members if member in up]


def _choices(members: Sequence[str]) -> Iterator[str]:
    """Yield the rules that give what a host sends to one of the members."""
    if len(members) > 1:
        numbered = ", ".join(f'{number} : "{member}"' for number, member in enumerate(members))
        for protocol, addresses in _HASHES.items():
            chosen = f"jhash {addresses} . th sport . th dport mod {len(members)} seed {_SEED} map {{ {numbered} }}"
            yield f"meta protocol {protocol} fwd to {chosen}"
    yield f'fwd to "{members[0]}"' if members else "drop"


def _chain(name: str, device: str, rule: str) -> str:
    return f'chain {name} {{ type filter hook ingress device "{device}" priority 0; policy accept;\n{rule}\n}}'
