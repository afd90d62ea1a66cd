"""The collection as a package: the link farm that makes it run in place, and what is shipped."""

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
FARM = ROOT / "collections/ansible_collections/jumbo/fabric"


def test_every_shipped_top_level_directory_has_a_farm_link():
    ignored = set(yaml.safe_load((ROOT / "galaxy.yml").read_text())["build_ignore"])
    shipped = {
        path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in ignored and path.name != ".git"
    }
    linked = {path.name for path in FARM.iterdir()}
    assert shipped - linked == {"docs"}  # read, never run


def test_farm_links_are_relative_and_lead_to_the_root():
    for link in FARM.iterdir():
        assert link.is_symlink()
        assert not Path(link.readlink()).is_absolute()
        assert link.resolve() == ROOT / link.name
