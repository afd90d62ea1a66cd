"""Whole roll-outs in a lab of their own: real playbooks, real sshd and eAPI, real packets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rollout_helpers import Fabric, fabrics


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Callable[..., Fabric]]:
    """Start the fabric of three racks, or the bundled one, with a fault or not; it is taken down afterwards."""
    yield from fabrics(tmp_path)


@pytest.fixture(scope="module")
def module_fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Fabric]]:
    """As `fabric`, one for a whole file of tests that change nothing."""
    yield from fabrics(tmp_path_factory.mktemp("fabric"))
