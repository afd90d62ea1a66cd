"""`show version` and `show hostname`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from .answers import Answer
from .names import dotted

if TYPE_CHECKING:
    from .cli import Cli
    from .device import EosDevice

_MEMORY_TOTAL, _MEMORY_FREE = 8_155_312, 6_012_448
_ARCHITECTURE = "x86_64"


def version(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Answer `show version`."""
    return Answer(lambda: _version_text(cli.device), lambda: _version(cli.device))


def hostname(cli: Cli, _arguments: dict[str, str]) -> Answer:
    """Answer `show hostname`."""
    name = cli.device.running.hostname
    domain = cli.device.running.root.value("dns domain") or cli.device.running.root.value("ip domain-name")
    fqdn = f"{name}.{domain}" if domain else name
    return Answer(f"Hostname: {name}\nFQDN:     {fqdn}", {"hostname": name, "fqdn": fqdn})


def _build(device: EosDevice) -> str:
    digits = "".join(letter for letter in device.hardware.version if letter.isalnum())
    return f"{device.hardware.version}-38195967.{digits}"


def _build_id(device: EosDevice) -> str:
    digest = hashlib.sha256(device.hardware.version.encode()).hexdigest()
    return "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]])


def _version(device: EosDevice) -> dict[str, Any]:
    return {
        "mfgName": "Arista",
        "modelName": device.hardware.model,
        "hardwareRevision": "",
        "serialNumber": device.serial,
        "systemMacAddress": device.mac,
        "hwMacAddress": device.mac,
        "configMacAddress": "00:00:00:00:00:00",
        "version": device.hardware.version,
        "architecture": _ARCHITECTURE,
        "internalVersion": _build(device),
        "internalBuildId": _build_id(device),
        "imageFormatVersion": "1.0",
        "imageOptimization": "None",
        "bootupTimestamp": device.booted_at,
        "uptime": device.now() - device.booted_at,
        "memTotal": _MEMORY_TOTAL,
        "memFree": _MEMORY_FREE,
        "isIntlVersion": False,
    }


def _version_text(device: EosDevice) -> str:
    mac = dotted(device.mac)
    return "\n".join(
        [
            f"Arista {device.hardware.model}",
            "Hardware version: ",
            f"Serial number: {device.serial}",
            f"Hardware MAC address: {mac}",
            f"System MAC address: {mac}",
            "",
            f"Software image version: {device.hardware.version}",
            f"Architecture: {_ARCHITECTURE}",
            f"Internal build version: {_build(device)}",
            f"Internal build ID: {_build_id(device)}",
            "Image format version: 1.0",
            "Image optimization: None",
            "",
            f"Uptime: {_uptime(device.now() - device.booted_at)}",
            f"Total memory: {_MEMORY_TOTAL} kB",
            f"Free memory: {_MEMORY_FREE} kB",
        ]
    )


def _uptime(seconds: float) -> str:
    minutes = int(seconds) // 60
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(days, "day"), (hours, "hour")]
    words = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in parts if count]
    last = f"{minutes} minute{'' if minutes == 1 else 's'}"
    return f"{', '.join(words)} and {last}" if words else last
