"""What is sent to managed hosts, and what Ansible runs there, on the oldest Python that is promised."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.plugins.plugin_utils.program import program_text, reply_of

ROOT = Path(__file__).resolve().parents[3]
OLDEST = "python3.8"
COMPILE = "import sys\nfor path in sys.argv[1:]:\n    compile(open(path, encoding='utf-8').read(), path, 'exec')"


@pytest.fixture(scope="module")
def oldest() -> str:
    find = ["/bin/bash", "-c", f". tools/python.sh && find_python {OLDEST}"]
    done = subprocess.run(find, cwd=ROOT, capture_output=True, text=True, check=True)
    if not done.stdout.strip():
        pytest.skip(f"{OLDEST} is not here")
    return done.stdout.strip()


def test_the_program_answers_there(oldest):
    request = {"verb": "read", "interfaces": ["lo"]}
    done = subprocess.run([oldest, "-"], input=program_text(request), text=True, capture_output=True, check=False)
    reply = reply_of(done.stdout)
    assert reply is not None, done.stderr
    assert reply["ok"] is True, reply


def test_modules_and_what_they_import_compile_there(oldest):
    plugins = ROOT / "plugins"
    paths = [path for folder in ("modules", "module_utils") for path in sorted((plugins / folder).rglob("*.py"))]
    assert len(paths) > 50
    done = subprocess.run([oldest, "-c", COMPILE, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
