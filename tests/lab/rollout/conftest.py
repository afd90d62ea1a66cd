"""Whole roll-outs in a lab of their own: real playbooks, real sshd and eAPI, real packets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_helpers import BUNDLED, lab_cli, network, overlay
from rollout_helpers import Fabric


@pytest.fixture
def fabric(tmp_path: Path) -> Iterator[Callable[..., Fabric]]:
    """Start the bundled fabric on addresses of its own, with a fault or not; it is taken down afterwards."""
    yield from fabrics(tmp_path)


@pytest.fixture(scope="module")
def module_fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Fabric]]:
    """As `fabric`, one for a whole file of tests that change nothing."""
    yield from fabrics(tmp_path_factory.mktemp("fabric"))


def fabrics(folder: Path) -> Iterator[Callable[..., Fabric]]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root here")

    def start(fault: str = "", **variables: Any) -> Fabric:
        extra = overlay(folder / "overlay", jumbo_lab_network=network(77), jumbo_soak="2s", **variables)
        sources = [str(BUNDLED), extra]
        done = lab_cli(folder / "lab", "up", "-i", sources[0], "-i", sources[1], "--fault", fault)
        assert done.returncode == 0, done.stderr
        return Fabric(folder / "lab", sources, folder / "evidence")

    yield start
    lab_cli(folder / "lab", "down")
