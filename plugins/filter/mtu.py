# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""MTU arithmetic, drift and counter differences as filters; each is documented in the sidecar of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import capability, counters, encapsulation, units
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain


def _told(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call with plain values; a user's mistake becomes Ansible's error, without a traceback."""
    try:
        return function(*arguments)
    except JumboError as error:
        raise AnsibleFilterError(str(error)) from error


def ping_payload(ip_mtu: int, family: Any = 4) -> int:
    """Return the ICMP payload, in bytes, of an IP packet of `ip_mtu` bytes."""
    ip_mtu, family = to_plain([ip_mtu, family])
    return int(_told(units.ping_payload, ip_mtu, family))


def tcp_mss(ip_mtu: int, family: Any = 4, timestamps: bool = False) -> int:
    """Return the TCP payload, in bytes, of an IP packet of `ip_mtu` bytes."""
    ip_mtu, family, timestamps = to_plain([ip_mtu, family, timestamps])
    return int(_told(units.tcp_mss, ip_mtu, family, timestamps))


def device_mtu(ip_mtu: int, platform: str, tagging: str = "untagged", model: str | None = None) -> int:
    """Return the platform's own number for an IP MTU in bytes; with a model, only if its family takes it."""
    ip_mtu, platform, tagging, model = to_plain([ip_mtu, platform, tagging, model])
    number = int(_told(units.device_mtu, ip_mtu, platform, tagging))
    if model is not None:
        _told(capability.check_number, ip_mtu, platform, tagging, str(model))
    return number


def ip_mtu(device_mtu: int, platform: str, tagging: str = "untagged") -> int:
    """Return the IP MTU, in bytes, that a platform's own number means."""
    device_mtu, platform, tagging = to_plain([device_mtu, platform, tagging])
    return int(_told(units.ip_mtu, device_mtu, platform, tagging))


def encapsulation_overhead(encapsulations: Sequence[Any], inner_ip_mtu: int | None = None) -> int:
    """Return the bytes that these encapsulations add to an inner IP packet, of that size or at most."""
    encapsulations, inner_ip_mtu = to_plain([encapsulations, inner_ip_mtu])
    return int(_told(encapsulation.encapsulation_overhead, encapsulations, inner_ip_mtu))


def underlay_ip_mtu(inner_ip_mtu: int, encapsulations: Sequence[Any]) -> int:
    """Return the IP MTU, in bytes, that an underlay needs for inner packets of that size."""
    inner_ip_mtu, encapsulations = to_plain([inner_ip_mtu, encapsulations])
    return int(_told(encapsulation.underlay_needs, inner_ip_mtu, encapsulations))


def inner_ip_mtu(underlay_ip_mtu: int, encapsulations: Sequence[Any]) -> int:
    """Return the largest inner packet, in bytes, that an underlay of that IP MTU carries."""
    underlay_ip_mtu, encapsulations = to_plain([underlay_ip_mtu, encapsulations])
    return int(_told(encapsulation.left_inside, underlay_ip_mtu, encapsulations))


def mtu_drift(observed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return [{host, interface, kind, wanted, observed}] of what is not as wanted; sizes in bytes of IP packet."""
    observed, wanted = to_plain([observed, wanted])
    return list(_told(counters.mtu_drift, observed, wanted))


def counter_delta(
    after: Mapping[str, Any], before: Mapping[str, Any], restarted: bool = False
) -> dict[str, dict[str, Any]]:
    """Return {counter: {delta, reset, wrapped}}."""
    after, before = to_plain([after, before])
    return dict(_told(counters.counter_delta, after, before, restarted))


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return {name: filter}."""
        return {
            "ping_payload": ping_payload,
            "tcp_mss": tcp_mss,
            "device_mtu": device_mtu,
            "ip_mtu": ip_mtu,
            "encapsulation_overhead": encapsulation_overhead,
            "underlay_ip_mtu": underlay_ip_mtu,
            "inner_ip_mtu": inner_ip_mtu,
            "mtu_drift": mtu_drift,
            "counter_delta": counter_delta,
        }
