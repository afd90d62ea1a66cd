"""Which `ethtool -S` counters of a NIC driver mean "this frame was too long". Data from the drivers of Linux 6.1."""

from __future__ import annotations

import re
from typing import Any

# Driver -> exact counter names. An empty row: the driver counts nothing of the kind, and only the far side can tell.
DRIVERS: dict[str, tuple[str, ...]] = {
    "mlx5_core": ("rx_oversize_pkts_phy", "rx_oversize_pkts_sw_drop", "rx_oversize_pkts_buffer"),
    "mlx4_en": ("rx_length_errors", "rx_jabbers", "rx_out_range_length_error"),
    "bnxt_en": ("rx_ovrsz_frames", "rx_mtu_err_frames", "rx_jbr_frames"),
    "ice": ("rx_oversize.nic", "rx_jabber.nic"),
    "i40e": ("port.rx_oversize", "port.rx_jabber", "port.rx_length_errors"),
    "ixgbe": ("rx_long_length_errors", "rx_length_errors"),
    "igb": ("rx_long_length_errors",),
    "igc": ("rx_long_length_errors",),
    "e1000e": ("rx_long_length_errors", "rx_length_errors"),
    "tg3": ("rx_frame_too_long_errors", "rx_out_length_errors", "rx_jabbers"),
    "bnx2": ("rx_oversize_packets", "rx_jabbers"),
    "bnx2x": ("rx_oversize_packets", "rx_jabbers"),
    "qede": ("rx_oversize_packets", "rx_jabbers"),
    "sfc": ("port_rx_gtjumbo", "port_rx_bad_gtjumbo", "port_rx_length_error"),
    "cxgb4": ("rx_frames_too_long", "rx_jabber_errors"),
    "be2net": ("rx_frame_too_long", "rx_drops_mtu", "rx_out_range_errors", "jabber_events"),
    "enic": ("rx_over_errors",),
    "ionic": ("frames_rx_oversized", "frames_rx_jabber", "frames_rx_bad_length"),
    "hns3": ("mac_rx_oversize_pkt_num", "mac_rx_jabber_pkt_num"),
    "ibmvnic": (),
    "iavf": (),
    "ena": (),
    "virtio_net": (),
    "r8169": (),
    "vmxnet3": (),
    "hv_netvsc": (),
}

# For drivers that are not in the table.
_LIKELY = re.compile(r"oversize|ovrsz|gtjumbo|too_?long|long_length|mtu_err|jabber|jbr", re.IGNORECASE)
_UNLIKELY = re.compile(r"tx_|count|bytes", re.IGNORECASE)
_LINE = re.compile(r"^\s*(\S.*?)\s*:\s*(\d+)\s*$")


def parse_statistics(ethtool_text: str) -> dict[str, int]:
    """Read `ethtool -S`: {counter: value}. Names are stripped of padding; a name that comes twice counts once more."""
    found: dict[str, int] = {}
    for line in ethtool_text.splitlines():
        match = _LINE.match(line)
        if match:
            name = match.group(1).strip()
            found[name] = found.get(name, 0) + int(match.group(2))
    return found


def oversize_counters(ethtool_text: str, driver: Any = None) -> dict[str, int]:
    """Return {counter: value} of those that mean "frame too long" for this driver.

    Counters that the output lacks are left out, so an empty answer means: this NIC cannot tell. Without a row for the
    driver, names that say so are taken.
    """
    statistics = parse_statistics(ethtool_text)
    names = DRIVERS.get(driver) if isinstance(driver, str) else None
    if names is not None:
        return {name: statistics[name] for name in names if name in statistics}
    return {name: value for name, value in statistics.items() if _LIKELY.search(name) and not _UNLIKELY.search(name)}
