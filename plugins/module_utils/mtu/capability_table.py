"""What model families and network cards can do, as data with sources. What a device tells itself goes before it.

Numbers are the platform's own (Junos: media MTU with its Ethernet header). The first row that fits counts; the last
row of a platform fits every model. This is a Python table, since only the controller reads it and a module can't open
files of its own collection on a managed host.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family of models.

    pattern: searched in the model that the device tells, in any case. most: the largest number that any known release
    takes; less_seen: what some releases allow only, which the device's refusal tells. own_mtu: each interface has a
    number of its own; subinterface_mtu: subinterfaces too (None: not known). advice: what to do where one has not.
    """

    platform: str
    name: str
    pattern: str
    least: int
    most: int
    source: str
    less_seen: tuple[int, ...] = ()
    own_mtu: bool = True
    subinterface_mtu: bool | None = None
    advice: str = ""


@dataclass(frozen=True)
class Card:
    """Network cards whose driver accepts an MTU that they don't carry. `pattern`: of the interface's name."""

    platform: str
    name: str
    pattern: str
    ip_mtu: int
    harm: str
    source: str


_GLOBAL_ONLY = (
    "Set `interface defaults` / `mtu` by hand, in a window, and run again: release 4.32 takes an `mtu` line of an "
    "interface and ignores it, 4.33 stops at it while booting"
)
_ON_PARENT = "Raise the parent: its subinterfaces follow"

FAMILIES: tuple[Family, ...] = (
    Family(
        "eos",
        "EOS without an MTU per interface",
        r"^(CCS-710P|CCS-720DP(?!-(24|48)ZS)|CCS-720DT|CCS-722XP|CCS-750|DCS-7010TX)",
        68,
        9214,
        "github.com/aristanetworks/avd issues 3123, 3815, 5906, pull request 6312",
        own_mtu=False,
        advice=_GLOBAL_ONLY,
    ),
    Family(
        "eos",
        "virtual EOS",
        r"^(vEOS|cEOS|CloudEOS|AWE)",
        68,
        9214,
        "github.com/aristanetworks/avd issue 4338, github.com/ipspace/netlab issue 1890",
        less_seen=(9194,),
        subinterface_mtu=False,
        advice=_ON_PARENT,
    ),
    Family(
        "eos",
        "EOS 7050SX3",
        r"^DCS-7050SX3",
        68,
        9214,
        "github.com/aristanetworks/avd issues 1051, 5178, 5585",
        subinterface_mtu=False,
        advice=_ON_PARENT,
    ),
    Family("eos", "EOS", "", 68, 9214, "eos.arista.com/forum/jumbo-frame-mtu-sizes", less_seen=(9194,)),
    Family("junos", "Junos EX", r"^EX", 256, 9216, "Juniper EX guide, mtu (256-9216)"),
    Family("junos", "Junos QFX", r"^v?QFX", 256, 9216, "as EX; a vQFX at 9214: netenglabs/suzieq, nossim/qfx"),
    Family("junos", "Junos PTX", r"^PTX", 256, 9500, "Juniper CLI reference, mtu (256-9500)"),
    Family("junos", "Junos", "", 256, 9192, "Juniper CLI reference, mtu (256-9192)"),
    Family(
        "fastiron",
        "ICX8100",
        r"^ICX8100",
        1280,
        1500,
        "RUCKUS FastIron features: IP MTU (individual port setting) not on ICX8100",
        own_mtu=False,
        advice="Route elsewhere: this box forwards jumbo frames (`jumbo`) but its own IP interfaces stay at 1500",
    ),
    Family(
        "fastiron",
        "ICX",
        r"^ICX ?(7|8)\d{3}",
        1280,
        10178,
        "FastIron 08.0.60 Layer 3 guide (IPv4 and IPv6 share one value, 1280 at least); 10178 = 10200 - 22",
    ),
    Family("fastiron", "FastIron", "", 576, 10178, "FastIron 07.x guide 53-1002494-02, ip mtu (576 at least)"),
    Family("opnsense", "OPNsense", "", 576, 65535, "OPNsense interfaces/assignment, mtu; the driver decides"),
    Family("linux", "Linux", "", 68, 65535, "min_mtu and max_mtu of each device: ip -d link"),
)

CARDS: tuple[Card, ...] = (
    Card(
        "opnsense",
        "axgbe (Deciso DEC27xx)",
        r"^ax\d",
        4082,
        "takes 9000 and drops every larger packet",
        "github.com/opnsense/src issue 251",
    ),
    Card(
        "opnsense",
        "aqtion",
        r"^aq\d",
        2030,
        "takes any value and stops for minutes at a larger packet; 2030 = 2048 - 18",
        "github.com/albb0920/aqtion-freebsd-aq2 issue 3",
    ),
)
