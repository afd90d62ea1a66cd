"""What IPv6 keeps per interface beside its routes: `net.ipv6.conf.IF.mtu` and whether router advertisements may set it.

The interface's IPv6 MTU (bytes of IP packet) bounds every IPv6 route without an `mtu` of its own: those that the kernel
shares between interfaces (fe80::/64, ff00::/8), those that router advertisements make, and those still to come. So it
is the pin of all that, and it stays at the old size while explicit prefixes are lifted.

What the kernel does with it (net/ipv6/addrconf.c, net/ipv6/route.c; tried on 6.18):

* A change of the link's MTU, an interface that comes up, and an advertisement's MTU option set it, and rewrite each
  route whose `mtu` is larger than the new value *or equal to the old one*. A write to the setting rewrites no route.
* So before a link is raised the setting is moved away from what the routes have (`AWAY`): their pins survive, also on
  routes that cannot be edited, and no route needs `mtu lock`, which would make it deaf to Packet Too Big.
* Between the kernel's own write and ours lie some microseconds, in which only routes without an `mtu` are larger.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from typing import Any, Dict, NamedTuple

from .errors import ProbeError

FOLDER = "/proc/sys/net/ipv6/conf"
# The least that IPv6 allows (RFC 8200, section 5), and no route's pin: those are never below.
AWAY = 1280
SIOCSIFMTU = 0x8922  # linux/sockios.h
INTERFACE_REQUEST = struct.Struct("16si12x")  # struct ifreq with ifr_mtu
ADVICE = "make /proc/sys/net/ipv6 writable for this user, or leave this interface out"
Json = Dict[str, Any]


class Settings(NamedTuple):
    """An interface's IPv6 MTU (bytes of IP packet), and whether advertisements may set it."""

    mtu: int
    accept_ra_mtu: int


def is_there() -> bool:
    """Whether this kernel speaks IPv6 at all."""
    return os.path.isdir(FOLDER)


def read(name: str) -> Settings | None:
    """Return an interface's settings, None where it has no IPv6."""
    try:
        return Settings(_number(name, "mtu"), _number(name, "accept_ra_mtu"))
    except (OSError, ValueError):
        return None


def require_writable(name: str) -> None:
    """Refuse an interface whose IPv6 could not be kept at its old size: it would grow with the link."""
    for setting in Settings._fields:
        if read(name) is not None and not _is_writable(_path(name, setting)):
            message = f"net.ipv6.conf.{name}.{setting} cannot be written, so IPv6 would grow with the link"
            raise ProbeError(message, object=name, advice=ADVICE)


def _is_writable(path: str) -> bool:
    """Open it and write nothing: access(2) does not count the capabilities of a user who is not 0."""
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True


def target(entry: Json, link_mtu: int) -> Settings | None:
    """Return what a record's entry wants of an interface whose link has this size; None where nothing is ours.

    Never more than it was: a smaller IPv6 MTU of somebody's own is kept.
    """
    before, pin = entry.get("ipv6"), entry.get("pin")
    if before is None and pin is None:
        return None
    sizes = [size for size in ((before or {}).get("mtu"), pin, link_mtu) if size is not None]
    accept = before["accept_ra_mtu"] if pin is None and before else 0
    return Settings(max(AWAY, min(sizes)), accept)


def bind(name: str, wanted: Settings | None) -> list[str]:
    """Bring the settings to what is wanted where they are larger or not ours; returns what they were.

    Advertisements are stopped first, so that none comes in between.
    """
    found, done = read(name), []
    if found is None or wanted is None:
        return []
    if found.accept_ra_mtu != wanted.accept_ra_mtu:
        write(name, "accept_ra_mtu", wanted.accept_ra_mtu)
        done.append(f"net.ipv6.conf.{name}.accept_ra_mtu {found.accept_ra_mtu}")
    if found.mtu > wanted.mtu:
        write(name, "mtu", wanted.mtu)
        done.append(f"net.ipv6.conf.{name}.mtu {found.mtu}")
    return done


def restore(name: str, before: Json) -> list[str]:
    """Give an interface its own settings back; advertisements last."""
    found, done = read(name), []
    for setting in Settings._fields if found is not None else ():
        if getattr(found, setting) != before[setting]:
            write(name, setting, before[setting])
            done.append(f"net.ipv6.conf.{name}.{setting} back to {before[setting]}")
    return done


def resize(name: str, mtu: int, wanted: Settings | None) -> bool:
    """Set a link's MTU and its IPv6 MTU in one go; False where the kernel refuses the link's (ask `ip` why)."""
    if wanted is None or read(name) is None:
        return False
    write(name, "mtu", AWAY)
    with open(_path(name, "mtu"), "wb", buffering=0) as setting:
        text = b"%d" % wanted.mtu
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            try:
                fcntl.ioctl(sock, SIOCSIFMTU, INTERFACE_REQUEST.pack(name.encode(), mtu))
            except OSError:
                done = False
            else:
                done = True
            setting.write(text)
    return done


def write(name: str, setting: str, value: int) -> None:
    """Write one setting and read it back."""
    try:
        with open(_path(name, setting), "w", encoding="ascii") as file:
            file.write(str(value))
        found = _number(name, setting)
    except (OSError, ValueError) as error:
        message = f"net.ipv6.conf.{name}.{setting} could not be set to {value}: {error}"
        raise ProbeError(message, object=name, wish=value, advice=ADVICE) from None
    if found != value:
        message = f"net.ipv6.conf.{name}.{setting} was set to {value} but reads {found}"
        raise ProbeError(message, object=name, wish=value, limit=found, advice="see what else writes it")


def _number(name: str, setting: str) -> int:
    with open(_path(name, setting), encoding="ascii") as file:
        return int(file.read())


def _path(name: str, setting: str) -> str:
    return os.path.join(FOLDER, name, setting)
