"""What the lab cannot build, as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import networkx
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, Intent, Lag, Link, Pair
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.topology import Topology

from .bgp import BGP, BGP_PLATFORMS
from .names import is_plain
from .platforms import PLATFORMS
from .ports import Wiring, is_peer_link, svi_number

# Platforms whose switches have aggregates and tagged links in the lab: how an aggregate is called, and an example.
_AGGREGATES = {"eos": (r"Port-Channel\d+", "Port-Channel7"), "junos": (r"ae\d+", "ae0")}


def problems(topology: Topology) -> Iterator[JumboError]:
    """Yield everything in the inventory that the lab cannot build, each with what it can."""
    intent = topology.intent
    for device in intent.devices.values():
        if device.platform not in PLATFORMS:
            yield JumboError(
                "the lab cannot play this platform yet",
                host=device.name,
                variable="ansible_network_os",
                wish=device.platform,
                limit=", ".join(PLATFORMS),
            )
    for lag in intent.lags:
        yield from _of_aggregate(intent, lag)
    for pair in intent.pairs:
        yield from _of_pair(intent, pair)
    for link in intent.links:
        yield from _of_link(intent, link)
    yield from _without_cable(intent)
    yield from _of_trunks(topology)


def _of_aggregate(intent: Intent, lag: Lag) -> Iterator[JumboError]:
    ends = {end: link for link in intent.links for end in link.ends}
    for member in (End(lag.device, name) for name in lag.members):
        if member not in ends:
            yield JumboError("this member of an aggregate has no cable", host=lag.device, object=str(member))
    if intent.devices[lag.device].is_host:
        if not is_plain(lag.name):
            message = "this is no name for a Linux interface"
            yield JumboError(message, host=lag.device, object=lag.name, limit="15 letters, digits or _.-")
        return
    platform = intent.devices[lag.device].platform
    if platform not in _AGGREGATES:
        message = "the lab builds aggregates of hosts and of these switches only"
        yield JumboError(message, host=lag.device, object=lag.name, wish=platform, limit=", ".join(_AGGREGATES))
        return
    if not re.fullmatch(_AGGREGATES[platform][0], lag.name):
        message = "the lab cannot build this aggregate of a switch"
        yield JumboError(message, host=lag.device, object=lag.name, limit=f"a name such as {_AGGREGATES[platform][1]}")
    links = [ends[end] for end in (End(lag.device, name) for name in lag.members) if end in ends]
    if any(link.routing != "none" for link in links):
        yield from _of_routed_aggregate(intent, lag, links)
        return
    if platform != "eos":
        message = "the lab builds aggregates that switch on hosts and EOS only"
        yield JumboError(message, host=lag.device, object=lag.name, wish=platform, limit="eos")
    if len(lag.members) > 1:
        message = "the lab builds a switch's aggregate of several members only where it routes"
        yield JumboError(message, host=lag.device, object=lag.name, wish=list(lag.members), limit="1 member")


def _of_routed_aggregate(intent: Intent, lag: Lag, links: Sequence[Link]) -> Iterator[JumboError]:
    """Yield what keeps the members from being one link: they lead to one aggregate, and are alike."""
    lag_of = {End(other.device, name): other.name for other in intent.lags for name in other.members}
    far = [link.other(link.end_on(lag.device)) for link in links]
    places = {(end.device, lag_of.get(end)) for end in far}
    if len(places) != 1 or None in {name for _device, name in places}:
        message = "the members of a routed aggregate shall end at one aggregate of one switch"
        yield JumboError(
            message, host=lag.device, object=lag.name, variable="jumbo_lags", wish=[str(end) for end in far]
        )
    if len({(link.routing, link.tagging) for link in links}) != 1:
        message = "the members of a routed aggregate shall have the same routing and tagging"
        yield JumboError(message, host=lag.device, object=lag.name, variable="jumbo_links", wish=[*map(str, links)])


def _of_pair(intent: Intent, pair: Pair) -> Iterator[JumboError]:
    advice = "Add their cable to jumbo_links, with routing none"
    links = [link for link in intent.links if is_peer_link(link, pair.devices)]
    if len(links) != 1:
        message = f"the pair has {len(links)} switched links between its two switches, not one"
        yield JumboError(message, object=pair.name, variable="jumbo_pairs", wish=list(pair.devices), advice=advice)
    if pair.peering and svi_number(pair.peering) is None:
        message = "the lab cannot build this peering of a pair"
        yield JumboError(message, object=pair.name, wish=pair.peering, limit="a name such as Vlan4094")
    for name in pair.devices:
        if intent.devices[name].platform != "eos":
            message = "the lab pairs EOS switches only"
            yield JumboError(message, host=name, object=pair.name, wish=intent.devices[name].platform, limit="eos")


def _of_link(intent: Intent, link: Link) -> Iterator[JumboError]:
    devices = [intent.devices[end.device] for end in link.ends]
    if all(device.is_host for device in devices):
        yield JumboError("a cable between two hosts is not built by the lab", host=link.a.device, object=str(link))
    if link.tagging != "untagged" and any(device.platform not in _AGGREGATES for device in devices):
        limit = ", ".join(_AGGREGATES)
        message = "the lab builds tagged links between these switches only"
        yield JumboError(message, host=link.a.device, object=str(link), wish=link.tagging, limit=limit)
    if link.routing == BGP:
        for device in (device for device in devices if device.platform not in BGP_PLATFORMS):
            message, limit = "the lab speaks BGP on these platforms only", ", ".join(BGP_PLATFORMS)
            yield JumboError(message, host=device.name, object=str(link), wish=device.platform, limit=limit)
    for end, device in zip(link.ends, devices, strict=True):
        if device.platform == "linux" and not is_plain(end.interface):
            message = "this is no name for a Linux interface"
            yield JumboError(message, host=end.device, object=end.interface, limit="15 letters, digits or _.-")


def _without_cable(intent: Intent) -> Iterator[JumboError]:
    cabled = {end for link in intent.links for end in link.ends}
    cabled |= {End(lag.device, lag.name) for lag in intent.lags}
    for segment in intent.segments:
        for end in (member.end for member in segment.members if member.managed and member.end):
            if intent.devices[end.device].is_host and end not in cabled:
                advice = "Add its access link to jumbo_links; a VLAN interface of a host cannot be built yet"
                yield JumboError("this interface has no cable", host=end.device, object=end.interface, advice=advice)


def _of_trunks(topology: Topology) -> Iterator[JumboError]:
    """Yield trunks that carry nothing, and the last link of each loop: the lab speaks no spanning tree."""
    wiring, domains = Wiring(topology), dict[str, networkx.Graph]()
    for link in (link for link in topology.intent.links if _is_between_others(topology.intent, link)):
        for device in (topology.intent.devices[end.device] for end in link.ends):
            if device.platform != "eos":
                message = "the lab builds switched links between EOS switches only"
                yield JumboError(message, host=device.name, object=str(link), wish=device.platform, limit="eos")
        if not wiring.vlans_of(link):
            advice = "Give it a routing, such as static, or make both ends members of a segment with a vlan"
            message = "the lab cannot build this switched link: no segment is at both of its ends"
            yield JumboError(message, host=link.a.device, object=str(link), advice=advice)
            continue
        for segment in wiring.shared(link):
            domain = domains.setdefault(segment.name, networkx.Graph())
            ends = (link.a.device, link.b.device)
            if all(map(domain.has_node, ends)) and networkx.has_path(domain, *ends):
                message = f"this switched link closes a loop in {segment.name}, and the lab has no spanning tree"
                yield JumboError(message, host=link.a.device, object=str(link), advice="Take one link of the loop out")
            domain.add_edge(*ends)


def _is_between_others(intent: Intent, link: Link) -> bool:
    return link.routing == "none" and not any(intent.devices[end.device].is_host for end in link.ends)
