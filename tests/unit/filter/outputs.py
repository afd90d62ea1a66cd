"""Real outputs, where JUMBO_FIXTURES names a folder of them; tests skip without."""

from __future__ import annotations

import os
import pathlib

import pytest
from ansible_collections.jumbo.fabric.plugins.filter.parsers import parse_interfaces

FIXTURES = pathlib.Path(os.environ.get("JUMBO_FIXTURES", "/nonexistent"))
real = pytest.mark.skipif(not FIXTURES.is_dir(), reason="JUMBO_FIXTURES names no folder of real outputs")


def fixture(name):
    return (FIXTURES / name).read_text(encoding="utf-8")


def by_name(output, platform):
    return {interface["name"]: interface for interface in parse_interfaces(output, platform)}
