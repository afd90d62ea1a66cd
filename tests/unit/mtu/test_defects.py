"""Releases with known defects are warned of, and others are not."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu import preflight
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.defects import DEFECTS, defects_of
from unit.mtu.fabric import BOX, inventory, load, states


@pytest.mark.parametrize(
    ("model", "version", "known"),
    [
        ("ICX8200-24P", "10.0.10c", ["FI-289817"]),
        ("ICX8200-24P", "10.0.10T253", ["FI-289817"]),
        ("ICX8200-24P", "10.0.10c_cd3", []),
        ("ICX8200-24P", "10.0.10d", []),
        ("ICX8200-24P", "10.0.10f_cd1", []),
        ("ICX8200-24P", "10.0.20", []),
        ("ICX7150-24P", "10.0.10c", []),
        ("ICX8200-24P", "10.0.00", ["FI-289817", "FI-237769"]),
        ("ICX7150-24P", "08.0.95pT213", ["FI-237769"]),
        ("ICX7150-24P", "8.0.90j", ["FI-223210"]),
        ("ICX7150-24P", "08.0.92e", ["FI-199314"]),
        ("ICX7150-24P", "08.0.92f", []),
        (None, "08.0.91", ["FI-199314"]),
        ("ICX7150-24P", None, []),
    ],
)
def test_what_is_known_of_a_release(model, version, known):
    assert [one.source.partition(",")[0] for one in defects_of("fastiron", model, version)] == known
    assert not defects_of("eos", model, version)


def test_each_has_a_source_and_something_to_do():
    assert all(one.harm and one.advice and one.source for one in DEFECTS)


def test_a_box_of_such_a_release_is_warned_of_and_goes_on():
    hosts = inventory()
    hosts["leaf2"]["platform"] = "fastiron"
    intent, topology = load(hosts)
    told = states(intent)
    told["leaf2"].update(BOX, model="ICX7150-24P", version="08.0.95pT213")
    (found,) = [one for one in preflight.check(intent, topology, told) if "this release" in one["reason"]]
    assert (found["host"], found["blocking"]) == ("leaf2", False)
    assert "FI-237769" in found["evidence"]
