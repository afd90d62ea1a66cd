"""Tags choose nothing, said by Ansible itself: with a part of its tasks a roll-out would be another one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def play(playbook, tmp_path, *arguments):
    tool = str(Path(sys.executable).with_name("ansible-playbook"))
    where = ["-i", "inventory/example", "-e", f"jumbo_evidence_dir={tmp_path / 'evidence'}"]
    return subprocess.run(
        [tool, f"playbooks/{playbook}.yml", *where, *arguments],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("playbook", "arguments", "named"),
    [
        ("rollout", ["--tags", "canary"], "--tags is 'canary'"),
        ("rollback", ["--skip-tags", "soak"], "--skip-tags is 'soak'"),
    ],
)
def test_tags_are_refused_before_anything_is_written_or_read(tmp_path, playbook, arguments, named):
    done = play(playbook, tmp_path, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "tags choose nothing here" in done.stdout
    assert named in done.stdout
    assert "jumbo_stages" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_tag_that_no_task_has_may_be_skipped(tmp_path):
    done = play("rollback", tmp_path, "--skip-tags", "molecule-notest,notest")
    assert "tags choose nothing here" not in done.stdout
    assert "jumbo" in done.stdout
    assert (tmp_path / "evidence").is_dir()
