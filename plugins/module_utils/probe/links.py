"""Network devices: what they are, how large they may get, and the one change made to them, the MTU."""

from __future__ import annotations

import ipaddress
import os
from typing import Any, NamedTuple

from . import ipv6
from .errors import ProbeError
from .iproute import ip, ip_json
from .routes import Width

# Below this the kernel switches IPv6 off on the device (RFC 8200, section 5).
LEAST_IP_MTU = 1280
CONFIGURATION = "/proc/sys/net/ipv4"
# Kinds whose `link` is the device they stand on; a veth's `link` is only its other end.
STANDS_ON = frozenset({"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "vxlan"})
# A device never gets larger than the one below it (net/8021q/vlan_dev.c, drivers/net/macvlan.c).
BOUND_BY_PARENT = frozenset({"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"})


class Link(NamedTuple):
    """One network device; MTU values are bytes of IP packet (Linux leaves the Ethernet header out).

    `ipv6`: it has a global address; `ipv6_mtu` and `accept_ra_mtu` are None where it has no IPv6 at all.
    """

    name: str
    ifindex: int
    kind: str
    mtu: int
    min_mtu: int | None
    max_mtu: int | None
    parent: str | None
    master: str | None
    master_kind: str | None
    oper_up: bool
    carrier_changes: int | None
    addresses: tuple[str, ...]
    ipv6: bool
    ipv6_mtu: int | None
    accept_ra_mtu: int | None
    statistics: dict[str, dict[str, int]]

    @property
    def width(self) -> Width:
        """What its routes carry without an MTU of their own."""
        return Width(self.mtu, self.ipv6_mtu)


def read_links() -> dict[str, Link]:
    """Return every device of this namespace by name."""
    entries = ip_json("-d", "-s", "-s", "address", "show")
    return {entry["ifname"]: _link(entry) for entry in entries}


def members(links: dict[str, Link], name: str) -> list[str]:
    """Return the devices enslaved to this one (a bond's members, a bridge's ports)."""
    return sorted(link.name for link in links.values() if link.master == name)


def need_link(links: dict[str, Link], name: str) -> Link:
    """Return a device, or name those that exist."""
    if name not in links:
        message = f"this host has no interface {name}"
        raise ProbeError(message, object=name, limit=", ".join(sorted(links)), advice="correct the inventory")
    return links[name]


def set_mtu(name: str, mtu: int, wanted: ipv6.Settings | None = None) -> None:
    """Set a device's MTU while it stays up, and read it back. The device is never taken down.

    `wanted` is what its IPv6 keeps: it would follow the link else.
    """
    if not ipv6.resize(name, mtu, wanted):
        ip("link", "set", "dev", name, "mtu", str(mtu), about=name, wish=mtu)
        ipv6.bind(name, wanted)
    found = need_link(read_links(), name).mtu
    if found != mtu:
        message = f"the MTU of {name} was accepted as {mtu} but reads {found}"
        raise ProbeError(message, object=name, wish=mtu, limit=found, advice="see the kernel log of this host")


def require_size(links: dict[str, Link], name: str, mtu: int, planned: dict[str, int]) -> None:
    """Refuse an MTU that this device cannot take; `planned` are the sizes other devices get in the same request."""
    link = need_link(links, name)
    least = max(LEAST_IP_MTU, link.min_mtu or 0)
    if mtu < least:
        message = f"{name} would get {mtu}, its least IP MTU is {least}"
        raise ProbeError(message, object=name, wish=mtu, limit=f"{least}-{link.max_mtu or 65535}")
    if link.max_mtu is not None and mtu > link.max_mtu:
        message = f"{name} would get {mtu}, its driver allows {link.max_mtu}"
        raise ProbeError(message, object=name, wish=mtu, limit=f"{least}-{link.max_mtu}")
    if link.kind in BOUND_BY_PARENT and link.parent is not None:
        bound = planned.get(link.parent, links[link.parent].mtu)
        if mtu > bound:
            message = f"{name} would get {mtu} on top of {link.parent}, which has {bound}"
            raise ProbeError(message, object=name, wish=mtu, limit=bound, advice=f"raise {link.parent} first")


def forwarding_interfaces() -> list[str]:
    """Return what forwards here (ip-sysctl): `ip_forward` itself, or interfaces that have it switched on.

    IPv6 has one switch for all interfaces; per interface only `force_forwarding` (Linux 6.17) forwards.
    """
    # `all` mirrors ip_forward, `default` is for devices to come, nothing is forwarded out of loopback.
    found = ["net.ipv4.ip_forward"] if _switch(f"{CONFIGURATION}/ip_forward") else []
    found += [
        name for name in _configured(f"{CONFIGURATION}/conf") if _switch(f"{CONFIGURATION}/conf/{name}/forwarding")
    ]
    found += ["net.ipv6.conf.all.forwarding"] if _switch(f"{ipv6.FOLDER}/all/forwarding") else []
    forced = [name for name in _configured(ipv6.FOLDER) if _switch(f"{ipv6.FOLDER}/{name}/force_forwarding")]
    return found + [f"net.ipv6.conf.{name}.force_forwarding" for name in forced]


def _configured(folder: str) -> list[str]:
    try:
        return sorted(set(os.listdir(folder)) - {"all", "default", "lo"})
    except FileNotFoundError:
        return []


def _switch(path: str) -> bool:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip() not in {"", "0"}
    except OSError:
        return False


def _link(entry: dict[str, Any]) -> Link:
    info = entry.get("linkinfo", {})
    kind = _kind(entry, info)
    settings = ipv6.read(entry["ifname"])
    statistics = entry.get("stats64", {})
    return Link(
        name=entry["ifname"],
        ifindex=entry["ifindex"],
        kind=kind,
        mtu=entry["mtu"],
        min_mtu=entry.get("min_mtu") or None,
        max_mtu=entry.get("max_mtu") or None,
        parent=_parent(entry, info, kind),
        master=entry.get("master"),
        master_kind=info.get("info_slave_kind"),
        oper_up=_is_up(entry),
        carrier_changes=statistics.get("tx", {}).get("carrier_changes"),
        addresses=tuple(f"{one['local']}/{one['prefixlen']}" for one in entry.get("addr_info", ()) if "local" in one),
        ipv6=any(_reaches_out(one) for one in entry.get("addr_info", ())),
        ipv6_mtu=settings.mtu if settings else None,
        accept_ra_mtu=settings.accept_ra_mtu if settings else None,
        statistics={way: dict(statistics.get(way, {})) for way in ("rx", "tx")},
    )


def _kind(entry: dict[str, Any], info: dict[str, Any]) -> str:
    if entry.get("link_type") == "loopback":
        return "loopback"
    return str(info.get("info_kind") or "physical")


def _parent(entry: dict[str, Any], info: dict[str, Any], kind: str) -> str | None:
    """Return the device below; None where it is in another namespace: then nothing can be said of it here."""
    if kind not in STANDS_ON or "link_netnsid" in entry:
        return None
    below = entry.get("link") or info.get("info_data", {}).get("link")
    return str(below) if below else None


def _is_up(entry: dict[str, Any]) -> bool:
    """Return whether packets flow: many virtual devices never leave the state UNKNOWN (RFC 2863)."""
    state, flags = entry.get("operstate"), entry.get("flags", ())
    return state == "UP" or (state == "UNKNOWN" and "UP" in flags and "LOWER_UP" in flags)


def _reaches_out(address: dict[str, Any]) -> bool:
    """Return whether this is an IPv6 address that others than the link's neighbours talk to."""
    if address.get("family") != "inet6" or "local" not in address:
        return False
    parsed = ipaddress.ip_address(address["local"])
    return not (parsed.is_link_local or parsed.is_loopback)
