"""Which platforms there are: their names in inventories, and the driver of each, imported when it is first used."""

from __future__ import annotations

import importlib
from typing import Iterable, cast

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, Driver

_HERE = "ansible_collections.jumbo.fabric.plugins.module_utils.platforms"

DRIVERS = {
    "eos": ("eos", "EosDriver"),
    "fastiron": ("fastiron", "FastironDriver"),
    "junos": ("junos", "JunosDriver"),
    "linux": ("linux", "LinuxDriver"),
}
"""Short name -> (module of this folder, class). A new platform is one row, one driver, one capability table."""

NAMES = {
    "eos": "eos",
    "arista.eos.eos": "eos",
    "linux": "linux",
    "ansible.builtin.linux": "linux",
    "junos": "junos",
    "junipernetworks.junos.junos": "junos",
    "juniper.device.junos": "junos",
    "fastiron": "fastiron",
    "icx": "fastiron",
    "community.network.icx": "fastiron",
    "commscope.icx.icx": "fastiron",
    "opnsense": "opnsense",
    "puzzle.opnsense.opnsense": "opnsense",
    "oxlorg.opnsense.opnsense": "opnsense",
}
"""`ansible_network_os` as the usual collections spell it -> short name."""


def short_name(network_os: str | None, groups: Iterable[str]) -> str:
    """Return the platform's short name; what is unknown comes back as it was spelled, and is refused with its host.

    A host without `ansible_network_os` is a Linux host only where it is in the group `servers`.
    """
    if network_os:
        return NAMES.get(network_os, network_os)
    return "linux" if "servers" in set(groups) else ""


def open_driver(access: Access) -> Driver:
    """Return the driver of a device; logs in only when one of its methods is called."""
    if access.platform not in DRIVERS:
        raise JumboError(
            f"no driver for platform {access.platform!r}",
            host=access.host,
            variable="ansible_network_os",
            wish=access.platform,
            limit=", ".join(sorted(DRIVERS)),
        )
    module, name = DRIVERS[access.platform]
    return cast(Driver, getattr(importlib.import_module(f"{_HERE}.{module}"), name)(access))


def preload() -> None:
    """Import every driver now: what the parent process has imported, its forked workers need not import each."""
    for module, _name in DRIVERS.values():
        importlib.import_module(f"{_HERE}.{module}")
