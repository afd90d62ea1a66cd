# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Parsers of device and host output as filters; each is documented in the sidecar of its name."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import (
    nic_counters,
    parse_eos,
    parse_fastiron,
    parse_junos,
    parse_linux,
)
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain

PARSERS: dict[str, ModuleType] = {
    "eos": parse_eos,
    "fastiron": parse_fastiron,
    "junos": parse_junos,
    "linux": parse_linux,
}


def _parse(function: str, platform: str, output: Any) -> Any:
    if platform not in PARSERS:
        known = ", ".join(sorted(PARSERS))
        raise AnsibleFilterError(str(JumboError("there is no parser for this platform", wish=platform, limit=known)))
    try:
        return getattr(PARSERS[platform], function)(output)
    except JumboError as error:
        raise AnsibleFilterError(str(error)) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"this output of {platform} has another shape than {function} reads: {type(error).__name__}: {error}"
        raise AnsibleFilterError(message) from error


def parse_interfaces(output: Any, platform: str) -> list[dict[str, Any]]:
    """Return a list of interfaces out of a platform's own output; null stands for what the output does not tell."""
    output, platform = to_plain([output, platform])
    return list(_parse("parse_interfaces", platform, output))


def parse_ping(text: str, platform: str) -> dict[str, Any]:
    """Return {sent, received, loss_percent, too_big_local, too_big_reported_by, reported_mtu}."""
    text, platform = to_plain([text, platform])
    return dict(_parse("parse_ping", platform, text))


def oversize_counters(ethtool_text: str, driver: str | None = None) -> dict[str, int]:
    """Return {counter: value} of those that mean "frame too long" for a NIC driver."""
    ethtool_text, driver = to_plain([ethtool_text, driver])
    return nic_counters.oversize_counters(ethtool_text, driver)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return {name: filter}."""
        return {
            "parse_interfaces": parse_interfaces,
            "parse_ping": parse_ping,
            "oversize_counters": oversize_counters,
        }
