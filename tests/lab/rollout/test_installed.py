"""Built, installed offline somewhere else, and run from there by its collection name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab_helpers import ROOT, environment

pytestmark = pytest.mark.lab


def tool(name, *arguments, cwd, env):
    command = [str(Path(sys.executable).with_name(name)), *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=200, check=False)


def test_the_built_collection_plans_from_anywhere(fabric, tmp_path):
    lab = fabric()
    env = {
        **environment(lab.folder),
        "HOME": os.environ["HOME"],
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "elsewhere"),
    }
    env.pop("ANSIBLE_CONFIG")
    env.pop("PYTHONPATH")
    built = tool("ansible-galaxy", "collection", "build", "--output-path", str(tmp_path), cwd=ROOT, env=env)
    assert built.returncode == 0, built.stderr
    (archive,) = tmp_path.glob("jumbo-fabric-*.tar.gz")
    assert archive.stat().st_size < 2_000_000
    where = str(tmp_path / "elsewhere")
    installed = tool(
        "ansible-galaxy", "collection", "install", str(archive), "--offline", "-p", where, cwd=tmp_path, env=env
    )
    assert installed.returncode == 0, installed.stderr
    inventories = [part for source in lab.sources for part in ("-i", os.path.abspath(source))]
    arguments = ["jumbo.fabric.rollout", *inventories, "--check", "-e", f"jumbo_evidence_dir={lab.evidence}"]
    done = tool("ansible-playbook", *arguments, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step canary.1.host_link" in done.stdout, "the plan is shown with Ansible's own callback"
    assert "  verdict: planned" in done.stdout
    assert f"  evidence: {lab.evidence}" in done.stdout
    assert lab.evidence.glob("*/report.json")
    assert "planned" in next(lab.evidence.glob("*/report.json")).read_text()
