"""Whom a host has spoken with on its links: the kernel's ARP table."""

from __future__ import annotations

from typing import Any

ARP_TABLE = "/proc/net/arp"
COMPLETE = 0x2  # ATF_COM: the neighbour has answered (linux/if_arp.h); the columns are in proc(5)
COLUMNS = 6


def known_neighbours(path: str = ARP_TABLE) -> list[dict[str, Any]] | None:
    """Return [{address, interface}] of the IPv4 neighbours that have answered, None where the table cannot be read."""
    try:
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
    except OSError:
        return None
    whole = [row for row in rows if len(row) == COLUMNS and int(row[2], 16) & COMPLETE]
    return [{"address": row[0], "interface": row[5]} for row in whole]
