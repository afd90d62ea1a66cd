"""The one place where inventory variables become a way into a device.

Inventories for httpapi, netconf or network_cli connections work unchanged: `ansible_connection` is not used. Which
variables count on which platform, users read in docs/how-to/own-fabric.md; of several the first that is set counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_values import DEFAULT_RELOAD_WITHIN, RELOAD_WITHIN
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import short_name
from ansible_collections.jumbo.fabric.plugins.module_utils.whoami import operator
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain
from ansible_collections.jumbo.fabric.plugins.plugin_utils.ssh import LinuxShell, variables_of

DEFAULT_TIMEOUT = 30
"""Seconds that a device gets to answer one request."""

PASSWORDS = {
    "fastiron": ("ansible_password", "ansible_ssh_pass", "ansible_ssh_password"),
    "eos": ("ansible_password", "ansible_httpapi_pass", "ansible_httpapi_password"),
    "junos": ("ansible_password", "ansible_ssh_pass", "ansible_ssh_password"),
}
PORTS = {
    "eos": ("ansible_httpapi_port",),
    "fastiron": ("ansible_port",),
    "junos": ("ansible_netconf_port", "ansible_port"),
}
KEYED = ("fastiron", "junos")
"""Platforms that are reached over SSH, where a key may stand for the password."""
KEY_FILES = ("ansible_ssh_private_key_file", "ansible_private_key_file")


def platform_of(variables: Mapping[str, Any], groups: Iterable[str]) -> str:
    """Return the short platform name of a host, see registry.short_name."""
    return short_name(_value(variables, "ansible_network_os"), groups)


def access_to(host: str, variables: Mapping[str, Any], groups: Iterable[str]) -> Access:
    """Return the way into one host. `variables` are its inventory variables (hostvars: play variables are not seen)."""
    platform = platform_of(variables, groups)
    if platform == "linux":
        return _linux(host, variables)
    ports = (_number(host, variables, name, (1, 65535)) for name in PORTS.get(platform, ()))
    return Access(
        host=host,
        platform=platform,
        address=str(_value(variables, "ansible_host") or host),
        port=next((port for port in ports if port is not None), None),
        user=_value(variables, "ansible_user"),
        operator=operator(),
        password=_first(variables, PASSWORDS.get(platform, ())),
        private_key_file=_first(variables, KEY_FILES) if platform in KEYED else None,
        enable_password=_value(variables, "ansible_become_password"),
        use_tls=_flag(variables, "ansible_httpapi_use_ssl", unset=True),
        validate_certs=_checks_identity(platform, variables),
        reload_within=_number(host, variables, "jumbo_reload_within", RELOAD_WITHIN) or DEFAULT_RELOAD_WITHIN,
        allow_reload=_flag(variables, "jumbo_allow_reload", unset=False),
        timeout=_number(host, variables, "ansible_command_timeout", (1, 3600)) or DEFAULT_TIMEOUT,
    )


def is_secret(name: str) -> bool:
    """Tell whether a connection variable holds what nobody should read."""
    return name.endswith(("pass", "password", "passphrase"))


def _linux(host: str, variables: Mapping[str, Any]) -> Access:
    method = _value(variables, "ansible_become_method") or "ansible.builtin.sudo"
    wanted = variables_of(method)
    shell = LinuxShell(host, {name: to_plain(variables[name]) for name in wanted if name in variables})
    return Access(
        host=host,
        platform="linux",
        address=str(_value(variables, "ansible_host") or host),
        user=_value(variables, "ansible_user"),
        operator=operator(),
        password=_value(variables, "ansible_password"),
        other_secrets=tuple(str(value) for name, value in shell.variables.items() if value and is_secret(name)),
        run_program=shell.run,
        waived=frozenset(_waived(host, variables)),
    )


def _waived(host: str, variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the interfaces in segments with a waiver `exposure`, "*" for a member named without its interface.

    What is malformed is told where the inventory is read.
    """
    given = [entry for entry in _value(variables, "jumbo_waivers") or () if isinstance(entry, Mapping)]
    accepted = {entry.get("object") for entry in given if entry.get("kind") == "exposure"}
    for segment in _value(variables, "jumbo_segments") or () if accepted else ():
        members = segment.get("members") or () if isinstance(segment, Mapping) else ()
        if members and segment.get("name") in accepted:
            ends = (str(member).partition(":") for member in members)
            yield from (interface or "*" for device, _colon, interface in ends if device == host)


def _number(host: str, variables: Mapping[str, Any], name: str, bounds: tuple[int, int]) -> int | None:
    value = _value(variables, name)
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = bounds[0] - 1
    if not bounds[0] <= number <= bounds[1]:
        limit = f"{bounds[0]}-{bounds[1]}"
        raise JumboError("this is no usable number", host=host, variable=name, wish=value, limit=limit)
    return number


def _value(variables: Mapping[str, Any], name: str) -> Any:
    return to_plain(variables[name]) if name in variables else None


def _first(variables: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value for name in names if (value := _value(variables, name)) is not None), None)


def _checks_identity(platform: str, variables: Mapping[str, Any]) -> bool:
    """Tell whether a device has to prove who it is; without known host keys most NETCONF inventories could not."""
    if platform == "junos":
        return _flag(variables, "ansible_netconf_host_key_checking", unset=False)
    if platform == "fastiron":
        return _flag(variables, "ansible_host_key_checking", unset=False)
    return _flag(variables, "ansible_httpapi_validate_certs", unset=True)


def _flag(variables: Mapping[str, Any], name: str, *, unset: bool) -> bool:
    value = _value(variables, name)
    return unset if value is None else bool(boolean(value, strict=False))
