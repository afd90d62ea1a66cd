"""Interface names: how people write them, how EOS spells and sorts them."""

from __future__ import annotations

import re
from functools import lru_cache

# In the order of the running-config. The value is what `show interfaces | json` calls the hardware.
KINDS = {
    "Port-Channel": "portChannel",
    "Ethernet": "ethernet",
    "Loopback": "loopback",
    "Management": "ethernet",
    "Vlan": "vlan",
    "Vxlan": "vxlan",
}
_ORDER = {kind: rank for rank, kind in enumerate(KINDS)}
_NAME = re.compile(r"([A-Za-z-]+)\s*(\d+(?:/\d+)*(?:\.\d+)?)")
_RANGE = re.compile(r"([A-Za-z-]+)\s*([\d,-]+)")
_SHORTEST = 2  # Et, Po, Vl, Lo, Ma, Vx


def _kind(word: str) -> str | None:
    folded = word.lower()
    found = [kind for kind in KINDS if kind.lower().startswith(folded)]
    return found[0] if len(found) == 1 and len(folded) >= _SHORTEST else None


@lru_cache(maxsize=65536)
def canonical(text: str) -> str | None:
    """Return the full spelling of an interface name, None if it is none.

    >>> canonical("et1"), canonical("Vlan 10"), canonical("bogus")
    ('Ethernet1', 'Vlan10', None)
    """
    match = _NAME.fullmatch(text.strip())
    kind = _kind(match[1]) if match else None
    return f"{kind}{match[2]}" if match and kind else None


def expand(text: str) -> list[str]:
    """Return the names in a range such as Ethernet1-3,5; empty if it is none.

    >>> expand("Ethernet1-2,4"), expand("Po1")
    (['Ethernet1', 'Ethernet2', 'Ethernet4'], ['Port-Channel1'])
    """
    single = canonical(text)
    if single:
        return [single]
    match = _RANGE.fullmatch(text.strip())
    kind = _kind(match[1]) if match else None
    return [f"{kind}{number}" for number in numbers(match[2])] if match and kind else []


def numbers(text: str) -> list[int]:
    """Return the numbers in a list such as 10,20-22; empty if it is none."""
    found: list[int] = []
    for part in text.split(","):
        first, _sep, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return []
        found.extend(range(int(first), int(last or first) + 1))
    return found


def kind_of(name: str) -> str:
    """Return the kind of a canonical name, for example Port-Channel."""
    return name.rstrip("0123456789/.")


def is_subinterface(name: str) -> bool:
    """Tell whether the name is a subinterface such as Ethernet1.20."""
    return "." in name


def parent_of(name: str) -> str:
    """Return the port that a subinterface sits on."""
    return name.partition(".")[0]


def is_physical(name: str) -> bool:
    """Tell whether the name is a socket in the front plate."""
    return kind_of(name) in {"Ethernet", "Management"} and not is_subinterface(name)


def short(name: str) -> str:
    """Return the spelling of text tables, for example Et1."""
    return kind_of(name)[:_SHORTEST] + name[len(kind_of(name)) :]


def dotted(mac: str) -> str:
    """Return a MAC address in the spelling of text output.

    >>> dotted("00:1c:73:aa:bb:cc")
    '001c.73aa.bbcc'
    """
    digits = mac.replace(":", "")
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def sort_key(name: str) -> tuple[int, list[int]]:
    """Sort names as EOS lists them."""
    return _ORDER.get(kind_of(name), len(_ORDER)), [int(number) for number in re.findall(r"\d+", name)]
