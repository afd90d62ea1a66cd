"""A running lab for the tests: one for the whole session, small ones with a fault on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_helpers import RunningLab, lab_cli, need_namespaces, network, small_inventory
from lab_inventories import rack_fabric


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the whole roll-outs: a long file that is begun last keeps one worker busy and the others waiting."""
    items.sort(key=lambda item: "rollout" not in item.path.parts)


@pytest.fixture(scope="session")
def session_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """Three racks on addresses of their own, with brisk traffic."""
    need_namespaces()
    folder = tmp_path_factory.mktemp("session") / "lab"
    sources = [rack_fabric(folder.with_name("inventory"), 78, jumbo_lab_traffic=0.1)]
    done = lab_cli(folder, "up", "-i", sources[0])
    assert done.returncode == 0, done.stderr
    try:
        yield RunningLab(folder, sources)
    finally:
        lab_cli(folder, "down")


@pytest.fixture
def lab(session_lab: RunningLab) -> Iterator[RunningLab]:
    """The session's lab; every MTU is back at 1500 afterwards."""
    yield session_lab
    session_lab.restore()


@pytest.fixture
def small_lab(tmp_path: Path) -> Iterator[Callable[..., RunningLab]]:
    """Start a small, silent lab of another inventory, with a fault or not; it is taken down afterwards."""
    yield from small_labs(tmp_path)


@pytest.fixture(scope="module")
def module_small_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningLab]]:
    """As `small_lab`, one for a whole file of tests that put everything back."""
    yield from small_labs(tmp_path_factory.mktemp("small"), 75)


def small_labs(path: Path, block: int = 79) -> Iterator[Callable[..., RunningLab]]:
    need_namespaces()
    folder = path / "lab"

    def start(fault: str = "") -> RunningLab:
        inventory = small_inventory(path / "small.json", jumbo_lab_network=network(block), jumbo_lab_traffic=0)
        done = lab_cli(folder, "up", "-i", inventory, "--fault", fault)
        assert done.returncode == 0, done.stderr
        return RunningLab(folder, [inventory])

    yield start
    lab_cli(folder, "down")
