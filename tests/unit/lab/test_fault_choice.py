"""Faults by name: defaults for any fabric, places that exist, messages that help."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab.faults import FAULTS, Site, break_fabric, choose_faults
from ansible_collections.jumbo.fabric.lab.inventory import design, load_hosts
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End
from lab_inventories import one_rack

BUNDLED = Path(__file__).resolve().parents[3] / "inventory/lab"


@pytest.fixture(scope="module")
def site() -> Site:
    plan = design(load_hosts([str(BUNDLED)]))
    return Site(plan.fabric, plan.topology)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("spine-1500", "spine1:Ethernet2"),
        ("tap-1518", "leaf5:10GigabitEthernet1/2/2"),
        ("icmp-filtered", "leaf1"),
        ("host-unreachable", "h3"),
        ("eos-max-9194", "spine1"),
        ("commit-slow", "leaf2"),
        ("reload-never", "leaf5"),
    ],
)
def test_each_fault_has_its_default_place(site: Site, name: str, place: str) -> None:
    assert [str(fault) for fault in choose_faults(name, site)] == [f"{name}@{place}"]


def test_the_registry_is_complete() -> None:
    eos = {"spine-1500", "tap-1518", "icmp-filtered", "host-unreachable", "eos-max-9194"}
    junos = {"commit-slow", "commit-lost-reply", "confirm-lost"}
    fastiron = {"cli-hang", "flash-busy", "save-refused", "reload-never"}
    assert set(FAULTS) == eos | junos | fastiron
    assert all(fault.help and fault.place and fault.expected for fault in FAULTS.values())


def test_several_faults_with_places_add_up(site: Site) -> None:
    chosen = choose_faults("spine-1500@spine2:xe-0/0/3, icmp-filtered@leaf2,", site)
    damage = break_fabric(chosen, site)
    assert damage.port_limits == {End("spine2", "xe-0/0/3"): 1500}
    assert [(str(cable.a), side, size) for (cable, side), size in damage.cable_limits.items()] == [
        ("leaf3:Ethernet2", "a", 1500)
    ]
    assert damage.silent == {"leaf2"}


def test_no_fault_is_no_damage(site: Site) -> None:
    assert choose_faults("", site) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spine-9000", ("spine-9000", "spine-1500, tap-1518")),
        ("icmp-filtered@leaf9", ("icmp-filtered@leaf9", "leaf1")),
        ("spine-1500@spine1:Ethernet19", ("spine1:Ethernet19", "Ethernet1, Ethernet2, Ethernet3")),
        ("tap-1518@spine1", ("spine1", "Ethernet1")),
        ("eos-max-9194@h1", ("h1", "allowed: eos")),
        ("confirm-lost@leaf1", ("leaf1", "allowed: junos")),
        ("reload-never@leaf1", ("leaf1", "allowed: fastiron")),
    ],
)
def test_a_wrong_fault_is_refused_with_what_there_is(site: Site, text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(JumboError) as refused:
        choose_faults(text, site)
    for word in words:
        assert word in str(refused.value)


def test_a_fault_without_a_place_in_this_fabric_is_refused(tmp_path: Path) -> None:
    plan = design(load_hosts([one_rack(tmp_path / "inventory", 1)]))
    with pytest.raises(JumboError, match="no place for this fault"):
        choose_faults("cli-hang", Site(plan.fabric, plan.topology))
