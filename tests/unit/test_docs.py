"""What the documentation shows works: its links lead somewhere, its commands exist, its examples are valid."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.jumbo.fabric.lab.cli import _parser
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS, REQUIRED_IF

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
