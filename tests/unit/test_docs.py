"""What the documentation shows works: its links lead somewhere, its commands exist, its examples are valid."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.jumbo.fabric.lab.cli import _parser
from ansible_collections.jumbo.fabric.plugins.filter import mtu as mtu_filters
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS, REQUIRED_IF
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.capability import limit_of
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.capability_table import CARDS, FAMILIES
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation import encapsulation_overhead
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.encapsulation_table import NAMED, TABLE
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.platform_table import PLATFORMS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
COMMANDS = sorted(
    {
        line.strip()[2:].partition("   #")[0].strip()
        for page in PAGES
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
        for line in block.splitlines()
        if line.strip().startswith("$ ")
    }
)
ARITHMETIC = (ROOT / "docs/explanation/mtu-arithmetic.md").read_text()
EXAMPLES = [
    line.partition(" -> ")[::2]
    for page in PAGES
    for block in re.findall(r"```jinja\n(.*?)```", page.read_text(), re.DOTALL)
    for line in block.splitlines()
]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        if "://" not in target:
            assert (page.parent / target.replace("\n", " ")).exists(), target


def test_there_are_commands_to_check():
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_real(command):
    words = [word for word in shlex.split(command) if not re.fullmatch(r"[A-Z]+=\S+", word)]
    if words[0] == "make":
        assert words[1] in TARGETS
    elif words[0].endswith("ansible-playbook"):
        check_playbook(words[1:])
    else:
        assert words[0] == "tools/lab", command
        _parser().parse_args(words[1:])


def check_playbook(words):
    words = ["inventory/example" if word == "my_inventory" else word for word in words]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), "--syntax-check", *words],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_examples_of_modules_fit_their_arguments(name):
    text = (ROOT / f"plugins/modules/{name}.py").read_text()
    examples = yaml.safe_load(re.search(r'EXAMPLES = r"""(.*?)"""', text, re.DOTALL)[1])
    used = [task[f"jumbo.fabric.{name}"] for task in examples if f"jumbo.fabric.{name}" in task]
    assert used
    for arguments in used:
        given = {key: value for key, value in (arguments or {}).items() if "{{" not in str(value)}
        validator = ArgumentSpecValidator(ARGUMENTS[name], required_if=REQUIRED_IF.get(name))
        assert validator.validate(given).error_messages == []


def test_there_are_figures_to_check():
    assert len(EXAMPLES) > 20


@pytest.mark.parametrize(("template", "value"), EXAMPLES)
def test_figures_are_what_the_filters_give(template, value):
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 - figures, no HTML
    filters = mtu_filters.FilterModule().filters()
    environment.filters.update({f"jumbo.fabric.{name}": function for name, function in filters.items()})
    if not value.startswith("refused: "):
        assert environment.from_string(template).render() == value
        return
    with pytest.raises(AnsibleFilterError) as caught:
        environment.from_string(template).render()
    assert value.removeprefix("refused: ") in str(caught.value)


def rows(*columns):
    """Return the rows of the tables of the page on arithmetic that begin with these columns."""
    start = "| " + " | ".join(columns)
    return [line for line in ARITHMETIC.splitlines() if re.sub(" +", " ", line).startswith(start)]


@pytest.mark.parametrize("name", sorted(TABLE))
def test_the_table_of_encapsulations_is_what_is_calculated(name):
    first = "" if TABLE[name].families == (6,) else str(encapsulation_overhead([name]))
    sixth = name if TABLE[name].families == (6,) else f"{name}6"
    second = str(encapsulation_overhead([sixth])) if sixth in NAMED else ""
    (row,) = [line for line in ARITHMETIC.splitlines() if line.startswith(f"| `{name}` |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:3] == [first, second]
    assert all(f"`{option}`" in cells[4] for option in TABLE[name].options) or cells[4].startswith("as `gre`")
    assert cells[5] == TABLE[name].source


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_table_of_models_is_what_counts(family):
    most = family.most - PLATFORMS[family.platform].counted["untagged"]
    assert len(rows(family.name, f"{family.least}-{family.most}", f"{most} |")) == 1
    assert not family.less_seen or f"releases {family.less_seen[0]}" in rows(family.name)[0]


@pytest.mark.parametrize("platform", sorted(PLATFORMS))
def test_the_table_of_platforms_is_what_counts(platform):
    (row,) = rows(f"`{platform}`")
    assert ", ".join(str(PLATFORMS[platform].counted[tags]) for tags in ("untagged", "tagged", "flexible")) in row


def test_weak_cards_are_shown_as_they_count():
    for card in CARDS:
        assert card.name.split()[0] in ARITHMETIC
        assert str(limit_of(card.platform, None, card.pattern.strip("^").replace(r"\d", "0")).ip_mtu) in ARITHMETIC
