"""The role's argument specification says what the code does: names, defaults and choices are the same in both."""

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_lists import read_waivers
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_values import (
    LISTS,
    PLATFORMS,
    RESUME,
    SCALARS,
    STAGES,
    WAIVER_KINDS,
    Problems,
    Where,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.registry import DRIVERS, NAMES
from ansible_collections.jumbo.fabric.plugins.plugin_utils.fabric import PER_HOST

ROOT = Path(__file__).resolve().parents[2]
SPECS = yaml.safe_load((ROOT / "roles/jumbo/meta/argument_specs.yml").read_text())
OPTIONS = SPECS["argument_specs"]["main"]["options"]
OF_PLAYBOOKS = {"jumbo_evidence_dir", "jumbo_rollout", "jumbo_saved_facts"}


def test_every_variable_is_documented_and_every_documented_one_is_read():
    assert set(OPTIONS) == set(SCALARS) | set(LISTS) | set(PER_HOST) | OF_PLAYBOOKS


@pytest.mark.parametrize("name", SCALARS)
def test_defaults_are_the_same(name):
    default = SCALARS[name].default
    documented = OPTIONS[name].get("default")
    if name == "jumbo_soak":  # written as people write durations
        assert (default, documented) == (24 * 3600, "24h")
    else:
        assert documented == (list(default) if isinstance(default, tuple) else default)


def test_choices_are_the_same():
    assert OPTIONS["jumbo_stages"]["choices"] == ["preflight", *STAGES]
    assert OPTIONS["jumbo_resume"]["choices"] == list(RESUME)


def test_kinds_of_waivers_are_where_people_look_for_them():
    assert OPTIONS["jumbo_waivers"]["options"]["kind"]["choices"] == list(WAIVER_KINDS)
    assert set(OPTIONS["jumbo_waivers"]["options"]) == {"kind", "object", "reason"}
    how_to = (ROOT / "docs/how-to/own-fabric.md").read_text()
    example = (ROOT / "inventory/example/group_vars/all/rollout.yml").read_text()
    for kind in WAIVER_KINDS:
        assert f"| `{kind}` |" in how_to
        assert kind in example


def test_the_waivers_of_the_how_to_are_accepted():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/how-to/own-fabric.md").read_text(), re.DOTALL)
    given = [value for block in blocks for value in yaml.safe_load(block).get("jumbo_waivers", [])]
    example = (ROOT / "inventory/example/group_vars/all/rollout.yml").read_text()
    given += yaml.safe_load("\n".join(re.findall(r"^# (- \{ kind.*)$", example, re.MULTILINE)))
    problems = Problems()
    assert len(read_waivers(Where(problems, "h1", "jumbo_waivers"), given)) == len(given) > 3
    assert problems.found == []


def test_the_evidence_directory_has_one_default():
    assert OPTIONS["jumbo_evidence_dir"]["default"] == ARGUMENTS["rollout_journal"]["evidence_dir"]["default"]


def test_platform_names_agree():
    assert set(NAMES.values()) == set(PLATFORMS)
    assert set(DRIVERS) <= set(PLATFORMS)


def test_the_example_inventory_shows_every_fabric_wide_variable():
    shown = {}
    for path in (ROOT / "inventory/example/group_vars/all").glob("*.yml"):
        shown.update(yaml.safe_load(path.read_text()))
    missing = set(OPTIONS) - set(shown) - {"jumbo_rack", "jumbo_addresses", "jumbo_rollout", "jumbo_saved_facts"}
    assert missing == set()
